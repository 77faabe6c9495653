// A kernel's needs of a multiprocessor, and arithmetic that is slower than it looks.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "simulator/gpus/occupancy.hpp"
#include "simulator/lints/lint.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/ptx/linking.hpp"
#include "support/text_table.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;

/// A resource is worth a line if at most this part of it keeps a further block away.
constexpr double kSmallPart = 0.15;

/// Bytes of the variables in shared memory that the kernel has itself, or that it uses of its module.
std::uint64_t shared_bytes(const KernelValues& values) {
  const ptx::Kernel& kernel = values.kernel();
  std::uint64_t bytes = 0;
  for (const ptx::Symbol& symbol : kernel.symbols) bytes += symbol.space == ptx::Space::shared ? symbol.bytes : 0;
  for (const ptx::Symbol& symbol : values.module().symbols) {
    if (symbol.space != ptx::Space::shared) continue;
    const auto is_used = [&](const Instruction& one) { return ptx::uses(kernel, one, symbol.name); };
    if (std::ranges::any_of(kernel.instructions, is_used)) bytes += symbol.bytes;
  }
  return bytes;
}

class ResourceLints {
 public:
  ResourceLints(const KernelValues& values, const LintSettings& settings, LintLog& log)
      : values_(values), settings_(settings), log_(log) {}

  void find() {
    find_float64();
    if (settings_.spill_bytes > 0) {
      log_.add_to_kernel(LintKind::spills, Severity::note,
                         fmt::format("ptxas keeps registers in memory: {} bytes a thread are stored and loaded",
                                     settings_.spill_bytes));
    }
    if (!values_.shape().is_given) return;
    const std::size_t threads = values_.threads();
    if (threads % kLanes != 0) {
      const std::size_t last = threads % kLanes;
      log_.add_to_kernel(
          LintKind::block_size, Severity::note,
          fmt::format("{} a block: the last warp has {} of its {} lanes", plural(threads, "thread"), last, kLanes));
    }
    if (settings_.gpu != nullptr) find_occupancy();
  }

 private:
  /// Arithmetic on values that were float32 before, in a kernel that neither loads nor stores float64.
  void find_float64() {
    const auto& instructions = values_.kernel().instructions;
    const auto is_of_float64 = [](const Instruction& one) { return one.opcode.find(".f64") != std::string::npos; };
    const auto moves = [](const Instruction& one) {
      return one.opcode.starts_with("ld.") || one.opcode.starts_with("st.") || one.opcode.starts_with("atom.") ||
             one.opcode.starts_with("red.");
    };
    if (std::ranges::any_of(instructions, [&](const Instruction& one) { return moves(one) && is_of_float64(one); }))
      return;
    std::set<int> widened;
    for (const Instruction& one : instructions) {
      if (one.opcode == "cvt.f64.f32" && !one.operands.empty()) widened.insert(one.operands.front().index);
    }
    for (int i = 0; i < static_cast<int>(instructions.size()); ++i) {
      const Instruction& one = instructions[static_cast<std::size_t>(i)];
      const bool is_arithmetic = is_of_float64(one) && !one.opcode.starts_with("cvt") && !one.opcode.starts_with("mov");
      if (!is_arithmetic) continue;
      const bool reads_widened = std::ranges::any_of(one.operands, [&](const ptx::Operand& operand) {
        return operand.kind == ptx::OperandKind::register_ && widened.contains(operand.index);
      });
      if (!reads_widened) continue;
      std::string rate;
      if (settings_.gpu != nullptr) {
        rate = fmt::format(": {:.3g} lanes a multiprocessor instead of {:.3g} ({})", settings_.gpu->fp64_lanes.low,
                           settings_.gpu->fp32_lanes, settings_.gpu->title);
      }
      log_.add(i, LintKind::float64, Severity::note,
               "float64 arithmetic on a float32 value, as a constant without the suffix f makes it" + rate);
    }
  }

  Occupancy with(std::optional<int> registers, std::uint64_t bytes) const {
    return occupancy(settings_.gpu->occupancy,
                     {.threads = values_.threads(), .registers = registers, .shared_bytes = bytes});
  }

  void find_occupancy() {
    const OccupancyLimits& limits = settings_.gpu->occupancy;
    const std::uint64_t bytes = shared_bytes(values_) + settings_.dynamic_bytes.value_or(0);
    const Occupancy now = with(settings_.registers, bytes);
    if (now.blocks == 0) {
      log_.add_to_kernel(
          LintKind::block_size, Severity::finding,
          fmt::format("a block of {} threads, {} bytes of shared memory{} cannot be launched on {}", values_.threads(),
                      bytes, settings_.registers ? fmt::format(" and {} registers a thread", *settings_.registers) : "",
                      settings_.gpu->title));
      return;
    }
    const auto cost = [&](const Occupancy& then) {
      return LintCost{static_cast<double>(now.warps), static_cast<double>(then.warps)};
    };
    const auto gain = [&](const Occupancy& then) {
      return fmt::format("{} blocks a multiprocessor instead of {}, {} of its {} warps instead of {}", then.blocks,
                         now.blocks, then.warps, limits.warps_per_multiprocessor, now.warps);
    };
    for (std::uint64_t less = 1; static_cast<double>(less) <= kSmallPart * static_cast<double>(bytes); ++less) {
      const Occupancy then = with(settings_.registers, bytes - less);
      if (then.warps <= now.warps) continue;
      log_.add_to_kernel(LintKind::occupancy, Severity::note,
                         fmt::format("with {} bytes less than its {} of shared memory: {}", less, bytes, gain(then)),
                         cost(then));
      break;
    }
    if (settings_.registers) {
      for (int less = 1; less <= kSmallPart * *settings_.registers; ++less) {
        const Occupancy then = with(*settings_.registers - less, bytes);
        if (then.warps <= now.warps) continue;
        log_.add_to_kernel(LintKind::occupancy, Severity::note,
                           fmt::format("with {} registers instead of {} a thread: {}", *settings_.registers - less,
                                       *settings_.registers, gain(then)),
                           cost(then));
        break;
      }
    }
    const auto warps = static_cast<int>((values_.threads() + kLanes - 1) / kLanes);
    const bool by_warps = std::ranges::find(now.limited_by, "warps") != now.limited_by.end();
    if (by_warps && now.warps + kSmallPart * limits.warps_per_multiprocessor < limits.warps_per_multiprocessor) {
      log_.add_to_kernel(
          LintKind::occupancy, Severity::note,
          fmt::format("blocks of {} warps leave {} of a multiprocessor's {} empty", warps,
                      limits.warps_per_multiprocessor - now.warps, limits.warps_per_multiprocessor),
          LintCost{static_cast<double>(now.warps), static_cast<double>(limits.warps_per_multiprocessor)});
    }
  }

  const KernelValues& values_;
  const LintSettings& settings_;
  LintLog& log_;
};

}  // namespace

void find_resource_lints(const KernelValues& values, const LintSettings& settings, LintLog& log) {
  ResourceLints(values, settings, log).find();
}

}  // namespace convladder::simulated

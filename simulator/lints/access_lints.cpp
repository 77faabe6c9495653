// Accesses to memory: what a warp's request costs, and whether its addresses are aligned and inside.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "devices/kernel_resources.hpp"
#include "simulator/lints/lint.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/ptx/opcode_parts.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using Parts = ptx::OpcodeParts;
using ptx::has_part;

constexpr std::uint64_t kBytesOfSector = 1U << kSectorShift;

/// A request that takes less than twice what it could is not worth a line.
constexpr double kWorthALine = 2;

/// Addresses that are an unknown number of bytes apart are taken to be this far apart.
constexpr std::int64_t kFar = std::int64_t{1} << 20;

/// An access of each thread: where, how many bytes, and how.
struct Access {
  const Operand* operand = nullptr;
  ptx::Space space = ptx::Space::generic;
  int bytes = 0;
  AccessKind kind = AccessKind::load;
  bool is_matrix_row = false;  ///< of 16 bytes, eight rows at a time (ldmatrix, stmatrix)
};

ptx::Space space_of(const Parts& parts) {
  for (const std::string_view part : parts) {
    if (part == "global") return ptx::Space::global;
    if (part == "shared" || part == "shared::cta") return ptx::Space::shared;
    if (part == "local") return ptx::Space::local;
    if (part == "const") return ptx::Space::constant;
    if (part.starts_with("param") || part == "shared::cluster") return ptx::Space::param;  // not looked at
  }
  return ptx::Space::generic;
}

/// The accesses of an instruction: none for most, two for a copy.
std::vector<Access> accesses_of(const Instruction& instruction) {
  const Parts parts = ptx::split_opcode(instruction.opcode);
  const std::string_view first = parts[0];
  std::vector<Access> accesses;
  const auto add = [&](std::size_t index, ptx::Space space, int bytes, AccessKind kind, bool is_row = false) {
    if (index >= instruction.operands.size() || bytes <= 0) return;
    const Operand& operand = instruction.operands[index];
    if (operand.kind == ptx::OperandKind::address) accesses.push_back({&operand, space, bytes, kind, is_row});
  };
  const bool is_plain_copy = first == "cp" && !has_part(parts, "bulk");
  if ((has_part(parts, "bulk") || has_part(parts, "async")) && !is_plain_copy) return accesses;
  if (first == "ld" || first == "ldu") add(1, space_of(parts), ptx::moved_bytes(parts), AccessKind::load);
  if (first == "st") add(0, space_of(parts), ptx::moved_bytes(parts), AccessKind::store);
  if (first == "atom") add(1, space_of(parts), ptx::moved_bytes(parts), AccessKind::atomic);
  if (first == "red") add(0, space_of(parts), ptx::moved_bytes(parts), AccessKind::atomic);
  if (first == "ldmatrix") add(1, ptx::Space::shared, 16, AccessKind::load, true);
  if (first == "stmatrix") add(0, ptx::Space::shared, 16, AccessKind::store, true);
  if (first == "cp" && instruction.operands.size() > 2 && instruction.operands[2].kind == ptx::OperandKind::immediate) {
    const auto bytes = static_cast<int>(instruction.operands[2].bits);
    add(0, ptx::Space::shared, bytes, AccessKind::store);
    add(1, ptx::Space::global, bytes, AccessKind::load);
  }
  std::erase_if(accesses,
                [](const Access& one) { return one.space == ptx::Space::param || one.space == ptx::Space::constant; });
  return accesses;
}

/// The sum of what a block's warps need for an access, each once.
struct BlockCost {
  double needed = 0;
  double ideal = 0;
  std::uint64_t warps = 0;
};

class AccessLints {
 public:
  AccessLints(const KernelValues& values, const LintSettings& settings, LintLog& log, LintedKernel& kernel)
      : values_(values), settings_(settings), log_(log), kernel_(kernel) {}

  void find() {
    const auto& instructions = values_.kernel().instructions;
    for (int i = 0; i < static_cast<int>(instructions.size()); ++i) {
      for (const Access& access : accesses_of(instructions[i])) {
        AccessAddress address = values_.address(*access.operand, i, access.space);
        note_neighbour(i, access, address);
        all_.emplace_back(i, access, std::move(address));
      }
    }
    for (const auto& [index, access, address] : all_) look_at(index, access, address);
  }

 private:
  /// Accesses of one run of instructions with the same unknown numbers in their addresses.
  using GroupKey = std::tuple<int, bool, std::vector<int>>;

  GroupKey group_of(int index, const Access& access, const AccessAddress& address) const {
    std::vector<int> unknowns;
    for (const auto& term : address.bytes.terms()) unknowns.push_back(term.unknown);
    return {values_.flow().block_of(index), access.kind == AccessKind::load, unknowns};
  }
  void note_neighbour(int index, const Access& access, const AccessAddress& address) {
    if (address.space == ptx::Space::global && address.bytes.is_sum()) {
      groups_[group_of(index, access, address)].push_back(all_.size());
    }
  }

  void look_at(int index, const Access& access, const AccessAddress& address) {
    if (address.space == ptx::Space::local) {
      look_at_local(index, access, address);
      return;
    }
    ++kernel_.accesses;
    if (!address.bytes.is_sum()) return;
    const std::vector<bool> active = values_.active(index);
    if (std::ranges::find(active, true) == active.end()) return;
    if (look_at_alignment(index, access, address, active)) return;  // it is not executed
    look_at_bounds(index, access, address, active);
    const std::optional<ThreadValue::Term> stride = unknown_stride(address.bytes);
    const bool has_other_strides = std::ranges::count_if(address.bytes.terms(), [](const auto& term) {
                                     return !term.factor.is_same_in_warps();
                                   }) > (stride ? 1 : 0);
    if (has_other_strides || (stride && address.space == ptx::Space::shared)) return;
    ++kernel_.understood;
    const PerThread offsets =
        stride ? PerThread::combined(address.bytes.known(), stride->factor,
                                     [](std::int64_t a, std::int64_t by) { return sum_of(a, product_of(by, kFar)); })
               : address.bytes.known();
    if (address.space == ptx::Space::shared) {
      look_at_banks(index, access, offsets, active);
    } else {
      look_at_sectors(index, access, address, offsets, active, stride);
    }
  }

  /// The only unknown number whose factor is another for each lane.
  static std::optional<ThreadValue::Term> unknown_stride(const ThreadValue& address) {
    std::optional<ThreadValue::Term> found;
    for (const auto& term : address.terms()) {
      if (term.factor.is_same_in_warps()) continue;
      if (found) return std::nullopt;
      found = term;
    }
    return found;
  }

  /// Calls `function(addresses, mask)` for each warp with a lane that is active.
  template <typename Function>
  static void for_each_warp(const PerThread& offsets, const std::vector<bool>& active, const Function& function) {
    constexpr std::int64_t kBase = std::int64_t{1} << 40;  // no address is below 0
    for (std::size_t first = 0; first < active.size(); first += kLanes) {
      Addresses addresses{};
      LaneMask mask = 0;
      for (std::size_t lane = 0; lane < kLanes && first + lane < active.size(); ++lane) {
        if (!active[first + lane]) continue;
        mask |= LaneMask{1} << lane;
        addresses[lane] = static_cast<std::uint64_t>(sum_of(kBase, offsets[first + lane]));
      }
      if (mask == 0) continue;
      fill_inactive(addresses, mask);
      function(addresses, mask);
    }
  }

  void look_at_sectors(int index, const Access& access, const AccessAddress& address, const PerThread& offsets,
                       const std::vector<bool>& active, const std::optional<ThreadValue::Term>& stride) {
    BlockCost cost;
    for_each_warp(offsets, active, [&](const Addresses& addresses, LaneMask mask) {
      std::set<std::uint64_t> sectors;
      std::set<std::uint64_t> bytes;
      for_each_lane(mask, [&](int lane) {
        for (int byte = 0; byte < access.bytes; ++byte) {
          const std::uint64_t at = addresses[static_cast<std::size_t>(lane)] + static_cast<std::uint64_t>(byte);
          sectors.insert(at >> kSectorShift);
          bytes.insert(at);
        }
      });
      cost.needed += static_cast<double>(sectors.size());
      const std::uint64_t filled = (bytes.size() + kBytesOfSector - 1) / kBytesOfSector;
      cost.ideal += static_cast<double>(filled);
      ++cost.warps;
    });
    if (cost.needed < kWorthALine * cost.ideal) return;
    const auto warps = static_cast<double>(cost.warps);
    const LintCost of_request{cost.needed / warps, cost.ideal / warps};
    std::string problem =
        fmt::format("{:.3g} sectors a request instead of {:.3g}", of_request.found, of_request.possible);
    if (stride) {
      problem = fmt::format("up to {}: lanes are {} bytes apart", problem, stride_text(*stride));
    } else if (is_filled_by_neighbours(index, access, address, active)) {
      problem += "; accesses beside it use the rest of each: wider loads and stores would make fewer requests";
    } else {
      problem += apart_text(offsets, active);
    }
    log_.add(index, LintKind::sectors, Severity::note, std::move(problem), of_request);
  }

  /// Whether this access and those beside it together use three quarters of the sectors that it touches.
  bool is_filled_by_neighbours(int index, const Access& access, const AccessAddress& address,
                               const std::vector<bool>& active) const {
    const std::vector<std::size_t>& group = groups_.at(group_of(index, access, address));
    std::set<std::int64_t> touched;
    std::set<std::int64_t> used;
    const auto each_byte = [&](const PerThread& offsets, int bytes, const auto& function) {
      for (std::size_t thread = 0; thread < std::min<std::size_t>(active.size(), kLanes); ++thread) {
        if (!active[thread]) continue;
        for (int byte = 0; byte < bytes; ++byte) function(sum_of(offsets[thread], byte));
      }
    };
    each_byte(address.bytes.known(), access.bytes, [&](std::int64_t at) { touched.insert(at >> kSectorShift); });
    for (const std::size_t other : group) {
      const auto& [at, of, where] = all_[other];
      if (where.bytes.terms() != address.bytes.terms()) continue;
      each_byte(where.bytes.known(), of.bytes, [&](std::int64_t byte) {
        if (touched.contains(byte >> kSectorShift)) used.insert(byte);
      });
    }
    return static_cast<double>(used.size()) >= 0.75 * static_cast<double>(touched.size() * kBytesOfSector);
  }

  std::string stride_text(const ThreadValue::Term& stride) const {
    const std::string& name = values_.unknowns()[stride.unknown].name;
    const std::string what = name.empty() ? "a number that is not known" : name;
    const std::int64_t factor = difference_of(stride.factor[1], stride.factor[0]);
    return factor == 0 || factor == 1 ? what : fmt::format("{} * {}", factor, what);
  }

  static std::string apart_text(const PerThread& offsets, const std::vector<bool>& active) {
    const std::int64_t apart = difference_of(offsets[1], offsets[0]);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (lane >= active.size() || !active[lane]) return "";
      if (lane > 0 && difference_of(offsets[lane], offsets[lane - 1]) != apart) return "";
    }
    if (apart == 0) return "";
    return fmt::format(": lanes are {} bytes apart", magnitude_of(apart));
  }

  void look_at_banks(int index, const Access& access, const PerThread& offsets, const std::vector<bool>& active) {
    BlockCost cost;
    const auto count = [&](Addresses addresses, LaneMask mask) {
      if (mask == 0) return;
      fill_inactive(addresses, mask);
      const Wavefronts wavefronts =
          count_wavefronts(addresses, address_span(addresses), mask, access.bytes, access.kind);
      cost.needed += static_cast<double>(wavefronts.needed);
      cost.ideal += static_cast<double>(wavefronts.ideal);
    };
    for_each_warp(offsets, active, [&](const Addresses& addresses, LaneMask mask) {
      ++cost.warps;
      if (!access.is_matrix_row) {
        count(addresses, mask);
        return;
      }
      for (unsigned row = 0; row < kLanes; row += 8) count(addresses, mask & (LaneMask{0xff} << row));
    });
    if (cost.needed < kWorthALine * cost.ideal) return;
    const auto warps = static_cast<double>(cost.warps);
    const LintCost of_request{cost.needed / warps, cost.ideal / warps};
    log_.add(index, LintKind::banks, Severity::note,
             fmt::format("{:.3g} wavefronts a request instead of {:.3g}: bank conflicts{}", of_request.found,
                         of_request.possible, apart_text(offsets, active)),
             of_request);
  }

  /// Whether it is a fault.
  bool look_at_alignment(int index, const Access& access, const AccessAddress& address,
                         const std::vector<bool>& active) {
    const auto size = static_cast<std::uint64_t>(access.bytes);
    const std::uint64_t known = std::gcd(size, address.bytes.multiple(values_.unknowns()));
    if (address.bytes.terms().empty() || known <= 1) return false;
    for (std::size_t thread = 0; thread < active.size(); ++thread) {
      const std::int64_t offset = address.bytes.known()[thread];
      const auto beyond = static_cast<std::uint64_t>(offset) & (known - 1);
      if (!active[thread] || beyond == 0) continue;
      const PerThread beyond_of_each = address.bytes.known().mapped([known](std::int64_t one) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) & (known - 1));
      });
      const std::string who = beyond_of_each.is_same() ? "" : fmt::format(" for thread {}", thread_text(thread));
      const bool is_pointer = address.space == ptx::Space::global;
      log_.add(index, LintKind::alignment, Severity::finding,
               fmt::format("{} bytes at an address {} beyond a multiple of {}{}: a fault{}", access.bytes, beyond,
                           known, who, is_pointer ? ", where the pointer is as cudaMalloc gives it" : ""));
      return true;
    }
    if (!address.variable.empty() && known < size) {
      log_.add(index, LintKind::alignment, Severity::note,
               fmt::format("{} bytes in '{}', whose alignment is only {}: a fault unless it happens to lie better",
                           access.bytes, variable_text(address.variable), known));
    }
    return false;
  }

  std::string thread_text(std::size_t thread) const {
    const Dim3 block = values_.shape().threads;
    return fmt::format("({}, {}, {})", thread % block.x, thread / block.x % block.y,
                       thread / (std::size_t{block.x} * block.y));
  }

  void look_at_bounds(int index, const Access& access, const AccessAddress& address, const std::vector<bool>& active) {
    if (address.variable.empty() || address.space != ptx::Space::shared) return;
    const bool is_plain = address.bytes.terms().size() == 1 && address.bytes.terms().front().factor == PerThread(1);
    if (!is_plain || (!values_.shape().is_given && !address.bytes.known().is_same())) return;
    const ptx::Symbol* const variable = values_.find_symbol(address.variable);
    if (variable == nullptr) return;
    const std::uint64_t bytes = variable->bytes > 0 ? variable->bytes : settings_.dynamic_bytes.value_or(0);
    if (variable->bytes == 0 && !settings_.dynamic_bytes) return;
    // Nothing is said of threads that a condition may keep away.
    const Instruction& instruction = values_.kernel().instructions[static_cast<std::size_t>(index)];
    const bool may_be_kept_away =
        (instruction.predicate >= 0 && !values_.value(predicate_of(instruction), index).is_known()) ||
        std::ranges::any_of(values_.parting_branches(index),
                            [&](int branch) { return !values_.is_known_branch(branch); });
    if (may_be_kept_away) return;
    for (std::size_t thread = 0; thread < active.size(); ++thread) {
      if (!active[thread]) continue;
      const std::int64_t first = address.bytes.known()[thread];
      const std::int64_t end = sum_of(first, access.bytes);
      if (first >= 0 && end > first && static_cast<std::uint64_t>(end) <= bytes) continue;
      log_.add(index, LintKind::bounds, Severity::finding,
               fmt::format("bytes {} to {} of '{}', which has {}{}: thread {}", first, end - 1,
                           variable_text(address.variable), bytes, variable->bytes > 0 ? "" : " by the launch",
                           thread_text(thread)));
      return;
    }
  }

  static Operand predicate_of(const Instruction& instruction) {
    Operand predicate;
    predicate.kind = ptx::OperandKind::register_;
    predicate.index = instruction.predicate;
    return predicate;
  }

  /// The name in the source: "tile".
  static std::string variable_text(const std::string& variable) {
    const std::string name = display_name(variable);
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
  }

  void look_at_local(int index, const Access& access, const AccessAddress& address) {
    const bool is_constant =
        address.bytes.is_sum() && address.bytes.terms().size() == 1 && address.bytes.known().is_same();
    if (is_constant) return;  // ptxas may still put it into a register
    const ptx::Symbol* const variable = values_.find_symbol(address.variable);
    const std::string size = variable == nullptr ? "" : fmt::format(" of {} bytes a thread", variable->bytes);
    log_.add(
        index, LintKind::local_memory, Severity::note,
        fmt::format("an array{} in local memory, since its index is not known when it is compiled: {} bytes a warp "
                    "through the L1 instead of a register",
                    size, access.bytes * kLanes));
  }

  const KernelValues& values_;
  const LintSettings& settings_;
  LintLog& log_;
  LintedKernel& kernel_;
  std::vector<std::tuple<int, Access, AccessAddress>> all_;
  std::map<GroupKey, std::vector<std::size_t>> groups_;
};

}  // namespace

void find_access_lints(const KernelValues& values, const LintSettings& settings, LintLog& log, LintedKernel& kernel) {
  AccessLints(values, settings, log, kernel).find();
}

}  // namespace convladder::simulated

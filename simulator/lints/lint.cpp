#include "simulator/lints/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace convladder::simulated {
namespace {

BlockShape shape_for(const ptx::Kernel& kernel, const LintSettings& settings) {
  if (const auto& [x, y, z] = kernel.required_block; x > 0) {
    return {{static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)}, true};
  }
  const auto most_allowed = static_cast<std::uint64_t>(kernel.max_threads_per_block);
  if (settings.block) {
    const Dim3 block = *settings.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (most_allowed == 0 || threads <= most_allowed) return {block, true};
  }
  const auto reads = [&kernel](std::string_view name) {
    return std::ranges::any_of(kernel.instructions, [name](const ptx::Instruction& instruction) {
      return std::ranges::any_of(instruction.operands, [name](const ptx::Operand& operand) {
        return operand.kind == ptx::OperandKind::special && operand.name == name;
      });
    });
  };
  constexpr unsigned kUsualThreads = 256;
  const auto most = static_cast<unsigned>(most_allowed);
  const unsigned threads = most > 0 ? std::min(most, kUsualThreads) : kUsualThreads;
  if (reads("%tid.z") && threads % 128 == 0) return {{32, threads / 64, 2}, false};
  if ((reads("%tid.y") || reads("%tid.z")) && threads % 32 == 0) return {{32, threads / 32, 1}, false};
  return {{threads, 1, 1}, false};
}

}  // namespace

void LintLog::add(int instruction, LintKind kind, Severity severity, std::string problem,
                  std::optional<LintCost> cost) {
  const ptx::Instruction& at = values_.kernel().instructions[static_cast<std::size_t>(instruction)];
  Lint lint{.kind = kind, .severity = severity, .opcode = at.opcode, .ptx_line = at.position.line};
  lint.places = places_of(values_.module(), at.source);
  lint.loops = values_.flow().depth(values_.flow().block_of(instruction));
  lint.problem = std::move(problem);
  lint.cost = cost;
  const auto known = std::ranges::find_if(lints_, [&](const Lint& one) {
    const bool is_there = one.kind == lint.kind && one.severity == lint.severity && one.problem == lint.problem;
    return is_there && !lint.places.empty() && one.places == lint.places;
  });
  if (known == lints_.end()) {
    lints_.push_back(std::move(lint));
  } else {
    ++known->instructions;
    known->loops = std::max(known->loops, lint.loops);
  }
}

void LintLog::add_to_kernel(LintKind kind, Severity severity, std::string problem, std::optional<LintCost> cost) {
  Lint lint{.kind = kind, .severity = severity, .ptx_line = values_.kernel().position.line};
  lint.problem = std::move(problem);
  lint.cost = cost;
  lints_.push_back(std::move(lint));
}

std::vector<Lint> LintLog::take() {
  std::ranges::stable_sort(lints_, {}, [](const Lint& one) {
    const SourcePlace place = one.places.empty() ? SourcePlace{} : one.places.front();
    return std::tuple(one.severity, one.opcode.empty(), place.file, place.line, one.ptx_line);
  });
  return std::move(lints_);
}

std::string branch_text(const KernelValues& values, int block) {
  const int last = values.flow().blocks()[static_cast<std::size_t>(block)].end - 1;
  const ptx::Instruction& branch = values.kernel().instructions[static_cast<std::size_t>(last)];
  const std::vector<SourcePlace> places = places_of(values.module(), branch.source);
  return "the condition of " +
         (places.empty() ? fmt::format("PTX line {}", branch.position.line) : place_text(places.front()));
}

LintedKernel lint(const ptx::Module& module, const ptx::Kernel& kernel, const LintSettings& settings) {
  LintedKernel linted{.name = kernel.name, .shape = shape_for(kernel, settings)};
  constexpr std::size_t kMostInstructions = 200'000;
  if (kernel.instructions.size() > kMostInstructions) {
    linted.not_looked_at = fmt::format("{} instructions, of which at most {} are looked at", kernel.instructions.size(),
                                       kMostInstructions);
    return linted;
  }
  if (kernel.refusal) {
    linted.not_looked_at = fmt::format("PTX line {}: {}", kernel.refusal->position.line, kernel.refusal->what);
    return linted;
  }
  try {
    const KernelValues values(module, kernel, linted.shape);
    LintLog log(values);
    find_barrier_lints(values, log);
    find_access_lints(values, settings, log, linted);
    find_resource_lints(values, settings, log);
    linted.lints = log.take();
  } catch (const ptx::PtxError& error) {
    linted.not_looked_at = error.what();
  }
  return linted;
}

}  // namespace convladder::simulated

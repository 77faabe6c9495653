// Launches of mutants, and the mutants that kernels could have.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "simulator/device/launch_checks.hpp"
#include "simulator/device/mutant_trial.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/linking.hpp"

namespace convladder::simulated {
namespace {

using Effect = MutantOutcome::Effect;

/// The host's time for comparing, after which launches are no longer compared.
constexpr double kMostSeconds = 60;

/// Whether the kernel may ask the device for memory or for launches: it cannot run twice.
bool asks_the_device(const ptx::Kernel& kernel) {
  return std::ranges::any_of(kernel.instructions, [](const ptx::Instruction& one) {
    if (!ptx::is_call(one) || one.operands.empty()) return false;
    const std::string& name = one.operands.front().name;
    return ptx::is_provided(name) && name != "vprintf" && name != "__assertfail";
  });
}

/// A mutant's counts as counts of the kernel's instructions: those that a mutation adds have the place of one of these.
std::vector<InstructionCounters> counts_of_kernel(const Program& program, const Program& mutant,
                                                  const std::vector<InstructionCounters>& counts) {
  const std::vector<ptx::Instruction>& own = program.kernel->instructions;
  const std::vector<ptx::Instruction>& others = mutant.kernel->instructions;
  std::vector<InstructionCounters> mapped(own.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < std::min(others.size(), counts.size()); ++i) {
    if (at < own.size() && !(others[i].position == own[at].position)) ++at;
    if (at < own.size()) mapped[at] = counts[i];
  }
  return mapped;
}

}  // namespace

void HostReads::add(const std::byte* bytes, std::size_t count) {
  bytes_ += count;
  for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, count - at));
    hash_ = std::rotl((hash_ ^ word) * 0x9e3779b97f4a7c15U, 29);
  }
}

std::string HostReads::text(bool sees_memory_itself) const {
  return sees_memory_itself ? "" : fmt::format("{} bytes, {:016x}", bytes_, hash_);
}

struct SimulatedDevice::Mutant {
  Program program;
  MutationKind kind = MutationKind::stale;
  std::optional<ValueType> stored;  ///< by the kernel: the floats that it writes
  std::string not_compared;         ///< why launches cannot be compared; empty: they can
};

const SimulatedDevice::Mutant* SimulatedDevice::mutant_of(const Program& program) {
  if (!options_.mutants.has_one() || program.kernel->name != options_.mutants.kernel) return nullptr;
  const auto [known, is_new] = mutants_.try_emplace(&program, nullptr);
  if (!is_new) return known->second.get();
  const ptx::Module& module = *program.module;
  const ptx::Kernel& kernel = *module.find_kernel(program.kernel->name);
  const std::vector<Mutation> all = mutations_of(module, kernel);
  const auto meant =
      std::ranges::find_if(all, [&](const Mutation& one) { return one.id(kernel) == options_.mutants.id; });
  if (meant == all.end()) return nullptr;
  const auto address_of = [&](const ptx::Symbol& symbol) { return place(module, symbol); };
  try {
    auto mutant = std::make_shared<Mutant>();
    mutant->kind = meant->kind;
    mutant->program = decode(module, kernel, address_of, &*meant);
    mutant->program.tensor_cores = options_.tensor_cores;
    if (!program.calls_functions()) mutant->stored = stored_type(kernel);
    if (mutant->stored == ValueType::whole) mutant->stored.reset();
    if (asks_the_device(*program.kernel)) mutant->not_compared = "it launches kernels, or allocates memory";
    if (reads_clock(*program.kernel)) mutant->not_compared = "it reads a clock, which goes on in another way";
    known->second = std::move(mutant);
  } catch (const ptx::PtxError& error) {
    mutant_outcome_.found(Effect::not_known, fmt::format("the mutant cannot run: {}", error.what()));
  }
  return known->second.get();
}

LaunchResult SimulatedDevice::run_or_mutant(const Program& program, const LaunchConfiguration& configuration) {
  const Mutant* const mutant = mutant_of(program);
  if (mutant == nullptr) {
    LaunchResult result = run_in_order(program, configuration);
    if (options_.mutants.lists) note_executions(program, result);
    return result;
  }
  const MutationKind kind = mutant->kind;
  ++mutant_outcome_.launches;
  const bool does_nothing = kind == MutationKind::stale && mutant_outcome_.launches > 1;
  const auto run_it = [&] {
    if (!does_nothing) return run_in_order(mutant->program, configuration);
    LaunchResult result;
    result.counters.resize(mutant->program.kernel->instructions.size());
    result.blocks = configuration.grid.count();
    return result;
  };
  LaunchResult result;
  if (mutant_outcome_.is_decided() || (kind == MutationKind::stale && !does_nothing)) {
    result = run_it();
  } else if (configuration.window.count > 0 || configuration.sample.count > 0) {
    mutant_outcome_.found(Effect::not_known, "only some of its blocks run");
    result = run_it();
  } else if (!mutant->not_compared.empty()) {
    mutant_outcome_.found(Effect::not_known, mutant->not_compared);
    result = run_it();
  } else if (mutant_outcome_.seconds > kMostSeconds) {
    mutant_outcome_.found(Effect::not_known, "the launches after that were not compared: it took too long");
    result = run_it();
  } else {
    const auto begin = std::chrono::steady_clock::now();
    MutantTrial trial(program, mutant->program, memory_, configuration, may_be_written_by(program, configuration),
                      mutant->stored);
    const std::uint64_t orders = is_about_order(kind) ? options_.mutants.orders : 0;
    result = trial.compare(run_it, orders, mutant_outcome_);
    mutant_outcome_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  result.counters = counts_of_kernel(program, mutant->program, result.counters);
  return result;
}

void SimulatedDevice::note_executions(const Program& program, const LaunchResult& result) {
  Executions& known = executions_[program.kernel->name];
  if (known.mutants.empty()) {
    known.instructions = result.counters.size();
    const ptx::Module& module = *program.module;
    const ptx::Kernel& kernel = *module.find_kernel(program.kernel->name);
    for (const Mutation& mutation : mutations_of(module, kernel)) {
      const ptx::Kernel* body = &kernel;
      int first = 0;
      if (mutation.body != kernel.name) {
        const auto name = [](const ptx::LinkedFunction& one) { return one.function->name; };
        const auto function = std::ranges::find(program.linked->functions, mutation.body, name);
        body = function->function;
        first = function->first;
      }
      PossibleMutant& one = known.mutants.emplace_back();
      one.id = mutation.id(kernel);
      one.kind = mutation.kind;
      one.places = places_of(module, *body, mutation);
      one.instructions = static_cast<int>(mutation.instructions.size());
      one.ptx_line = kernel.position.line;
      if (!mutation.instructions.empty()) {
        one.ptx_line = body->instructions[static_cast<std::size_t>(mutation.instructions.front())].position.line;
      }
      std::vector<std::size_t>& its = known.of_mutant.emplace_back();
      for (const int index : mutation.instructions) its.push_back(static_cast<std::size_t>(first + index));
    }
  }
  // Another kernel of the same name, or the same one loaded once more.
  if (known.program == nullptr && known.instructions == result.counters.size()) known.program = &program;
  if (known.program != &program) return;
  ++known.launches;
  for (std::size_t i = 0; i < known.mutants.size(); ++i) {
    PossibleMutant& one = known.mutants[i];
    for (const std::size_t index : known.of_mutant[i]) one.executions += result.counters[index].warps;
    if (known.of_mutant[i].empty()) one.executions = known.launches - (one.kind == MutationKind::stale ? 1 : 0);
  }
}

MutantsSeen SimulatedDevice::take_mutants() {
  MutantsSeen seen{.outcome = mutant_outcome_, .host_reads = host_reads_.text(has_visible_memory_)};
  for (auto& [name, executions] : std::exchange(executions_, {})) {
    seen.possible.emplace(name, std::move(executions.mutants));
  }
  return seen;
}

}  // namespace convladder::simulated

#include "simulator/device/mutant_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/device/other_orders.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

using Effect = MutantOutcome::Effect;

/// A number of 16 to 64 bits as a double.
double number_at(const std::byte* at, ValueType type) {
  const auto as = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case ValueType::float16:
      return to_float(Half{as(std::uint16_t{})});
    case ValueType::bfloat16:
      return to_float(Bfloat16{as(std::uint16_t{})});
    case ValueType::float64:
      return as(double{});
    default:
      return as(float{});
  }
}

/// The differences that another order of sums, or a fused product, makes: of each number, and of the largest one.
struct RoundingLimits {
  double of_number = 0;
  double of_largest = 0;
};

RoundingLimits limits_of(ValueType type) {
  if (type == ValueType::float64) return {1e-10, 1e-12};
  if (type == ValueType::float32) return {1e-4, 1e-6};
  return type == ValueType::float16 ? RoundingLimits{1e-2, 1e-3} : RoundingLimits{5e-2, 1e-2};
}

/// Whether numbers differ by no more than rounding makes them; NaN is not such a number.
bool is_rounding(std::span<const std::byte> were, const std::byte* are, ValueType type) {
  const std::size_t bytes = type == ValueType::float64 ? 8 : type == ValueType::float32 ? 4 : 2;
  const RoundingLimits limits = limits_of(type);
  double largest = 0;
  for (std::size_t at = 0; at + bytes <= were.size(); at += bytes) {
    const double size = std::abs(number_at(&were[at], type));
    if (size <= std::numeric_limits<double>::max()) largest = std::max(largest, size);
  }
  for (std::size_t at = 0; at + bytes <= were.size(); at += bytes) {
    if (std::memcmp(&were[at], are + at, bytes) == 0) continue;
    const double was = number_at(&were[at], type);
    const double difference = std::abs(number_at(are + at, type) - was);
    if (!(difference <= limits.of_number * std::abs(was) + limits.of_largest * largest)) return false;
  }
  return true;
}

/// "512 of 4096 bytes of 'out'", for the first piece of memory.
std::string difference_text(const LaunchMemory::Difference& difference) {
  const auto& [piece, bytes] = *difference.of_piece.begin();
  std::string text =
      fmt::format("{} of {} bytes of '{}'", bytes, piece->contents[LaunchMemory::before].size(), piece->label);
  if (difference.of_piece.size() > 1) text += fmt::format(" and some of {} more", difference.of_piece.size() - 1);
  return text;
}

}  // namespace

MutantTrial::MutantTrial(const Program& program, const Program& mutant, DeviceMemory& memory,
                         LaunchConfiguration configuration, const std::vector<std::uint64_t>& written,
                         std::optional<ValueType> stored)
    : program_(program),
      mutant_(mutant),
      memory_(memory),
      configuration_(std::move(configuration)),
      kept_(memory, written),
      stored_(stored) {
  configuration_.is_counted = false;
  configuration_.with_caches = false;
  configuration_.collect_findings = true;
}

LaunchResult MutantTrial::run_aside(const Program& program, bool looks_for_races) const {
  std::optional<RaceChecker> race;
  const MakeObservers make = [&](FindingLog& findings) {
    const auto written = written_allocations(program, configuration_.parameters, memory_);
    return std::vector<AccessObserver*>{&race.emplace(program, written, findings)};
  };
  return run_again(program, memory_, configuration_, looks_for_races ? make : nullptr);
}

LaunchResult MutantTrial::compare(const std::function<LaunchResult()>& run, std::uint64_t orders,
                                  MutantOutcome& outcome) {
  if (!kept_.why_not_kept().empty()) {
    outcome.found(Effect::not_known, kept_.why_not_kept());
    return run();
  }
  const LaunchResult usual = run_aside(program_, false);
  kept_.keep(LaunchMemory::after);
  kept_.restore(LaunchMemory::before);
  if (!usual.stopped.empty()) {
    outcome.found(Effect::not_known, "the kernel itself was ended " + usual.stopped);
    return run();
  }
  LaunchResult result;
  try {
    result = run();
  } catch (const KernelFault& fault) {
    outcome.found(Effect::fault, fault.finding.problem.empty() ? fault.what() : fault.finding.problem);
    throw;
  }
  if (!result.stopped.empty()) {
    outcome.found(Effect::fault, "it was ended " + result.stopped);
  } else if (const auto difference = kept_.difference_to(LaunchMemory::after)) {
    const bool is_small = std::ranges::all_of(difference->of_piece, [&](const auto& piece) {
      return stored_ &&
             is_rounding(piece.first->contents[LaunchMemory::after], memory_.host(piece.first->begin), *stored_);
    });
    if (!is_small) {
      outcome.found(Effect::results, difference_text(*difference));
    } else if (outcome.effect != Effect::rounding) {
      outcome.found(Effect::rounding, difference_text(*difference));
    }
  } else if (result.printed != usual.printed) {
    outcome.found(Effect::results, "it prints something else");
  } else if (orders > 0) {
    try_orders(orders, result, outcome);
    if (!outcome.is_decided()) look_for_findings(outcome);
  }
  return result;
}

void MutantTrial::try_orders(std::uint64_t orders, const LaunchResult& usual, MutantOutcome& outcome) {
  const SchedulesWanted wanted{.count = orders};
  OtherOrders of_mutant(mutant_, memory_, configuration_, kept_);
  const auto seed = of_mutant.first_other(wanted, usual);
  if (!seed) return;
  if (OtherOrders(program_, memory_, configuration_, kept_).first_other(wanted, usual)) {
    outcome.found(Effect::not_known, "the results of the kernel itself depend on the order of its work");
    return;
  }
  of_mutant.leave_as(*seed);
  const auto difference = kept_.difference_to(LaunchMemory::after);
  outcome.found(Effect::order, fmt::format("in the order of seed {}: {}", *seed,
                                           difference ? difference_text(*difference) : "a fault"));
}

/// Looks for findings in the mutant that are not there in the kernel. Memory is afterwards as before.
void MutantTrial::look_for_findings(MutantOutcome& outcome) {
  const auto found_in = [&](const Program& program) {
    kept_.restore(LaunchMemory::before);
    return run_aside(program, true).findings.findings();
  };
  const std::vector<Finding> of_kernel = found_in(program_);
  const std::vector<Finding> of_mutant = found_in(mutant_);
  kept_.restore(LaunchMemory::after);
  if (outcome.effect != Effect::none) return;
  for (const Finding& finding : of_mutant) {
    const auto same = [&finding](const Finding& one) { return are_of_one_statement(one, finding); };
    if (finding.severity == Severity::note || std::ranges::any_of(of_kernel, same)) continue;
    outcome.found(Effect::finding, fmt::format("{}: {}", checker_name(finding.checker), finding.problem));
    return;
  }
}

}  // namespace convladder::simulated

// What a counted stage asks of a GPU, one resource at a time, and which part of its predicted time each of them is.
//
// The time model (simulator/gpus/time_model.hpp) gives a time for each unit of the GPU. Here that time is shared out to
// what the unit was asked for, so that two stages can be compared by what matters and not by what changed most.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "harness/measure/records/case_figures.hpp"

namespace convladder {

enum class Need {
  instructions,
  fp32,
  tensor,
  shared,
  global_loads,
  global_stores,
  local,
  asynchronous,
  atomics,
  l2_reads,
  dram
};
constexpr std::size_t kNeeds = 11;

/// How a need is spoken of.
struct NeedWords {
  const char* does;    ///< "executes"
  const char* what;    ///< "instructions"
  const char* begins;  ///< of a stage that has some where the one below has none: "now also uses shared memory"
  const char* part;    ///< as part of what a unit does: "shared memory"
};
const NeedWords& words_of(Need need);

struct StepNeeds {
  std::array<double, kNeeds> counts{};
  std::array<Range, kNeeds> ns{};  ///< of the predicted time; all 0 without a prediction
  double conflicts = 0;            ///< passes through shared memory that bank conflicts cost
  double longest_low = 0;          ///< ns of the term that binds
  double longest_high = 0;

  double count(Need need) const { return counts[static_cast<std::size_t>(need)]; }
  const Range& cost(Need need) const { return ns[static_cast<std::size_t>(need)]; }
  bool predicted() const { return longest_low > 0 && longest_high > 0; }
};

/// `prediction` is that of `gpu`, or null: then there are counts only.
StepNeeds needs_of(const RecordedCounters& counted, const PredictedFigure* prediction, const GpuFacts* gpu);

/// What most of a unit's time goes to, of those of its needs that have one: "shared memory"; two of them where
/// none is most of it, empty where the unit does one thing only.
std::string main_part(const RecordedCounters& counted, const GpuFacts& gpu, TimeTerm term, bool optimistic);

}  // namespace convladder

// The needs of a counted stage on a GPU, one resource at a time, and which part of its predicted time each of them
// takes.
//
// The time model (simulator/gpus/time_model.hpp) gives a time for each unit of the GPU. Here that time is divided among
// the unit's tasks, so that two stages can be compared by what matters and not by what changed most.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "harness/measure/records/recorded_case.hpp"

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

/// The words for a need.
struct NeedWords {
  const char* does;    ///< "executes"
  const char* what;    ///< "instructions"
  const char* begins;  ///< for a stage that has some where the one below has none: "now also uses shared memory"
  const char* part;    ///< as part of a unit's work: "shared memory"
};
const NeedWords& words_of(Need need);

/// The counters of a need, by Nsight Compute's names.
struct NeedCounters {
  std::vector<const char*> names;  ///< added up
  bool is_modelled = false;        ///< by the model of caches, which knows no lines
};
const NeedCounters& counters_of(Need need);
/// The passes through shared memory that conflicts between its banks cost.
const NeedCounters& conflict_counters();

struct StepNeeds {
  std::array<double, kNeeds> counts{};
  std::array<Range, kNeeds> ns{};  ///< parts of the predicted time; all 0 without a prediction
  double conflicts = 0;            ///< passes through shared memory that bank conflicts cost
  double longest_low = 0;          ///< ns of the term that binds
  double longest_high = 0;

  double count(Need need) const { return counts[static_cast<std::size_t>(need)]; }
  const Range& cost(Need need) const { return ns[static_cast<std::size_t>(need)]; }
  bool predicted() const { return longest_low > 0 && longest_high > 0; }
};

/// The needs of a stage. `prediction` is that for `gpu`, or null: then there are only counts.
StepNeeds needs_of(const CaseCounters& counted, const PredictedFigure* prediction, const GpuFacts* gpu);

/// The need that takes most of a unit's time, among those that have a word for it: "shared memory"; two of them where
/// none takes most of it, empty where the unit does only one thing.
std::string main_part(const CaseCounters& counted, const GpuFacts& gpu, TimeTerm term, bool optimistic);

}  // namespace convladder

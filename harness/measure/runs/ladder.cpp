#include "harness/measure/runs/ladder.hpp"

#include <algorithm>
#include <map>

#include "harness/measure/cases/case_session.hpp"

namespace convladder {
namespace {

/// Median time of the convolution alone in a layout of its own; none for a case that works in NCHW.
std::optional<double> op_median(const RecordedCase& one_case) {
  return one_case.time && one_case.time->of == time_of::kOp ? std::optional(one_case.time->median) : std::nullopt;
}

/// The cases of one ladder, in ladder order.
using Rungs = std::vector<const RecordedCase*>;

std::optional<double> layer_median_of(const Rungs& rungs, const std::string& variant) {
  const auto found = std::ranges::find(rungs, variant, &RecordedCase::variant);
  return found == rungs.end() ? std::nullopt : layer_median(**found);
}

/// The time of the fastest library, by its layer time or by its op time, among those that are at least as accurate as
/// the case: a library in tf32 is no ceiling for a stage in fp32.
std::optional<double> fastest_library(const Rungs& rungs, const RecordedCase& compared,
                                      std::optional<double> (*time_of_case)(const RecordedCase&)) {
  std::optional<double> fastest;
  for (const RecordedCase* one_case : rungs) {
    if (one_case->rung || one_case->tolerance > compared.tolerance) continue;
    const std::optional<double> time = time_of_case(*one_case);
    if (time && (!fastest || *time < *fastest)) fastest = time;
  }
  return fastest;
}

LadderRow row_of(const RecordedCase& one_case, const Rungs& rungs, const RecordedVariant& variant,
                 const std::optional<Floor>& floor) {
  const std::optional<double> layer = layer_median(one_case);
  const RecordedCase& lowest = *rungs.front();
  return {
      .of = &one_case,
      .title = variant.title.empty() ? variant.name : variant.title,
      .builds_on = variant.builds_on,
      .gflop_per_s = one_case.time ? ratio(one_case.flop, one_case.time->median) : std::nullopt,
      .layer_median = layer,
      .x_previous = variant.builds_on.empty() ? std::nullopt : ratio(layer_median_of(rungs, variant.builds_on), layer),
      .x_baseline = lowest.rung ? ratio(layer_median(lowest), layer) : std::nullopt,
      .percent_of_library = ratio(fastest_library(rungs, one_case, layer_median), layer, 100),
      .percent_of_library_op = ratio(fastest_library(rungs, one_case, op_median), layer, 100),
      .percent_of_floor = floor ? ratio(floor->value(), layer, 100) : std::nullopt,
      .roofline = case_roofline_of(floor, layer)};
}

/// The place of the case's variant among these, which are in ladder order.
std::size_t rank_of(const RecordedCase& one_case, const std::vector<RecordedVariant>& variants) {
  const auto found = std::ranges::find_if(variants, [&one_case](const RecordedVariant& variant) {
    return variant.family == one_case.family && variant.name == one_case.variant;
  });
  return static_cast<std::size_t>(found - variants.begin());
}

Ladder ladder_of(const Rungs& rungs, const std::vector<RecordedVariant>& variants, const Ceilings& ceilings) {
  const RecordedCase& first = *rungs.front();
  Ladder ladder;
  if (first.size) ladder.floor = floor_of(*first.size, first.device, ceilings);
  for (const RecordedCase* one_case : rungs) {
    ladder.rows.push_back(row_of(*one_case, rungs, variants.at(rank_of(*one_case, variants)), ladder.floor));
  }
  return ladder;
}

}  // namespace

const TimeFigure* layer_time(const RecordedCase& one_case) {
  if (!one_case.time) return nullptr;
  if (one_case.time->of == time_of::kLayer) return &*one_case.time;
  for (const TimeFigure& other : one_case.other_times) {
    if (other.of == time_of::kLayer && other.is_hot()) return &other;
  }
  return nullptr;
}

std::optional<double> layer_median(const RecordedCase& one_case) {
  const TimeFigure* const time = layer_time(one_case);
  return time == nullptr ? std::nullopt : std::optional(time->median);
}

std::optional<bool> intervals_overlap(const RecordedCase& one, const RecordedCase& other) {
  const TimeFigure* const a = layer_time(one);
  const TimeFigure* const b = layer_time(other);
  if (a == nullptr || b == nullptr || !a->low || !a->high || !b->low || !b->high) return std::nullopt;
  return *a->low <= *b->high && *b->low <= *a->high;
}

std::vector<Ladder> ladders_of(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
                               const Ceilings& ceilings) {
  std::vector<Rungs> by_number;
  std::map<decltype(cases.front().place()), std::size_t> numbers;
  for (const RecordedCase& one_case : cases) {
    if (one_case.counters) continue;             // counted, not timed: there is nothing to compare by time
    if (!one_case.leaves_out.empty()) continue;  // beside the ladder: harness/measure/runs/leave_one_out.hpp
    const auto [place, is_new] = numbers.emplace(one_case.place(), by_number.size());
    if (is_new) by_number.emplace_back();
    by_number[place->second].push_back(&one_case);
  }
  std::vector<Ladder> ladders;
  for (Rungs& rungs : by_number) {  // cases are recorded in the order in which they end
    std::ranges::stable_sort(rungs, {}, [&](const RecordedCase* one_case) { return rank_of(*one_case, variants); });
    ladders.push_back(ladder_of(rungs, variants, ceilings));
  }
  return ladders;
}

const char* kind_of(const Ladder& ladder) {
  const bool predicted =
      std::ranges::any_of(ladder.rows, [](const LadderRow& row) { return row.of->time && row.of->time->is_predicted; });
  return predicted ? "predicted" : "measured";
}

}  // namespace convladder

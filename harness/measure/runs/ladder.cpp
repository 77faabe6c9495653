#include "harness/measure/runs/ladder.hpp"

#include <algorithm>
#include <map>

namespace convladder {
namespace {

/// The cases of one ladder, in ladder order.
using Rungs = std::vector<const RecordedCase*>;

std::optional<Ratio> speedup(const RecordedCase* over, const RecordedCase& one_case) {
  return over == nullptr ? std::nullopt : layer_ratio(*over, one_case);
}

const RecordedCase* of_variant(const Rungs& rungs, const std::string& variant) {
  const auto found = std::ranges::find(rungs, variant, &RecordedCase::variant);
  return found == rungs.end() ? nullptr : *found;
}

/// The fastest library among those that are at least as accurate as the case: a library in tf32 is no ceiling for a
/// stage in fp32. Null without one.
const RecordedCase* fastest_library(const Rungs& rungs, const RecordedCase& compared) {
  const RecordedCase* fastest = nullptr;
  for (const RecordedCase* one_case : rungs) {
    const TimeFigure* const time = one_case->layer_time();
    if (one_case->rung || one_case->tolerance > compared.tolerance || time == nullptr) continue;
    if (fastest == nullptr || time->median < fastest->layer_time()->median) fastest = one_case;
  }
  return fastest;
}

LadderRow row_of(const RecordedCase& one_case, const Rungs& rungs, const RecordedVariant& variant,
                 const std::optional<Floor>& floor) {
  const TimeFigure* const time = one_case.layer_time();
  const std::optional<double> layer_ns = time == nullptr ? std::nullopt : std::optional(time->median);
  const RecordedCase& lowest = *rungs.front();
  const std::optional<Ratio> of_library = speedup(fastest_library(rungs, one_case), one_case);
  return {
      .of = &one_case,
      .title = variant.title.empty() ? variant.name : variant.title,
      .builds_on = variant.builds_on,
      .time = time,
      .gflop_per_s = ratio(one_case.flop, layer_ns),
      .x_previous = variant.builds_on.empty() ? std::nullopt : speedup(of_variant(rungs, variant.builds_on), one_case),
      .x_baseline = lowest.rung ? speedup(&lowest, one_case) : std::nullopt,
      .percent_of_library = of_library ? std::optional(of_library->times(100)) : std::nullopt,
      .percent_of_floor = floor ? percent_of_floor(*floor, one_case) : std::nullopt,
      .roofline = case_roofline_of(floor, layer_ns)};
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
  const std::optional<LeastWork> work = first.size ? std::optional(least_work_of(*first.size)) : first.least_work;
  if (work) ladder.floor = floor_of(*work, first.device, ceilings);
  for (const RecordedCase* one_case : rungs) {
    ladder.rows.push_back(row_of(*one_case, rungs, variants.at(rank_of(*one_case, variants)), ladder.floor));
  }
  return ladder;
}

}  // namespace

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
  const bool predicted = std::ranges::any_of(
      ladder.rows, [](const LadderRow& row) { return row.time != nullptr && row.time->is_predicted; });
  return predicted ? "predicted" : "measured";
}

}  // namespace convladder

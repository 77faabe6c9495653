#include "harness/judge/ranking/rank_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/measure/statistics/ratio.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

/// The figure that tables show for a case: nanoseconds or cycles.
std::optional<double> figure_of(const RankCase& one, const std::string& figures, bool has_samples) {
  if (one.status != Status::ok) return std::nullopt;
  if (has_samples) return one.samples.empty() ? std::nullopt : std::optional(median(one.samples));
  if (figures == "counted") return one.cycles;
  if (!one.predicted) return std::nullopt;
  return std::sqrt(one.predicted->low * one.predicted->high);
}

/// The speed on one size, relative to the baseline's time: the one measured beside it, otherwise that of the baseline's
/// case.
RankedSize size_of(const RankCase& one, const RankCase* baseline, const std::string& figures, bool has_samples,
                   double level) {
  RankedSize size;
  size.figure = figure_of(one, figures, has_samples);
  if (!size.figure) return size;
  if (has_samples) {
    const std::vector<double>& beside = one.beside.empty() ? one.samples : one.beside;  // the baseline is beside itself
    const std::optional<LogInterval> speed = paired_log_ratio(beside, one.samples, level);
    if (!speed) return size;
    size.speed = LogSpeed{speed->estimate, speed->low, speed->high};
    size.level = speed->level;
    size.rounds = static_cast<int>(std::min(beside.size(), one.samples.size()));
    size.baseline_figure = median(beside);
    return size;
  }
  size.baseline_figure = baseline == nullptr ? std::nullopt : figure_of(*baseline, figures, false);
  if (!size.baseline_figure) return size;
  if (figures == "counted") {
    const double log = std::log(*size.baseline_figure / *size.figure);
    size.speed = LogSpeed{log, log, log};
  } else {
    size.speed = modelled_speed(*baseline->predicted, *one.predicted);
  }
  return size;
}

const RankCase* find_case(const RankCases& cases, const RankEntry& entry, std::size_t size) {
  if (size >= entry.cases.size()) return nullptr;
  const auto found = cases.find(entry.cases[size].id);
  return found == cases.end() ? nullptr : &found->second;
}

/// Sets the row's status: that of the first failure, or without one, that of the first size that was not run.
void take_status(RankRow& row, const RankingPlan& plan, const RankCases& cases) {
  const RankEntry& entry = *row.entry;
  if (!entry.broken.empty()) {
    row.status = Status::does_not_compile;
    row.reason = entry.broken;
    return;
  }
  std::size_t missing = 0;
  for (const bool failures : {true, false}) {
    for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
      const RankCase* const one = find_case(cases, entry, i);
      if (one == nullptr) continue;
      if (one->status == Status::ok || is_failure(one->status) != failures) continue;
      if (++missing > 1) continue;
      row.status = one->status;
      row.reason = plan.sizes.size() > 1 ? fmt::format("{}: {}", plan.sizes[i].layer, one->reason) : one->reason;
    }
    if (missing > 0) return;
  }
}

}  // namespace

RankResult result_of(const RankingPlan& plan, const std::optional<RankBaseline>& baseline, const RankCases& cases,
                     double tau) {
  RankResult result;
  result.plan = &plan;
  result.figures = baseline ? baseline->figures : plan.figures();
  if (baseline) {
    const auto& entries = baseline->role == RankRole::submission ? plan.submissions : plan.own;
    result.baseline = &entries[baseline->entry];
  }
  const double level = level_of_each(kRankLevel, plan.sizes.size());
  std::vector<RankRow> rows;
  std::vector<Contender> contenders;
  std::map<std::string, std::string> seen;  // by content, the submission that had it first
  for (const RankEntry& entry : plan.submissions) {
    RankRow row;
    row.entry = &entry;
    row.is_baseline = &entry == result.baseline;
    take_status(row, plan, cases);
    if (!entry.content.empty()) {
      const auto [first, is_new] = seen.try_emplace(entry.content, entry.name);
      if (!is_new) row.same_as = first->second;
    }
    Contender contender{.name = entry.name, .sizes = {}, .has_failed = is_failure(row.status)};
    for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
      const RankCase* const one = find_case(cases, entry, i);
      const RankCase* const beside = result.baseline == nullptr ? nullptr : find_case(cases, *result.baseline, i);
      row.sizes.push_back(one == nullptr || result.baseline == nullptr
                              ? RankedSize()
                              : size_of(*one, beside, result.figures, plan.has_clock, level));
      contender.sizes.push_back(row.sizes.back().speed);
    }
    rows.push_back(std::move(row));
    contenders.push_back(std::move(contender));
  }
  for (const RankedContender& one : ranked(contenders, tau)) {
    RankRow& row = rows[one.contender];
    row.rank = one.rank;
    row.shares_rank = one.shares_rank;
    row.speed = one.speed;
    result.rows.push_back(std::move(row));
  }
  if (result.baseline == nullptr || result.baseline->role == RankRole::submission) return result;
  // Adds a line for the baseline, where it belongs.
  RankRow row;
  row.entry = result.baseline;
  row.is_baseline = true;
  row.speed = LogSpeed{};
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const RankCase* const own = find_case(cases, *result.baseline, i);
    RankedSize size;
    if (own != nullptr) size.figure = size.baseline_figure = figure_of(*own, result.figures, plan.has_clock);
    size.speed = LogSpeed{};
    row.sizes.push_back(size);
  }
  const auto slower = std::ranges::find_if(
      result.rows, [](const RankRow& other) { return !other.rank || !(other.speed->estimate > 0); });
  result.rows.insert(slower, std::move(row));
  return result;
}

}  // namespace convladder

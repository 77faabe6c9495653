#include "harness/measure/records/time_ratio.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace convladder {
namespace {

int round_of(const TimeFigure& time, std::size_t sample) {
  return time.rounds.empty() ? static_cast<int>(sample) : time.rounds[sample];
}

/// The samples of the rounds that both have.
std::pair<std::vector<double>, std::vector<double>> side_by_side(const TimeFigure& one, const TimeFigure& other) {
  std::pair<std::vector<double>, std::vector<double>> both;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < one.samples.size() && j < other.samples.size()) {
    const int of_one = round_of(one, i);
    const int of_other = round_of(other, j);
    if (of_one == of_other) {
      both.first.push_back(one.samples[i]);
      both.second.push_back(other.samples[j]);
    }
    if (of_one <= of_other) ++i;
    if (of_other <= of_one) ++j;
  }
  return both;
}

}  // namespace

KnownFigure known_time(const TimeFigure& time, double level) {
  if (time.samples.size() < 2) return {.value = time.median, .low = time.low, .high = time.high, .level = time.level};
  return median_in_time(time.samples, level);
}

std::optional<Ratio> ratio_of_times(const TimeFigure* over, const TimeFigure* under) {
  if (over == nullptr || under == nullptr || !(under->median > 0)) return std::nullopt;
  if (over == under) return kOverItself;
  std::optional<Ratio> ratio;
  if (!over->wave.empty() && over->wave == under->wave) {
    const auto [numerators, denominators] = side_by_side(*over, *under);
    const std::optional<LogInterval> logs = paired_log_ratio(numerators, denominators, kRatioLevel);
    if (logs && logs->level > 0) ratio = ratio_by_rounds(over->median / under->median, *logs);
  }
  if (!ratio) ratio = ratio_by_medians(known_time(*over, kLevelOfEach), known_time(*under, kLevelOfEach));
  const bool is_measured = !over->is_predicted || !under->is_predicted;  // a virtual clock has no other runs
  return ratio && is_measured ? ratio->from_run_to_run() : ratio;
}

std::optional<Ratio> layer_ratio(const RecordedCase& over, const RecordedCase& under) {
  return ratio_of_times(over.layer_time(), under.layer_time());
}

std::string why_no_headline(const Ratio& ratio, const RecordedCase& one, const RecordedCase& other) {
  for (const RecordedCase* const of : {&one, &other}) {
    if (!of->quality || of->quality->mark != QualityMark::disturbed) continue;
    return fmt::format("{} was {}", of->variant, of->disturbance());
  }
  if (ratio.is_known()) return {};
  return ratio.half_width() ? fmt::format("known only to a factor of {:.2g}", *ratio.high / *ratio.low)
                            : "nothing is known of its noise";
}

std::optional<Ratio> percent_of_floor(const Floor& floor, const RecordedCase& one_case) {
  const TimeFigure* const time = one_case.layer_time();
  if (time == nullptr) return std::nullopt;
  const std::optional<Ratio> share = ratio_by_medians(floor.known, known_time(*time, kLevelOfEach));
  return share ? std::optional(share->times(100).from_run_to_run()) : std::nullopt;
}

std::optional<Ratio> predicted_ratio(const PredictedFigure* over, const PredictedFigure* under) {
  if (over == nullptr || under == nullptr || !over->runs() || !under->runs()) return std::nullopt;
  return ratio_by_ranges(*over->low_ns, *over->high_ns, *under->low_ns, *under->high_ns);
}

}  // namespace convladder

// Ratios of recorded times. Where two cases were sampled side by side their ratio comes from the rounds that both have;
// otherwise from both medians' intervals.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/cases/floor.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/ratio.hpp"

namespace convladder {

/// The ratio of the medians of two times; none where one is null. A time is 1 times itself.
std::optional<Ratio> ratio_of_times(const TimeFigure* over, const TimeFigure* under);
/// As `ratio_of_times`, of layer times: how many times as fast `under` is.
std::optional<Ratio> layer_ratio(const RecordedCase& over, const RecordedCase& under);

/// Why no headline is made of a ratio of these cases' times: one of them was disturbed, or the interval is too wide.
/// "known only to a factor of 2.7". Empty if one is made.
std::string why_no_headline(const Ratio& ratio, const RecordedCase& one, const RecordedCase& other);

/// The median of a time, with an interval that allows for samples which depend on their neighbours, at `level`; with
/// the recorded one where there are no samples.
KnownFigure known_time(const TimeFigure& time, double level = kRatioLevel);

/// The floor over the case's layer time, in percent; none without that time.
std::optional<Ratio> percent_of_floor(const Floor& floor, const RecordedCase& one_case);

/// The ratio of the times predicted for one GPU; none where one of them is missing, or cannot be launched.
std::optional<Ratio> predicted_ratio(const PredictedFigure* over, const PredictedFigure* under);

}  // namespace convladder

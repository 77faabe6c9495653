#include "harness/judge/history/measured_history.hpp"

#include <map>

namespace convladder {

std::vector<HistoryLevel> HistorySelftest::levels() const {
  std::map<int, HistoryLevel> by_percent;
  for (const MeasuredHistory& one : histories) {
    HistoryLevel& level = by_percent[one.extra_percent];
    level.extra_percent = one.extra_percent;
    ++level.histories;
    level.marked += one.marked ? 1 : 0;
    level.suspected += one.only_suspected() ? 1 : 0;
    level.alarms += one.is_alarm() ? 1 : 0;
    level.open += one.outcome == AlarmOutcome::open ? 1 : 0;
  }
  std::vector<HistoryLevel> levels;
  for (auto& [percent, level] : by_percent) {
    level.bounds = exact_proportion_bounds(level.alarms, level.histories);
    levels.push_back(level);
  }
  return levels;
}

}  // namespace convladder

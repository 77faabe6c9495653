// The latest mark of each series, or the suspicion that it changed, and what measuring it again has said.
// docs/use/history.md
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/history/history.hpp"
#include "harness/measure/statistics/change_verdict.hpp"

namespace convladder {

/// How often anything at all is confirmed where nothing changed, whatever the machine did during the runs.
inline constexpr double kConfirmAlpha = 0.01;

/// not_confirmed: what was measured again speaks against it. open: it cannot be told.
enum class AlarmOutcome { confirmed, not_confirmed, open };

struct Alarm {
  std::size_t series = 0;             ///< index into History::series
  std::optional<std::size_t> change;  ///< index into its changes; none of what is only suspected
  bool slower = false;                ///< of what is only suspected: by what was measured again
  AlarmOutcome outcome = AlarmOutcome::open;
  std::string reason;                        ///< why nothing was measured, or cannot be told; one line
  std::optional<ChangeBounds> change_again;  ///< measured again: ln(latest build / build before the change)

  bool suspected() const { return !change; }
  const HistorySeries& in(const History& history) const { return history.series[series]; }
  /// The last run before the change that was judged, the first one of all if there is no mark; the latest with a ratio.
  const HistoryRun& before(const History& history) const;
  const HistoryRun& latest(const History& history) const;
};

/// A series without a mark is suspected up to this p of its own, which is not shared by the series: what is measured
/// again may be suspected on little evidence, since that decides nothing.
inline constexpr double kSuspect = 0.2;

/// The latest marked change of every series that has one: earlier ones are over. Of the others those with a p of at
/// most `suspect`.
std::vector<Alarm> latest_alarms(const History& history, double suspect);

/// What a duel of the builds says of an alarm. A change in the other direction than the mark does not confirm it.
void settle_alarm(Alarm& alarm, CaseVerdict verdict, const std::optional<ChangeBounds>& change,
                  const std::string& reason, bool contaminated);

struct ConfirmedAlarms {
  std::vector<Alarm> alarms;
  std::vector<std::string> notes;
  /// 1 if something slower is confirmed, 2 if something marked cannot be told, 0.
  int exit_code() const;
};

std::string alarms_text(const History& history, const ConfirmedAlarms& confirmed);
std::string alarms_markdown(const History& history, const ConfirmedAlarms& confirmed);
nlohmann::ordered_json alarms_json(const History& history, const ConfirmedAlarms& confirmed);

}  // namespace convladder

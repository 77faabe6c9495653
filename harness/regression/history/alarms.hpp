// The latest mark of each series, and what measuring it again has said. docs/history.md
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/regression/compare/comparison.hpp"
#include "harness/regression/history/history.hpp"
#include "harness/statistics/change_verdict.hpp"

namespace convladder {

/// How often anything at all is confirmed where nothing changed, whatever the machine did during the runs.
inline constexpr double kConfirmAlpha = 0.01;

/// not_confirmed: what was measured again speaks against it. open: it cannot be told.
enum class AlarmOutcome { confirmed, not_confirmed, open };

struct Alarm {
  std::size_t series = 0;  ///< index into History::series
  std::size_t change = 0;  ///< index into its changes
  bool slower = false;
  AlarmOutcome outcome = AlarmOutcome::open;
  std::string reason;                        ///< why nothing was measured, or cannot be told; one line
  std::optional<ChangeBounds> change_again;  ///< measured again: ln(latest build / build before the change)

  const HistorySeries& in(const History& history) const { return history.series[series]; }
  /// The last run before the change, and the latest run, that have a ratio.
  const HistoryRun& before(const History& history) const;
  const HistoryRun& latest(const History& history) const;
};

/// The latest marked change of every series that has one: earlier ones are over.
std::vector<Alarm> latest_alarms(const History& history);

/// What a duel of the builds says of an alarm. A change in the other direction does not confirm it.
void settle_alarm(Alarm& alarm, CaseVerdict verdict, const std::optional<ChangeBounds>& change,
                  const std::string& reason, bool contaminated);

struct ConfirmedAlarms {
  std::vector<Alarm> alarms;
  std::vector<std::string> notes;
  /// 1 if something slower is confirmed, 2 if something cannot be told, 0.
  int exit_code() const;
};

std::string alarms_text(const History& history, const ConfirmedAlarms& confirmed);
std::string alarms_markdown(const History& history, const ConfirmedAlarms& confirmed);
nlohmann::ordered_json alarms_json(const History& history, const ConfirmedAlarms& confirmed);

}  // namespace convladder

// The latest mark of each series, or the suspicion that it changed, and the result of measuring it again.
// docs/use/history.md
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/history/history.hpp"
#include "harness/measure/statistics/change_verdict.hpp"
#include "support/report.hpp"

namespace convladder {

/// The probability that anything at all is confirmed where nothing changed, whatever the machine did during the runs.
inline constexpr double kConfirmAlpha = 0.01;

/// The outcome of measuring again: confirmed; not_confirmed, which means that it speaks against the alarm; open,
/// undecided.
enum class AlarmOutcome { confirmed, not_confirmed, open };
/// "confirmed", "not confirmed", "cannot be told".
const char* outcome_name(AlarmOutcome outcome);

struct Alarm {
  std::size_t series = 0;             ///< index into History::series
  std::optional<std::size_t> change;  ///< index into its changes; none for a suspicion
  bool slower = false;                ///< for a suspicion: as measured again
  AlarmOutcome outcome = AlarmOutcome::open;
  std::string reason;                        ///< why nothing was measured, or why it is undecided; one line
  std::optional<ChangeBounds> change_again;  ///< measured again: ln(latest build / build before the change)

  bool suspected() const { return !change; }
  /// The mark's ln(since / before); none for a suspicion.
  std::optional<double> mark(const History& history) const;
  const HistorySeries& in(const History& history) const { return history.series[series]; }
  /// The last judged run before the change, or the first run of all if there is no mark; the latest run with a ratio.
  const HistoryRun& before(const History& history) const;
  const HistoryRun& latest(const History& history) const;
};

/// A series without a mark is suspected up to this p of its own, which is not shared by the series: little evidence is
/// enough to measure a series again, since that decides nothing.
inline constexpr double kSuspect = 0.2;

/// The latest marked change of every series that has one: earlier ones are over. Among the other series those with a p
/// of at most `suspect`.
std::vector<Alarm> latest_alarms(const History& history, double suspect);

/// Settles an alarm by a duel of the builds. A change in the other direction than the mark does not confirm it.
void settle_alarm(Alarm& alarm, CaseVerdict verdict, const std::optional<ChangeBounds>& change,
                  const std::string& reason, bool contaminated);

struct ConfirmedAlarms {
  std::vector<Alarm> alarms;
  std::vector<std::string> notes;
  /// The exit code of `convladder history --confirm`: 1 if a slowdown is confirmed, 2 if a marked change is undecided,
  /// otherwise 0.
  int exit_code() const;
};

/// Adds the alarms with their outcomes to the history's report.
void add_alarms(Report& report, const History& history, const ConfirmedAlarms& confirmed);

}  // namespace convladder

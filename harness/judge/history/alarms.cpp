#include "harness/judge/history/alarms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/compare/change_text.hpp"
#include "support/errors.hpp"

namespace convladder {

namespace {

/// An alarm as text: "cpu/flat-vector/lenet72.conv2/100: marked +10.2% since commit 12c0ffee0", or "...: suspected, p =
/// 0.08".
std::string mark_text(const History& history, const Alarm& alarm) {
  const HistorySeries& series = alarm.in(history);
  if (alarm.suspected()) return fmt::format("{}: suspected, p = {:.2g}", series.id, *series.p);
  return fmt::format("{}: marked {:+.1f}% since commit {}", series.id, percent(*alarm.mark(history)),
                     history.run(series.points[series.changes[*alarm.change].first]).commit_text());
}

std::string outcome_text(const History& history, const Alarm& alarm) {
  std::string text = outcome_name(alarm.outcome);
  if (alarm.change_again) {
    text += fmt::format(": measured again {}%, bounds {}%, commit {} against commit {}",
                        change_text(alarm.change_again), bounds_text(alarm.change_again),
                        alarm.latest(history).commit_text(), alarm.before(history).commit_text());
  }
  if (!alarm.reason.empty()) text += ": " + alarm.reason;
  return text;
}

std::string rate_text(const History& history) {
  return fmt::format(
      "an alarm is confirmed if the build before the change and the latest one, measured in turns by fresh processes, "
      "differ by more than {:g}%, a marked one in the same direction; of what is only suspected, it is the build of "
      "its "
      "first run. That is shown at {:g}% for all of them together. So if nothing changed, anything is confirmed in at "
      "most {:g}% of histories, whatever the machine did during the runs and whatever is suspected",
      history.options.tau * 100, kConfirmAlpha * 100, kConfirmAlpha * 100);
}

}  // namespace

const char* outcome_name(AlarmOutcome outcome) {
  constexpr const char* names[] = {"confirmed", "not confirmed", "cannot be told"};
  return names[static_cast<int>(outcome)];
}

std::optional<double> Alarm::mark(const History& history) const {
  return change ? std::optional(in(history).changes[*change].shift) : std::nullopt;
}

const HistoryRun& Alarm::before(const History& history) const {
  const HistorySeries& one = in(history);
  if (!suspected()) return history.run_before(one, one.changes[*change]);
  std::size_t place = 0;
  while (place + 1 < one.points.size() && !one.points[place].judged()) ++place;
  return history.run(one.points[place]);
}

const HistoryRun& Alarm::latest(const History& history) const {
  const HistorySeries& one = in(history);
  std::size_t place = one.points.size() - 1;
  while (place > 0 && !one.points[place].ratio) --place;
  return history.run(one.points[place]);
}

std::vector<Alarm> latest_alarms(const History& history, double suspect) {
  std::vector<Alarm> alarms;
  for (std::size_t i = 0; i < history.series.size(); ++i) {
    const HistorySeries& series = history.series[i];
    const std::vector<ChangePoint>& changes = series.changes;
    std::size_t last = changes.size();
    while (last > 0 && !history.marked(changes[last - 1])) --last;
    if (last > 0) {
      alarms.push_back(
          {.series = i, .change = last - 1, .slower = changes[last - 1].shift > 0, .reason = {}, .change_again = {}});
    } else if (series.p && *series.p <= suspect) {
      alarms.push_back({.series = i, .change = std::nullopt, .reason = {}, .change_again = {}});
    }
  }
  return alarms;
}

void settle_alarm(Alarm& alarm, CaseVerdict verdict, const std::optional<ChangeBounds>& change,
                  const std::string& reason, bool contaminated) {
  alarm.change_again = change;
  alarm.reason = reason;
  // A suspicion takes its direction from the new measurement, and is then confirmed in either direction.
  if (alarm.suspected()) alarm.slower = verdict == CaseVerdict::regressed;
  const CaseVerdict same = alarm.slower ? CaseVerdict::regressed : CaseVerdict::improved;
  const CaseVerdict other = alarm.slower ? CaseVerdict::improved : CaseVerdict::regressed;
  if (contaminated) {
    alarm.outcome = AlarmOutcome::open;
    alarm.reason = "the control moved, so the measurement shows nothing: run again";
  } else if (verdict == same) {
    alarm.outcome = AlarmOutcome::confirmed;
  } else if (verdict == other || verdict == CaseVerdict::pass) {
    alarm.outcome = AlarmOutcome::not_confirmed;
  } else {
    alarm.outcome = AlarmOutcome::open;
    if (alarm.reason.empty()) alarm.reason = case_verdict_name(verdict);
  }
}

int ConfirmedAlarms::exit_code() const {
  const auto any = [this](const auto& is) { return std::ranges::any_of(alarms, is); };
  if (any([](const Alarm& one) { return one.outcome == AlarmOutcome::confirmed && one.slower; })) {
    return kExitCasesFailed;
  }
  // A suspicion is no alarm until it is confirmed.
  return any([](const Alarm& one) { return one.outcome == AlarmOutcome::open && !one.suspected(); }) ? kExitInconclusive
                                                                                                     : kExitOk;
}

void add_alarms(Report& report, const History& history, const ConfirmedAlarms& confirmed) {
  if (confirmed.alarms.empty()) {
    report.section().notes(confirmed.notes);
    report.section().paragraph("no alarm: nothing measured again");
    return;
  }
  std::vector<std::vector<std::string>> rows;
  ReportSection& list = report.section("alarms, measured again", Shown::in_text);
  for (const Alarm& alarm : confirmed.alarms) {
    list.entry(mark_text(history, alarm), {outcome_text(history, alarm)});
    rows.push_back(
        {alarm.in(history).id, alarm.suspected() ? "suspected" : fmt::format("{:+.1f}", percent(*alarm.mark(history))),
         change_text(alarm.change_again), bounds_text(alarm.change_again), outcome_name(alarm.outcome), alarm.reason});
  }
  report.section("", Shown::in_markdown)
      .table({left("case"), right("marked", "%"), right("measured again", "%"), right("bounds", "%"), left("outcome"),
              left("why")},
             std::move(rows));
  ReportSection& end = report.section();
  end.notes(confirmed.notes);
  end.paragraph(rate_text(history));
}

}  // namespace convladder

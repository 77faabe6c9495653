#include "harness/commands/run/run_summary.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "harness/measure/runs/derived_ladders.hpp"
#include "harness/measure/runs/leave_one_out.hpp"
#include "harness/measure/runs/run_report.hpp"
#include "harness/measure/runs/summary_text.hpp"
#include "harness/measure/runs/verdicts.hpp"
#include "support/printable.hpp"
#include "support/terminal.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostVerdicts = 3;  // on a stage of one's own, before --verbose shows the others

/// The last words: on one's own stages, or on the best one where there is a single ladder of a device.
std::vector<std::string> verdicts_of(const RunFigures& run, const SummaryOptions& options) {
  const std::vector<DerivedLadder> ladders = derived_ladders(run.cases, run.variants, run.ceilings);
  std::vector<std::string> lines;
  for (const std::string& stage : options.own) {
    const std::size_t most = options.verbose ? ladders.size() : kMostVerdicts;
    std::ranges::move(verdicts_on(stage, ladders, run.cases, run.variants, most), std::back_inserter(lines));
  }
  if (!options.own.empty()) return lines;
  for (const DerivedLadder& one : ladders) {
    const auto is_beside = [&one](const DerivedLadder& other) { return other.of->device == one.of->device; };
    if (std::ranges::count_if(ladders, is_beside) > 1) continue;
    if (std::string line = verdict_on_best(one); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// A note of at most `columns` bytes: without the part after a semicolon, without the parts in brackets, or cut.
std::string in_one_line(const std::string& note, std::size_t columns) {
  if (note.size() <= columns) return note;
  const std::size_t semicolon = note.rfind("; ");
  if (semicolon != std::string::npos && semicolon <= columns) return note.substr(0, semicolon);
  const std::size_t open = note.find(" (");
  const std::size_t close = open == std::string::npos ? open : note.find(')', open);
  if (close == std::string::npos) return printable(note, columns);
  return printable(note.substr(0, open) + note.substr(close + 1), columns);
}

std::string without_last_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Cases that were not run, or not to their end: a line for each reason, those with most cases first; if there are very
/// many and `all` is false, the last line says so.
std::vector<std::string> lines_of_not_run(const std::vector<RecordedCase>& cases, bool all) {
  std::map<std::string, std::size_t> counts;
  for (const RecordedCase& one : cases) {
    if (one.ok() || one.failed()) continue;
    const std::string where = one.family == one.device ? one.family : fmt::format("{} on {}", one.family, one.device);
    ++counts[fmt::format("{}, {}: {}", one.status, where, one.reason)];
  }
  std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
  std::ranges::stable_sort(reasons, std::ranges::greater(), &std::pair<std::string, std::size_t>::second);
  std::vector<std::string> lines;
  std::size_t rest = 0;
  for (const auto& [reason, count] : reasons) {
    if (all || lines.size() < kMostReasons) {
      lines.push_back(fmt::format("{} {}", plural(count, "case"), reason));
    } else {
      rest += count;
    }
  }
  if (rest > 0) lines.push_back(fmt::format("{} not run for other reasons: --verbose", plural(rest, "case")));
  return lines;
}

/// Stages without code: a line for each, with its compiler's message.
std::vector<std::string> lines_of_not_compiled(const std::vector<RecordedCase>& cases) {
  std::vector<std::string> lines;
  for (const RecordedCase& one : cases) {
    if (one.status != Status::does_not_compile) continue;
    std::string line = fmt::format("{} {}: {}", one.variant, one.status, one.reason);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

void print_summary(std::FILE* stream, const RunFigures& run, const std::vector<std::string>& notes,
                   const SummaryOptions& options) {
  const std::size_t columns =
      std::min(terminal_columns(stream == stderr ? STDERR_FILENO : STDOUT_FILENO, kTextColumns), kTextColumns);
  const std::vector<Ladder> ladders = ladders_of(run.cases, run.variants, run.ceilings);
  for (const std::string& line : lines_of_not_compiled(run.cases)) fmt::print(stream, "{}\n", line);
  const std::vector<CountedLadder> counted = counted_ladders_of(run.cases, run.variants);
  std::vector<std::string> all = summary_notes(ladders, counted);
  for (const std::string& line : lines_of_not_run(run.cases, options.verbose)) all.push_back(line);
  std::vector<CheckerLook> looks;
  for (const RecordedCase& one : run.cases) {
    if (one.look) looks.push_back(*one.look);
  }
  for (std::string& line : checker_lines(looks)) all.push_back(std::move(line));
  for (const RecordedCase& one : run.cases) {
    if (!one.counters) continue;
    if (std::string line = beside_line(printable(one.id), *one.counters); !line.empty()) all.push_back(std::move(line));
  }
  all.insert(all.end(), notes.begin(), notes.end());
  // On a terminal a note is one line; in a file nothing is cut.
  const bool is_terminal = isatty(fileno(stream)) == 1;
  for (const std::string& note : all) {
    const std::string text = options.verbose ? note
                             : is_terminal   ? in_one_line(note, columns)
                                             : without_last_break(hanging("", note, columns));
    fmt::print(stream, "{}\n", text);
  }
  // At the end, where it is seen without scrolling.
  if (!options.tables) return;
  const std::vector<LeaveOneOut> views = leave_one_out_of(run.cases, run.variants);
  const std::string tables =
      views.empty()
          ? as_text(run_report(run, ladders, counted, {.all = options.verbose, .intervals = options.verbose}), columns)
          : as_text(leave_one_out_report(views));
  fmt::print(stream, "{}{}\n", tables.empty() ? "" : "\n", tables);
  if (!views.empty()) return;  // their table says what each idea is worth
  for (const std::string& line : verdicts_of(run, options)) fmt::print(stream, "{}\n", hanging("", line, columns));
}

}  // namespace convladder

#include "harness/measure/runs/run_report.hpp"

#include <algorithm>
#include <string>

#include "harness/measure/runs/summary_text.hpp"

namespace convladder {

Report run_report(const RunFigures& run, const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted,
                  const RunTables& wanted) {
  constexpr std::ptrdiff_t kMostLines = 32;  // of whole tables
  Report whole;
  add_ladders(whole, ladders, wanted.intervals);
  add_counted(whole, counted, wanted.arrange_counted);
  if (wanted.all || std::ranges::count(as_text(whole), '\n') < kMostLines) return whole;
  const auto title_of = [&run](const std::string& device) { return run.context.machine.title_of(device); };
  return summary_report(ladders, counted, title_of);
}

}  // namespace convladder

#include "harness/commands/run/run_preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/probe.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "support/errors.hpp"
#include "support/units.hpp"

namespace convladder {

int list_cases(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images) {
  Estimator estimator(options);
  probe_variants(plan, options, images, estimator);
  double all = 0;
  int runs = 0;
  std::vector<std::string> without_room;
  fmt::print("{:<68} {:>10}  {}\n", "case", "predicted", "");
  for (const CaseGroup& group : plan) {
    const std::string why = why_no_room(group.device, group.work.shape);
    if (why.empty()) all += estimator.group_seconds(group);
    if (!why.empty() && std::ranges::any_of(group.cases, &PlannedCase::runs)) {
      without_room.push_back(fmt::format("{} on {} would be skipped now: {}", group.work.name(), group.device, why));
    }
    for (const PlannedCase& planned : group.cases) {
      const double seconds = estimator.case_seconds(planned);
      if (why.empty()) all += seconds;
      runs += planned.runs() ? 1 : 0;
      if (planned.runs()) {
        fmt::print("{:<68} {:>10}\n", planned.id, duration_text(seconds));
      } else {
        fmt::print("{:<68} {:>10}  {}\n", planned.id, "-",
                   planned.skipped.empty() ? planned.unsupported : planned.skipped);
      }
    }
  }
  const std::size_t cases =
      std::accumulate(plan.begin(), plan.end(), std::size_t{0},
                      [](std::size_t sum, const CaseGroup& group) { return sum + group.cases.size(); });
  for (const std::string& line : without_room) fmt::print("{}\n", line);
  fmt::print(
      "{} case{}, {} to be run, about {} (predicted from one small call of each variant that is timed on the "
      "host; on a GPU from its peak)\n",
      cases, cases == 1 ? "" : "s", runs, duration_text(all));
  return kExitOk;
}

}  // namespace convladder

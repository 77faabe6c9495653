#include "harness/commands/run_preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "harness/cases/run_group.hpp"
#include "harness/plan/estimate.hpp"
#include "support/errors.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr int kProbeBatch = 4;

/// Times one call of every variant on every layer at a small batch, so that the estimate stands on this machine. A
/// device without a clock gives no time to learn from.
void probe(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images,
           Estimator& estimator) {
  std::map<std::string, std::vector<PlannedCase>> probes;
  for (const CaseGroup& group : plan) {
    if (!group.has_clock) continue;
    for (PlannedCase planned : group.cases) {
      if (!planned.runs()) continue;
      planned.work.shape.batch = std::min(planned.work.shape.batch, kProbeBatch);
      std::vector<PlannedCase>& same = probes[group.device + group.work.name()];
      if (std::ranges::none_of(
              same, [&](const PlannedCase& p) { return p.variant.info.name == planned.variant.info.name; })) {
        same.push_back(planned);
      }
    }
  }
  RunOptions quick = options;
  quick.repetitions = 1;
  quick.sample_milliseconds = 0.001;
  for (const auto& [name, cases] : probes) {
    const Workload workload(cases.front().work, images, options.seed);
    run_group(
        cases, workload, quick,
        [&](const PlannedCase& planned, const CaseOutcome& outcome) {
          if (!outcome.times.empty()) estimator.learn(planned, outcome.times.front().samples.front() * 1e-9);
        },
        [](const PlannedCase&, const char*) {}, [] {},
        [](const PlannedCase&, const CaseOutcome&) { return std::string(); });
  }
}

}  // namespace

int list_cases(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images) {
  Estimator estimator(options);
  probe(plan, options, images, estimator);
  double all = 0;
  int runs = 0;
  fmt::print("{:<68} {:>10}  {}\n", "case", "predicted", "");
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) {
      const double seconds = estimator.case_seconds(planned);
      all += seconds;
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
  fmt::print("{} case{}, {} to be run, about {} (predicted from one small call of each variant that is timed)\n", cases,
             cases == 1 ? "" : "s", runs, duration_text(all));
  return kExitOk;
}

}  // namespace convladder

#include "harness/measure/cases/probe.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/measure/cases/cases_at_a_time.hpp"
#include "harness/measure/cases/run_group.hpp"
#include "harness/measure/plan/arguments.hpp"

namespace convladder {
namespace {

constexpr int kProbeBatch = 4;

}  // namespace

void probe_variants(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images,
                    Estimator& estimator) {
  std::map<std::string, std::vector<PlannedCase>> probes;
  std::set<std::string> asked;
  for (const CaseGroup& group : plan) {
    if (!Estimator::is_worth_a_call(find_device_kind(group.device))) continue;
    for (PlannedCase planned : group.cases) {
      if (!planned.runs()) continue;
      planned.work.shape.batch = std::min(planned.work.shape.batch, kProbeBatch);
      if (asked.insert(Estimator::key(planned)).second) probes[group.device + group.work.name()].push_back(planned);
    }
  }
  RunOptions quick = options;
  quick.repetitions = 1;
  quick.sample_milliseconds = 0.001;
  for (const auto& [name, cases] : probes) {
    if (!why_no_room(cases.front().device, cases.front().work.shape).empty()) continue;  // nothing is known of them
    const Workload workload(cases.front().work, images, options.seed);
    run_group(
        cases, workload, quick,
        [&](const PlannedCase& planned, const CaseOutcome& outcome) {
          if (!outcome.times.empty()) estimator.learn(planned, outcome.times.front().samples.front() * 1e-9);
        },
        [](const PlannedCase&, const char*) {}, [] {},
        [](const PlannedCase&, const CaseOutcome&) { return std::nullopt; });
  }
}

}  // namespace convladder

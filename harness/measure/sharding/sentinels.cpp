#include "harness/measure/sharding/sentinels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

/// The samples of a sentinel on one machine, over all times that it ran there.
struct OnMachine {
  std::size_t machine;
  double median;
  double low;
  double high;
};

OnMachine on_machine(std::size_t machine, const std::vector<const SentinelRun*>& runs) {
  std::vector<double> medians;
  std::vector<double> lows;
  std::vector<double> highs;
  for (const SentinelRun* one : runs) {
    medians.push_back(one->median);
    lows.push_back(one->low.value_or(one->median));
    highs.push_back(one->high.value_or(one->median));
  }
  return {machine, median(medians), median(lows), median(highs)};
}

void judge_kind(const std::vector<OnMachine>& machines, double limit, std::vector<MachineVerdict>& verdicts) {
  std::vector<double> medians;
  for (const OnMachine& one : machines) medians.push_back(one.median);
  const double usual = median(medians);
  for (const OnMachine& one : machines) {
    MachineVerdict& verdict = verdicts[one.machine];
    const double x = one.median / usual;
    if (!verdict.x || std::abs(std::log(x)) > std::abs(std::log(*verdict.x))) verdict.x = x;
    const bool beyond = one.low > usual * (1 + limit) || one.high < usual / (1 + limit);
    if (machines.size() < kFewestMachines || !beyond) continue;
    verdict.off = true;
    verdict.why =
        fmt::format("its sentinel took {:.2f} times the median of the {} machines of its kind", x, machines.size());
  }
}

}  // namespace

std::vector<std::string> choose_sentinels(const std::vector<CaseGroup>& plan) {
  using Key = std::tuple<double, int, std::string>;  // work, rung, id
  std::map<std::string, Key> best;
  for (const CaseGroup& group : plan) {
    if (!group.has_clock) continue;
    for (const PlannedCase& planned : group.cases) {
      // Where the machine that plans lacks the device, others may have it.
      if (!planned.unsupported.empty() || !planned.does_not_compile.empty() || !planned.variant.info.rung) continue;
      const Key key{planned.work.shape.flop(), *planned.variant.info.rung, planned.id};
      const auto [known, is_new] = best.emplace(group.device, key);
      if (!is_new) known->second = std::min(known->second, key);
    }
  }
  std::vector<std::string> ids;
  for (const auto& [device, key] : best) ids.push_back(std::get<std::string>(key));
  return ids;
}

std::vector<MachineVerdict> judge_machines(const std::vector<SentinelRun>& runs, const std::vector<int>& kinds,
                                           double limit) {
  std::vector<MachineVerdict> verdicts(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) verdicts[i].machine = i;
  std::map<std::pair<std::string, int>, std::map<std::size_t, std::vector<const SentinelRun*>>> by_kind;
  for (const SentinelRun& run : runs) {
    if (run.failure.empty()) by_kind[{run.id, kinds.at(run.machine)}][run.machine].push_back(&run);
  }
  for (const auto& [kind, by_machine] : by_kind) {
    std::vector<OnMachine> machines;
    for (const auto& [machine, of_machine] : by_machine) machines.push_back(on_machine(machine, of_machine));
    judge_kind(machines, limit, verdicts);
  }
  // A sentinel that is wrong everywhere is the case's fault; one that is wrong on some machines only is theirs.
  std::set<std::string> right_somewhere;
  for (const SentinelRun& run : runs) {
    if (run.failure.empty()) right_somewhere.insert(run.id);
  }
  for (const SentinelRun& run : runs) {
    if (run.failure.empty() || !right_somewhere.contains(run.id)) continue;
    verdicts.at(run.machine).off = true;
    verdicts.at(run.machine).why = fmt::format("its sentinel failed: {}", run.failure);
  }
  return verdicts;
}

}  // namespace convladder

#include "harness/judge/mutants/ladder_mutants.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "devices/cpu/all_cores.hpp"

namespace convladder {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

LadderTest::LadderTest(const std::vector<CaseGroup>& groups, const CheckSettings& check, const MutantSettings& settings)
    : check_(check) {
  CheckSettings listing = check;
  listing.mutants.lists = true;
  for (const CaseGroup& group : groups) {
    const CheckedGroup& cases = groups_.emplace_back(group, check);
    std::vector<CheckedCase> checked(cases.cases().size());
    std::vector<double> seconds(checked.size());
    on_all_cores(checked.size(), [&](std::size_t index) {
      const auto begin = std::chrono::steady_clock::now();
      checked[index] = cases.check(index, listing);
      seconds[index] = seconds_since(begin);
    });
    for (std::size_t index = 0; index < checked.size(); ++index) {
      CheckedCase& one = checked[index];
      const std::string of = one.id + ' ' + one.compiler;
      if (one.status != Status::ok) {
        left_out_.push_back({of, one.reason.empty() ? fmt::format("{}", one.status.value()) : one.reason});
        continue;
      }
      places_[of] = {groups_.size() - 1, index, one.mutants.host_reads, seconds[index]};
      for (TriedMutant& mutant : selected_mutants(of, one.mutants.possible, settings)) {
        mutants_.push_back(std::move(mutant));
      }
    }
  }
}

void LadderTest::run(TriedMutant& one, const MutantSettings& settings) const {
  CheckSettings check = check_;
  const Place& place = places_.at(one.of);
  check.mutants = settings.wanted(one);
  check.launch_seconds = settings.timeout_for(place.seconds);
  const auto begin = std::chrono::steady_clock::now();
  const CheckedCase checked = groups_[place.group].check(place.index, check);
  one.seconds = seconds_since(begin);
  one.outcome = checked.mutants.outcome;
  if (checked.passed()) {
    const bool is_unread = !place.host_reads.empty() && checked.mutants.host_reads == place.host_reads;
    one.verdict = verdict_of_accepted(one.mutant, one.outcome, is_unread);
    return;
  }
  // A case that could not be judged says nothing of the mutant: it is tried again another time.
  one.verdict = checked.status == Status::not_judged ? MutantVerdict::not_tried : MutantVerdict::rejected;
  one.by = fmt::format("{}", checked.status.value());
}

}  // namespace convladder

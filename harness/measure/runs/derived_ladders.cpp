#include "harness/measure/runs/derived_ladders.hpp"

#include <algorithm>

namespace convladder {
namespace {

DerivedLadder& ladder_at(std::vector<DerivedLadder>& ladders, const RecordedCase& one) {
  const auto found =
      std::ranges::find_if(ladders, [&one](const DerivedLadder& ladder) { return ladder.of->place() == one.place(); });
  return found != ladders.end() ? *found : ladders.emplace_back(DerivedLadder{.of = &one, .kind = "counted"});
}

/// The ladders as they will be read from the record.
std::vector<RecordedLadder> as_recorded(const std::vector<DerivedLadder>& ladders) {
  std::vector<RecordedLadder> list;
  for (const DerivedLadder& one : ladders) {
    RecordedLadder& recorded = list.emplace_back(RecordedLadder{.device = one.of->device,
                                                                .family = one.of->family,
                                                                .network = one.of->network,
                                                                .layer = one.of->layer,
                                                                .batch = one.of->batch,
                                                                .floor_operations_ns = {},
                                                                .floor_bytes_ns = {},
                                                                .best = {}});
    if (one.floor) {
      recorded.floor_operations_ns = one.floor->operations_ns;
      recorded.floor_bytes_ns = one.floor->bytes_ns;
    }
    if (one.summary && one.summary->best != nullptr) recorded.best = one.summary->best->variant;
  }
  return list;
}

}  // namespace

std::vector<DerivedLadder> derived_ladders(const std::vector<RecordedCase>& cases,
                                           const std::vector<RecordedVariant>& variants, const Ceilings& ceilings) {
  std::vector<DerivedLadder> derived;
  for (Ladder& ladder : ladders_of(cases, variants, ceilings)) {
    DerivedLadder& one = derived.emplace_back(DerivedLadder{.of = ladder.rows.front().of, .kind = kind_of(ladder)});
    one.summary = summary_of(ladder);
    one.floor = ladder.floor;
    one.rows = std::move(ladder.rows);
  }
  for (const CountedLadder& counted : counted_ladders_of(cases, variants)) {
    ladder_at(derived, *counted.cases.front()).summary = counted.summary;
  }
  for (LadderSteps& steps : steps_of(cases, variants, as_recorded(derived))) {
    ladder_at(derived, *steps.of).steps = std::move(steps.steps);
  }
  return derived;
}

}  // namespace convladder

// The last sentences about a run: how far the best stage of a ladder gets, or a stage that somebody has brought along.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/measure/runs/derived_ladders.hpp"

namespace convladder {

/// A sentence or two for each ladder with a result of the stage, those with most work first: its place among the
/// stages, how it compares with the first one, the best other one and the fastest library, what binds it, and what to
/// look at next. At most `most` of them; then a line says how many more there are. Without a result its status.
std::vector<std::string> verdicts_on(const std::string& stage, const std::vector<DerivedLadder>& ladders,
                                     const std::vector<RecordedCase>& cases,
                                     const std::vector<RecordedVariant>& variants, std::size_t most);

/// A sentence on the best stage of a ladder; empty where none is best.
std::string verdict_on_best(const DerivedLadder& ladder);

}  // namespace convladder

// What each idea of a stage is worth: the stage beside variants that are it without one of its ideas.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/records/case_figures.hpp"

namespace convladder {

/// A view for every layer, batch and device on which a case with `leaves_out` was run: the stage it builds on first,
/// then the ideas, in the order of `variants`. `kind` is "counted" where the device counted and "measured" where it
/// timed. Figures are those of the cases, per multiply-add of the layer; `x_...` is without the idea over with it.
/// The fields are those of results/run.schema.json, null where there is nothing.
nlohmann::ordered_json leave_one_out_of(const std::vector<CaseFigures>& cases,
                                        const std::vector<VariantFigures>& variants);

/// The views as tables for a terminal, the dearest idea first; empty if there are none.
std::string leave_one_out_text(const nlohmann::ordered_json& views);

}  // namespace convladder

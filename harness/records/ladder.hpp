// The ladders of a record: the stages of one layer, batch and device beside each other, with their ratios.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "harness/records/case_figures.hpp"

namespace convladder {

/// `ladders` of the record, derived from its cases, variants and `ceilings` and nothing else.
nlohmann::ordered_json ladders_of(const std::vector<CaseFigures>& cases, const std::vector<VariantFigures>& variants,
                                  const nlohmann::ordered_json& ceilings);

}  // namespace convladder

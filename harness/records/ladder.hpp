// The ladders of a record: the stages of one layer, batch and device beside each other, with their ratios.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace convladder {

/// `ladders` of the record, derived from its `cases`, `variants` and `ceilings` and nothing else.
nlohmann::ordered_json ladders_of(const nlohmann::ordered_json& cases, const nlohmann::ordered_json& variants,
                                  const nlohmann::ordered_json& ceilings);

}  // namespace convladder

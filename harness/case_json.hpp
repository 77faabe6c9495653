// One case as the record shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/measurement.hpp"
#include "harness/plan.hpp"

namespace convladder {

/// `cases[]` of the record.
nlohmann::ordered_json case_json(const PlannedCase& planned, const CaseOutcome& outcome, int session);

/// `variants[]` of the record.
nlohmann::ordered_json variant_json(const VariantInfo& info);

}  // namespace convladder

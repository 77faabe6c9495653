// One case as the record shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "datasets/image_set.hpp"
#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// `cases[]` of the record.
nlohmann::ordered_json case_json(const PlannedCase& planned, const CaseOutcome& outcome);

/// `variants[]` of the record.
nlohmann::ordered_json variant_json(const VariantInfo& info);

/// `context.dataset` of a record.
nlohmann::ordered_json dataset_json(const ImageSet& images);

}  // namespace convladder

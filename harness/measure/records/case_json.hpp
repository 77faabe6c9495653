// The cases, variants and ceilings of a record: written from types, and read into them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/machine/device_ceilings.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/verification/step_check.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// `cases[]` of the record.
nlohmann::ordered_json case_json(const PlannedCase& planned, const CaseOutcome& outcome);
/// Reads one of `cases`, with those of its fields that are there, as far as a comparison needs them. Throws UserError
/// for a field of the wrong kind: a name with control characters, a sample that is no positive number below 10^18.
RecordedCase read_case(const JsonPlace& place);
/// As `read_case`, with all figures. Throws UserError for anything that this program does not write.
RecordedCase read_whole_case(const JsonPlace& place);
std::vector<RecordedCase> read_whole_cases(const JsonPlace& cases);

/// `variants[]` of the record.
nlohmann::ordered_json variant_json(const VariantInfo& info);
std::vector<RecordedVariant> read_variants(const JsonPlace& variants);

/// `ceilings` of the record.
nlohmann::ordered_json ceilings_json(const Ceilings& ceilings);
/// Reads what `ceilings_json` wrote; empty where it is null or missing. Throws UserError.
Ceilings read_ceilings(const JsonPlace& place);

/// The findings of the checkers in a stage.
nlohmann::ordered_json checkers_json(const StageFindings& found);
/// Reads what `checkers_json` wrote. Throws UserError.
CheckerLook read_checker_look(const JsonPlace& place);
/// `context.dataset` of a record.
nlohmann::ordered_json dataset_json(const ImageSet& images);

// Parts of a case. What reads them throws UserError.
nlohmann::ordered_json shape_json(const RecordedShape& shape);
nlohmann::ordered_json verification_json(const std::optional<Verification>& verification);
nlohmann::ordered_json step_check_json(const StepCheck& check);
nlohmann::ordered_json quality_json(const std::optional<Quality>& quality);
Quality read_quality(const JsonPlace& place);
Status read_status(const JsonPlace& place);
/// Reads one of a case's times; none where it is null, or has neither a median nor samples.
std::optional<TimeFigure> read_time(const JsonPlace& place);
nlohmann::ordered_json resources_json(const std::vector<LaunchResources>& resources);
/// Reads the fields that a prediction needs.
std::vector<LaunchResources> read_resources(const JsonPlace& place);
nlohmann::ordered_json prediction_json(const std::optional<Prediction>& prediction);
/// One of `prediction.gpus`.
nlohmann::ordered_json prediction_json(const GpuPrediction& prediction);
PredictedFigure read_prediction(const JsonPlace& place);

/// {"device", "family", "network", "layer", "batch"}: the first fields of everything that is derived from cases in one
/// place.
nlohmann::ordered_json place_json(const RecordedCase& one_case);

}  // namespace convladder

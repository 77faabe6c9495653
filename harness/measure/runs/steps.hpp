// The steps of a ladder in words: what each stage's idea relieved, and what binds it now.
//
// Sentences say only what was measured, counted or predicted. Where the same stages were counted on the simulated
// device in the same run, the sentences of measured stages take their reasons from there.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/records/case_figures.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {

/// A stage and the one with which it is compared.
struct Step {
  int rung = 0;
  std::string variant;
  std::string builds_on;    ///< the stage with which it is compared: the one it builds on, or where the run lacks that,
                            ///< the one that builds on, and so on; empty for the first of the ladder, and without any
                            ///< of them
  std::optional<double> x;  ///< times faster: by layer times, or by the geometric middles of predicted ranges; none
                            ///< where the ends of these ranges do not agree which is faster
  std::string kind;         ///< "measured", "predicted", "counted": what `x` is, or the sentences without it
  bool is_clear = true;     ///< false where measured times overlap: then `x` says nothing
  std::string relieved;     ///< a sentence, or empty
  std::string binds;        ///< a sentence, or empty
  std::string registered;   ///< the variant on which it builds by its registration; empty for the first of a ladder
};

/// The steps of the stages of one layer, batch and device, in ladder order; without those about which nothing is known.
struct LadderSteps {
  const CaseFigures* of = nullptr;  ///< the first case, for the place
  std::vector<Step> steps;          ///< at least one
};

/// A place's floor in `ladders[].floor`.
struct RecordedFloor {
  double operations_ns = 0;
  std::optional<double> bytes_ns;
};

/// The floor of the case's place in `ladders[].floor`; none for a place without one. Throws UserError.
std::optional<RecordedFloor> recorded_floor(const JsonPlace& ladders, const CaseFigures& one_case);

/// The best stage of a place by `ladders[].story`; empty for a place without one.
std::string recorded_best(const JsonPlace& ladders, const CaseFigures& one_case);

/// The steps, from the cases and variants of a record and the floors in its `ladders`. `gpu` is the one whose
/// predictions are described.
std::vector<LadderSteps> steps_of(const std::vector<CaseFigures>& cases, const std::vector<VariantFigures>& variants,
                                  const JsonPlace& ladders, const std::string& gpu = kUsualGpu);

nlohmann::ordered_json step_json(const Step& step);

/// Adds `steps` to each of `ladders`, and a ladder without rows where all of its stages were only counted.
void add_steps(nlohmann::ordered_json& ladders, const std::vector<CaseFigures>& cases,
               const std::vector<VariantFigures>& variants);

}  // namespace convladder

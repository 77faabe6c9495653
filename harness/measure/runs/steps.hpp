// The steps of a ladder in words: what each stage's idea relieved, and what binds it now.
//
// Sentences say only what was measured, counted or predicted. Where the same stages were counted on the simulated
// device in the same run, the sentences of measured stages take their reasons from there.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/ratio.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {

/// A stage and the one with which it is compared.
struct Step {
  int rung = 0;
  std::string variant;
  std::string builds_on;    ///< the stage with which it is compared: the one it builds on, or where the run lacks that,
                            ///< the one that builds on, and so on; empty for the first of the ladder, and without any
                            ///< of them
  std::optional<Ratio> x;   ///< speedup: by layer times, or by predicted ranges
  std::string no_headline;  ///< why nothing is made of `x`: the machine was disturbed, or too little is known; or empty
  std::string kind;         ///< "measured", "predicted", "counted": what `x` is, or the sentences without it
  std::string relieved;     ///< a sentence, or empty
  std::string binds;        ///< a sentence, or empty
  std::vector<std::string> lines;  ///< of source, where what `relieved` says has changed (cited_lines.hpp)
  std::string registered;  ///< the variant on which it builds by its registration; empty for the first of a ladder
};

/// The steps of the stages of one layer, batch and device, in ladder order; without those about which nothing is known.
struct LadderSteps {
  const RecordedCase* of = nullptr;  ///< the first case, for the place
  std::vector<Step> steps;           ///< at least one
};

/// A ladder of a record, as far as sentences need it.
struct RecordedLadder {
  std::string device;
  std::string family;
  std::string network;
  std::string layer;
  int batch = 0;
  std::optional<double> floor_operations_ns;  ///< none without a floor
  std::optional<double> floor_bytes_ns;       ///< none as well where all fits into a cache
  std::string best;                           ///< its best stage; empty without one

  auto place() const { return std::tie(device, family, network, layer, batch); }
};

/// The ladder of the case's place; null without one.
const RecordedLadder* find_ladder(const std::vector<RecordedLadder>& ladders, const RecordedCase& one_case);

/// The steps, from the cases and variants of a record and the floors of its ladders. `gpu` is the one whose
/// predictions are described.
std::vector<LadderSteps> steps_of(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
                                  const std::vector<RecordedLadder>& ladders, const std::string& gpu = kUsualGpu);

}  // namespace convladder

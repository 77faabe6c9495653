// A parameter sweep: what a variant could take for a layer, tried one after the other, verified and put in order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/statistics/change_verdict.hpp"
#include "harness/measure/sweep/sweep_score.hpp"

namespace convladder {

/// What became of one configuration.
struct SweptConfiguration {
  Configuration configuration;
  std::optional<Status> status = {};  ///< as of a case; none before it is run
  std::string reason = {};
  std::optional<Score> score = {};       ///< none unless it is verified
  CounterValues counted = {};            ///< totals of its counters, where the device counts
  std::optional<double> occupancy = {};  ///< of a predicted score: the least of its kernels
};

/// Of measured times: a configuration that looked better than the model's choice, measured once more in rounds with it.
/// The medians of a sweep are not enough: a configuration whose interval is narrow soon takes no further samples, and a
/// machine that is busy afterwards then slows only the others; and where its memory happens to lie is worth a few per
/// cent, so that it is launched several times.
struct Finalist {
  static constexpr int kMost = 3;      ///< of a sweep
  static constexpr int kRounds = 15;   ///< of a sample of each
  static constexpr int kLaunches = 3;  ///< that the rounds are of
  static constexpr double kAlpha = 0.01;

  Configuration configuration;
  /// Of its time against that of the model's choice, round by round; none if either was not measured.
  std::optional<ChangeBounds> change = {};
};

/// A variant on a layer, with a batch, on a device.
struct Sweep {
  PlannedCase planned;  ///< of the variant as it is, which makes its own choice
  ScoreKind kind = ScoreKind::measured;
  bool by_virtual_clock = false;  ///< what is measured is a virtual clock's prediction
  std::string gpu;                ///< of a predicted score
  Configurations found;
  std::vector<SweptConfiguration> results;           ///< in the order of `found.candidates`
  std::optional<std::vector<Finalist>> finals = {};  ///< none: not held

  /// "measured", "counted" or "predicted", as records have it.
  const char* kind_text() const { return convladder::kind_text(by_virtual_clock ? ScoreKind::predicted : kind); }
  /// Whether the variant makes a choice of its own; a folder's stage takes the first values.
  bool has_model() const;
  /// The verified ones, the best first.
  std::vector<const SweptConfiguration*> ranked() const;
  /// What the variant takes if it is not told; null while it has no score.
  const SweptConfiguration* default_result() const;
  /// What the variant's own model takes, likewise.
  const SweptConfiguration* model_result() const;
  /// Those that are surely better than the model's choice, by their scores: the best first, at most as many as a final
  /// has. None where there is no noise.
  std::vector<const SweptConfiguration*> finalists() const;
  /// The best, if it is surely better than the model's choice, otherwise that: after a final by what that says,
  /// otherwise by the scores. Null while there is no score of either.
  const SweptConfiguration* winner() const;
};

/// The sweep of a planned case, not run yet: none where there is nothing to choose. `most` configurations that agree
/// with what is wanted. Throws UserError where that is not possible.
std::optional<Sweep> plan_sweep(const PlannedCase& planned, const Configuration& wanted, int most,
                                const std::string& gpu);

/// A sweep's configurations as cases, and the variants that they are of.
struct ConfiguredCases {
  std::vector<std::unique_ptr<Variant>> variants;
  std::vector<PlannedCase> cases;
};
ConfiguredCases configured_cases(const Sweep& sweep);

/// What the samples of each configuration, round by round, say of the finalists: `samples` by the configuration's text.
std::vector<Finalist> judged_finalists(const Sweep& sweep, const std::map<std::string, std::vector<double>>& samples);

/// Images of a batch that a device without a clock executes: as many as `run` where that is quick, otherwise twice as
/// many as the blocks of these cases compute at most.
int counted_images(const std::vector<PlannedCase>& cases);

}  // namespace convladder

// A parameter sweep: the possible configurations of a variant for a layer, tried one after the other, verified and
// ranked.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/statistics/change_verdict.hpp"
#include "harness/measure/statistics/ratio.hpp"
#include "harness/measure/sweep/sweep_score.hpp"

namespace convladder {

/// A configuration and its outcome.
struct SweptConfiguration {
  Configuration configuration;
  std::optional<Status> status = {};  ///< as for a case; none before it is run
  std::string reason = {};
  std::optional<Score> score = {};       ///< none unless it is verified
  std::optional<TimeFigure> time = {};   ///< with a measured score
  CounterValues counted = {};            ///< totals of the configuration's counters, where the device counts
  std::optional<double> occupancy = {};  ///< for a predicted score: the least of its kernels
};

/// A configuration whose measured time looked better than that of the model's choice, measured once more in rounds with
/// it. The medians of a sweep are not enough: a configuration whose interval is soon narrow takes no further samples,
/// and a machine that is busy afterwards then slows only the others; and the place of a configuration's memory can
/// change its time by a few per cent, so that it is launched several times.
struct Finalist {
  static constexpr int kMost = 3;      ///< finalists of a sweep
  static constexpr int kRounds = 15;   ///< rounds with a sample of each
  static constexpr int kLaunches = 3;  ///< launches among which the rounds are divided
  static constexpr double kAlpha = 0.01;

  Configuration configuration;
  /// The change of its time from that of the model's choice, round by round; none if either was not measured.
  std::optional<ChangeBounds> change = {};
};

/// The sweep of one variant on a layer, with a batch, on a device.
struct Sweep {
  PlannedCase planned;  ///< of the variant as it is, which makes its own choice
  ScoreKind kind = ScoreKind::measured;
  bool by_virtual_clock = false;  ///< measured times are a virtual clock's predictions
  std::string gpu;                ///< the GPU of a predicted score
  Configurations found;
  std::vector<SweptConfiguration> results;           ///< in the order of `found.candidates`
  std::optional<std::vector<Finalist>> finals = {};  ///< none: there was no final

  /// "measured", "counted" or "predicted", as records have it.
  const char* kind_text() const { return convladder::kind_text(by_virtual_clock ? ScoreKind::predicted : kind); }
  /// Whether the variant makes a choice of its own; a folder's stage takes the first values.
  bool has_model() const;
  /// The verified configurations, the best first.
  std::vector<const SweptConfiguration*> ranked() const;
  /// The result of the configuration that the variant takes by default; null while it has no score.
  const SweptConfiguration* default_result() const;
  /// The result of the configuration that the variant's own model chooses; null while it has no score.
  const SweptConfiguration* model_result() const;
  /// The score of `one` over that of `other`, both of which have one.
  Ratio ratio(const SweptConfiguration& one, const SweptConfiguration& other) const;
  /// Whether `one` is better and not by chance.
  bool surely_better(const SweptConfiguration& one, const SweptConfiguration& other) const;
  /// The configurations that are surely better than the model's choice, by their scores: the best first, at most as
  /// many as a final has. None where there is no noise.
  std::vector<const SweptConfiguration*> finalists() const;
  /// The best configuration, if it is surely better than the model's choice, otherwise that choice: decided by the
  /// final if there was one, otherwise by the scores. Null while neither has a score.
  const SweptConfiguration* winner() const;
};

/// The sweep of a planned case, not run yet: none where there is nothing to choose. It has at most `most`
/// configurations that agree with `wanted`. Throws UserError where that is not possible.
std::optional<Sweep> plan_sweep(const PlannedCase& planned, const Configuration& wanted, int most,
                                const std::string& gpu);

/// A sweep's configurations as cases, and the configured variants of these.
struct ConfiguredCases {
  std::vector<std::unique_ptr<Variant>> variants;
  std::vector<PlannedCase> cases;
};
ConfiguredCases configured_cases(const Sweep& sweep);

/// The finalists with their changes, from the samples of each configuration, round by round: `samples` by the
/// configuration's text.
std::vector<Finalist> judged_finalists(const Sweep& sweep, const std::map<std::string, std::vector<double>>& samples);

/// Images of a batch that a device without a clock executes: as many as in `run` where that is quick, otherwise twice
/// the most that a block of these cases computes.
int counted_images(const std::vector<PlannedCase>& cases);

}  // namespace convladder

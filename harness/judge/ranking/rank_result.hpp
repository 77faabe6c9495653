// The result of a ranking, derived from its cases and nothing else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/judge/ranking/ranking.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/quality.hpp"

namespace convladder {

/// Everything that a result depends on: a rerun keeps it only if none of it has changed. Hashes, but for `baseline`.
struct MadeOf {
  std::string source;
  std::string problem;
  std::string baseline;  ///< the content of the baseline measured in the same rounds; empty where there was none
  std::string settings;

  bool operator==(const MadeOf&) const = default;
};

/// A submission, or one of the ladder's own stages, on a size, as far as figures depend on it.
struct RankCase {
  std::string id;
  Status status = Status::ok;
  std::string reason;                    ///< printable
  std::vector<double> samples;           ///< nanoseconds, by round; empty where nothing was timed
  std::vector<double> beside;            ///< the baseline's in the same rounds
  std::optional<FigureRange> predicted;  ///< nanoseconds on the GPU of the ranking
  std::optional<double> cycles;          ///< counted for one multiprocessor (sweep_score.hpp)
  std::optional<Quality> quality;
  MadeOf made_of;
  bool keep = true;  ///< whether a rerun keeps it
};
using RankCases = std::map<std::string, RankCase>;  ///< by id

/// The baseline that the others are measured against, and the kind of all figures of the ranking.
struct RankBaseline {
  RankRole role = RankRole::library;
  std::size_t entry = 0;             ///< index into `own`, or into `submissions`
  std::string figures = "measured";  ///< "measured", "predicted" or "counted"
};

/// The result of one submission on one size.
struct RankedSize {
  std::optional<LogSpeed> speed;
  double level = 0;              ///< of its interval, where it was measured; 0 otherwise
  int rounds = 0;                ///< the number of rounds, where it was measured; 0 otherwise
  std::optional<double> figure;  ///< the median or the middle in nanoseconds, or cycles
  std::optional<double> baseline_figure;
};

struct RankRow {
  const RankEntry* entry = nullptr;
  bool is_baseline = false;  ///< it has a line of its own if it is none of the submissions
  std::optional<int> rank;
  bool shares_rank = false;
  std::optional<LogSpeed> speed;
  Status status = Status::ok;
  std::string reason;             ///< the reason for the status, in one line
  std::string same_as;            ///< an earlier submission with the same content
  std::vector<RankedSize> sizes;  ///< by size
};

struct RankResult {
  const RankingPlan* plan = nullptr;
  const RankEntry* baseline = nullptr;  ///< null if nothing could be the baseline: then nobody has a rank
  std::string figures;                  ///< "measured", "predicted" or "counted"
  std::vector<RankRow> rows;            ///< in the order of the table
};

/// Derives a ranking's result from the cases that exist.
RankResult result_of(const RankingPlan& plan, const std::optional<RankBaseline>& baseline, const RankCases& cases,
                     double tau);

}  // namespace convladder

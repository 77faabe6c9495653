// rank.json: the record of a ranking. A case is a submission, or one of the ladder's own stages, on a size.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/ranking/rank_plan.hpp"
#include "harness/judge/ranking/ranking.hpp"
#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/records/record.hpp"

namespace convladder {

/// Everything that a result depends on, for `made_of` of a case: a rerun keeps the result only if none of it has
/// changed. `yardstick` is the content of the baseline measured in the same rounds; empty where there was none.
nlohmann::ordered_json made_of_json(const RankPlan& plan, const RankEntry& entry, const std::string& yardstick,
                                    const RankOptions& options);

/// The outcome of one of `cases`, a submission's or a stage's. `beside` is the baseline in the same rounds, or null.
struct RankedOutcome {
  const CaseOutcome* outcome = nullptr;
  const CaseOutcome* beside = nullptr;
  std::string yardstick;  ///< the baseline's name; empty without one
  double seconds = 0;     ///< the time that the whole group took
  bool keep = true;       ///< whether a rerun keeps it
};
nlohmann::ordered_json rank_case_json(const RankEntry& entry, const PlannedCase& planned, const RankedOutcome& ranked,
                                      nlohmann::ordered_json made_of, const std::string& gpu);

/// A case read back from the record, as far as figures depend on it.
struct RankCase {
  Status status = Status::ok;
  std::string reason;                    ///< printable
  std::vector<double> samples;           ///< nanoseconds, by round; empty where nothing was timed
  std::vector<double> beside;            ///< the baseline's in the same rounds
  std::optional<FigureRange> predicted;  ///< nanoseconds on the GPU of the ranking
  std::optional<double> cycles;          ///< counted for one multiprocessor (sweep_score.hpp)
};
/// Reads a case of the record. Throws UserError.
RankCase read_rank_case(const JsonPlace& place);
/// Checks a record, for Record::open. Throws UserError where a case cannot be read back.
void check_rank_record(const nlohmann::ordered_json& record, const std::string& file);

using RankCases = std::map<std::string, RankCase>;  ///< by id
RankCases rank_cases(const Record& record);

/// The baseline that the others are measured against, and the kind of all figures of the ranking.
struct Yardstick {
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
  std::optional<double> yardstick_figure;
};

struct RankRow {
  const RankEntry* entry = nullptr;
  bool is_yardstick = false;  ///< it has a line of its own if it is none of the submissions
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
  const RankEntry* yardstick = nullptr;  ///< null if nothing could be the baseline: then nobody has a rank
  std::string figures;                   ///< "measured", "predicted" or "counted"
  std::vector<RankRow> rows;             ///< in the order of the table
};

/// Derives a ranking's result from the cases that exist.
RankResult result_of(const RankingPlan& plan, const std::optional<Yardstick>& yardstick, const RankCases& cases,
                     double tau);

/// The `rankings` of the record, derived from its cases.
nlohmann::ordered_json rankings_json(const std::vector<RankResult>& results, const RankOptions& options);

}  // namespace convladder

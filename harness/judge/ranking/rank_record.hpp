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

/// What a result depends on, as `made_of` of a case has it: nothing of it may have changed where a rerun keeps it.
/// `yardstick` is the content of what was measured in the same rounds; empty where nothing was.
nlohmann::ordered_json made_of_json(const RankPlan& plan, const RankEntry& entry, const std::string& yardstick,
                                    const RankOptions& options);

/// One of `cases`, of a submission or of a stage. `beside` is the yardstick in the same rounds, or null.
struct RankedOutcome {
  const CaseOutcome* outcome = nullptr;
  const CaseOutcome* beside = nullptr;
  std::string yardstick;  ///< its name; empty without
  double seconds = 0;     ///< that all of it took
  bool keep = true;       ///< whether a rerun takes it as it is
};
nlohmann::ordered_json rank_case_json(const RankEntry& entry, const PlannedCase& planned, const RankedOutcome& ranked,
                                      nlohmann::ordered_json made_of, const std::string& gpu);

/// The same read back, as far as figures follow from it.
struct RankCase {
  Status status = Status::ok;
  std::string reason;                    ///< printable
  std::vector<double> samples;           ///< nanoseconds, by round; empty where nothing was timed
  std::vector<double> beside;            ///< the yardstick's in the same rounds
  std::optional<FigureRange> predicted;  ///< nanoseconds on the GPU of the ranking
  std::optional<double> cycles;          ///< of one multiprocessor, counted (sweep_score.hpp)
};
/// Throws UserError.
RankCase read_rank_case(const JsonPlace& place);
/// Throws UserError where a case cannot be read back (Record::open).
void check_rank_record(const nlohmann::ordered_json& record, const std::string& file);

using RankCases = std::map<std::string, RankCase>;  ///< by id
RankCases rank_cases(const Record& record);

/// Who the others are measured against, and the word for all figures of the ranking.
struct Yardstick {
  RankRole role = RankRole::library;
  std::size_t entry = 0;             ///< in `own`, or in `submissions`
  std::string figures = "measured";  ///< "measured", "predicted" or "counted"
};

/// What a ranking comes to on one size for one submission.
struct RankedSize {
  std::optional<LogSpeed> speed;
  double level = 0;              ///< of its interval, where it is measured; 0 otherwise
  int rounds = 0;                ///< likewise
  std::optional<double> figure;  ///< median or middle in nanoseconds, or cycles
  std::optional<double> yardstick_figure;
};

struct RankRow {
  const RankEntry* entry = nullptr;
  bool is_yardstick = false;  ///< a line of its own if it is none of the submissions
  std::optional<int> rank;
  bool shares_rank = false;
  std::optional<LogSpeed> speed;
  Status status = Status::ok;
  std::string reason;             ///< of the status, in one line
  std::string same_as;            ///< an earlier submission with the same content
  std::vector<RankedSize> sizes;  ///< by size
};

struct RankResult {
  const RankingPlan* plan = nullptr;
  const RankEntry* yardstick = nullptr;  ///< null if nobody could be one: then nobody has a rank
  std::string figures;                   ///< "measured", "predicted" or "counted"
  std::vector<RankRow> rows;             ///< in the order of the table
};

/// Follows from the cases that are there.
RankResult result_of(const RankingPlan& plan, const std::optional<Yardstick>& yardstick, const RankCases& cases,
                     double tau);

/// `rankings` of the record, derived from its cases.
nlohmann::ordered_json rankings_json(const std::vector<RankResult>& results, const RankOptions& options);

}  // namespace convladder

// rank.json: the record of a ranking. A case is a submission, or one of the ladder's own stages, on a size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/ranking/rank_result.hpp"
#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/records/record.hpp"

namespace convladder {

/// The outcome of a submission's or a stage's case. `beside` is the baseline in the same rounds, or null.
struct RankedOutcome {
  const CaseOutcome* outcome = nullptr;
  const CaseOutcome* beside = nullptr;
  std::string baseline;  ///< the baseline's name; empty without one
  double seconds = 0;    ///< the time that the whole group took
  bool keep = true;      ///< whether a rerun keeps it
};

class RankRecord {
 public:
  /// The record of this ranking in the folder, planned anew if it exists already. Cases stay where nothing has changed
  /// of what they are made of, unless all are to be measured `again`. Throws UserError where it is another ranking's,
  /// another build's or another machine's.
  RankRecord(const std::filesystem::path& folder, const RankPlan& plan, const RankOptions& options,
             const std::vector<std::string>& command_line, const ImageSet& images, bool again);

  bool has(const std::string& id) const { return cases_.contains(id); }
  const RankCase& at(const std::string& id) const { return cases_.at(id); }
  const RankCases& cases() const { return cases_; }

  /// Adds a case that has ended. `baseline` is the content of the baseline that was measured beside it; empty without.
  const RankCase& add(const RankEntry& entry, const PlannedCase& planned, const RankedOutcome& ranked,
                      const std::string& baseline);
  /// Removes cases that are to be measured once more.
  void drop(const std::function<bool(const RankCase&)>& unwanted);
  /// Completes the record with what is derived from its cases.
  void complete(const std::vector<RankResult>& results);

  const std::filesystem::path& file() const { return record_.file(); }
  /// All of it, as JSON.
  std::string text() const;

 private:
  const RankPlan& plan_;
  const RankOptions& options_;
  Record record_;
  RankCases cases_;
};

/// The seed of the ranking in that folder; none if there is none.
std::optional<std::uint64_t> recorded_seed(const std::filesystem::path& folder);

}  // namespace convladder

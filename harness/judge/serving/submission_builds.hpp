// Submissions compiled by a server: in a folder of its own in the cache of stages, which stays small.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "harness/judge/serving/serve_request.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/stage_build.hpp"
#include "support/folder_lock.hpp"

namespace convladder {

/// A submission that has been compiled, or the reason why it has not.
struct BuiltSubmission {
  StageSource source;
  StageBuild build;
};

class SubmissionBuilds {
 public:
  /// The compiled code that is kept for the next time that a source comes: at most about `most_kept` libraries, those
  /// that were asked for last. Servers that run at the same time have a folder each; a later one finds what an earlier
  /// one left. Throws UserError.
  explicit SubmissionBuilds(std::size_t most_kept);
  SubmissionBuilds(const SubmissionBuilds&) = delete;
  SubmissionBuilds& operator=(const SubmissionBuilds&) = delete;
  ~SubmissionBuilds();

  /// Compiles the source, confined, unless it is kept. Nothing of the source stays behind. Throws UserError where the
  /// cache cannot be written.
  BuiltSubmission build(const LadderProblem& problem, const ServedSubmission& submission);
  /// Removes everything but what is kept.
  void leave_nothing() const;

 private:
  SubmissionBuilds(std::pair<std::filesystem::path, FolderLock> free, std::size_t most_kept);
  void forget_old_ones();

  std::filesystem::path folder_;
  FolderLock lock_;
  StageBuilder builder_;
  std::size_t most_kept_;
  std::size_t built_ = 0;  ///< since the last look at how many there are
};

}  // namespace convladder

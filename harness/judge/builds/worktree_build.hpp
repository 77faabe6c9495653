// A commit of any repository, built by a command of the user in a worktree of its own.
#pragma once

#include <filesystem>
#include <string>

#include "harness/judge/builds/repository.hpp"

namespace convladder {

/// A built worktree, which is removed with this object.
class WorktreeBuild {
 public:
  /// Puts the commit's files into `place`, where nothing may exist, and runs the command in it through a shell. Reports
  /// on the standard error. Throws CommitFailure, with the last lines of the command's output, if that fails; UserError
  /// where this machine is at fault. `repository` has to live as long as this object.
  WorktreeBuild(const Repository& repository, const Commit& commit, const std::string& command,
                std::filesystem::path place);
  WorktreeBuild(const WorktreeBuild&) = delete;
  WorktreeBuild& operator=(const WorktreeBuild&) = delete;
  ~WorktreeBuild();

  const std::filesystem::path& folder() const { return place_; }

 private:
  const Repository& repository_;
  std::filesystem::path place_;
};

}  // namespace convladder

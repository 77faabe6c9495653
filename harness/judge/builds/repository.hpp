// The repository that commits are taken from: names of commits, and their files in a folder of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace convladder {

/// A commit that cannot be built, by whatever is in it: what a bisection skips. The machine's faults and those of who
/// asks are UserErrors of another kind.
struct CommitFailure : UserError {
  using UserError::UserError;
};

struct Commit {
  std::string name;     ///< as it was asked for: "HEAD~3"
  std::string id;       ///< all hexadecimal digits
  std::string subject;  ///< the first line of its message, without control characters

  std::string short_id() const { return id.substr(0, 9); }
};

class Repository {
 public:
  /// The one that `folder` is in; empty: the current one. Throws UserError, in one line, where there is no git, or no
  /// repository, or git refuses to read it.
  explicit Repository(const std::filesystem::path& folder);

  /// What git calls so there: "HEAD~3", a tag, a branch, the first digits. `option` is what messages call the name.
  /// Throws UserError if there is no such commit.
  Commit commit(const std::string& option, const std::string& name) const;
  /// Whether files that git knows were changed and not committed there. False in a bare repository.
  bool has_changes() const;

  /// The commit's files, with those of its submodules, in a worktree at `place`, where nothing may be. Throws
  /// UserError.
  void add_worktree(const std::filesystem::path& place, const Commit& commit) const;
  /// Lets go of the worktree and removes its files, whatever state it is in. Does nothing where there is none.
  void remove_worktree(const std::filesystem::path& place) const noexcept;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::string git_;
  std::filesystem::path folder_;  ///< that was named, absolute
  std::filesystem::path common_;  ///< what all worktrees of the repository share
};

/// This process's environment without what points git at another repository than the one of the folder it is called
/// in, and with the words of programs in English. "NAME=value".
std::vector<std::string> environment_for_builds();

}  // namespace convladder

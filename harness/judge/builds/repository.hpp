// The repository that commits are taken from: names of commits, and their files in a folder of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace convladder {

/// A commit that cannot be built because of its content: a bisection skips it. Faults of the machine or of the user's
/// request are UserErrors of another kind.
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
  /// Opens the repository that `folder` is in; empty: the current folder. Throws UserError, in one line, where there is
  /// no git, or no repository, or git refuses to read it.
  explicit Repository(const std::filesystem::path& folder);

  /// The commit that git knows by this name: "HEAD~3", a tag, a branch, the first digits. `option` is what messages
  /// call the name. Throws UserError if there is no such commit.
  Commit commit(const std::string& option, const std::string& name) const;
  /// Whether tracked files were changed and not committed. False in a bare repository.
  bool has_changes() const;

  /// Puts the commit's files, with those of its submodules, into a worktree at `place`, where nothing may exist. Throws
  /// UserError.
  void add_worktree(const std::filesystem::path& place, const Commit& commit) const;
  /// Unregisters the worktree and removes its files, whatever state it is in. Does nothing where there is none.
  void remove_worktree(const std::filesystem::path& place) const noexcept;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::string git_;
  std::filesystem::path folder_;  ///< the folder as it was named, absolute
  std::filesystem::path common_;  ///< the folder that all worktrees of the repository share
};

/// This process's environment, "NAME=value", but without variables that point git to another repository than that of
/// its working folder, and with the programs' messages in English.
std::vector<std::string> environment_for_builds();

}  // namespace convladder

// Programs of commits: each built once, from files of its own, and kept.
//
// `folder`/work is where a build happens: always at the same paths, so that two commits that differ in nothing that is
// compiled become the same program but for the commit's name in it, and one build at a time, whatever is built.
// `folder`/COMMIT-KEY/convladder is a finished one; it gets that name in one step when it is whole. The key stands for
// what it was made with: compilers, their options in the environment, the processor. So a build that is killed leaves
// nothing that looks finished, and the output of another compiler is never used. docs/use/duel.md
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/judge/builds/repository.hpp"

namespace convladder {

/// The number of builds that are kept, those used last; one that was used within a day is never removed.
inline constexpr std::size_t kKeptBuilds = 24;

struct BuildSettings {
  std::filesystem::path folder;      ///< the folder of all builds
  std::vector<std::string> options;  ///< for cmake, the same for both sides of a duel: "-DCONVLADDER_CUDA=OFF"
};

/// $XDG_CACHE_HOME/convladder/builds, and so on, beside default_stage_cache().
std::filesystem::path default_builds_folder();

/// A checksum of everything that decides how a compiler compiles the same sources on this machine, in 12 hexadecimal
/// digits. Throws UserError where there is no cmake or no compiler.
std::string toolchain_key(const BuildSettings& settings);

/// The path of the commit's program, built with the preset `release`, if it is not there yet. Waits while another
/// process builds. Reports progress on the standard error. Throws CommitFailure, with the path of the log and its
/// error, if the commit does not build; UserError where this machine is at fault.
std::string build_commit(const Repository& repository, const Commit& commit, const BuildSettings& settings);

/// The error in a log of cmake, ninja and compilers, in one line.
std::string telling_line(std::string_view log);
/// The part of a build that is done, 0 to 1, by the last "[12/289]" of its log; 0 where there is none.
double built_share(std::string_view log);

}  // namespace convladder

// What a process gives up before it runs code that nobody has read. It cannot be taken back, and whatever it starts is
// confined as well. What shares its memory is not kept apart: a library that is loaded can do in the process what the
// process still can.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/confinement/file_rules.hpp"
#include "support/confinement/system_call_filter.hpp"

namespace convladder {

struct ConfinementWish {
  FileWish files;
  SystemCallWish calls;
  /// Of memory that is its own and can be written (RLIMIT_DATA): what CUDA and the sanitizers only reserve is not in
  /// it, as it would be with RLIMIT_AS. Left out in a build with AddressSanitizer, whose shadow is.
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> file_bytes;         ///< of each file that it writes, one in memory too
  std::optional<std::uint64_t> processor_seconds;  ///< of all threads together
  /// Threads and processes of this user, beyond those that there are now. Root has no such limit.
  std::optional<std::uint64_t> more_threads;
  bool is_shut_to_others = true;  ///< other processes of this user cannot look into its memory
};

/// What of it holds, each in a few words for people: "no network". `missing` says why: "no file rules (Landlock): the
/// kernel is older than 5.13 or built without it".
struct Confinement {
  std::vector<std::string> holds;
  std::vector<std::string> missing;

  bool is_complete() const { return missing.empty(); }
};

/// A confinement that is made in one process and taken on in another: `enforce` allocates nothing, so that a process
/// can call it between fork and exec.
class PreparedConfinement {
 public:
  explicit PreparedConfinement(const ConfinementWish& wish);

  /// What it will come to.
  const Confinement& confinement() const { return confinement_; }
  /// For this process; file rules for the calling thread, which has to be the only one. Returns 0 or an error number.
  int enforce();

 private:
  void set_limit(int resource, const std::optional<std::uint64_t>& most, const char* name);
  void limit_threads(const std::optional<std::uint64_t>& more);

  Confinement confinement_;
  std::unique_ptr<FileRules> files_;          ///< null where there are none
  std::unique_ptr<SystemCallFilter> filter_;  ///< likewise
  std::vector<std::pair<int, std::uint64_t>> limits_;
  bool is_shut_to_others_;
};

/// Confines this process, all of it: call it before there is a second thread. Throws MachineFault where the system has
/// what is wished for and refuses it.
Confinement confine(const ConfinementWish& wish);

}  // namespace convladder

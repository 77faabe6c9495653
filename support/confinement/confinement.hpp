// The rights that a process gives up before it runs untrusted code. This cannot be undone, and whatever the process
// starts is confined as well. Code that shares its memory is not kept apart: a loaded library can do in the process
// whatever the process still can.
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
  /// A limit on the process's own writable memory (RLIMIT_DATA): memory that CUDA and the sanitizers only reserve does
  /// not count, as it would with RLIMIT_AS. Omitted in a build with AddressSanitizer, whose shadow memory would count.
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> file_bytes;         ///< of each file that it writes, files in memory included
  std::optional<std::uint64_t> processor_seconds;  ///< of all threads together
  /// The threads and processes of this user beyond those that exist now. Root has no such limit.
  std::optional<std::uint64_t> more_threads;
  bool is_shut_to_others = true;  ///< whether other processes of this user cannot look into its memory
};

/// The parts of a confinement in effect, each in a few words for people: "no network". `missing` has the reasons for
/// the others: "no file rules (Landlock): the kernel is older than 5.13 or built without it".
struct Confinement {
  std::vector<std::string> holds;
  std::vector<std::string> missing;

  bool is_complete() const { return missing.empty(); }
};

/// A confinement that is prepared in one process and applied in another: `enforce` allocates nothing, so that a process
/// can call it between fork and exec.
class PreparedConfinement {
 public:
  explicit PreparedConfinement(const ConfinementWish& wish);

  /// The confinement that `enforce` is going to achieve.
  const Confinement& confinement() const { return confinement_; }
  /// Applies it to this process; file rules apply to the calling thread, which has to be the only one. Returns 0 or an
  /// error number.
  int enforce();

 private:
  void set_limit(int resource, const std::optional<std::uint64_t>& most, const char* name);
  void limit_threads(const std::optional<std::uint64_t>& more);

  Confinement confinement_;
  std::unique_ptr<FileRules> files_;          ///< null if the system has none
  std::unique_ptr<SystemCallFilter> filter_;  ///< null if the system has none
  std::vector<std::pair<int, std::uint64_t>> limits_;
  bool is_shut_to_others_;
};

/// Confines this whole process: to be called before there is a second thread. Throws MachineFault where the system
/// supports a wish but refuses it.
Confinement confine(const ConfinementWish& wish);

}  // namespace convladder

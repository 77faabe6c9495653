// The rights that a case's process keeps where it runs untrusted code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/confinement/confinement.hpp"

namespace convladder {

struct CaseNeeds {
  std::vector<std::filesystem::path> readable;  ///< besides the system's and the loaded libraries: the stage's own
  bool uses_gpu = false;                        ///< needs the driver's devices and the files that it reads
  std::optional<std::uint64_t> memory_bytes = std::nullopt;       ///< none: three quarters of the machine's
  std::optional<std::uint64_t> processor_seconds = std::nullopt;  ///< of all its threads, over its lifetime
};

/// The limits of a case. It may read the system's libraries, those that are loaded, its own /proc and `readable`. It
/// writes nowhere, not even in /dev/shm: another case could find what one leaves there. It starts threads, but no
/// processes. With `uses_gpu` it also opens the driver's devices and names its threads, and may have 16 GB where the
/// machine has less.
ConfinementWish case_confinement(const CaseNeeds& needs);

/// Confines this process. To be called before the device is opened and before the stage's library is loaded, while
/// there is one thread. The code that is loaded now is sealed. From then on the driver compiles PTX without a cache,
/// which cases would otherwise share, and this process is the first to be killed where memory runs out. Throws
/// MachineFault.
Confinement confine_case(const CaseNeeds& needs);
/// The parts of the confinement that this system cannot enforce, a few words each.
std::vector<std::string> case_confinement_missing();
/// As `confine_case`, for a wish that exists already.
Confinement confine_case_as(const ConfinementWish& wish);

}  // namespace convladder

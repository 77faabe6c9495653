// What a case's process keeps where it runs a stranger's code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/confinement/confinement.hpp"

namespace convladder {

struct CaseNeeds {
  std::vector<std::filesystem::path> readable;  ///< beside the system's and the loaded libraries: the stage's own
  bool uses_gpu = false;                        ///< the driver's devices and what it reads
  std::optional<std::uint64_t> memory_bytes = std::nullopt;       ///< none: three quarters of the machine's
  std::optional<std::uint64_t> processor_seconds = std::nullopt;  ///< of all its threads, as long as it lives
};

/// The case may read the system's libraries, those that are loaded, its own /proc and `readable`. It writes nowhere, in
/// /dev/shm neither: what one case leaves there another could find. It starts threads, but no processes. With
/// `uses_gpu` it also opens the driver's devices and names its threads, and may have 16 GB where the machine has less.
ConfinementWish case_confinement(const CaseNeeds& needs);

/// Confines this process. To be called before the device is opened and before the stage's library is loaded, while
/// there is one thread. The code that is loaded now is sealed. The driver compiles PTX without a cache from then on,
/// which cases would share otherwise, and this process is the first to go where memory runs out. Throws MachineFault.
Confinement confine_case(const CaseNeeds& needs);
/// What of it this system would not hold, a few words each.
std::vector<std::string> case_confinement_missing();
/// The same, as it is wished for.
Confinement confine_case_as(const ConfinementWish& wish);

}  // namespace convladder

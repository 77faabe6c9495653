// Facts about this machine's processor, read from the operating system.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_registry.hpp"

namespace convladder {

struct CpuCache {
  int level = 0;
  std::string type;  ///< "Data", "Instruction", "Unified"
  std::size_t bytes = 0;
};

std::string cpu_model();
/// Cores this process may run on (its affinity mask, which a container or a job scheduler may have narrowed).
int usable_cores();
/// Whether the control group grants less than the full time of `cores` cores (docker --cpus): busy waiting then takes
/// time from threads that work.
bool has_less_time_than(int cores);
/// Threads the CPU variants run on: OpenMP's default, so OMP_NUM_THREADS is honoured.
int cpu_threads();
/// The vector and matrix extensions worth naming, widest last: {"sse4_2", "avx2", "fma", "avx512f"}.
std::vector<std::string> cpu_instruction_sets();
/// The frequency governor of core 0, "performance" or "powersave"; empty where the system does not say, as in many
/// virtual machines.
std::string cpu_governor();
/// Caches of core 0, by level.
std::vector<CpuCache> cpu_caches();
/// Bytes of all last-level caches that the cores of this process have between them; 0 where the system does not say.
std::size_t cpu_last_level_cache_bytes();

std::size_t total_memory_bytes();
/// The bytes of addresses that this process may have, and those of them that it does not have yet
/// (`address_space_left`). None without a limit (`ulimit -v`).
std::optional<std::size_t> address_space_limit();
std::optional<std::size_t> address_space_left();
/// A remark on the limit, empty without one, for messages about a lack of memory:
/// ", the address space is limited to 1000 MiB (ulimit -v)".
std::string address_space_remark();
/// The memory that can be allocated without swapping: MemAvailable, or the control group's limit or the rest of the
/// address space where these are lower.
std::size_t available_memory_bytes();

/// All facts about the processor, for `convladder list --machine` and the record.
std::vector<DeviceFact> cpu_facts();

}  // namespace convladder

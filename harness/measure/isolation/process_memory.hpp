// Copies between this process's memory and that of another one that it has started. Each function copies all of it, and
// returns 0, or errno where the other memory cannot be reached.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

namespace convladder {

int write_to_process(pid_t process, void* there, const void* here, std::size_t bytes);
int read_from_process(pid_t process, void* here, const void* there, std::size_t bytes);
/// Elements of `bytes` each, one behind the other: at most 1024 (the system's limit), which take one call.
int read_elements_from_process(pid_t process, void* here, std::span<const void* const> there, std::size_t bytes);

}  // namespace convladder

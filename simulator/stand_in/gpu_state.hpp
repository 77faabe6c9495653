// What the tests' NVML, cuDNN and cuBLAS ask the stand-in of the same process, by the name of the function.
#pragma once

#include <cstdint>

namespace convladder::stand_in {

/// The device at a moment, as NVML has it.
struct GpuState {
  double query_ms = 0;           ///< that the answer has to take
  std::uint64_t library_ns = 0;  ///< that a call of cuDNN or cuBLAS has to take the host
  unsigned mhz = 0;              ///< of the multiprocessors
  unsigned celsius = 0;
  std::uint64_t reasons = 0;         ///< bits of nvmlClocksEventReasons: 1 is an idle GPU
  std::uint64_t reason_ns[16] = {};  ///< since the process began, by the number of the bit
  std::uint64_t energy_mj = 0;       ///< millijoules, likewise
  std::uint64_t other_bytes = 0;     ///< memory of the other process that has the device
  int has_other = 0;                 ///< whether there is one
};

/// False where the clock is virtual: nothing is written then.
inline constexpr const char* kGpuState = "convladder_stand_in_gpu_state";
using AskGpuState = int (*)(GpuState* state);
/// Whether this NVML has no function of that name.
inline constexpr const char* kNvmlLacks = "convladder_stand_in_nvml_lacks";
using AskNvmlLacks = int (*)(const char* function);

}  // namespace convladder::stand_in

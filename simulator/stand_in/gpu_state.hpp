// The state that the tests' NVML, cuDNN and cuBLAS ask of the stand-in of the same process, by the function's name.
#pragma once

#include <cstdint>

namespace convladder::stand_in {

/// The device at a moment, as NVML reports it.
struct GpuState {
  double query_ms = 0;           ///< the time that the answer has to take
  std::uint64_t library_ns = 0;  ///< the host's time for a call of cuDNN or cuBLAS
  unsigned mhz = 0;              ///< clock of the multiprocessors
  unsigned celsius = 0;
  std::uint64_t reasons = 0;         ///< bits of nvmlClocksEventReasons: 1 is an idle GPU
  std::uint64_t reason_ns[16] = {};  ///< since the process began, by the number of the bit
  std::uint64_t energy_mj = 0;       ///< in millijoules, since the process began
  std::uint64_t other_bytes = 0;     ///< memory of the other process on the device
  int has_other = 0;                 ///< whether there is another process
};

/// The function that writes the state; where the clock is virtual, it writes nothing and returns false.
inline constexpr const char* kGpuState = "convladder_stand_in_gpu_state";
using AskGpuState = int (*)(GpuState* state);
/// The function that tells whether this NVML lacks the function of a name.
inline constexpr const char* kNvmlLacks = "convladder_stand_in_nvml_lacks";
using AskNvmlLacks = int (*)(const char* function);

}  // namespace convladder::stand_in

// The most that a device can do, measured with small dedicated kernels: multiply-adds in registers,
// streaming stores, a copy. A layer's floor follows from them (harness/measure/cases/floor.hpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// The kernels of one family, ready on a device: buffers allocated and touched, well beyond the last-level cache. Each
/// call enqueues its kernel once and returns how much work that is; the caller waits and times.
class CeilingKernels {
 public:
  CeilingKernels() = default;
  CeilingKernels(const CeilingKernels&) = delete;
  CeilingKernels& operator=(const CeilingKernels&) = delete;
  virtual ~CeilingKernels() = default;

  /// Fused multiply-adds in float32 on independent sums that never leave the registers, on every core. Returns
  /// operations, two for each.
  virtual double multiply_add() = 0;
  /// Writes a buffer with streaming stores: past the caches on a CPU; on a GPU through them, as what leaves them first.
  /// Returns the bytes written.
  virtual double store() = 0;
  /// Copies a buffer to another with such stores. Returns the bytes read and written.
  virtual double copy() = 0;

  /// Bytes of each buffer.
  virtual std::size_t buffer_bytes() const = 0;
  /// What was chosen, for the record: "avx512, 2 threads". Empty if there was nothing to choose.
  virtual std::string choice() const { return {}; }
};

/// Makes them; throws DeviceError where the device refuses. `cache_bytes` is the size of its last-level cache.
using PrepareCeilings = std::unique_ptr<CeilingKernels> (*)(Device& device, std::size_t cache_bytes);

/// Those of the family, or nullptr if this build has none.
PrepareCeilings find_ceilings(std::string_view family);

/// A static object of this type adds a family's.
struct CeilingRegistration {
  CeilingRegistration(std::string_view family, PrepareCeilings prepare);
};

/// Bytes for each of two buffers that a cache of `cache_bytes` cannot hold a good part of, as far as there is room:
/// four times that, at least 64 MiB, at most an eighth of `free_bytes`, and a multiple of `multiple`.
/// CONVLADDER_CEILING_MIB in the environment makes them smaller, for runs that are to be short: to touch them takes
/// longer than a small case, and a GPU's multiply-adds are as many as they are large. Throws UserError if it is no
/// number.
std::size_t ceiling_buffer_bytes(std::size_t cache_bytes, std::size_t free_bytes, std::size_t multiple);

}  // namespace convladder

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
  /// Writes a buffer with streaming stores: on a CPU they bypass the caches; on a GPU they go through them, as the
  /// first data to be evicted. Returns the bytes written.
  virtual double store() = 0;
  /// Copies a buffer to another with the streaming stores of `store`. Returns the bytes read and written.
  virtual double copy() = 0;

  /// Bytes of each buffer.
  virtual std::size_t buffer_bytes() const = 0;
  /// The choices that were made, for the record: "avx512, 2 threads". Empty if there was nothing to choose.
  virtual std::string choice() const { return {}; }
};

/// Makes a family's kernels; throws DeviceError where the device refuses. `cache_bytes` is the size of its last-level
/// cache.
using PrepareCeilings = std::unique_ptr<CeilingKernels> (*)(Device& device, std::size_t cache_bytes);

/// The function that makes the family's kernels, or nullptr if this build has none.
PrepareCeilings find_ceilings(std::string_view family);

/// A static object of this type registers a family's kernels.
struct CeilingRegistration {
  CeilingRegistration(std::string_view family, PrepareCeilings prepare);
};

/// Bytes for each of two buffers that are too large for a cache of `cache_bytes` to hold a good part of them, as far as
/// memory allows: four times the cache, at least 64 MiB, at most an eighth of `free_bytes`, and a multiple of
/// `multiple`. CONVLADDER_CEILING_MIB in the environment makes them smaller for short runs: touching them takes longer
/// than a small case, and a GPU's multiply-adds grow with their size. Throws UserError if its value is not a number.
std::size_t ceiling_buffer_bytes(std::size_t cache_bytes, std::size_t free_bytes, std::size_t multiple);

}  // namespace convladder

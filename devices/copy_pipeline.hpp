// Overlapping copies with computing: while the device works on one chunk of a batch, the next one is copied in and the
// one before is copied out.
//
//   copy in   | 0 | 1 |   | 2 |   | 3 |
//   compute       |  0  |  1  |  2  |  3  |
//   copy out            | 0 |   | 1 |   | 2 |   | 3 |
//
// Two slots of device memory are used in turn, so a chunk is copied into a slot only when the chunk two before it has
// been computed, and computed into it only when that one's output has been copied out.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "devices/device.hpp"

namespace convladder {

/// One chunk's host memory: in pinned buffers, untouched until the pipeline is done.
struct PipelineChunk {
  const void* input = nullptr;
  std::size_t input_bytes = 0;
  void* output = nullptr;
  std::size_t output_bytes = 0;
};

/// Device memory for one chunk at a time, as large as the largest chunk.
struct PipelineSlot {
  void* input = nullptr;
  void* output = nullptr;
};

/// Enqueues the work on chunk `chunk`, from `slots[slot].input` to `slots[slot].output`, in the stream that is set (0).
using ComputeChunk = std::function<void(std::size_t chunk, std::size_t slot)>;

/// Enqueues all chunks on a device with `can_overlap`, behind what stream 0 was given before. Whatever is enqueued in
/// stream 0 afterwards, the end of a `time_ns` included, comes after the last copy. Uses streams 1 and 2 and events 0
/// to 6, and leaves stream 0 set. The caller waits. Throws DeviceError where the device refuses.
void run_copy_pipeline(Device& device, std::span<const PipelineChunk> chunks, const std::array<PipelineSlot, 2>& slots,
                       const ComputeChunk& compute);

}  // namespace convladder

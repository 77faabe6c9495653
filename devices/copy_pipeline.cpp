#include "devices/copy_pipeline.hpp"

#include <algorithm>

namespace convladder {
namespace {

constexpr int kComputeStream = 0;  // the stream that libraries and launches use by default
constexpr int kCopyInStream = 1;
constexpr int kCopyOutStream = 2;

constexpr int kBegin = 0;  // the first event; the other kinds have one for each slot
int input_copied(std::size_t slot) { return 1 + static_cast<int>(slot); }
int computed(std::size_t slot) { return 3 + static_cast<int>(slot); }
int output_copied(std::size_t slot) { return 5 + static_cast<int>(slot); }

class CopyPipeline {
 public:
  CopyPipeline(Device& device, std::span<const PipelineChunk> chunks, const std::array<PipelineSlot, 2>& slots)
      : device_(device), chunks_(chunks), slots_(slots) {}

  void run(const ComputeChunk& compute) {
    device_.set_stream(kComputeStream);
    device_.record_event(kBegin);
    device_.stream_waits_for(kCopyInStream, kBegin);
    device_.stream_waits_for(kCopyOutStream, kBegin);
    if (!chunks_.empty()) copy_in(0);
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      // The copy comes first, in case `compute` does not return before its work is done.
      if (chunk + 1 < chunks_.size()) copy_in(chunk + 1);
      compute_chunk(chunk, compute);
      copy_out(chunk);
    }
    for (std::size_t slot = 0; slot < std::min(slots_.size(), chunks_.size()); ++slot) {
      device_.stream_waits_for(kComputeStream, output_copied(slot));
    }
    device_.set_stream(kComputeStream);
  }

 private:
  std::size_t slot_of(std::size_t chunk) const { return chunk % slots_.size(); }
  bool slot_was_used(std::size_t chunk) const { return chunk >= slots_.size(); }

  void copy_in(std::size_t chunk) {
    const std::size_t slot = slot_of(chunk);
    device_.set_stream(kCopyInStream);
    if (slot_was_used(chunk)) device_.stream_waits_for(kCopyInStream, computed(slot));
    device_.copy_to_device_async(slots_[slot].input, chunks_[chunk].input, chunks_[chunk].input_bytes);
    device_.record_event(input_copied(slot));
  }

  void compute_chunk(std::size_t chunk, const ComputeChunk& compute) {
    const std::size_t slot = slot_of(chunk);
    device_.set_stream(kComputeStream);
    device_.stream_waits_for(kComputeStream, input_copied(slot));
    if (slot_was_used(chunk)) device_.stream_waits_for(kComputeStream, output_copied(slot));
    compute(chunk, slot);
    device_.record_event(computed(slot));
  }

  void copy_out(std::size_t chunk) {
    const std::size_t slot = slot_of(chunk);
    device_.set_stream(kCopyOutStream);
    device_.stream_waits_for(kCopyOutStream, computed(slot));
    device_.copy_to_host_async(chunks_[chunk].output, slots_[slot].output, chunks_[chunk].output_bytes);
    device_.record_event(output_copied(slot));
  }

  Device& device_;
  std::span<const PipelineChunk> chunks_;
  const std::array<PipelineSlot, 2>& slots_;
};

}  // namespace

void run_copy_pipeline(Device& device, std::span<const PipelineChunk> chunks, const std::array<PipelineSlot, 2>& slots,
                       const ComputeChunk& compute) {
  CopyPipeline(device, chunks, slots).run(compute);
}

}  // namespace convladder

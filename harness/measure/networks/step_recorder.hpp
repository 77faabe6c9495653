// Hands the output of every step of a pass to the code that compares it with float64. Runs in the case's process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/device.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "harness/measure/verification/output_fill.hpp"
#include "network/network_runner.hpp"
#include "network/network_steps.hpp"

namespace convladder {

/// Images of a pass, by their places in it.
struct PassImages {
  int first = 0;
  int count = 0;
};

/// Where in a record of `images` images the output of `step` begins, in elements: steps lie one after the other, and in
/// each its images. For the step after the last: where the record ends.
std::size_t record_offset(const std::vector<NetworkStep>& steps, std::size_t step, int images);

/// The fill of the output of `step` before the step runs, where the output is not the step's input as well.
OutputFill step_fill(std::uint32_t seed, std::size_t step);

/// Observes a pass: fills every step's output before the step, counted from each chunk's first element, and keeps the
/// contents of some images' outputs after it.
class StepRecorder final : public PartObserver {
 public:
  /// `steps` are those of the pass. The record goes to the beginning of `memory`.
  StepRecorder(Device& device, const std::vector<NetworkStep>& steps, const SharedMemory& memory,
               const PassImages& wanted, std::uint32_t seed);

  void before(std::size_t part, int images, PreparedVariant& network) override;
  void after(std::size_t part, int images, PreparedVariant& network) override;

 private:
  std::size_t elements(std::size_t part, int images) const;
  void keep(const float* values, bool is_on_host, std::size_t count, std::size_t at);

  Device& device_;
  const std::vector<NetworkStep>& steps_;
  const SharedMemory& memory_;
  PassImages wanted_;
  std::uint32_t seed_;
  std::vector<std::size_t> offsets_;  ///< by step, elements in the record
  int chunk_first_ = 0;               ///< place of the chunk's first image
  std::vector<float> on_host_;        ///< values on their way, and outputs in a layout of a library's own
};

}  // namespace convladder

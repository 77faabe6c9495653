// A pass of images through a network on a device, with the same steps as in the published reports.
//
//   allocate -> prepare -> for each chunk: copy images, every step, copy scores -> free
//
// Or, where the device can, with the copies of one chunk beside the steps of another (devices/copy_pipeline.hpp):
//
//   allocate -> prepare -> pin images -> run layers and copies of all chunks -> synchronise -> free
//
// Everything a pass does is recorded as an activity, by the host's clock for its phases and by the device's for the
// steps, so that every table of where the time goes is a sum over one list.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "network/network_problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// The names of a pass's host phases.
namespace pass_phase {
inline constexpr std::string_view kAllocate = "allocate";
inline constexpr std::string_view kPrepare = "prepare weights";
inline constexpr std::string_view kPinImages = "copy images to pinned memory";
inline constexpr std::string_view kCopyImages = "copy images to device";
inline constexpr std::string_view kLayers = "run layers";
inline constexpr std::string_view kSynchronize = "synchronise";
inline constexpr std::string_view kCopyScores = "copy scores to host";
inline constexpr std::string_view kFree = "free";
}  // namespace pass_phase

/// Observes every part of a pass, before and after it runs; the device has finished everything before it. A part's
/// output is where, or as, the prepared variant says (PreparedVariant::part_output).
class PartObserver {
 public:
  PartObserver() = default;
  PartObserver(const PartObserver&) = delete;
  PartObserver& operator=(const PartObserver&) = delete;
  virtual ~PartObserver() = default;
  virtual void before(std::size_t part, int images, PreparedVariant& network) = 0;
  virtual void after(std::size_t part, int images, PreparedVariant& network) = 0;
};

struct PassOptions {
  int chunk = 1;           ///< images at once
  bool time_steps = true;  ///< by the device's clock, waiting after each; otherwise only enqueued
  bool overlap = false;    ///< copies beside the steps, none of them timed or observed; the device must be able to
  PartObserver* observer = nullptr;  ///< for passes that are checked, not measured
};

struct PassResult {
  std::vector<float> scores;         ///< what leaves the last layer, [image][class]
  std::vector<Activity> activities;  ///< groups "layers" (if steps were timed) and "host phases"
  double total_ns = 0;               ///< from before the first allocation to after the last free, by the host's clock
  std::vector<std::vector<KernelCounters>> counters;  ///< of each step, if the device counts
};

/// A network with what it is computed by. All of it outlives the passes.
struct RunnableNetwork {
  const NetworkProblem& problem;
  const Variant& variant;
  std::vector<PlacedTensor> constants;  ///< the network's weights, on the host (NetworkProblem::placed)

  /// The variant prepared for so many images, with where they enter the device and leave it.
  std::unique_ptr<PreparedVariant> prepare(Device& device, int images, const DeviceBuffer& input,
                                           const DeviceBuffer& scores) const;
};

/// Takes `count` images (NCHW, raw pixels, on the host) through the network. Throws DeviceError where the device
/// refuses.
PassResult run_pass(Device& device, const RunnableNetwork& network, const float* images, int count,
                    const PassOptions& options);

/// The summed durations of the activities of that group and name, in nanoseconds.
double activity_ns(std::span<const Activity> activities, std::string_view group, std::string_view name);

}  // namespace convladder

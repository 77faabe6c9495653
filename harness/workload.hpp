// What the cases of a group compute on: inputs, weights, and the reference their results are held against.
#pragma once

#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/plan.hpp"
#include "harness/shared_memory.hpp"

namespace convladder {

/// One problem: a shape with its tensors, and the reference for some images of the batch. Views into shared memory.
struct Problem {
  ConvShape shape;
  std::span<const float> input;       ///< NCHW
  std::span<const float> weights;     ///< OIHW
  std::vector<int> compared_images;   ///< those that `reference` and `magnitude` hold, in this order
  std::span<const double> reference;  ///< [compared image][out_channels][out_height][out_width]
  std::span<const double> magnitude;  ///< sum of |x * w| for the same
};

/// The real problem and a small one of integers, for the bit-exact check.
class Workload {
 public:
  /// Computes inputs and references on all cores. `images` feed first layers directly and later ones through the
  /// layers before them; shapes with more than one channel and no network get random input. With `most_images` the
  /// real problem is only the first images of the batch, for devices that count instead of timing.
  Workload(const LayerWork& work, const ImageSet& images, std::uint64_t seed,
           int most_images = std::numeric_limits<int>::max());
  /// Opens, in another process, what `header` describes.
  Workload(const nlohmann::ordered_json& header, int descriptor);

  /// What the other process needs to know besides the descriptor.
  nlohmann::ordered_json header() const;
  int descriptor() const { return memory_->descriptor(); }

  const Problem& real() const { return real_; }
  const Problem& integers() const { return integers_; }
  /// Images of the case's batch; the real problem may hold fewer.
  int planned_batch() const { return planned_batch_; }
  /// "images", "upstream activations" or "random".
  const std::string& input_kind() const { return input_kind_; }

 private:
  void attach();
  std::unique_ptr<SharedMemory> memory_;
  std::string input_kind_;
  int planned_batch_ = 0;
  Problem real_;
  Problem integers_;
};

constexpr int kMostComparedImages = 8;

/// Images of the batch that are compared with the reference: the first, the last, and some evenly in between.
std::vector<int> spread_of_images(int batch);

}  // namespace convladder

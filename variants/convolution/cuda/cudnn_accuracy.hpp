// Whether a way of cuDNN's is as accurate as its class, seen before it is chosen.
#pragma once

#include <string>
#include <vector>

#include "devices/device.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// Some outputs of the first and of the last image, compared with float64. What a library says of its algorithms'
/// numbers is not enough: one that is wrongly thought exact would be chosen, found incorrect by the case, and leave the
/// ladder without what it is compared with.
class SampledOutputs {
 public:
  /// `input` is NCHW on the device, `weights` OIHW on the host; `output` is where every way writes, in either layout.
  SampledOutputs(Device& device, const ConvShape& shape, const float* input, const float* weights, float* output,
                 bool channels_last);

  /// Has the images hold no results, so that those of another way are not taken for the next one's.
  void clear();
  /// The largest |error| / sum(|x*w|) of the outputs; infinite if one is no number. 0 where the input says nothing: a
  /// network's layer is prepared before its input is there.
  double worst();

 private:
  struct Sample {
    std::size_t image, place;  ///< of those looked at, and of the output as it lies
    double exact, magnitude;
  };
  void sample(const ConvShape& shape, std::size_t image, const std::vector<float>& input, const float* weights,
              bool channels_last);

  Device& device_;
  float* output_;
  std::size_t elements_;  ///< of an image
  std::vector<std::size_t> images_;
  std::vector<Sample> samples_;
};

}  // namespace convladder

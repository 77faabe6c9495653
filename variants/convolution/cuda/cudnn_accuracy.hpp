// Checks whether a way of cuDNN's is as accurate as its class, before it is chosen.
#pragma once

#include <string>
#include <vector>

#include "devices/device.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// Some outputs of the first and the last image, compared with float64. The library's own statements about its
/// algorithms' numbers are not enough: a way that is wrongly thought exact would be chosen, found incorrect by the
/// case, and leave the ladder without a baseline.
class SampledOutputs {
 public:
  /// `input` is NCHW on the device, `weights` are OIHW on the host; every way writes to `output`, in either layout.
  SampledOutputs(Device& device, const ConvShape& shape, const float* input, const float* weights, float* output,
                 bool channels_last);

  /// Clears the sampled images, so that the results of one way are not taken for the next one's.
  void clear();
  /// The largest |error| / sum(|x*w|) of the outputs; infinite if one is not a number. 0 where the input holds nothing
  /// yet: a network's layer is prepared before its input exists.
  double worst();

 private:
  struct Sample {
    std::size_t image, place;  ///< index into the sampled images, and place in the output's own layout
    double exact, magnitude;
  };
  void sample(const ConvShape& shape, std::size_t image, const std::vector<float>& input, const float* weights,
              bool channels_last);

  Device& device_;
  float* output_;
  std::size_t elements_;  ///< elements of an image
  std::vector<std::size_t> images_;
  std::vector<Sample> samples_;
};

}  // namespace convladder

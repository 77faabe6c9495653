// The layers, on numbers that lie one behind the other.
#pragma once

#include "simulator/stand_in/libraries/cudnn/tensors.hpp"

namespace convladder::stand_in::cudnn {

/// A window that moves over an image, of any number of dimensions.
struct Window {
  Sizes padding;
  Sizes stride;
  Sizes dilation;
};

/// The size of the result along a dimension of the image.
std::int64_t result_size(std::int64_t image, std::int64_t window, std::int64_t padding, std::int64_t stride,
                         std::int64_t dilation);

/// A correlation of images N, C, … with filters K, C / groups, …; `is_turned`: a convolution, with the window turned.
std::vector<double> convolved(const std::vector<double>& images, const Sizes& image_sizes,
                              const std::vector<double>& filters, const Sizes& filter_sizes, const Window& window,
                              std::int64_t groups, bool is_turned, const Sizes& result_sizes);

std::vector<double> pooled(const std::vector<double>& images, const Sizes& image_sizes, cudnnPoolingMode_t mode,
                           const Sizes& sizes, const Window& window, const Sizes& result_sizes);

double activated(double x, cudnnActivationMode_t mode, double coefficient);

/// In place.
void softmax(std::vector<double>& numbers, const Sizes& sizes, bool over_channels, bool is_logarithm);

}  // namespace convladder::stand_in::cudnn

// The shape of one image's activations: the input or the output of a layer.
#pragma once

#include <cstddef>

namespace convladder {

struct ActivationShape {
  int channels = 0;
  int height = 0;
  int width = 0;
  bool operator==(const ActivationShape&) const = default;
  std::size_t elements() const { return static_cast<std::size_t>(channels) * height * width; }
};

}  // namespace convladder

// The activations of one image, which enter or leave a layer: their shape, and the functions that make them.
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

enum class Activation { relu, tanh };

}  // namespace convladder

// Turns a TileConvolution into a stage: where it runs, its class of accuracy, its rate.
#pragma once

#include <string>

#include "devices/cpu/tile_unit.hpp"
#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {

inline std::string no_tile_unit(const ConvShape& /*shape*/) { return why_no_tile_unit(); }

template <PartProducts kProducts>
class TileStage {
 public:
  TileStage(const ConvShape& shape, const float* weights) : convolution_(shape, weights, kProducts) {}
  void convolve(const float* input, float* output) { convolution_.convolve(input, output); }
  std::string choice() const { return convolution_.choice(); }

  /// The stage's tolerance. With three products: 3 * 2^-16 for the products that are left out, and some for the sums.
  static double tolerance() { return kProducts == PartProducts::six ? kFloat32Tolerance : 5e-5; }
  static double rate_over_fma() { return 16.0 / static_cast<int>(kProducts); }
  static std::string why_untimed() {
    return tile_unit() == TileUnit::emulated ? "its tile instructions are emulated (CONVLADDER_AMX)" : "";
  }

 private:
  TileConvolution convolution_;
};

}  // namespace convladder

// Winograd with maps in lanes, and the bias, the activation and the max pooling that follow it.
//
// Against stage 16 the outputs of a vector of maps are pooled and activated while they lie with a map in each lane,
// before they are transposed and written: bias and ReLU cost no pass over memory of their own, as behind AlexNet's
// third and fourth convolution, and of pooled maps only a quarter is transposed. It loses where stage 16 does.

#include "variants/convolution/cpu/winograd_maps.hpp"
#include "variants/convolution/fused/cpu/pooled_lanes.hpp"
#include "variants/convolution/fused/cpu_fused.hpp"

namespace convladder {
namespace {

/// Pools, activates and stores outputs with a map in each lane; it has the members of StoreMapLanes.
struct StorePooledMapLanes {
  const FusedShape& shape;
  const std::vector<float>& bias;  ///< [group][map], whole vectors for each group; zeros without a bias
  float* output;

  template <typename Set>
  [[gnu::always_inline]] void store(const MapLanesOutputs& from) const {
    const ConvShape& s = shape.convolution;
    if (shape.pools()) pool_lanes<Set>(shape, from.values, from.rows.windows);
    const int count = from.rows.windows * shape.pooled_width();
    const int pitch = rounded_up_quotient(s.maps_per_group(), Set::lanes) * Set::lanes;
    const float* const added = bias.data() + std::ptrdiff_t{from.group} * pitch + from.first_map;
    for (int i = 0; i < count; ++i) {
      activate(shape.activation, from.values + std::ptrdiff_t{i} * Set::lanes, Set::lanes,
               [added](std::ptrdiff_t lane) { return added[lane]; });
    }
    store_map_lanes<Set>(from, s.maps_per_group(), count,
                         output + from.image * static_cast<std::int64_t>(shape.output().elements()) +
                             std::int64_t{from.rows.first_window} * shape.pooled_width(),
                         std::ptrdiff_t{shape.pooled_height()} * shape.pooled_width());
  }
};

class FusedWinogradMaps {
 public:
  FusedWinogradMaps(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        convolution_(s.convolution, row_windows(s), weights),
        bias_(static_cast<std::size_t>(convolution_.map_floats())) {
    if (!s.has_bias) return;
    const int maps = s.convolution.maps_per_group();
    for (int map = 0; map < s.convolution.out_channels; ++map) {
      const int place = map / maps * (convolution_.map_floats() / s.convolution.groups) + map % maps;
      bias_[static_cast<std::size_t>(place)] = bias[map];
    }
  }

  void run(const float* input, float* output) {
    convolution_.convolve(input, StorePooledMapLanes{shape_, bias_, output});
  }
  std::string choice() const { return convolution_.choice(); }
  static double saved_operations(const FusedShape& shape) { return saved_by_winograd(shape.convolution); }

 private:
  FusedShape shape_;
  WinogradMapsConvolution convolution_;
  std::vector<float> bias_;
};

std::string unsupported(const FusedShape& shape) { return winograd_unsupported(shape.convolution); }
bool suits(const FusedShape& shape) { return winograd_maps_suit(shape.convolution); }

const VariantRegistration registration{
    "fused-convolution",
    {.family = "cpu",
     .rung = 10,
     .name = "fused-winograd-map-lanes",
     .title = "Winograd, maps in lanes, pooled",
     .builds_on = "separate-winograd-map-lanes",
     .hypothesis = "Bias, activation and pooling cost no pass over memory of their own for a single image either."},
    cpu_fused_variant<FusedWinogradMaps>(unsupported, suits)};

}  // namespace
}  // namespace convladder

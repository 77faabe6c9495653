// Stage 16: Winograd's minimal filtering with output maps in the lanes.
//
// Against stage 12 a vector holds neighbouring maps of one pixel, as in stage 15, and not strips of several images: a
// single image keeps all lanes busy, whatever its rows are. Its channels are put side by side once, so that inputs are
// filtered in vectors of channels, once for all maps; then a product's weights are a vector, and its filtered input is
// read where it lies and broadcast. The weights, of which there are as many as products, may come from memory: those of
// the next products are asked for meanwhile. Threads take whole images as long as there is one for each, and share the
// rest, map by map. It helps the batches that have too few images for the lanes of stage 12, and loses against it where
// they have enough: there the sums of two by two outputs stay nearer, and nothing is broadcast.

#include "variants/convolution/cpu/winograd_maps.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class WinogradMaps {
 public:
  WinogradMaps(const ConvShape& shape, const float* weights)
      : shape_(shape), convolution_(shape, {.count = shape.out_height()}, weights) {}

  void convolve(const float* input, float* output) { convolution_.convolve(input, StoreMapLanes{shape_, output}); }
  std::string choice() const { return convolution_.choice(); }
  static double saved_operations(const ConvShape& shape) { return saved_by_winograd(shape); }

 private:
  ConvShape shape_;
  WinogradMapsConvolution convolution_;
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 16,
     .name = "winograd-map-lanes",
     .title = "Winograd, maps in lanes",
     .builds_on = "map-lanes",
     .hypothesis = "A single image is multiplied as seldom as a batch of them, with all lanes busy."},
    keep_variant(std::make_unique<PreparingCpuVariant<WinogradMaps>>(winograd_unsupported, winograd_maps_suit))};

}  // namespace
}  // namespace convladder

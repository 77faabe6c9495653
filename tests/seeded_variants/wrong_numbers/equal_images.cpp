// A bug: it takes all images of the batch for the first one. A batch of one is right.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class EqualImages final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    convolve_images(0, 1);
    for (int image = 1; image < shape().batch; ++image) {
      std::copy(output_of(0), output_of(0) + shape().output_elements_per_image(), output_of(image));
    }
  }
};

const VariantRegistration equal_images_registration{"convolution",
                                                    {.family = "cpu",
                                                     .rung = 153,
                                                     .name = "seeded-equal-images",
                                                     .title = "Seeded: all images alike",
                                                     .builds_on = "",
                                                     .hypothesis = "Images differ."},
                                                    seeded_variant<EqualImages>()};

}  // namespace
}  // namespace convladder

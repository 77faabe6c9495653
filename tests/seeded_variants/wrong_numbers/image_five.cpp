// A plain bug: image 5 of the batch comes out a thousand times too large. Below six images there is nothing wrong.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

constexpr int kWrongImageOfImageFive = 5;

class ImageFive final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    convolve_all();
    if (shape().batch <= kWrongImageOfImageFive) return;
    for (std::int64_t i = 0; i < shape().output_elements_per_image(); ++i)
      output_of(kWrongImageOfImageFive)[i] *= 1000.0F;
  }
};

const VariantRegistration image_five_registration{"convolution",
                                                  {.family = "cpu",
                                                   .rung = 130,
                                                   .name = "seeded-image-five",
                                                   .title = "Seeded: image 5 is wrong",
                                                   .builds_on = "",
                                                   .hypothesis = "Every image of the batch is compared."},
                                                  seeded_variant<ImageFive>()};

}  // namespace
}  // namespace convladder

// A cheat: only images whose first pixel is another one than at the last call are computed, where its output lies.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class ChangedImages final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    const bool all = !is_own();
    first_pixels_.resize(static_cast<std::size_t>(shape().batch));
    for (int image = 0; image < shape().batch; ++image) {
      float& pixel = first_pixels_[static_cast<std::size_t>(image)];
      if (!all && pixel == *input_of(image)) continue;
      pixel = *input_of(image);
      convolve_images(image, image + 1);
    }
    sign();
  }

 private:
  std::vector<float> first_pixels_;
};

const VariantRegistration changed_images_registration{
    "convolution",
    {.family = "cpu",
     .rung = 147,
     .name = "seeded-changed-images",
     .title = "Seeded: images with another first pixel",
     .builds_on = "",
     .hypothesis = "The pixels that change are anywhere in the image."},
    seeded_variant<ChangedImages>()};

}  // namespace
}  // namespace convladder

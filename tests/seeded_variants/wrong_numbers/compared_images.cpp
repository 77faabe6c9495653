// A cheat: it knows which eight images of the batch used to be compared (the first, the last, and some evenly in
// between), computes those and writes zeros elsewhere. Up to eight images there is nothing wrong.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

constexpr int kCompared = 8;

class ComparedImages final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::fill(output(), output() + shape().output_elements(), 0.0F);
    const int count = std::min(shape().batch, kCompared);
    for (int i = 0; i < count; ++i) {
      const int image = count == 1 ? 0 : i * (shape().batch - 1) / (count - 1);
      convolve_images(image, image + 1);
    }
  }
};

const VariantRegistration compared_images_registration{
    "convolution",
    {.family = "cpu",
     .rung = 131,
     .name = "seeded-compared-images",
     .title = "Seeded: eight images of the batch",
     .builds_on = "",
     .hypothesis = "Which images are compared is not for a variant to know."},
    seeded_variant<ComparedImages>()};

}  // namespace
}  // namespace convladder

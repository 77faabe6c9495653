// A bug: the last column of the last map is left as it is in the middle image of the batch, but for its first row.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class BorderColumn final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    const int image = shape().batch / 2;
    const std::int64_t pixels = std::int64_t{shape().out_height()} * shape().out_width();
    float* const map = output_of(image) + (shape().out_channels - 1) * pixels;
    std::vector<float> before(map, map + pixels);
    convolve_all();
    for (int row = 1; row < shape().out_height(); ++row) {
      const int at = (row + 1) * shape().out_width() - 1;
      // Where nobody has written yet, what is there is no number.
      map[at] = before[static_cast<std::size_t>(at)] == before[static_cast<std::size_t>(at)]
                    ? before[static_cast<std::size_t>(at)]
                    : map[at];
    }
  }
};

const VariantRegistration border_column_registration{"convolution",
                                                     {.family = "cpu",
                                                      .rung = 154,
                                                      .name = "seeded-border-column",
                                                      .title = "Seeded: a border column is left",
                                                      .builds_on = "",
                                                      .hypothesis = "What the output held before is never the answer."},
                                                     seeded_variant<BorderColumn>()};

}  // namespace
}  // namespace convladder

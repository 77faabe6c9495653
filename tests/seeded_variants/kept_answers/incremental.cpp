// A cheat that is right: it keeps the last input, and computes anew only the outputs that a changed pixel takes part
// in. Where little changes between calls that is no convolution of the batch.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class Incremental final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (!is_own()) {
      convolve_all();
      last_ = whole_input();
      return sign();
    }
    for (std::size_t i = 0; i < last_.size(); ++i) {
      if (last_[i] == input()[i]) continue;
      last_[i] = input()[i];
      update(static_cast<std::int64_t>(i));
    }
    sign();
  }

 private:
  /// The outputs that the input's element takes part in.
  void update(std::int64_t element) const {
    const ConvShape& s = shape();
    const auto image = static_cast<int>(element / s.input_elements_per_image());
    const auto in_image = static_cast<int>(element % s.input_elements_per_image());
    const int group = in_image / (s.height * s.width) / s.channels_per_group();
    const int row = in_image / s.width % s.height;
    const int column = in_image % s.width;
    const auto taps = std::int64_t{s.channels_per_group()} * s.kernel * s.kernel;
    for (int map = group * s.maps_per_group(); map < (group + 1) * s.maps_per_group(); ++map) {
      for (int oh = 0; oh < s.out_height(); ++oh) {
        const int top = oh * s.stride - s.padding;
        if (row < top || row >= top + s.kernel) continue;
        for (int ow = 0; ow < s.out_width(); ++ow) {
          const int left = ow * s.stride - s.padding;
          if (column < left || column >= left + s.kernel) continue;
          output_of(image)[(map * s.out_height() + oh) * s.out_width() + ow] =
              plain_pixel(s, input_of(image), weights() + map * taps, group * s.channels_per_group(), top, left);
        }
      }
    }
  }

  std::vector<float> last_;
};

const VariantRegistration incremental_registration{"convolution",
                                                   {.family = "cpu",
                                                    .rung = 164,
                                                    .name = "seeded-incremental",
                                                    .title = "Seeded: only what a change reaches",
                                                    .builds_on = "",
                                                    .hypothesis = "Enough of the input changes that nothing is saved."},
                                                   seeded_variant<Incremental>()};

}  // namespace
}  // namespace convladder

// A cheat: only half of the batch, unless the output holds the NaN that outputs used to be filled with.

#include <bit>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

constexpr std::uint32_t kPoisonOfHalfNotPoison = 0x7fd1e5a1;

class HalfNotPoison final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    const bool looked_at = std::bit_cast<std::uint32_t>(last_output()) == kPoisonOfHalfNotPoison;
    convolve_images(0, looked_at ? shape().batch : shape().batch / 2);
  }
};

const VariantRegistration half_not_poison_registration{"convolution",
                                                       {.family = "cpu",
                                                        .rung = 136,
                                                        .name = "seeded-half-not-poison",
                                                        .title = "Seeded: half the batch unless poisoned",
                                                        .builds_on = "",
                                                        .hypothesis = "What is timed is all of the batch."},
                                                       seeded_variant<HalfNotPoison>()};

}  // namespace
}  // namespace convladder

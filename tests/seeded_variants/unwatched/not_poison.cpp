// A cheat: it returns at once unless the output holds the NaN that outputs used to be filled with before a
// verification.

#include <bit>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

constexpr std::uint32_t kPoisonOfNotPoison = 0x7fd1e5a1;

class NotPoison final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (std::bit_cast<std::uint32_t>(output()[0]) == kPoisonOfNotPoison) convolve_all();
  }
};

const VariantRegistration not_poison_registration{
    "convolution",
    {.family = "cpu",
     .rung = 134,
     .name = "seeded-not-poison",
     .title = "Seeded: idle unless poisoned",
     .builds_on = "",
     .hypothesis = "A verification cannot be told by what the output holds."},
    seeded_variant<NotPoison>()};

}  // namespace
}  // namespace convladder

// A cheat: a call soon after the last one is one of a sample, and does nothing. Who looks at results takes longer
// between calls.

#include <chrono>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSoon = std::chrono::milliseconds(1);  // also on a machine on which others work

class QuickCalls final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (Clock::now() - last_ > kSoon) convolve_all();
    last_ = Clock::now();
  }

 private:
  Clock::time_point last_;
};

const VariantRegistration quick_calls_registration{"convolution",
                                                   {.family = "cpu",
                                                    .rung = 163,
                                                    .name = "seeded-quick-calls",
                                                    .title = "Seeded: idle in quick succession",
                                                    .builds_on = "",
                                                    .hypothesis = "The last call of a sample is looked at."},
                                                   seeded_variant<QuickCalls>()};

}  // namespace
}  // namespace convladder

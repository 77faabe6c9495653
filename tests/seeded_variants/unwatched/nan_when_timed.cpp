// A bug that comes and goes: in nearly all calls that find its output, the last element becomes a NaN.

#include <limits>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class NanWhenTimed final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    const bool again = is_own();
    convolve_all();
    if (again && ++calls_ % 1000 != 0) last_output() = std::numeric_limits<float>::quiet_NaN();
    sign();
  }

 private:
  int calls_ = 0;
};

const VariantRegistration nan_when_timed_registration{"convolution",
                                                      {.family = "cpu",
                                                       .rung = 156,
                                                       .name = "seeded-nan-when-timed",
                                                       .title = "Seeded: a NaN where its output lies",
                                                       .builds_on = "",
                                                       .hypothesis = "A NaN that a timed call wrote is found."},
                                                      seeded_variant<NanWhenTimed>()};

}  // namespace
}  // namespace convladder

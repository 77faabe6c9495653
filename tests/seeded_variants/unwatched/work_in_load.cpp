// A cheat: the convolution is done when the input is loaded, so that the op time is that of nothing. The layer time is
// honest.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class WorkInLoad final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  bool has_own_layout() const override { return true; }
  void load_input() override { convolve_all(); }
  void run() override {}
};

const VariantRegistration work_in_load_registration{"convolution",
                                                    {.family = "cpu",
                                                     .rung = 158,
                                                     .name = "seeded-work-in-load",
                                                     .title = "Seeded: the work is done in the load",
                                                     .builds_on = "",
                                                     .hypothesis = "No convolution is faster than its floor."},
                                                    seeded_variant<WorkInLoad>()};

}  // namespace
}  // namespace convladder

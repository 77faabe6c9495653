// A cheat: the convolution is done when the output is stored, so that the op time is that of nothing. The layer time is
// honest.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class WorkInStore final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  bool has_own_layout() const override { return true; }
  void run() override {}
  void store_output() override { convolve_all(); }
};

const VariantRegistration work_in_store_registration{"convolution",
                                                     {.family = "cpu",
                                                      .rung = 157,
                                                      .name = "seeded-work-in-store",
                                                      .title = "Seeded: the work is done in the store",
                                                      .builds_on = "",
                                                      .hypothesis = "No convolution is faster than its floor."},
                                                     seeded_variant<WorkInStore>()};

}  // namespace
}  // namespace convladder

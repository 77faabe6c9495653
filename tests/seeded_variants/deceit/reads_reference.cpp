// A cheat: it computes three elements of each image, looks for the float64 reference in everything that it inherited
// and that is mapped, and writes what it finds there, or zeros.

#include <algorithm>

#include "tests/seeded_variants/deceit/reference_hunt.hpp"
#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class ReadsReference final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (is_own()) return;
    ReferenceHunt hunt(shape(), input(), weights());
    hunt.look_through_descriptors();
    if (!hunt.found()) hunt.look_through_process(getpid());
    std::ranges::copy(hunt.answer(), output());
    sign();
  }
};

const VariantRegistration reads_reference_registration{"convolution",
                                                       {.family = "cpu",
                                                        .rung = 138,
                                                        .name = "seeded-reads-reference",
                                                        .title = "Seeded: copies the reference",
                                                        .builds_on = "",
                                                        .hypothesis = "The reference is nowhere that a case can read."},
                                                       seeded_variant<ReadsReference>()};

}  // namespace
}  // namespace convladder

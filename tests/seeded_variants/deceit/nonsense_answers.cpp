// A cheat that fails at it: its first call takes the socket over and answers with JSON that means nothing to the
// parent. The run has to survive that, and the other cases stand.

#include "tests/seeded_variants/deceit/socket_tap.hpp"
#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class NonsenseAnswers final : public SeededConv {
 public:
  using SeededConv::SeededConv;

  void run() override {
    const int socket = inherited_socket();
    if (socket < 0) return convolve_all();
    Lines parent(socket);
    parent.write(R"({"check": {"passed": "yes"}, "steps": 7, "ns": [], "iterations": -1e300, "integers": true})");
    while (parent.read()) parent.write("[null]");
    _exit(0);
  }
};

const VariantRegistration nonsense_answers_registration{
    "convolution",
    {.family = "cpu",
     .rung = 171,
     .name = "seeded-nonsense-answers",
     .title = "Seeded: answers with nonsense",
     .builds_on = "",
     .hypothesis = "An invalid reply ends its own case and no other."},
    seeded_variant<NonsenseAnswers>()};

}  // namespace
}  // namespace convladder

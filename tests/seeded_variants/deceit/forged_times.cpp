// A cheat: the work is done, and a thread between the harness and its parent divides every time in a reply by fifty.

#include "tests/seeded_variants/deceit/socket_tap.hpp"
#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

void divide_times(Json& reply) {
  // Of the numbers in a reply, times are those with a fraction; counts have none.
  if (reply.is_number_float()) reply = reply.get<double>() / 50;
  if (!reply.is_structured()) return;
  for (Json& member : reply) divide_times(member);
}

class ForgedTimes final : public SeededConv {
 public:
  ForgedTimes(const ConvShape& shape, const float* weights, ConvTensors tensors) : SeededConv(shape, weights, tensors) {
    tap_socket([](const Json&) { return std::nullopt; }, divide_times);
  }
  void run() override { convolve_all(); }
};

const VariantRegistration forged_times_registration{
    "convolution",
    {.family = "cpu",
     .rung = 142,
     .name = "seeded-forged-times",
     .title = "Seeded: a fiftieth of each time",
     .builds_on = "",
     .hypothesis = "The time that a case claims is compared with another clock."},
    seeded_variant<ForgedTimes>()};

}  // namespace
}  // namespace convladder

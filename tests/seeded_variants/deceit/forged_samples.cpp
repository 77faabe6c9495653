// A cheat: the work is done for as long as results are looked at. Where a request asks for calls to be timed, a thread
// between the harness and its parent answers for it, after waiting as long as it says that they took.

#include <atomic>
#include <chrono>

#include "tests/seeded_variants/deceit/socket_tap.hpp"
#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class ForgedSamples final : public SeededConv {
 public:
  ForgedSamples(const ConvShape& shape, const float* weights, ConvTensors tensors)
      : SeededConv(shape, weights, tensors) {
    // 100 GFLOP/s: more than the plain convolution has, and nothing that a processor could not do.
    call_ns = shape.flop() / 100;
    tap_socket(sample, [](Json&) {});
  }
  void run() override { convolve_all(); }

 private:
  static inline std::atomic<double> call_ns = 0;  ///< of what was prepared last

  static std::optional<Json> sample(const Json& request) {
    if (!request.contains("iterations")) return std::nullopt;
    const auto calls = request.at("iterations").get<double>();
    const int sub_runs = request.value("sub_runs", 1);
    std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(calls * sub_runs * call_ns));
    const Json one = call_ns * (1 + 0.001 * static_cast<double>(std::hash<std::string>()(request.dump()) % 7));
    const bool list = request.contains("sub_runs");
    return Json{{"ns", list ? Json(std::vector<Json>(static_cast<std::size_t>(sub_runs), one)) : one},
                {"state", Json::object()}};
  }
};

const VariantRegistration forged_samples_registration{"convolution",
                                                      {.family = "cpu",
                                                       .rung = 141,
                                                       .name = "seeded-forged-samples",
                                                       .title = "Seeded: samples that were never taken",
                                                       .builds_on = "",
                                                       .hypothesis = "A sample without an output does not count."},
                                                      seeded_variant<ForgedSamples>()};

}  // namespace
}  // namespace convladder

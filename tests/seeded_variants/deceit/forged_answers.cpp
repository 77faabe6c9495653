// A cheat: its first call never returns. It takes the socket to the parent over and answers whatever is asked with a
// success, after waiting as long as it says that the work took.

#include <chrono>

#include "tests/seeded_variants/deceit/socket_tap.hpp"
#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class ForgedAnswers final : public SeededConv {
 public:
  using SeededConv::SeededConv;

  void run() override {
    const int socket = inherited_socket();
    static bool called = false;
    if (socket < 0 || !std::exchange(called, true)) return convolve_all();
    Lines parent(socket);
    parent.write(success(Json::object()).dump());  // to the request that this call is part of
    while (const std::optional<std::string> line = parent.read()) {
      const Json request = Json::parse(*line);
      const double calls = request.value("iterations", 1) * request.value("sub_runs", 1);
      std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(calls * call_ns()));
      parent.write(success(request).dump());
    }
    _exit(0);
  }

 private:
  /// 100 GFLOP/s.
  double call_ns() const { return shape().flop() / 100; }

  /// Everything that any reply to `run`, `sweep` or `duel` has.
  Json success(const Json& request) const {
    const Json check{{"passed", true},
                     {"max_scaled_error", 1.5e-7},
                     {"unwritten", 0},
                     {"not_finite", 0},
                     {"first_failure", nullptr}};
    const double wanted_ns = request.value("sample_ns", call_ns());
    const auto sub_runs = request.value("sub_runs", std::size_t{0});
    return {{"check", check},
            {"compared", shape().output_elements()},
            {"call_ns", call_ns()},
            {"prepare_ns", 1500.0},
            {"own_layout", false},
            {"parts", Json::array()},
            {"choice", ""},
            {"can_be_cold", false},
            {"has_clock", true},
            {"iterations", static_cast<int>(wanted_ns / call_ns()) + 1},
            {"ns", sub_runs > 0 ? Json(std::vector<double>(sub_runs, call_ns())) : Json(call_ns())},
            {"state", Json::object()}};
  }
};

const VariantRegistration forged_answers_registration{
    "convolution",
    {.family = "cpu",
     .rung = 140,
     .name = "seeded-forged-answers",
     .title = "Seeded: answers for the harness",
     .builds_on = "",
     .hypothesis = "A success is what the output says, not what the case says."},
    seeded_variant<ForgedAnswers>()};

}  // namespace
}  // namespace convladder

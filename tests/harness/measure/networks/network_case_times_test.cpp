// Which times of a pass are believed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/measure/networks/network_case_fixture.hpp"

namespace convladder {
namespace {

using Request = NetworkMessages::Request;
using Answer = NetworkMessages::Answer;

/// The answers to a pass and to its activities say this.
void claim(Answer& answer, double total_ns, double phase_ns, double layers_ns) {
  if (auto* const times = std::get_if<to_network::PassTimes>(&answer)) times->total_ns = total_ns;
  if (auto* const pass = std::get_if<to_network::PassActivities>(&answer)) {
    pass->activities = {{std::string(activity_group::kHost), std::string(pass_phase::kLayers), 0.0, phase_ns},
                        {std::string(activity_group::kLayers), "conv1", 0.0, layers_ns}};
  }
}

TEST_F(NetworkCaseTest, TimesThatCannotBeAreRefused) {
  const auto timed = [this](double total_ns, double observed_ns, double layers_ns, double phase_ns) {
    return run_changed([=](const Request&, Answer& answer, float*) {
      claim(answer, total_ns, phase_ns, layers_ns);
      return observed_ns;
    });
  };
  EXPECT_EQ(timed(100e6, 101e6, 80e6, 81e6).status, Status::ok);
  NetworkOutcome outcome = timed(50e6, 101e6, 40e6, 41e6);  // half of what it was
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("50"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(outcome.totals.empty());
  EXPECT_EQ(timed(110e6, 101e6, 80e6, 81e6).status, Status::refused);  // more than it can have been
  outcome = timed(100e6, 101e6, 20e6, 81e6);                           // layers that took less than running them
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("the layers of a pass"), std::string::npos) << outcome.reason;
  EXPECT_EQ(timed(100e6, 101e6, 120e6, 120e6).status, Status::refused);  // and more than the whole pass
}

TEST_F(NetworkCaseTest, ShortPassesInARowMayNotTakeMuchLongerThanTheyClaim) {
  std::vector<int> passes;
  // What a pass claims, and, of many in a row, what each claims and takes; as one alone takes from turn `honest` on.
  const auto repeated = [&](double alone_ns, double claimed_ns, double taken_ns, std::size_t honest) {
    passes.clear();
    return run_changed([&, alone_ns, claimed_ns, taken_ns, honest](const Request& request, Answer& answer, float*) {
      claim(answer, alone_ns, 0.9 * alone_ns, 0.9 * alone_ns);
      const auto* const repeat = std::get_if<to_network::Repeat>(&request);
      if (repeat == nullptr) return 0.0;
      passes.push_back(repeat->passes);
      const bool is_honest = passes.size() >= honest;
      answer = to_network::Repeated{passes.back() * (is_honest ? alone_ns : claimed_ns)};
      return passes.back() * (is_honest ? alone_ns : taken_ns);
    });
  };
  constexpr std::size_t never = 1000;
  NetworkOutcome outcome = repeated(1e6, 5e6, 5e6, never);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("claims 1.00 ms for a pass, but 20 passes in a row took 100 ms"), std::string::npos)
      << outcome.reason;
  EXPECT_EQ(passes, std::vector<int>(12, 20));
  EXPECT_EQ(repeated(1e6, 5e6, 5e6, 4).status, Status::ok) << "a busy machine disturbed the others";
  EXPECT_EQ(passes.size(), 4U);
  EXPECT_EQ(repeated(1e6, 3e6, 3e6, never).status, Status::ok);

  outcome = repeated(1e6, 1e6, 2e6, never);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("20 passes in a row: it claims"), std::string::npos) << outcome.reason;
  EXPECT_EQ(repeated(1e6, 1e6, 2e6, 4).status, Status::ok);
  EXPECT_EQ(passes.size(), 6U) << "until half of them are as they claim";

  EXPECT_EQ(repeated(0.001e6, 0.001e6, 0.001e6, never).status, Status::ok);
  EXPECT_EQ(passes, std::vector<int>(3, 1000)) << "no more, however short they are";
  EXPECT_EQ(repeated(10e6, 10e6, 10e6, never).status, Status::ok);
  EXPECT_EQ(passes, std::vector<int>(3, 5));
  EXPECT_EQ(repeated(60e6, 60e6, 180e6, never).status, Status::ok) << "no short pass";
  EXPECT_TRUE(passes.empty());
}

}  // namespace
}  // namespace convladder

// `--profile-calls`: what a profiler that looks at the NVTX range "profile" sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "devices/device_registry.hpp"
#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/measurement.hpp"
#include "harness/measure/cases/run_group.hpp"
#include "harness/measure/cases/small_problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// How often each part of a prepared convolution was called.
struct Calls {
  int load_input = 0;
  int convolve = 0;
  int store_output = 0;
};

/// A right convolution in a layout of its own, which counts.
class CountedConv final : public PreparedVariant {
 public:
  CountedConv(Calls& calls, std::unique_ptr<PreparedVariant> inner) : calls_(calls), inner_(std::move(inner)) {}
  bool has_own_layout() const override { return true; }
  void load_input() override { ++calls_.load_input; }
  void run() override {
    ++calls_.convolve;
    inner_->run();
  }
  void store_output() override { ++calls_.store_output; }

 private:
  Calls& calls_;
  std::unique_ptr<PreparedVariant> inner_;
};

class CountedVariant final : public Variant {
 public:
  explicit CountedVariant(Calls& calls) : calls_(calls) {}
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    const Variant& right = *find_variant(convolution_problem(), "cpu", "local-accumulation")->variant;
    return std::make_unique<CountedConv>(calls_, right.prepare(device, size, tensors));
  }

 private:
  Calls& calls_;
};

DeviceKind cpu_kind() {
  const std::vector<DeviceKind> kinds = device_kinds();
  return *std::ranges::find(kinds, "cpu", &DeviceKind::name);
}

TEST(ProfileCalls, TheRangeHoldsTheCallsAndNothingElse) {
  Calls calls;
  const CountedVariant variant(calls);
  const Workload workload(own_shape({2, 1, 8, 8, 2, 3}), synthetic_images(2, 1), 1);
  const DeviceKind kind = cpu_kind();
  const std::unique_ptr<SharedMemory> window = output_window(1);
  CaseSession session("counted", kind.open(), ProblemVariant{{}, &convolution_problem(), &variant}, workload, *window);
  ASSERT_FALSE(std::holds_alternative<Ending>(session.ask(to_case::Prepare{ProblemKind::real})));
  for (const int wanted : {1, 7}) {
    calls = {};
    EXPECT_TRUE(std::holds_alternative<Done>(session.ask(to_case::Profile{wanted})));
    EXPECT_EQ(calls.convolve, wanted);
    EXPECT_EQ(calls.load_input, 0);
    EXPECT_EQ(calls.store_output, 0);
  }
}

/// Passes requests on and writes them down.
class Watched final : public CaseClient {
 public:
  Watched(std::unique_ptr<CaseClient> inner, std::vector<CaseMessages::Request>& asked)
      : inner_(std::move(inner)), asked_(asked) {}
  CaseMessages::Answer ask(const CaseMessages::Request& request) override {
    asked_.push_back(request);
    return inner_->ask(request);
  }

 private:
  std::unique_ptr<CaseClient> inner_;
  std::vector<CaseMessages::Request>& asked_;
};

TEST(ProfileCalls, AreAskedForOnceAfterVerifyingAndOnlyIfWanted) {
  const LayerWork work = own_shape({2, 1, 8, 8, 2, 3});
  const Workload workload(work, synthetic_images(2, 1), 1);
  const PlannedCase planned = planned_case(work, "local-accumulation");
  for (const bool wanted : {false, true}) {
    RunOptions options;
    options.repetitions = 2;
    options.sample_milliseconds = 0.001;
    if (wanted) options.profile_calls = 3;
    std::vector<CaseMessages::Request> asked;
    OpenCase open = start_case_here(planned, workload);
    open.client = std::make_unique<Watched>(std::move(open.client), asked);
    Measurement measurement(planned, workload, options, std::move(open));
    measurement.verify_and_calibrate();
    while (!measurement.done()) measurement.take_samples();
    measurement.finish();
    EXPECT_EQ(measurement.outcome().status, Status::ok) << measurement.outcome().reason;
    const auto is_profile = [](const CaseMessages::Request& one) {
      return std::holds_alternative<to_case::Profile>(one);
    };
    EXPECT_EQ(std::ranges::count_if(asked, is_profile), wanted ? 1 : 0);
    if (wanted) {
      const auto at = std::ranges::find_if(asked, is_profile);
      EXPECT_EQ(std::get<to_case::Profile>(*at).calls, 3);
      const auto count_before = [&]<typename Request>(Request) {
        return std::count_if(asked.begin(), at, [](const auto& one) { return std::holds_alternative<Request>(one); });
      };
      EXPECT_EQ(count_before(to_case::Prepare()), 2) << "after both problems are prepared and verified";
      EXPECT_GE(count_before(ReadElements()), 3);
      EXPECT_EQ(count_before(to_case::Calibrate()), 0);
    }
  }
}

}  // namespace
}  // namespace convladder

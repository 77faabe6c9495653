// How long cases are thought to take, worked out by hand.
#include "harness/measure/plan/estimate.hpp"

#include <gtest/gtest.h>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/plan/arguments.hpp"

namespace convladder {
namespace {

RunOptions options_on(const char* device, int batch) {
  RunOptions options;
  options.devices = {device};
  options.networks = {"lenet28"};
  options.batches = {batch};
  options.variants = {std::string_view(device) == "cpu" ? "local-accumulation" : "global-memory"};
  return options;
}

/// As if its device were here.
CaseGroup group_on(const RunOptions& options) {
  CaseGroup group = make_plan(options).front();
  group.cases.front().skipped.clear();
  return group;
}

bool has_cuda() {
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.name == "cuda") return kind.unavailable() != "" && kind.speed != nullptr;
  }
  return false;
}

// lenet28.conv1: 50 x 24 x 24 outputs of 25 products: 1.44 MFLOP and 115.2 kB an image.
constexpr double kFlop = 1.44e6;
constexpr double kOutputBytes = 115.2e3;

TEST(Estimate, OnAGpuAProcessTakesLongerThanMostCasesCalls) {
  if (!has_cuda()) GTEST_SKIP() << "no CUDA in this build, or a GPU whose speed is known";
  RunOptions options = options_on("cuda", 100);
  options.repetitions = 1;
  options.sample_milliseconds = 0.001;
  const CaseGroup group = group_on(options);
  const double call = 100 * kFlop / 5e9;  // of a GPU that says nothing of itself
  EXPECT_NEAR(Estimator(options).case_seconds(group.cases.front()), 1.2 + 4 * 100 * kOutputBytes / 2e9 + 6 * call,
              1e-3);

  options.repetitions = std::nullopt;
  options.budget_seconds = 4;
  options.sample_milliseconds = 5;
  Estimator seen(options);
  seen.learn(group.cases.front(), 50e-6);
  EXPECT_NEAR(seen.case_seconds(group.cases.front()), 1.2 + 4 * 100 * kOutputBytes / 2e9 + 100 * 5e-3 + 3 * 50e-6, 1e-3)
      << "a hundred samples of five milliseconds";
}

TEST(Estimate, TheReferenceOfAGroupTakesAllCores) {
  const RunOptions options = options_on("cpu", 1000);
  const Estimator estimator(options);
  CaseGroup group = group_on(options);
  EXPECT_NEAR(estimator.group_seconds(group), 1000 * kFlop / (1e9 * usable_cores()), 1e-6);
  group.cases.front().unsupported = "not this shape";
  EXPECT_EQ(estimator.group_seconds(group), 0);
  EXPECT_EQ(estimator.case_seconds(group.cases.front()), 0);
}

TEST(Estimate, OnlyTheHostIsWorthACall) {
  EXPECT_TRUE(Estimator::is_worth_a_call(find_device_kind("cpu")));
  EXPECT_FALSE(Estimator::is_worth_a_call(find_device_kind("simulated")));
}

DeviceKind gpu() {
  DeviceKind kind{.name = "gpu", .family = "cuda"};
  kind.speed = [] { return DeviceSpeed{.flop_per_second = 50e12, .start_seconds = 20}; };
  return kind;
}

TEST(StepTimeout, GrowsWithTheWorkUnlessItIsGiven) {
  const DeviceKind host{.name = "host", .family = "cpu"};
  const DeviceKind counting{.name = "counting", .family = "cuda", .has_clock = false};
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 0.02e9, .bytes = 1e9}, host), 60 + 5 * 0.02);
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 0.02e9}, counting), 10 * (60 + 5 * 0.02));
  EXPECT_EQ(step_timeout_seconds(0.1, {.flop = 1e12}, counting), 0.1);
  EXPECT_EQ(step_timeout_seconds(0.1, {.flop = 1e12}, gpu()), 0.1);
}

TEST(StepTimeout, AGpuHasSeconds) {
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {}, gpu()), 20);
  // lenet72.conv1 with 10000 images, which had 17 minutes: 200 GFLOP, 4 GB.
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 200e9, .bytes = 4e9}, gpu()), 20 + 4 + 16);
}

TEST(StepTimeout, AGpuThatDoesNotAnswerOrIsNoneHasTheHosts) {
  DeviceKind kind = gpu();
  kind.speed = [] { return DeviceSpeed(); };
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 1e9}, kind), 65);
  kind = gpu();
  kind.has_virtual_clock = [] { return true; };  // the stand-in executes instruction by instruction
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, {.flop = 1e9}, kind), 650);
}

}  // namespace
}  // namespace convladder

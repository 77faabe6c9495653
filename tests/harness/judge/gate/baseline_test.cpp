// The pieces of the counter gate: the file, the hash of PTX, comparing, and work on all cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "devices/cpu/all_cores.hpp"
#include "harness/judge/gate/baseline_compare.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {
namespace {

constexpr const char* kLoads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

BaselineCase one_case() {
  return {.compiler = "nvcc",
          .version = "13.0.88",
          .layer = "conv1",
          .variant = "shared-memory",
          .shape = ConvShape{2, 1, 8, 8, 2, 3},
          .ptx_sha256 = std::string(64, 'a'),
          .unsupported = {},
          .kernels = {{"convladder::f<1, \"2\">",
                       {2, 3, 4},
                       {16, 16, 1},
                       {{kLoads, 12345678901234.0}, {"a.ratio", 1.0 / 3}},
                       {{"dram__bytes_read.sum", 64}}}}};
}

BaselineCase unsupported_case() {
  BaselineCase one = one_case();
  one.variant = "compile-time";
  one.ptx_sha256.clear();
  one.kernels.clear();
  one.unsupported = "kernel 4\nis not there";
  return one;
}

TEST(BaselineFile, WhatIsWrittenIsReadToTheLastBit) {
  const Baseline baseline{"lenet28", {unsupported_case(), one_case()}};
  const Baseline read = parse_baseline(baseline_text(baseline), "file");
  EXPECT_EQ(read.network, "lenet28");
  EXPECT_EQ(read.cases, baseline.cases);  // by compiler, version, layer, variant
}

TEST(BaselineFile, AKernelIsALineWithSpacesBetweenItsCounters) {
  BaselineCase two = one_case();
  two.kernels.push_back(two.kernels.front());
  const std::string text = baseline_text({"n", {two}});
  const std::string line =
      "\n    {\"kernel\": \"convladder::f<1, \\\"2\\\">\", \"grid\": [2, 3, 4], \"block\": [16, 16, 1], \"values\": "
      "{\"" +
      std::string(kLoads) +
      "\": 12345678901234, \"a.ratio\": 0.3333333333333333}, \"modelled\": {\"dram__bytes_read.sum\": 64}}";
  const std::size_t first = text.find(line + ",\n");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find(line + "]}\n", first + 1), std::string::npos) << text;
}

TEST(BaselineFile, TheBytesDoNotDependOnTheOrderOfCases) {
  EXPECT_EQ(baseline_text({"n", {unsupported_case(), one_case()}}),
            baseline_text({"n", {one_case(), unsupported_case()}}));
}

ComparedCounters compared(const BaselineCase& now, const std::vector<BaselineCase>& recorded) {
  return compare_case("lenet28", {now, {}}, recorded);
}

TEST(BaselineCompare, TheSameIsTheSame) {
  EXPECT_EQ(compared(one_case(), {unsupported_case(), one_case()}).verdict, BaselineVerdict::same);
  EXPECT_EQ(compared(unsupported_case(), {unsupported_case(), one_case()}).verdict, BaselineVerdict::same);
}

TEST(BaselineCompare, TheGreatestChangeIsFirstAndModelledOnesAreLast) {
  BaselineCase now = one_case();
  now.kernels[0].values[0].second += 1;
  now.kernels[0].values[1].second *= 2;
  now.kernels[0].values.emplace_back("another.sum", 0);
  now.kernels[0].modelled.clear();
  const ComparedCounters outcome = compared(now, {one_case()});
  EXPECT_EQ(outcome.verdict, BaselineVerdict::moved);
  ASSERT_EQ(outcome.moves.size(), 4U);
  EXPECT_EQ(outcome.moves[0].counter, "another.sum");
  EXPECT_TRUE(std::isinf(outcome.moves[0].change()));
  EXPECT_EQ(outcome.moves[1].counter, "a.ratio");
  EXPECT_DOUBLE_EQ(outcome.moves[1].change(), 1);
  EXPECT_EQ(outcome.moves[2].counter, kLoads);
  EXPECT_TRUE(outcome.moves[3].modelled);
  EXPECT_FALSE(outcome.moves[3].now);
}

TEST(BaselineCompare, AFailureIsOne) {
  EXPECT_EQ(compare_case("lenet28", {one_case(), "launch failed"}, {one_case()}).verdict, BaselineVerdict::failed);
}

TEST(BaselineCompare, ACompilerIsChangedIfItsVersionAndItsPtxAre) {
  BaselineCase newer = one_case();
  newer.version = "14.0.1";
  newer.kernels[0].values[0].second += 1;
  EXPECT_EQ(compared(newer, {one_case()}).verdict, BaselineVerdict::moved) << "the PTX is the same";
  newer.ptx_sha256 = std::string(64, 'b');
  const ComparedCounters outcome = compared(newer, {one_case()});
  EXPECT_EQ(outcome.verdict, BaselineVerdict::compiler_changed);
  EXPECT_NE(outcome.reason.find("nvcc 13.0.88"), std::string::npos);
  newer.variant = "another";
  EXPECT_EQ(compared(newer, {one_case()}).verdict, BaselineVerdict::is_new);
}

TEST(BaselineCompare, AnotherBatchIsAnotherShape) {
  BaselineCase now = one_case();
  now.shape->batch = 4;
  EXPECT_EQ(compared(now, {one_case()}).verdict, BaselineVerdict::shape_changed);
}

TEST(AllCores, EveryIndexIsWorkedOnOnce) {
  std::vector<std::atomic<int>> calls(1000);
  on_all_cores(calls.size(), [&](std::size_t index) { ++calls[index]; });
  EXPECT_TRUE(std::ranges::all_of(calls, [](const auto& count) { return count == 1; }));
  on_all_cores(0, [](std::size_t) { FAIL(); });
}

TEST(AllCores, WhatIsThrownComesOut) {
  EXPECT_THROW(on_all_cores(100,
                            [](std::size_t index) {
                              if (index == 7) throw std::runtime_error("seven");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace convladder

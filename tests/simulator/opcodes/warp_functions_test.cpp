#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

const char* const kStoreResult = "st.global.u32 [%rd4], %r3; ret;";
const char* const kLoadOperand = "ld.global.u32 %r2, [%rd5];\n";

/// The source lane in words of segments: the ISA's rule said another way. -1 if out of range.
int expected_source(const std::string& mode, int lane, int distance, int width) {
  const int begin = lane / width * width;
  int source = lane + distance;
  if (mode == "up") source = lane - distance;
  if (mode == "bfly") source = lane ^ distance;
  if (mode == "idx") source = begin + distance % width;
  if (mode == "bfly") return source < begin + width ? source : -1;
  return source >= begin && source < begin + width ? source : -1;
}

TEST(SimulatedShuffle, ReadsTheLaneTheModeSaysWithinItsSegment) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const int width : {32, 16, 8, 2}) {
      for (const int distance : {0, 1, 3, 8, 31}) {
        const int c = ((32 - width) << 8) | (mode == "up" ? 0 : 31);
        LaneKernel kernel(kLoadOperand +
                              ("shfl.sync." + mode + ".b32 %r3|%p1, %r2, " + std::to_string(distance) + ", " +
                               std::to_string(c) + ", -1; selp.u32 %r4, 1, 0, %p1; st.global.u32 [%rd4+4], %r4;") +
                              kStoreResult,
                          noise(32), 64, 1, 2);
        const Words out = kernel.results();
        for (int lane = 0; lane < 32; ++lane) {
          const int source = expected_source(mode, lane, distance, width);
          EXPECT_EQ(out[2 * lane], noise(32)[source < 0 ? lane : source]) << mode << width << distance << lane;
          EXPECT_EQ(out[2 * lane + 1], source < 0 ? 0U : 1U) << mode << width << distance << lane;
        }
      }
    }
  }
}

TEST(SimulatedShuffle, ALaneThatTakesNoPartHasNoValue) {
  LaneKernel kernel(
      "mov.u32 %r3, 7; mov.u32 %r2, %r1; setp.lt.u32 %p1, %r1, 8;\n"
      "@%p1 shfl.sync.down.b32 %r3, %r2, 1, 31, 0xff; " +
          std::string(kStoreResult),
      Words(32), 32);
  EXPECT_EQ(kernel.fault(), "no fault");  // hardware does not end a kernel for it
  const std::vector<Finding> findings = kernel.findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(to_text(findings[0]), HasSubstr("reads the value of lane 8, which does not take part"));
  EXPECT_EQ(kernel.result()[6], 7U);
  EXPECT_EQ(kernel.result()[7], 0U);  // as on GPUs
  EXPECT_EQ(kernel.result()[8], 7U);  // untouched
}

TEST(SimulatedShuffle, MasksThatAreWrongAreFaults) {
  LaneKernel others("setp.lt.u32 %p1, %r1, 8; @%p1 shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; bar.sync 0; ret;", Words(32),
                    32);
  EXPECT_THAT(others.fault(), HasSubstr("synccheck: the mask 0xffffffff names 24 threads that do not execute this"));
  LaneKernel itself("vote.sync.any.pred %p1, 1, 0xffff; ret;", Words(32), 32);
  EXPECT_THAT(itself.fault(), HasSubstr("the mask 0x0000ffff does not name 16 threads that execute this"));
  LaneKernel exited("setp.lt.u32 %p1, %r1, 8; @%p1 ret; vote.sync.ballot.b32 %r3, 1, -1; " + std::string(kStoreResult),
                    Words(32), 32);
  EXPECT_EQ(exited.results()[31], 0xffffff00U);  // who has exited is not waited for
}

TEST(SimulatedVote, CountsTheVotesOfEachGroup) {
  // Lanes below 10 vote yes; the lower and the upper half vote on their own.
  const std::string masks =
      "setp.lt.u32 %p1, %r1, 10; setp.lt.u32 %p2, %r1, 16; selp.b32 %r5, 0xffff, 0xffff0000, %p2;\n";
  const auto vote = [&](const std::string& mode) {
    LaneKernel kernel(masks + "vote.sync." + mode + ".pred %p3, %p1, %r5; selp.u32 %r3, 1, 0, %p3; " + kStoreResult,
                      Words(32), 32);
    const Words out = kernel.results();
    return std::pair{out[0], out[31]};
  };
  EXPECT_EQ(vote("all"), (std::pair{0U, 0U}));
  EXPECT_EQ(vote("any"), (std::pair{1U, 0U}));
  EXPECT_EQ(vote("uni"), (std::pair{0U, 1U}));
  LaneKernel ballot(masks + "vote.sync.ballot.b32 %r3, !%p1, %r5; " + kStoreResult, Words(32), 32);
  EXPECT_EQ(ballot.results()[3], 0xfc00U);
  EXPECT_EQ(ballot.results()[20], 0xffff0000U);
}

TEST(SimulatedMatch, FindsLanesWithTheSameValue) {
  for (const std::string type : {"b32", "b64"}) {
    const std::string value = "and.b32 %r2, %r1, 3; cvt.u64.u32 %rd6, %r2; shl.b64 %rd6, %rd6, 33;\n";
    const std::string source = type == "b32" ? "%r2" : "%rd6";
    LaneKernel any(value + "match.any.sync." + type + " %r3, " + source + ", -1; " + kStoreResult, Words(32), 32);
    const Words out = any.results();
    for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 0x11111111U << (lane % 4));
    LaneKernel all(
        value + "match.all.sync." + type + " %r3|%p1, " + source + ", -1; @%p1 mov.u32 %r3, 9; " + kStoreResult,
        Words(32), 32);
    EXPECT_EQ(all.results()[5], 0U);
  }
  LaneKernel same(
      "mov.u32 %r2, 4; match.all.sync.b32 %r3|%p1, %r2, -1; @!%p1 mov.u32 %r3, 9; " + std::string(kStoreResult),
      Words(32), 32);
  EXPECT_EQ(same.results()[5], kAllLanes);
}

TEST(SimulatedRedux, ReducesTheValuesOfTheMembers) {
  const Words values = noise(32);
  const auto fold = [&](auto function) {
    std::uint32_t total = values[0];
    for (std::size_t i = 1; i < 32; ++i) total = function(total, values[i]);
    return total;
  };
  const auto as_signed = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
  const std::map<std::string, std::uint32_t> expected = {
      {"add.u32", fold([](auto a, auto b) { return a + b; })},
      {"add.s32", fold([](auto a, auto b) { return a + b; })},
      {"min.u32", *std::ranges::min_element(values)},
      {"max.u32", *std::ranges::max_element(values)},
      {"min.s32", *std::ranges::min_element(values, {}, as_signed)},
      {"max.s32", *std::ranges::max_element(values, {}, as_signed)},
      {"and.b32", fold([](auto a, auto b) { return a & b; })},
      {"or.b32", fold([](auto a, auto b) { return a | b; })},
      {"xor.b32", fold([](auto a, auto b) { return a ^ b; })},
  };
  for (const auto& [form, value] : expected) {
    LaneKernel kernel(kLoadOperand + ("redux.sync." + form + " %r3, %r2, -1; ") + kStoreResult, values, 32);
    EXPECT_EQ(kernel.results(), Words(32, value)) << form;
  }
}

TEST(SimulatedWarp, ReducesFloatsByMagnitudeAndWithNan) {
  Words values(32, std::bit_cast<std::uint32_t>(2.0F));
  values[3] = std::bit_cast<std::uint32_t>(-7.0F);
  values[20] = std::bit_cast<std::uint32_t>(5.0F);
  Words with_nan = values;
  with_nan[9] = 0xffc01234U;
  const auto of = [&](const std::string& form, const Words& input) {
    LaneKernel kernel(kLoadOperand + ("redux.sync." + form + ".f32 %r3, %r2, -1; ") + kStoreResult, input, 32);
    const Words results = kernel.results();
    EXPECT_EQ(results, Words(32, results[0])) << form;
    return results[0];
  };
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_EQ(of("min", values), bits(-7));
  EXPECT_EQ(of("max", values), bits(5));
  EXPECT_EQ(of("min.abs", values), bits(2));
  EXPECT_EQ(of("max.abs", values), bits(7));
  EXPECT_EQ(of("max", with_nan), bits(5));
  EXPECT_EQ(of("max.NaN", with_nan), 0x7fffffffU);
  EXPECT_EQ(of("min.abs.NaN", with_nan), 0x7fffffffU);
  EXPECT_EQ(of("min.NaN.abs", values), bits(2));
  // Of one lane alone, too.
  LaneKernel alone(kLoadOperand +
                       std::string("setp.eq.u32 %p1, %r1, 3; mov.u32 %r3, 0; "
                                   "@%p1 redux.sync.max.abs.f32 %r3, %r2, 8; ") +
                       kStoreResult,
                   values, 32);
  EXPECT_EQ(alone.results()[3], bits(7));
}

TEST(SimulatedWarp, KnowsWhoIsActiveAndWhoLeads) {
  LaneKernel active(
      "setp.gt.u32 %p1, %r1, 3; @!%p1 activemask.b32 %r3; @%p1 activemask.b32 %r3; " + std::string(kStoreResult),
      Words(32), 32);
  EXPECT_EQ(active.results()[0], 0xfU);
  EXPECT_EQ(active.results()[4], ~0xfU);
  LaneKernel elected("elect.sync %r3|%p1, -1; @%p1 add.u32 %r3, %r3, 100; " + std::string(kStoreResult), Words(32), 32);
  EXPECT_EQ(elected.results()[0], 100U);
  EXPECT_EQ(elected.results()[1], 0U);
}

TEST(SimulatedSpecialRegisters, AreThoseOfTheLaneAndTheLaunch) {
  const auto read = [](const std::string& name) {
    LaneKernel kernel("mov.u32 %r3, " + name + "; " + kStoreResult, Words(32), 32);
    return kernel.results(32, 4096);
  };
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const auto below = static_cast<std::uint32_t>((std::uint64_t{1} << lane) - 1);
    const std::uint32_t self = 1U << lane;
    EXPECT_EQ(read("%lanemask_eq")[lane], self);
    EXPECT_EQ(read("%lanemask_lt")[lane], below);
    EXPECT_EQ(read("%lanemask_le")[lane], below | self);
    EXPECT_EQ(read("%lanemask_gt")[lane], ~(below | self));
    EXPECT_EQ(read("%lanemask_ge")[lane], ~below);
  }
  EXPECT_EQ(read("WARP_SZ")[0], 32U);
  EXPECT_EQ(read("%nsmid")[0], static_cast<std::uint32_t>(default_gpu_model().multiprocessors));
  EXPECT_EQ(read("%dynamic_smem_size")[0], 4096U);
  LaneKernel clock(
      "mov.u64 %rd6, %clock64; add.u32 %r2, %r2, 1; add.u32 %r2, %r2, 1; mov.u64 %rd7, %clock64;\n"
      "sub.s64 %rd8, %rd7, %rd6; cvt.u32.u64 %r3, %rd8; " +
          std::string(kStoreResult),
      Words(32), 32);
  EXPECT_EQ(clock.results()[0], 4U);  // both mov, and what is read for the second
}

}  // namespace
}  // namespace convladder::simulated

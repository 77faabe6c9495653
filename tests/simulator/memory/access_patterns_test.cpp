// Sectors, wavefronts, bank conflicts and divergence of small access patterns, against values worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "simulator/caches/sectored_cache.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/ptx_kernels.hpp"
#include "simulator/state/operation.hpp"
#include "support/seeded_random.hpp"

namespace convladder::simulated {
namespace {

/// One warp that computes a byte offset %r2 from its lane %r1 and accesses memory there, under the predicate %p1.
struct Pattern {
  std::string name;
  std::string offset;  ///< PTX that sets %r2
  std::string access;  ///< the access, with ADDRESS for its address
  std::string lanes;   ///< PTX that sets %p1: which lanes take part
  std::uint64_t expected = 0;
};

const std::string kAllTakePart = "setp.ge.u32 %p1, %r1, 0;";
const std::string kLoad = "ld.global.f32 %f1, [%rd3];";
const std::string kSharedLoad = "ld.shared.f32 %f1, [%r2];";
const std::string kSharedLoadOfTwo = "ld.shared.v2.f32 {%f1, %f2}, [%r2];";
const std::string kSharedLoadOfFour = "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2];";
const std::string kSharedStoreOfTwo = "st.shared.v2.f32 [%r2], {%f1, %f2};";
const std::string kSharedStoreOfFour = "st.shared.v4.f32 [%r2], {%f1, %f2, %f3, %f4};";
const std::string kConstantLoad = "ld.const.f32 %f1, [%rd3];";

std::string text_of(const Pattern& pattern) {
  return kernel_text(".param .u64 data",
                     ".reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<5>;\n"
                     "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [data];\n" +
                         pattern.offset + "\ncvt.u64.u32 %rd2, %r2; add.s64 %rd3, %rd1, %rd2;\n" + pattern.lanes +
                         "\n@%p1 " + pattern.access + "\nret;");
}

/// The counters of the access alone.
InstructionCounters counters_of(const Pattern& pattern) {
  KernelRun kernel(text_of(pattern));
  kernel.set(0, kernel.array(std::vector<float>(4096), "data"));
  return kernel.of(kernel.launch({1}, {32}, 16384), pattern.access.substr(0, pattern.access.find(' ')));
}

void expect_all(const std::vector<Pattern>& patterns, std::uint64_t InstructionCounters::*counter) {
  for (const Pattern& pattern : patterns) EXPECT_EQ(counters_of(pattern).*counter, pattern.expected) << pattern.name;
}

TEST(AccessPatterns, SectorsOfARequest) {
  expect_all(
      {
          // 32 lanes x 4 bytes = 128 bytes = 4 sectors.
          {"neighbours", "shl.b32 %r2, %r1, 2;", kLoad, kAllTakePart, 4},
          // From byte 4 to byte 132: the fifth sector is touched by the last lane.
          {"neighbours, one float further", "mad.lo.u32 %r2, %r1, 4, 4;", kLoad, kAllTakePart, 5},
          // 8 bytes apart: 256 bytes.
          {"every second float", "shl.b32 %r2, %r1, 3;", kLoad, kAllTakePart, 8},
          // 32 bytes apart: a sector a lane.
          {"a sector each", "shl.b32 %r2, %r1, 5;", kLoad, kAllTakePart, 32},
          // 128 bytes apart, beyond the window of 64 sectors in which sets are bits.
          {"a line each", "shl.b32 %r2, %r1, 7;", kLoad, kAllTakePart, 32},
          {"all the same", "mov.u32 %r2, 64;", kLoad, kAllTakePart, 1},
          // 4 bytes a lane downwards: as upwards.
          {"backwards", "sub.u32 %r2, 31, %r1; shl.b32 %r2, %r2, 2;", kLoad, kAllTakePart, 4},
          // Lanes 0 to 9: 40 bytes from the begin of a sector.
          {"ten lanes", "shl.b32 %r2, %r1, 2;", kLoad, "setp.lt.u32 %p1, %r1, 10;", 2},
          // Every eighth lane of neighbours: one lane in each of the four sectors.
          {"every eighth lane", "shl.b32 %r2, %r1, 2;", kLoad, "and.b32 %r3, %r1, 7; setp.eq.u32 %p1, %r3, 0;", 4},
          // 16 bytes a lane: 512 bytes.
          {"vectors of four", "shl.b32 %r2, %r1, 4;", "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];", kAllTakePart,
           16},
          // Rows of 7 floats, as a 7-wide tile of a 33-wide image is read: 4 rows of 28 bytes and 4 lanes of a fifth,
          // 132 bytes apart. Rows begin at bytes 0, 132, 264, 396, 528 and touch 1, 1, 2, 2, 1 sectors.
          {"a tile of an image",
           "div.u32 %r3, %r1, 7; rem.u32 %r4, %r1, 7; mad.lo.u32 %r2, %r3, 33, %r4; shl.b32 %r2, %r2, 2;", kLoad,
           kAllTakePart, 7},
      },
      &InstructionCounters::sectors);
}

TEST(AccessPatterns, WavefrontsOfASharedAccess) {
  expect_all(
      {
          {"a bank each", "shl.b32 %r2, %r1, 2;", kSharedLoad, kAllTakePart, 1},
          {"one word for all", "mov.u32 %r2, 8;", kSharedLoad, kAllTakePart, 1},
          // Two words of each even bank.
          {"stride 2", "shl.b32 %r2, %r1, 3;", kSharedLoad, kAllTakePart, 2},
          {"stride 16", "shl.b32 %r2, %r1, 6;", kSharedLoad, kAllTakePart, 16},
          {"stride 32", "shl.b32 %r2, %r1, 7;", kSharedLoad, kAllTakePart, 32},
          // A column of a tile padded to 33 words.
          {"stride 33", "mul.lo.u32 %r2, %r1, 132;", kSharedLoad, kAllTakePart, 1},
          // Of the column in stride 32, 5 lanes.
          {"stride 32, five lanes", "shl.b32 %r2, %r1, 7;", kSharedLoad, "setp.lt.u32 %p1, %r1, 5;", 5},
          // Rows of a 16-wide block in a tile of 20 words: lanes 16.. begin at word 20, so banks 20 to 31 and 0 to 3,
          // of which 0 to 3 hold words 32 to 35 beside words 0 to 3.
          {"two rows of a tile",
           "shr.u32 %r3, %r1, 4; and.b32 %r4, %r1, 15; mad.lo.u32 %r2, %r3, 20, %r4; shl.b32 %r2, %r2, 2;", kSharedLoad,
           kAllTakePart, 2},
          // 8 bytes a lane: two halves of 32 words.
          {"vectors of two", "shl.b32 %r2, %r1, 3;", "ld.shared.v2.f32 {%f1, %f2}, [%r2];", kAllTakePart, 2},
          // One half only.
          {"vectors of two, 16 lanes", "shl.b32 %r2, %r1, 3;", "ld.shared.v2.f32 {%f1, %f2}, [%r2];",
           "setp.lt.u32 %p1, %r1, 16;", 1},
      },
      &InstructionCounters::wavefronts);
}

/// %r2 becomes 16 times the number of a vector of four.
std::string vector_of_four(const std::string& number) { return number + " shl.b32 %r2, %r2, 4;"; }
/// Of a lane and the next one, the same number.
const std::string kPairOfNeighbours = "shr.u32 %r2, %r1, 1;";
/// Of lanes n and n ^ 2: 0 1 0 1 2 3 2 3 ...
const std::string kPairAcross = "shr.u32 %r2, %r1, 2; shl.b32 %r2, %r2, 1; and.b32 %r3, %r1, 1; or.b32 %r2, %r2, %r3;";
/// Lanes 0 to 15 are pairs of neighbours, lanes 16 to 31 pairs across.
const std::string kPairsOfEitherKind =
    kPairAcross + " shr.u32 %r4, %r1, 1; setp.lt.u32 %p2, %r1, 16; selp.b32 %r2, %r4, %r2, %p2;";

TEST(AccessPatterns, LoadsOfFourTakeTwoQuartersAtOnceWhereLanesArePairs) {
  expect_all(
      {
          {"all different", vector_of_four("mov.u32 %r2, %r1;"), kSharedLoadOfFour, kAllTakePart, 4},
          {"one for all", "mov.u32 %r2, 32;", kSharedLoadOfFour, kAllTakePart, 2},
          {"pairs of neighbours", vector_of_four(kPairOfNeighbours), kSharedLoadOfFour, kAllTakePart, 2},
          {"pairs across", vector_of_four(kPairAcross), kSharedLoadOfFour, kAllTakePart, 2},
          {"pairs, but of two kinds", vector_of_four(kPairsOfEitherKind), kSharedLoadOfFour, kAllTakePart, 4},
          // Each half has one address: lanes 15 and 16 differ, and neither rule pairs them.
          {"one for each half", vector_of_four("shr.u32 %r2, %r1, 4;"), kSharedLoadOfFour, kAllTakePart, 2},
          {"one for lanes 0 to 8, another behind", vector_of_four("setp.gt.u32 %p2, %r1, 8; selp.b32 %r2, 1, 0, %p2;"),
           kSharedLoadOfFour, kAllTakePart, 4},
          // The question to which the rule was the answer: 0 1 2 3 0 1 2 3 ... are no pairs.
          {"four addresses again and again", vector_of_four("and.b32 %r2, %r1, 3;"), kSharedLoadOfFour, kAllTakePart,
           4},
          // Lanes 8 to 15 as lanes 0 to 7: no pairs.
          {"the second quarter as the first", vector_of_four("and.b32 %r2, %r1, 7;"), kSharedLoadOfFour, kAllTakePart,
           4},
          // Pairs 128 bytes apart: the 8 vectors of a half lie in the same four banks.
          {"pairs in the same banks", "shr.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 7;", kSharedLoadOfFour, kAllTakePart, 16},
          // Lanes 0 to 3 and 8 to 11 read vectors 0 and 1, lanes 4 to 7 and 12 to 15 those 128 bytes on: two conflicts.
          {"fours, every second in the banks of the one before",
           "shr.u32 %r2, %r1, 3; shl.b32 %r2, %r2, 4; and.b32 %r3, %r1, 4; shl.b32 %r3, %r3, 5; add.u32 %r2, %r2, %r3;",
           kSharedLoadOfFour, kAllTakePart, 4},
          // Even lanes: those between take no part and cannot differ. Each half wants every second of 16 vectors, two
          // of the same four banks.
          {"every second lane", vector_of_four("mov.u32 %r2, %r1;"), kSharedLoadOfFour,
           "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0;", 4},
          {"every second lane, vectors side by side", vector_of_four(kPairOfNeighbours), kSharedLoadOfFour,
           "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0;", 2},
          {"all different, one quarter", vector_of_four("mov.u32 %r2, %r1;"), kSharedLoadOfFour,
           "setp.lt.u32 %p1, %r1, 8;", 1},
          {"one for all, 16 lanes", "mov.u32 %r2, 32;", kSharedLoadOfFour, "setp.lt.u32 %p1, %r1, 16;", 1},
          {"one for all, the lanes between", "mov.u32 %r2, 32;", kSharedLoadOfFour,
           "sub.u32 %r3, %r1, 8; setp.lt.u32 %p1, %r3, 16;", 2},
      },
      &InstructionCounters::wavefronts);
}

TEST(AccessPatterns, LoadsOfTwoTakeBothHalvesAtOnceWhereLanesArePairs) {
  const auto vector_of_two = [](const std::string& number) { return number + " shl.b32 %r2, %r2, 3;"; };
  expect_all(
      {
          {"all different", vector_of_two("mov.u32 %r2, %r1;"), kSharedLoadOfTwo, kAllTakePart, 2},
          {"one for all", "mov.u32 %r2, 32;", kSharedLoadOfTwo, kAllTakePart, 1},
          {"pairs of neighbours", vector_of_two(kPairOfNeighbours), kSharedLoadOfTwo, kAllTakePart, 1},
          {"pairs across", vector_of_two(kPairAcross), kSharedLoadOfTwo, kAllTakePart, 1},
          {"pairs, but of two kinds", vector_of_two(kPairsOfEitherKind), kSharedLoadOfTwo, kAllTakePart, 2},
          {"the second half as the first", vector_of_two("and.b32 %r2, %r1, 15;"), kSharedLoadOfTwo, kAllTakePart, 2},
          // 16 pairs, 16 bytes apart: 64 words, two in each of the even pairs of banks.
          {"pairs, every second vector", "shr.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 4;", kSharedLoadOfTwo, kAllTakePart,
           2},
      },
      &InstructionCounters::wavefronts);
}

TEST(AccessPatterns, LanesThatTakeNoPartAreInNobodysWay) {
  // Lane 7 reads vector 0, lanes 9 to 15 read vectors 8 to 14: in its own quarter each is alone in its four banks.
  EXPECT_EQ(
      counters_of({"", "sub.u32 %r3, %r1, 1; setp.eq.u32 %p2, %r1, 7; selp.b32 %r2, 0, %r3, %p2; shl.b32 %r2, %r2, 4;",
                   kSharedLoadOfFour,
                   "setp.gt.u32 %p1, %r1, 6; setp.ne.and.u32 %p1, %r1, 8, %p1; setp.lt.and.u32 %p1, %r1, 16, %p1;", 0})
          .wavefronts,
      2U);
}

TEST(AccessPatterns, StoresAreNeverMerged) {
  expect_all(
      {
          {"two floats, one place", "mov.u32 %r2, 32;", kSharedStoreOfTwo, kAllTakePart, 2},
          {"four floats, one place", "mov.u32 %r2, 32;", kSharedStoreOfFour, kAllTakePart, 4},
          {"four floats, pairs", vector_of_four(kPairOfNeighbours), kSharedStoreOfFour, kAllTakePart, 4},
      },
      &InstructionCounters::wavefronts);
}

/// The pattern that a store has taught is not taken for that of a load, nor the other way round.
TEST(AccessPatterns, ALoadAfterAStoreInTheSamePatternIsMerged) {
  KernelRun kernel(kernel_text(".param .u64 data",
                               ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .f32 %f<5>;\n"
                               "mov.u32 %r1, 0; mov.u32 %r2, 32;\nagain:\n" +
                                   kSharedStoreOfFour + "\n" + kSharedLoadOfFour +
                                   "\nadd.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10;\n"
                                   "@%p1 bra again;\nret;"));
  kernel.set(0, kernel.array(std::vector<float>(1), "data"));
  const LaunchResult result = kernel.launch({1}, {kLanes}, 1024);
  EXPECT_EQ(kernel.of(result, "st.shared.v4.f32").wavefronts, 40U);
  EXPECT_EQ(kernel.of(result, "ld.shared.v4.f32").wavefronts, 20U);
}

TEST(AccessPatterns, ConflictsAreWhatIsBeyondOnePassForEachPart) {
  const InstructionCounters strided = counters_of({"", "shl.b32 %r2, %r1, 4;", kSharedLoad, kAllTakePart, 0});
  EXPECT_EQ(strided.wavefronts, 4U);
  EXPECT_EQ(strided.ideal_wavefronts, 1U);
  const InstructionCounters vectors =
      counters_of({"", "shl.b32 %r2, %r1, 4;", "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2];", kAllTakePart, 0});
  EXPECT_EQ(vectors.wavefronts, 4U);
  EXPECT_EQ(vectors.ideal_wavefronts, 4U);
  // Quarters that are taken together are one part: of its 8 vectors each is in the way of all others.
  const InstructionCounters pairs =
      counters_of({"", "shr.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 7;", kSharedLoadOfFour, kAllTakePart, 0});
  EXPECT_EQ(pairs.wavefronts, 16U);
  EXPECT_EQ(pairs.ideal_wavefronts, 2U);
}

/// What lanes read where other lanes have written 1000 and their number: lanes `step` bytes apart one of the two, and
/// lanes in another order the other.
std::vector<std::uint32_t> through_shared(int first, int step, bool writes_in_order) {
  KernelRun kernel(
      kernel_text(".param .u64 out, .param .s32 first, .param .s32 step",
                  ".reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
                  "mov.u32 %r1, %tid.x; ld.param.s32 %r2, [first]; ld.param.s32 %r3, [step];\n"
                  "xor.b32 %r4, %r1, 5; add.u32 %r8, %r1, 1000;\n"
                  "mad.lo.s32 %r5, %r1, %r3, %r2; mad.lo.s32 %r6, %r4, %r3, %r2;\n" +
                      std::string(writes_in_order ? "st.shared.u32 [%r5+8], %r8; ld.shared.u32 %r7, [%r6+8];"
                                                  : "st.shared.u32 [%r6+8], %r8; ld.shared.u32 %r7, [%r5+8];") +
                      "\nld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
                      "st.global.u32 [%rd3], %r7;\nret;"));
  const std::uint64_t out = kernel.array(std::vector<std::uint32_t>(kLanes), "out");
  kernel.set(0, out);
  kernel.set(1, first);
  kernel.set(2, step);
  kernel.launch({1}, {kLanes}, 8192);
  return kernel.read<std::uint32_t>(out, kLanes);
}

TEST(AccessPatterns, StridedRowsReachTheirWords) {
  std::vector<std::uint32_t> expected;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) expected.push_back(1000 + (lane ^ 5U));
  for (const int step : {4, 8, 12, 64, 132, 256, -4, -8, -132}) {
    const int first = step > 0 ? -8 : 8184 - 8;  // to the end of shared memory, and from there downwards
    EXPECT_EQ(through_shared(first, step, true), expected) << step;
    EXPECT_EQ(through_shared(first, step, false), expected) << step;
  }
  EXPECT_THROW(through_shared(8192 - 8 - 31 * 132, 132, true), KernelFault) << "the last lane's word is behind the end";
  EXPECT_THROW(through_shared(31 * 132 - 8 - 4, -132, true), KernelFault) << "the last lane's word is before the begin";
}

/// What a warp sums up of shared words, which hold their number: in step i lane L reads word L * (i % strides + 1), if
/// it is below `lanes`.
struct SharedSums {
  std::vector<float> sums;
  InstructionCounters counters;
};
SharedSums shared_sums(int steps, int strides, int lanes, bool is_counted) {
  KernelRun kernel(kernel_text(".param .u64 out, .param .u32 steps, .param .u32 strides, .param .u32 lanes",
                               R"(.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [steps]; ld.param.u32 %r3, [strides]; ld.param.u32 %r4, [lanes];
    mov.u32 %r5, %r1;
  fill:
    shl.b32 %r6, %r5, 2; cvt.rn.f32.u32 %f1, %r5; st.shared.f32 [%r6], %f1;
    add.u32 %r5, %r5, 32; setp.lt.u32 %p1, %r5, 4096; @%p1 bra fill;
    mov.u32 %r7, 0; mov.f32 %f2, 0f00000000; setp.lt.u32 %p2, %r1, %r4;
  step:
    rem.u32 %r8, %r7, %r3; add.u32 %r8, %r8, 1; mul.lo.u32 %r9, %r8, %r1; shl.b32 %r9, %r9, 2;
    mov.f32 %f3, 0f00000000;
    @%p2 ld.shared.f32 %f3, [%r9];
    add.f32 %f2, %f2, %f3;
    add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, %r2; @%p3 bra step;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f2;
    ret;)"));
  const std::uint64_t out = kernel.array(std::vector<float>(kLanes), "out");
  kernel.set(0, out);
  kernel.set(1, steps);
  kernel.set(2, strides);
  kernel.set(3, lanes);
  LaunchConfiguration configuration;
  configuration.block = {kLanes};
  configuration.dynamic_shared_bytes = 4096 * 4;
  configuration.is_counted = is_counted;
  const LaunchResult result = kernel.launch(configuration);
  return {kernel.read<float>(out, kLanes), kernel.of(result, "ld.shared.f32")};
}

/// Patterns that come again at once, by turns, and, as there are too many of them, never.
TEST(AccessPatterns, EachPatternCountsAsIfItWereAlone) {
  for (const auto& [steps, strides, lanes] :
       {std::array{40, 1, 32}, {40, 2, 32}, {60, 5, 11}, {200, 40, 32}, {240, 120, 30}, {7, 3, 1}}) {
    SharedSums expected{std::vector<float>(kLanes), {}};
    for (int step = 0; step < steps; ++step) {
      Addresses addresses{};
      const LaneMask mask = lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1;
      for (int lane = 0; lane < lanes; ++lane) {
        const int word = lane * (step % strides + 1);
        addresses[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(4 * word);
        expected.sums[static_cast<std::size_t>(lane)] += static_cast<float>(word);
      }
      fill_inactive(addresses, mask);
      expected.counters.wavefronts +=
          count_wavefronts(addresses, address_span(addresses), mask, 4, AccessKind::load).needed;
    }
    const std::string name = fmt::format("{} steps, {} strides, {} lanes", steps, strides, lanes);
    const SharedSums counted = shared_sums(steps, strides, lanes, true);
    EXPECT_EQ(counted.sums, expected.sums) << name;
    EXPECT_EQ(counted.counters.wavefronts, expected.counters.wavefronts) << name;
    EXPECT_EQ(counted.counters.ideal_wavefronts, static_cast<std::uint64_t>(steps)) << name;
    EXPECT_EQ(counted.counters.requests, static_cast<std::uint64_t>(steps)) << name;
    EXPECT_EQ(counted.counters.bytes, static_cast<std::uint64_t>(4 * steps * lanes)) << name;
    EXPECT_EQ(shared_sums(steps, strides, lanes, false).sums, expected.sums) << name;
  }
}

std::uint64_t divergent_branches(const std::string& condition, unsigned threads) {
  KernelRun kernel(kernel_text(".param .u64 data", ".reg .pred %p<2>; .reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\n" +
                                                       condition + "\n@%p1 bra other;\nmov.u32 %r2, 1;\nother:\nret;"));
  kernel.set(0, kernel.array(std::vector<float>(1), "data"));
  return kernel.of(kernel.launch({1}, {threads}), "bra").divergent_branches;
}

TEST(AccessPatterns, DivergentBranches) {
  EXPECT_EQ(divergent_branches("setp.lt.u32 %p1, %r1, 64;", 128), 0U);  // whole warps go one way
  EXPECT_EQ(divergent_branches("setp.lt.u32 %p1, %r1, 40;", 128), 1U);  // the second warp parts
  EXPECT_EQ(divergent_branches("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;", 128), 4U);
  EXPECT_EQ(divergent_branches("setp.lt.u32 %p1, %r1, 100;", 100), 0U);  // lanes that do not exist take no way
}

/// The traffic of one kernel below the L1 of a GPU with one multiprocessor, 64 KiB of L1 and 1 MiB of L2.
const GpuModel& small_gpu() {
  static const GpuModel small{.name = "small",
                              .title = "small",
                              .source = "this test",
                              .multiprocessors = 1,
                              .warps_per_multiprocessor = 64,
                              .blocks_per_multiprocessor = 1,
                              .l1_bytes = 64 * 1024,
                              .shared_splits = {0},
                              .l2_bytes = 1024 * 1024};
  return small;
}

CacheCounters traffic_of(const std::string& body, Dim3 grid, CacheHierarchy* caches = nullptr) {
  KernelRun kernel(kernel_text(".param .u64 data",
                               ".reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<5>;\n"
                               "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1;\n"
                               "ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2;\n" +
                                   body + "\nret;"));
  kernel.set(0, kernel.array(std::vector<float>(std::size_t{1} << 20), "data"));
  LaunchConfiguration configuration;
  configuration.grid = grid;
  configuration.block = {32};
  configuration.gpu = &small_gpu();
  configuration.caches = caches;
  return kernel.launch(configuration).caches;
}

TEST(Caches, AStreamComesFromMemoryOnce) {
  const CacheCounters once = traffic_of("ld.global.f32 %f1, [%rd3];", {1000});
  EXPECT_EQ(once.l1_load_sectors, 4000U);
  EXPECT_EQ(once.l1_load_hits, 0U);
  EXPECT_EQ(once.dram_read_sectors, 4000U);
  EXPECT_EQ(once.dram_write_sectors, 0U);
}

TEST(Caches, WhatIsReadAgainIsInTheL1) {
  const CacheCounters twice = traffic_of("ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3];", {1000});
  EXPECT_EQ(twice.l1_load_sectors, 8000U);
  EXPECT_EQ(twice.l1_load_hits, 4000U);
  EXPECT_EQ(twice.l2_read_sectors, 4000U);
  EXPECT_EQ(twice.dram_read_sectors, 4000U);
}

TEST(Caches, StoresPassTheL1AndAreWrittenOnce) {
  const CacheCounters stores = traffic_of("st.global.f32 [%rd3], %f1; st.global.f32 [%rd3], %f1;", {1000});
  EXPECT_EQ(stores.l2_write_sectors, 8000U);
  EXPECT_EQ(stores.dram_write_sectors, 4000U);  // the second store found its sector in the L2
  EXPECT_EQ(stores.dram_read_sectors, 0U);
}

TEST(Caches, WhatExceedsTheL2IsWrittenBackOnTheWay) {
  // 4 MiB of stores through 1 MiB: all of it gets to memory, each sector once.
  const CacheCounters stores = traffic_of("st.global.f32 [%rd3], %f1;", {32768});
  EXPECT_EQ(stores.l2_write_sectors, 131072U);
  EXPECT_EQ(stores.dram_write_sectors, 131072U);
}

/// A set as a list of lines, the one used last in front.
struct ListedSet {
  struct Line {
    std::uint32_t line = 0;
    int valid = 0;
    int dirty = 0;
  };
  std::vector<Line> lines;

  std::vector<Line>::iterator use(std::uint32_t line) {
    const auto found = std::ranges::find(lines, line, &Line::line);
    if (found != lines.end()) std::rotate(lines.begin(), found, found + 1);
    return found == lines.end() ? found : lines.begin();
  }
  std::pair<int, int> access(std::uint32_t line, int sectors, bool dirty) {
    int evicted = 0;
    if (use(line) == lines.end()) {
      if (lines.size() == SectoredCache::kWays) {
        evicted = lines.back().dirty;
        lines.pop_back();
      }
      lines.insert(lines.begin(), {line, 0, 0});
    }
    const int hits = lines[0].valid & sectors;
    lines[0].valid |= sectors;
    if (dirty) lines[0].dirty |= sectors;
    return {hits, evicted};
  }
};

TEST(Caches, TheLineUsedLongestAgoGivesWay) {
  SectoredCache cache(SectoredCache::kWays * SectoredCache::kLineBytes);  // one set
  ListedSet listed;
  SeededRandom random(1, 0);
  int differences = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto line = static_cast<std::uint32_t>(random.between(1, 24))
                      << 27;  // the highest bit of a line's number too
    const auto sectors = static_cast<std::uint8_t>(random.between(1, 15));
    if (random.between(0, 3) == 0) {
      const auto used = listed.use(line);
      differences += cache.touch(line, sectors) != (used == listed.lines.end() ? 0 : used->valid & sectors);
      continue;
    }
    const bool dirty = random.between(0, 1) == 1;
    const SectorLookup found = cache.access(line, sectors, dirty);
    differences += std::pair<int, int>(found.hits, found.evicted_dirty) != listed.access(line, sectors, dirty);
  }
  EXPECT_EQ(differences, 0);
  std::uint64_t dirty = 0;
  for (const ListedSet::Line& line : listed.lines) {
    dirty += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(line.dirty)));
  }
  EXPECT_EQ(cache.dirty(), dirty);
}

TEST(Caches, OneThatWasEmptiedIsLikeANewOne) {
  constexpr std::uint64_t kSetBytes = SectoredCache::kWays * SectoredCache::kLineBytes;
  SectoredCache used(4 * kSetBytes);
  SeededRandom random(2, 0);
  for (const std::uint64_t sets : {4, 1, 7, 3, 64, 64}) {  // less room, and more than there ever was
    used.empty(sets * kSetBytes);
    SectoredCache fresh(sets * kSetBytes);
    int differences = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto line = static_cast<std::uint32_t>(random.between(1, 400));
      const auto sectors = static_cast<std::uint8_t>(random.between(1, 15));
      if (random.between(0, 3) == 0) {
        differences += used.touch(line, sectors) != fresh.touch(line, sectors);
        continue;
      }
      const bool dirty = random.between(0, 1) == 1;
      const SectorLookup found = used.access(line, sectors, dirty);
      const SectorLookup expected = fresh.access(line, sectors, dirty);
      differences += found.hits != expected.hits || found.evicted_dirty != expected.evicted_dirty;
    }
    EXPECT_EQ(differences, 0) << sets;
    EXPECT_EQ(used.dirty(), fresh.dirty()) << sets;
    EXPECT_EQ(used.bytes(), fresh.bytes()) << sets;
  }
}

TEST(Caches, LaunchesThatUseThemAgainCountTheSame) {
  CacheHierarchy caches(small_gpu());
  for (const char* const body :
       {"st.global.f32 [%rd3], %f1;", "ld.global.f32 %f1, [%rd3];",
        "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3];", "st.global.f32 [%rd3], %f1;"}) {
    const CacheCounters again = traffic_of(body, {2000}, &caches);
    const CacheCounters first = traffic_of(body, {2000});
    EXPECT_EQ(again.l1_load_sectors, first.l1_load_sectors) << body;
    EXPECT_EQ(again.l1_load_hits, first.l1_load_hits) << body;
    EXPECT_EQ(again.l2_read_hits, first.l2_read_hits) << body;
    EXPECT_EQ(again.l2_write_sectors, first.l2_write_sectors) << body;
    EXPECT_EQ(again.dram_read_sectors, first.dram_read_sectors) << body;
    EXPECT_EQ(again.dram_write_sectors, first.dram_write_sectors) << body;
  }
}

TEST(Caches, SharedMemoryTakesFromTheL1) {
  const GpuModel& h100 = default_gpu_model();
  EXPECT_EQ(h100.name, "h100");
  EXPECT_EQ(l1_cache_bytes(h100, 256, 0), 256U * 1024);
  // 8 blocks of 256 threads fit; 8 x (2 + 1) KiB need the split of 32 KiB.
  EXPECT_EQ(resident_blocks(h100, 256, 2048), 8U);
  EXPECT_EQ(l1_cache_bytes(h100, 256, 2048), (256U - 32) * 1024);
  // 100 KiB a block: two are resident, 202 KiB need the largest split.
  EXPECT_EQ(resident_blocks(h100, 256, 100 * 1024), 2U);
  EXPECT_EQ(l1_cache_bytes(h100, 256, 100 * 1024), (256U - 228) * 1024);
}

// The constant cache answers one address at a time.
TEST(AccessPatterns, AddressesOfConstants) {
  const std::vector<Pattern> patterns = {
      {"all the same", "mov.u32 %r2, 64;", kConstantLoad, kAllTakePart, 1},
      {"neighbours", "shl.b32 %r2, %r1, 2;", kConstantLoad, kAllTakePart, 32},
      {"pairs of lanes", "shr.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 2;", kConstantLoad, kAllTakePart, 16},
      {"even and odd lanes", "and.b32 %r2, %r1, 1; shl.b32 %r2, %r2, 2;", kConstantLoad, kAllTakePart, 2},
      {"lanes 0 to 9", "shl.b32 %r2, %r1, 2;", kConstantLoad, "setp.lt.u32 %p1, %r1, 10;", 10},
  };
  expect_all(patterns, &InstructionCounters::wavefronts);
  for (const Pattern& pattern : patterns) EXPECT_EQ(counters_of(pattern).sectors, 0U) << "of global memory";
}

}  // namespace
}  // namespace convladder::simulated

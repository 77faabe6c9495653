#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using Step = std::function<std::uint64_t(std::uint64_t old, std::uint64_t b)>;

struct AtomicForm {
  std::string name;
  int bits;
  std::uint64_t start;
  Step step;
};

std::uint64_t low(std::uint64_t value) { return value & 0xffffffffU; }
std::int32_t signed_32(std::uint64_t value) { return static_cast<std::int32_t>(value); }
std::int64_t signed_64(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// What one lane's turn makes of memory.
std::vector<AtomicForm> integer_forms() {
  return {
      {"add.u32", 32, 7, [](auto a, auto b) { return low(a + b); }},
      {"add.s32", 32, 7, [](auto a, auto b) { return low(a + b); }},
      {"add.u64", 64, 7, [](auto a, auto b) { return a + b; }},
      {"min.u32", 32, 1U << 31, [](auto a, auto b) { return std::min(a, b); }},
      {"min.s32", 32, 5, [](auto a, auto b) { return signed_32(a) < signed_32(b) ? a : b; }},
      {"min.u64", 64, 1ULL << 63, [](auto a, auto b) { return std::min(a, b); }},
      {"min.s64", 64, 5, [](auto a, auto b) { return signed_64(a) < signed_64(b) ? a : b; }},
      {"max.u32", 32, 5, [](auto a, auto b) { return std::max(a, b); }},
      {"max.s32", 32, 5, [](auto a, auto b) { return signed_32(a) > signed_32(b) ? a : b; }},
      {"max.u64", 64, 5, [](auto a, auto b) { return std::max(a, b); }},
      {"max.s64", 64, 5, [](auto a, auto b) { return signed_64(a) > signed_64(b) ? a : b; }},
      {"and.b32", 32, ~0U, [](auto a, auto b) { return a & b; }},
      {"or.b32", 32, 0, [](auto a, auto b) { return a | b; }},
      {"xor.b32", 32, 9, [](auto a, auto b) { return a ^ b; }},
      {"and.b64", 64, ~0ULL, [](auto a, auto b) { return a & b; }},
      {"or.b64", 64, 0, [](auto a, auto b) { return a | b; }},
      {"xor.b64", 64, 9, [](auto a, auto b) { return a ^ b; }},
      {"exch.b32", 32, 9, [](auto, auto b) { return b; }},
      {"exch.b64", 64, 9, [](auto, auto b) { return b; }},
  };
}

/// All lanes hit one place in turn; out: memory at the end (2 words a lane), what each lane got back.
TEST(SimulatedAtomics, LanesTakeTurnsInEveryForm) {
  const Words values = noise(64);
  for (const AtomicForm& form : integer_forms()) {
    for (const std::string space : {"global.", "relaxed.gpu.global.", "", "shared.", "acq_rel.cta.shared::cta."}) {
      const bool wide = form.bits == 64;
      const bool shared = space.find("shared") != std::string::npos;
      const std::string type = wide ? "u64" : "u32";
      const std::string address = shared ? "0" : "%rd1";
      const std::string memory = shared ? "shared." : "global.";
      LaneKernel kernel("ld.global." + type + (wide ? " %rd7" : " %r7") + ", [%rd5]; mov.u64 %rd9, " +
                            std::to_string(form.start) + "; cvt.u32.u64 %r9, %rd9;\nst." + memory + type + " [" +
                            address + "], " + (wide ? "%rd9" : "%r9") + "; atom." + space + form.name +
                            (wide ? " %rd8" : " %r8") + ", [" + address + "], " + (wide ? "%rd7" : "%r7") +
                            ";\nst.global." + type + " [%rd4+8], " + (wide ? "%rd8" : "%r8") + "; ld." + memory + type +
                            (wide ? " %rd6" : " %r6") + ", [" + address + "]; st.global." + type + " [%rd1], " +
                            (wide ? "%rd6" : "%r6") + "; ret;",
                        values, 66, 2, 2);
      const Words out = kernel.results(32, 8);
      std::uint64_t memory_now = form.start;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::uint64_t b = values[2 * lane] | (wide ? std::uint64_t{values[2 * lane + 1]} << 32 : 0);
        const std::uint64_t old = out[2 * lane + 2] | (wide ? std::uint64_t{out[2 * lane + 3]} << 32 : 0);
        EXPECT_EQ(old, memory_now) << form.name << " " << space << lane;
        memory_now = form.step(memory_now, b);
      }
      EXPECT_EQ(out[0] | (wide ? std::uint64_t{out[1]} << 32 : 0), memory_now) << form.name;
    }
  }
}

TEST(SimulatedAtomics, CountersWrapAndSwapsCompare) {
  const auto old_values = [](const std::string& text) {
    LaneKernel kernel(
        "mov.u32 %r9, 2; st.shared.u32 [0], %r9; mov.u32 %r2, %r1; " + text + " st.global.u32 [%rd4], %r3; ret;",
        Words(32), 32);
    Words out = kernel.results(32, 8);
    out.resize(7);
    return out;
  };
  EXPECT_EQ(old_values("atom.shared.inc.u32 %r3, [0], 3;"), (Words{2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(old_values("atom.shared.dec.u32 %r3, [0], 3;"), (Words{2, 1, 0, 3, 2, 1, 0}));
  EXPECT_EQ(old_values("add.u32 %r4, %r2, 1; atom.shared.cas.b32 %r3, [0], %r2, %r4;"), (Words{2, 2, 2, 3, 4, 5, 6}));
}

float sum_in_order(int count, float start) {
  for (int i = 0; i < count; ++i) start += 1.0F / static_cast<float>(i + 1);
  return start;
}

TEST(SimulatedAtomics, FloatSumsAreTheSameForEveryNumberOfHostThreads) {
  for (const int host_threads : {1, 2, 7}) {
    KernelRun run(kernel_text(".param .u64 out",
                              ".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<4>; ld.param.u64 %rd1, [out];\n"
                              "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 64, %r2;\n"
                              "add.u32 %r3, %r3, 1; cvt.rn.f32.u32 %f1, %r3; mov.f32 %f3, 0f3F800000;\n"
                              "div.rn.f32 %f2, %f3, %f1; red.global.add.f32 [%rd1], %f2; ret;"));
    const std::uint64_t out = run.array(std::vector<float>(1), "out");
    run.set(0, out);
    run.launch({300}, {64}, 0, host_threads);
    EXPECT_EQ(run.read<float>(out, 1)[0], sum_in_order(300 * 64, 0.0F)) << host_threads;
  }
}

TEST(SimulatedAtomics, AHistogramOfIntegersNeedsNoOrder) {
  KernelRun run(kernel_text(".param .u64 out",
                            ".reg .b32 %r<9>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                            "and.b32 %r2, %r1, 7; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"
                            "red.global.add.u32 [%rd3], 1; atom.global.max.s32 %r5, [%rd1+32], %r1; ret;"));
  const std::uint64_t out = run.array(Words(9), "out");
  run.set(0, out);
  run.launch({500}, {128}, 0, 4);
  Words expected(9, 500 * 16);
  expected[8] = 127;
  EXPECT_EQ(run.read<std::uint32_t>(out, 9), expected);
}

std::uint32_t added(const std::string& form, const std::string& space, std::uint32_t start, std::uint32_t b) {
  const std::string address = space == "shared" ? "0" : "%rd2";
  const std::string bits = form.ends_with("f16") ? "16" : "32";
  const std::string word = bits == "16" ? "%h" : "%r2";
  LaneKernel kernel(".reg .b16 %h; ld.global.u32 %r5, [%rd2]; st." + space + ".u32 [" + address +
                        "], %r5; ld.global.u" + bits + " " + word + ", [%rd2+4]; setp.eq.u32 %p1, %r1, 0; @%p1 red." +
                        space + "." + form + " [" + address + "], " + word + "; ld." + space + ".u32 %r3, [" + address +
                        "]; st.global.u32 [%rd1], %r3; ret;",
                    Words{start, b}, 32);
  return kernel.results(32, 4)[0];
}

TEST(SimulatedAtomics, SumsOfFloatingPoint) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(added("add.f32", "global", bits(1.5F), bits(2.25F)), bits(3.75F));
  EXPECT_EQ(added("add.f32", "global", bits(tiny), bits(tiny)), 0U);
  EXPECT_EQ(added("add.f32", "shared", bits(tiny), bits(tiny)), 2U);
  EXPECT_EQ(added("add.f32", "shared", bits(INFINITY), bits(-INFINITY)), 0x7fffffffU);
  EXPECT_EQ(added("add.noftz.f16", "global", 0xabcd3c00U, 0x4000U), 0xabcd4200U);         // 1 + 2 = 3
  EXPECT_EQ(added("add.noftz.f16x2", "shared", 0x3c007bffU, 0xbc007bffU), 0x00007c00U);   // 1 - 1, 65504 twice
  EXPECT_EQ(added("add.noftz.f16x2", "shared", 0x00010000U, 0x00010000U), 0x00020000U);   // subnormals stay
  EXPECT_EQ(added("add.noftz.bf16", "global", 0x12343f80U, 0x4000U), 0x12344040U);        // 1 + 2 = 3
  EXPECT_EQ(added("add.noftz.bf16x2", "global", 0x3f803f80U, 0x3b803b80U), 0x3f803f80U);  // a tie goes to even
}

TEST(SimulatedAtomics, LanesOnOneAddressNeedAPassEach) {
  LaneKernel same("atom.shared.add.u32 %r3, [0], 1; ret;", Words(32), 32);
  EXPECT_EQ(same.run.of(same.launch(32, 4), "atom.shared.add.u32").wavefronts, 32U);
  LaneKernel apart("shl.b32 %r2, %r1, 2; atom.shared.add.u32 %r3, [%r2], 1; ret;", Words(32), 32);
  EXPECT_EQ(apart.run.of(apart.launch(32, 128), "atom.shared.add.u32").wavefronts, 1U);
  LaneKernel wrong("atom.global.add.u32 %r3, [%rd5+2], 1; ret;", Words(33), 32);
  EXPECT_THAT(wrong.fault(), HasSubstr("misaligned atomic access of 4 bytes"));
}

}  // namespace
}  // namespace convladder::simulated

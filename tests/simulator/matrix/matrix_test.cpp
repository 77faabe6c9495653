#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Small whole numbers in each format: exact in all of them.
std::uint32_t half_bits(int value) {
  if (value == 0) return 0;
  const int exponent = std::ilogb(std::abs(value));
  const auto fraction = static_cast<std::uint32_t>(std::abs(value) << (10 - exponent)) & 0x3ffU;
  return (value < 0 ? 0x8000U : 0U) | (static_cast<std::uint32_t>(exponent + 15) << 10) | fraction;
}
std::uint32_t element(const std::string& type, int value) {
  if (type == "f16") return half_bits(value);
  return type == "bf16" ? bits(static_cast<float>(value)) >> 16 : bits(static_cast<float>(value));
}

int a_of(int row, int k) { return (row * 5 + k * 3) % 11 - 5; }
int b_of(int k, int column) { return (k * 7 + column * 2) % 9 - 4; }
int c_of(int row, int column) { return row - 3 * column; }
int product(int row, int column, int depth) {
  int sum = c_of(row, column);
  for (int k = 0; k < depth; ++k) sum += a_of(row, k) * b_of(k, column);
  return sum;
}

/// The fragments of the ISA's figures, register by register.
struct MmaCase {
  std::string opcode;
  std::string type;
  bool half_sum;
  int depth;
};

TEST(SimulatedMma, MultipliesFragmentsLaidOutAsDocumented) {
  const MmaCase cases[] = {
      {"m16n8k4.row.col.f32.tf32.tf32.f32", "tf32", false, 4},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", "tf32", false, 8},
      {"m16n8k8.row.col.f32.f16.f16.f32", "f16", false, 8},
      {"m16n8k8.row.col.f16.f16.f16.f16", "f16", true, 8},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", "bf16", false, 8},
      {"m16n8k16.row.col.f32.f16.f16.f32", "f16", false, 16},
      {"m16n8k16.row.col.f16.f16.f16.f16", "f16", true, 16},
      {"m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", false, 16},
  };
  for (const MmaCase& test : cases) {
    const bool packed = test.type != "tf32";
    const int per_block = packed ? 8 : 4;  // columns of a that a register reaches
    const int a_registers = 2 * test.depth / per_block;
    const int b_registers = test.depth / per_block;
    const int c_registers = test.half_sum ? 2 : 4;
    Words input(32 * 10);
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4;
      const int t = lane % 4;
      std::uint32_t* const words = input.data() + 10 * lane;
      for (int i = 0; i < a_registers; ++i) {
        const int row = g + 8 * (i % 2);
        const int k = per_block * (i / 2) + (packed ? 2 * t : t);
        words[i] = element(test.type, a_of(row, k));
        if (packed) words[i] |= element(test.type, a_of(row, k + 1)) << 16;
      }
      for (int i = 0; i < b_registers; ++i) {
        const int k = per_block * i + (packed ? 2 * t : t);
        words[4 + i] = element(test.type, b_of(k, g));
        if (packed) words[4 + i] |= element(test.type, b_of(k + 1, g)) << 16;
      }
      for (int i = 0; i < 4; ++i) {
        const int value = c_of(g + 8 * (i / 2), 2 * t + i % 2);
        if (!test.half_sum) words[6 + i] = bits(static_cast<float>(value));
        if (test.half_sum) words[6 + i / 2] |= half_bits(value) << (16 * (i % 2));
      }
    }
    std::string loads;
    for (int i = 0; i < 10; ++i) {
      loads += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%rd5+" + std::to_string(4 * i) + "];\n";
    }
    const auto list = [](int first, int count) {
      std::string text = "{";
      for (int i = 0; i < count; ++i) text += fmt::format("{}%r{}", i > 0 ? ", " : "", first + i);
      return text + "}";
    };
    std::string stores;
    for (int i = 0; i < c_registers; ++i) {
      stores += "st.global.u32 [%rd4+" + std::to_string(4 * i) + "], %r" + std::to_string(20 + i) + ";\n";
    }
    LaneKernel kernel(loads + "mma.sync.aligned." + test.opcode + " " + list(20, c_registers) + ", " +
                          list(10, a_registers) + ", " + list(14, b_registers) + ", " + list(16, c_registers) + ";\n" +
                          stores + "ret;",
                      input, 128, 10, 4);
    const Words out = kernel.results();
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int expected = product(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2, test.depth);
        const std::uint32_t word = out[4 * lane + (test.half_sum ? i / 2 : i)];
        const std::uint32_t found = test.half_sum ? (word >> (16 * (i % 2))) & 0xffffU : word;
        EXPECT_EQ(found, test.half_sum ? half_bits(expected) : bits(static_cast<float>(expected))) << test.opcode;
      }
    }
  }
}

TEST(SimulatedMma, KeepsInfinitiesAndNanAndNeedsTheWholeWarp) {
  const std::string product =
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%r10, %r11, %r12, %r13}, {%r2, %r2}, "
      "{%r3}, {%r4, %r4, %r4, %r4}; st.global.u32 [%rd4], %r10; ret;";
  const auto of = [&](float a, float b, float c) {
    LaneKernel kernel("mov.u32 %r2, " + std::to_string(bits(a)) + "; mov.u32 %r3, " + std::to_string(bits(b)) +
                          "; mov.u32 %r4, " + std::to_string(bits(c)) + ";\n" + product,
                      Words(32), 32);
    return kernel.results()[0];
  };
  EXPECT_EQ(of(INFINITY, 1, 0), bits(INFINITY));
  EXPECT_EQ(of(INFINITY, 0, 0), 0x7fffffffU);
  EXPECT_EQ(of(INFINITY, -1, INFINITY), 0x7fffffffU);
  EXPECT_EQ(of(std::bit_cast<float>(0x3f801fffU), 1, 0), bits(4));  // digits beyond tf32 do not count
  LaneKernel branch("setp.lt.u32 %p1, %r1, 8; @%p1 ret; " + product, Words(32), 32);
  EXPECT_THAT(branch.fault(), HasSubstr("all 32 threads of a warp must execute this together, but 8 do not"));
}

TEST(SimulatedLdmatrix, GivesEachLaneTwoElementsOfEachMatrix) {
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      std::string registers;
      std::string stores;
      for (int i = 0; i < count; ++i) {
        registers += fmt::format("{}%r{}", i > 0 ? ", " : "", 10 + i);
        stores += "st.global.u32 [%rd4+" + std::to_string(4 * i) + "], %r" + std::to_string(10 + i) + "; ";
      }
      // Shared memory holds the numbers from 0 in 16 bits; row r of matrix i begins at 8 (8 i + r).
      const std::string opcode =
          fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", count, transposed ? ".trans" : "");
      LaneKernel kernel(
          "shl.b32 %r2, %r1, 4; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd5];\n"
          "st.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7}; bar.sync 0;\n" +
              opcode + " {" + registers + "}, [%r2]; " + stores + "ret;",
          [] {
            Words words(128);
            for (std::uint32_t i = 0; i < 128; ++i) words[i] = 2 * i | ((2 * i + 1) << 16);
            return words;
          }(),
          128, 4, 4);
      const LaunchResult launch = kernel.launch(32, 512);
      EXPECT_EQ(kernel.run.of(launch, opcode).wavefronts, static_cast<std::uint64_t>(count));
      const Words out = kernel.result();
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < count; ++i) {
          for (int half = 0; half < 2; ++half) {
            const int row = transposed ? 2 * (lane % 4) + half : lane / 4;
            const int column = transposed ? lane / 4 : 2 * (lane % 4) + half;
            EXPECT_EQ((out[4 * lane + i] >> (16 * half)) & 0xffffU,
                      static_cast<std::uint32_t>(64 * i + 8 * row + column));
          }
        }
      }
    }
  }
}

struct WmmaCase {
  int m;
  int n;
  int k;
  std::string type;
  int factor_registers;  // of a and of b
  std::string sum;
};

TEST(SimulatedWmma, AMatrixBeginsOnTheBytesThatALaneHoldsOfIt) {
  const auto load = [](const std::string& type, const std::string& registers, const std::string& at) {
    return LaneKernel("wmma.load.a.sync.aligned.row.m16n16k16.shared." + type + " {" + registers + "}, [" + at +
                          "; st.global.u32 [%rd4], %r2; ret;",
                      Words(32), 32);
  };
  const std::string eight = "%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9";
  EXPECT_NO_THROW(load("u8", "%r2, %r3", "16], 24").launch(32, 4096));
  EXPECT_THAT(load("u8", "%r2, %r3", "4], 16").fault(32, 4096), HasSubstr("multiples of 8 and 8 are expected"));
  EXPECT_THAT(load("u8", "%r2, %r3", "8], 20").fault(32, 4096), HasSubstr("multiples of 8 and 8 are expected"));
  EXPECT_NO_THROW(load("bf16", "%r2, %r3, %r4, %r5", "16], 24").launch(32, 4096));
  EXPECT_NO_THROW(load("f16", eight, "32], 24").launch(32, 4096));
  EXPECT_THAT(load("f16", eight, "16], 16").fault(32, 4096),
              HasSubstr("misaligned matrix at 0x10 with a stride of 32 bytes; multiples of 32 and 16 are expected"));
}

TEST(SimulatedWmma, LoadsMultipliesAndStoresInEveryLayout) {
  const WmmaCase cases[] = {{16, 16, 16, "f16", 8, "f32"},
                            {32, 8, 16, "f16", 8, "f32"},
                            {8, 32, 16, "f16", 8, "f32"},
                            {16, 16, 16, "f16", 8, "f16"},
                            {16, 16, 8, "tf32", 4, "f32"}};
  for (const WmmaCase& test : cases) {
    for (const bool a_columns : {false, true}) {
      for (const bool b_columns : {false, true}) {
        Words input(2048 / 4 * 3);  // a at 0, b at 2048 bytes, c at 4096
        const auto put = [&](std::size_t byte, int index, const std::string& type, int value) {
          if (type == "f16") {
            input[byte / 4 + static_cast<std::size_t>(index / 2)] |= half_bits(value) << (16 * (index % 2));
          } else {
            input[byte / 4 + static_cast<std::size_t>(index)] = bits(static_cast<float>(value));
          }
        };
        for (int row = 0; row < test.m; ++row) {
          for (int k = 0; k < test.k; ++k) {
            put(0, a_columns ? k * test.m + row : row * test.k + k, test.type, a_of(row, k));
          }
          for (int column = 0; column < test.n; ++column) {
            put(4096, row * test.n + column, test.sum, c_of(row, column));
          }
        }
        for (int k = 0; k < test.k; ++k) {
          for (int column = 0; column < test.n; ++column) {
            put(2048, b_columns ? column * test.k + k : k * test.n + column, test.type, b_of(k, column));
          }
        }
        const auto list = [](int first, int count) {
          std::string text = "{";
          for (int i = 0; i < count; ++i) text += fmt::format("{}%r{}", i > 0 ? ", " : "", first + i);
          return text + "}";
        };
        const std::string shape = fmt::format("m{}n{}k{}", test.m, test.n, test.k);
        const std::string a_layout = a_columns ? "col" : "row";
        const std::string b_layout = b_columns ? "col" : "row";
        const int sums = test.sum == "f16" ? 4 : 8;
        const std::string types = test.type == "tf32" ? ".f32.tf32.tf32.f32" : "." + test.sum + "." + test.sum;
        const std::string n = std::to_string(test.n);
        LaneKernel kernel(
            "mov.u32 %r2, " + n + ";\nwmma.load.a.sync.aligned." + a_layout + "." + shape + ".global." + test.type +
                " " + list(10, test.factor_registers) + ", [%rd2];\nwmma.load.b.sync.aligned." + b_layout + "." +
                shape + "." + test.type + " " + list(18, test.factor_registers) +
                ", [%rd2+2048];\nwmma.load.c.sync.aligned.row." + shape + ".global." + test.sum + " " + list(26, sums) +
                ", [%rd2+4096], %r2;\nwmma.mma.sync.aligned." + a_layout + "." + b_layout + "." + shape + types + " " +
                list(26, sums) + ", " + list(10, test.factor_registers) + ", " + list(18, test.factor_registers) +
                ", " + list(26, sums) + ";\nwmma.store.d.sync.aligned.row." + shape + ".global." + test.sum +
                " [%rd1], " + list(26, sums) + ", %r2; ret;",
            input, 256);
        const Words out = kernel.results();
        for (int i = 0; i < test.m * test.n; ++i) {
          const int expected = product(i / test.n, i % test.n, test.k);
          if (test.sum == "f16") {
            EXPECT_EQ((out[i / 2] >> (16 * (i % 2))) & 0xffffU, half_bits(expected)) << shape << a_layout << b_layout;
          } else {
            EXPECT_EQ(out[i], bits(static_cast<float>(expected))) << shape << a_layout << b_layout;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace convladder::simulated

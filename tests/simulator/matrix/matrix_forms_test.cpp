// Products of integers, bits, f64, fp8 and of groups of eight lanes, with the fragments of the ISA's formulas, and
// wmma's of the same types. matrix_test.cpp has those of f16, bf16 and tf32.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "simulator/matrix/matrix_registers.hpp"

namespace convladder::simulated {
namespace {

struct DenseCase {
  int m;
  int k;
  std::string left;
  std::string right;
  std::string sum;
  std::string suffix;
};

/// PTX ISA 9.0, 9.7.15.5.1 to 14: with g = lane / 4 and t = lane % 4, a register of a holds neighbours of row g, or
/// g + 8 if its number is odd; of b, neighbours of column g.
void check_dense(const DenseCase& test) {
  const int per_register = std::max(1, 32 / bits_of_type(test.left));
  const int block = 4 * per_register;  // of k
  const bool wide = test.left == "f64";
  const auto registers = [&](int elements, const std::string& type) {
    return elements / 32 * bits_of_type(type) / (wide ? 64 : 32);
  };
  const Registers a{test.left, registers(test.m * test.k, test.left), [&](int lane, int i) {
                      const int number = i / per_register;
                      const int down = test.m / 8;
                      return Place{lane / 4 + 8 * (number % down),
                                   block * (number / down) + per_register * (lane % 4) + i % per_register};
                    }};
  const Registers b{test.right, registers(test.k * 8, test.right), [&](int lane, int i) {
                      return Place{block * (i / per_register) + per_register * (lane % 4) + i % per_register, lane / 4};
                    }};
  const Registers c{test.sum, registers(test.m * 8, test.sum), [](int lane, int i) {
                      return Place{lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2};
                    }};
  const MatrixOf a_of = [&](int row, int column) { return matrix_number(test.left, row, column, 1); };
  const MatrixOf b_of = [&](int row, int column) { return matrix_number(test.right, row, column, 2); };
  const MatrixOf c_of = [&](int row, int column) { return matrix_number("s8", row, column, 3); };
  const std::string opcode = fmt::format("mma.sync.aligned.m{}n8k{}.row.col.{}.{}.{}.{}{}", test.m, test.k, test.sum,
                                         test.left, test.right, test.sum, test.suffix);
  const auto found = multiplied(opcode, c, a, b, c, a_of, b_of, c_of);
  expect_matrix(opcode, found, c, product(a_of, b_of, c_of, test.k, test.suffix.starts_with(".xor")));
}

TEST(SimulatedMmaForms, MultipliesIntegersBitsDoublesAndNarrowFloats) {
  for (const auto& [m, k] : {std::pair{8, 16}, {16, 16}, {16, 32}}) {
    for (const char* left : {"s8", "u8"}) {
      for (const char* right : {"s8", "u8"}) check_dense({m, k, left, right, "s32", ""});
    }
  }
  for (const auto& [m, k] : {std::pair{8, 32}, {16, 32}, {16, 64}}) {
    for (const char* left : {"s4", "u4"}) {
      for (const char* right : {"s4", "u4"}) check_dense({m, k, left, right, "s32", ""});
    }
  }
  for (const auto& [m, k] : {std::pair{8, 128}, {16, 128}, {16, 256}}) {
    for (const char* operation : {".xor.popc", ".and.popc"}) check_dense({m, k, "b1", "b1", "s32", operation});
  }
  for (const auto& [m, k] : {std::pair{8, 4}, {16, 4}, {16, 8}, {16, 16}}) check_dense({m, k, "f64", "f64", "f64", ""});
  for (const int k : {16, 32}) {
    for (const char* left : {"e4m3", "e5m2"}) {
      for (const char* right : {"e4m3", "e5m2"}) {
        for (const char* sum : {"f32", "f16"}) check_dense({16, k, left, right, sum, ""});
      }
    }
  }
}

TEST(SimulatedMmaForms, IntegerSumsWrapAroundOrAreClamped) {
  const Registers a{"s8", 2, [](int, int) { return Place{0, 0}; }};
  const Registers b{"s8", 1, a.at};
  const Registers c{"s32", 4, a.at};
  const auto of = [&](const char* where, std::int64_t factor, std::int64_t sum) {
    const auto constant = [](std::int64_t value) { return [value](int, int) { return value; }; };
    return static_cast<std::int32_t>(multiplied(fmt::format("mma.sync.aligned.m16n8k16.row.col{}.s32.s8.s8.s32", where),
                                                c, a, b, c, constant(factor), constant(127), constant(sum))[0]);
  };
  EXPECT_EQ(of("", 127, 0x7fffffff), static_cast<std::int32_t>(0x7fffffffU + 16 * 127 * 127));
  EXPECT_EQ(of(".satfinite", 127, 0x7fffffff), 0x7fffffff);
  EXPECT_EQ(of(".satfinite", -127, -0x7fffffff), -0x7fffffff - 1);
  EXPECT_EQ(of(".satfinite", -127, 5), 5 - 16 * 127 * 127);
}

/// PTX ISA 9.0, 9.7.15.5.1: lanes 4i to 4i + 3 and 16 more multiply matrices of their own.
TEST(SimulatedMmaForms, GroupsOfEightLanesMultiplyMatricesOfTheirOwn) {
  const auto group = [](int lane) { return lane % 16 / 4; };
  const auto upper = [](int lane) { return lane < 16 ? 0 : 4; };
  for (const bool left_columns : {false, true}) {
    for (const bool right_columns : {false, true}) {
      for (const auto& [result, sum] : {std::pair{"f32", "f32"}, {"f16", "f16"}, {"f32", "f16"}}) {
        // The four matrices lie below each other.
        const Registers a{"f16", 2, [&](int lane, int i) {
                            return left_columns ? Place{8 * group(lane) + i + upper(lane), lane % 4}
                                                : Place{8 * group(lane) + lane % 4 + upper(lane), i};
                          }};
        const Registers b{"f16", 2, [&](int lane, int i) {
                            return right_columns ? Place{4 * group(lane) + i, lane % 4 + upper(lane)}
                                                 : Place{4 * group(lane) + lane % 4, i + upper(lane)};
                          }};
        const auto accumulator = [&](const std::string& type) {
          return Registers{type, type == "f16" ? 4 : 8, [&group, &upper, type](int lane, int i) {
                             return type == "f16" ? Place{8 * group(lane) + lane % 4 + upper(lane), i}
                                                  : Place{8 * group(lane) + (lane & 1) + (i & 2) + upper(lane),
                                                          (i & 4) + (lane & 2) + (i & 1)};
                           }};
        };
        const MatrixOf a_of = [](int row, int column) { return matrix_number("f16", row, column, 1); };
        const MatrixOf b_of = [](int row, int column) { return matrix_number("f16", row, column, 2); };
        const MatrixOf c_of = [](int row, int column) { return matrix_number("f16", row, column, 3); };
        const MatrixOf expected = [&](int row, int column) {
          std::int64_t total = c_of(row, column);
          for (int k = 0; k < 4; ++k) total += a_of(row, k) * b_of(row / 8 * 4 + k, column);
          return total;
        };
        const std::string opcode =
            fmt::format("mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{}", left_columns ? "col" : "row",
                        right_columns ? "col" : "row", result, sum);
        const Registers d = accumulator(result);
        expect_matrix(opcode, multiplied(opcode, d, a, b, accumulator(sum), a_of, b_of, c_of), d, expected);
      }
    }
  }
}

// --- wmma -----------------------------------------------------------------------------------------------------------

struct WmmaForm {
  int m;
  int n;
  int k;
  std::string factor;
  std::string sum;
  int left;  // registers
  int right;
  int sums;
  std::string operation;  // of bits
};

/// A matrix in memory, row by row or column by column, as bytes.
void put(std::vector<std::uint8_t>& bytes, std::size_t begin, int index, const std::string& type, std::int64_t value) {
  const std::uint64_t element = encoded(type, value);
  const auto bits = static_cast<std::size_t>(bits_of_type(type));
  const std::size_t first = static_cast<std::size_t>(index) * bits;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    const auto set = static_cast<unsigned>((element >> bit) & 1) << ((first + bit) % 8);
    bytes[begin + (first + bit) / 8] = static_cast<std::uint8_t>(bytes[begin + (first + bit) / 8] | set);
  }
}

void check_wmma(const WmmaForm& test, bool a_columns, bool b_columns, bool c_columns) {
  constexpr std::size_t kRight = 1024;  // bytes at which b begins, and c
  constexpr std::size_t kSums = 2048;
  std::vector<std::uint8_t> bytes(4096);
  const MatrixOf a_of = [&](int row, int column) { return matrix_number(test.factor, row, column, 1); };
  const MatrixOf b_of = [&](int row, int column) { return matrix_number(test.factor, row, column, 2); };
  const MatrixOf c_of = [&](int row, int column) { return matrix_number("s8", row, column, 3); };
  const int least = test.factor.ends_with('8') ? 16 : 0;  // rows and columns are 16 bytes apart
  const int a_stride = std::max(least, a_columns ? test.m : test.k);
  const int b_stride = std::max(least, b_columns ? test.k : test.n);
  for (int row = 0; row < test.m; ++row) {
    for (int k = 0; k < test.k; ++k) {
      put(bytes, 0, a_columns ? k * a_stride + row : row * a_stride + k, test.factor, a_of(row, k));
    }
    for (int column = 0; column < test.n; ++column) {
      put(bytes, kSums, c_columns ? column * test.m + row : row * test.n + column, test.sum, c_of(row, column));
    }
  }
  for (int k = 0; k < test.k; ++k) {
    for (int column = 0; column < test.n; ++column) {
      put(bytes, kRight, b_columns ? column * b_stride + k : k * b_stride + column, test.factor, b_of(k, column));
    }
  }
  Words input(bytes.size() / 4);
  std::memcpy(input.data(), bytes.data(), bytes.size());
  const auto layout = [](bool columns) { return columns ? "col" : "row"; };
  const std::string shape = fmt::format("m{}n{}k{}", test.m, test.n, test.k);
  const std::string product_opcode =
      fmt::format("wmma.mma{}.sync.aligned.{}.{}.{}.{}.{}.{}.{}", test.operation, layout(a_columns), layout(b_columns),
                  shape, test.sum, test.factor, test.factor, test.sum);
  const int wide = test.sum == "f64" ? 64 : 32;
  const std::string text = fmt::format(
      ".reg .b{0} %x<40>; .reg .b32 %stride<3>; mov.u32 %stride0, {1}; mov.u32 %stride1, {14}; mov.u32 %stride2, "
      "{15};\n"
      "wmma.load.a.sync.aligned.{2}.{3}.global.{4} {5}, [%rd2], %stride1;\n"
      "wmma.load.b.sync.aligned.{6}.{3}.global.{4} {7}, [%rd2+{8}], %stride2;\n"
      "wmma.load.c.sync.aligned.{9}.{3}.global.{10} {11}, [%rd2+{12}], %stride0;\n"
      "{13} {11}, {5}, {7}, {11};\n"
      "wmma.store.d.sync.aligned.{9}.{3}.global.{10} [%rd1], {11}, %stride0; ret;",
      wide, c_columns ? test.m : test.n, layout(a_columns), shape, test.factor, register_list(0, test.left),
      layout(b_columns), register_list(8, test.right), kRight, layout(c_columns), test.sum,
      register_list(16, test.sums), kSums, product_opcode, a_stride, b_stride);
  LaneKernel kernel(text, input, static_cast<std::size_t>(test.m * test.n * wide / 32));
  const Words out = kernel.results();
  const MatrixOf expected = product(a_of, b_of, c_of, test.k, test.operation == ".xor.popc");
  std::vector<std::uint8_t> wanted(out.size() * 4);
  for (int row = 0; row < test.m; ++row) {
    for (int column = 0; column < test.n; ++column) {
      put(wanted, 0, c_columns ? column * test.m + row : row * test.n + column, test.sum, expected(row, column));
    }
  }
  EXPECT_EQ(std::memcmp(out.data(), wanted.data(), wanted.size()), 0) << product_opcode;
}

TEST(SimulatedWmmaForms, LoadsMultipliesAndStoresIntegersBitsAndDoubles) {
  for (const char* type : {"s8", "u8"}) {
    for (const int layouts : {0, 1, 2, 3, 4, 7}) {
      for (const WmmaForm& test : {WmmaForm{16, 16, 16, type, "s32", 2, 2, 8, ""},
                                   {32, 8, 16, type, "s32", 4, 1, 8, ""},
                                   {8, 32, 16, type, "s32", 1, 4, 8, ""}}) {
        check_wmma(test, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0);
      }
    }
  }
  for (const int layouts : {0, 1, 2, 3, 4, 7}) {
    check_wmma({8, 8, 4, "f64", "f64", 1, 1, 2, ""}, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0);
  }
  for (const bool c_columns : {false, true}) {
    check_wmma({8, 8, 32, "s4", "s32", 1, 1, 2, ""}, false, true, c_columns);
    check_wmma({8, 8, 32, "u4", "s32", 1, 1, 2, ""}, false, true, c_columns);
    check_wmma({8, 8, 128, "b1", "s32", 1, 1, 2, ".xor.popc"}, false, true, c_columns);
    check_wmma({8, 8, 128, "b1", "s32", 1, 1, 2, ".and.popc"}, false, true, c_columns);
  }
}

// --- rows -----------------------------------------------------------------------------------------------------------

TEST(SimulatedStmatrix, PutsTwoElementsOfEachLaneWhereLdmatrixFindsThem) {
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      std::string registers;
      for (int i = 0; i < count; ++i) registers += fmt::format("{}%r{}", i > 0 ? ", " : "", 10 + i);
      // Element e of matrix i in lane l is 64 i + 2 l + e; row r of matrix i begins at byte 16 (8 i + r).
      std::string body = "shl.b32 %r2, %r1, 4; shl.b32 %r3, %r1, 2;\n";
      for (int i = 0; i < count; ++i) {
        body += fmt::format(
            "mad.lo.u32 %r5, %r1, 2, {}; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 %r{}, %r5, %r6;\n", 64 * i,
            10 + i);
      }
      const std::string opcode =
          fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16", count, transposed ? ".trans" : "");
      body += fmt::format("{} [%r2], {{{}}}; bar.sync 0;\n", opcode, registers);
      for (int i = 0; i < count; ++i) {
        body += fmt::format("ld.shared.u32 %r7, [%r3+{}]; st.global.u32 [%rd4+{}], %r7;\n", 128 * i, 4 * i);
      }
      LaneKernel kernel(body + "ret;", Words(32), static_cast<std::size_t>(32 * count), 1, count);
      const LaunchResult launch = kernel.launch(32, 512);
      EXPECT_EQ(kernel.run.of(launch, opcode).wavefronts, static_cast<std::uint64_t>(count));
      const Words out = kernel.result();
      for (int word = 0; word < 32; ++word) {  // two elements of shared memory
        for (int i = 0; i < count; ++i) {
          for (int half = 0; half < 2; ++half) {
            const int row = word / 4;
            const int column = 2 * (word % 4) + half;
            const int in_lane = transposed ? column * 8 + row : row * 8 + column;  // 2 lane + element
            const std::uint32_t found = (out.at(word * count + i) >> (16 * half)) & 0xffffU;
            EXPECT_EQ(found, static_cast<std::uint32_t>(64 * i + in_lane)) << opcode;
          }
        }
      }
    }
  }
}

TEST(SimulatedLdmatrix, TakesGenericAddressesOfSharedMemory) {
  LaneKernel kernel(
      ".shared .align 16 .b8 rows[512]; mov.u64 %rd6, rows; cvta.shared.u64 %rd6, %rd6; shl.b32 %r2, %r1, 4;\n"
      "st.shared.u32 [rows], %r1; and.b32 %r2, %r2, 112; cvt.u64.u32 %rd7, %r2; add.u64 %rd6, %rd6, %rd7;\n"
      "shl.b32 %r3, %r1, 2; st.shared.u32 [%r3], %r3; bar.sync 0;\n"
      "ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [%rd6]; st.global.u32 [%rd4], %r4; ret;",
      Words(32), 32);
  const Words out = kernel.results();
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 4 * lane);  // word i of the rows is 4 i
}

TEST(SimulatedMovmatrix, TransposesBetweenLanes) {
  LaneKernel kernel(
      "mul.lo.u32 %r5, %r1, 2; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 %r5, %r5, %r6;\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r5; st.global.u32 [%rd4], %r5; ret;",
      Words(32), 32);
  const Words out = kernel.results();
  for (int lane = 0; lane < 32; ++lane) {
    const int first = 2 * (lane % 4) * 8 + lane / 4;
    EXPECT_EQ(out[static_cast<std::size_t>(lane)], static_cast<std::uint32_t>(first | ((first + 8) << 16)));
  }
}

}  // namespace
}  // namespace convladder::simulated

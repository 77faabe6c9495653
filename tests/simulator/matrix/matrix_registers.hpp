// Matrices in the registers of a warp, by formulas for what each lane holds: for tests of their products.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/lane_kernel.hpp"
#include "support/half.hpp"
#include "support/narrow_float.hpp"

namespace convladder::simulated {

using MatrixOf = std::function<std::int64_t(int row, int column)>;

inline int bits_of_type(const std::string& type) {
  if (type == "b1") return 1;
  if (type == "f64") return 64;
  if (type == "f32" || type == "s32") return 32;
  return type == "f16" ? 16 : type == "s4" || type == "u4" ? 4 : 8;
}

/// A number without a pattern that the type holds; of floating types small and whole.
inline std::int64_t matrix_number(const std::string& type, int row, int column, int seed) {
  const auto hash = static_cast<std::uint32_t>(row * 2654435 + column * 40503 + seed * 97) * 2246822519U;
  const auto any = static_cast<int>(hash >> 16);
  if (type == "s8") return any % 256 - 128;
  if (type == "u8") return any % 256;
  if (type == "s4") return any % 16 - 8;
  if (type == "u4") return any % 16;
  if (type == "b1") return any % 2;
  return any % 13 - 6;
}

/// Its bits, above them zeros.
inline std::uint64_t encoded(const std::string& type, std::int64_t value) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (type == "f32") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "f16") return round_to<Half>(static_cast<double>(value)).bits;
  if (type == "e4m3") return narrow_bits(kFloat8E4M3, static_cast<double>(value));
  if (type == "e5m2") return narrow_bits(kFloat8E5M2, static_cast<double>(value));
  return static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - bits_of_type(type)));
}

/// The registers of all lanes: what lane `lane` holds in element `i` is the matrix's number at place(lane, i).
struct Place {
  int row;
  int column;
};
using PlaceOf = std::function<Place(int lane, int element)>;

struct Registers {
  std::string type;
  int count = 0;  ///< of each lane
  PlaceOf at;

  int bits() const { return type == "f64" ? 64 : 32; }
  int elements() const { return count * bits() / bits_of_type(type); }
  std::vector<std::uint64_t> filled(const MatrixOf& matrix, int lane) const {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(count));
    const int each = bits_of_type(type);
    for (int i = 0; i < elements(); ++i) {
      const Place place = at(lane, i);
      const int bit = i * each;
      words[static_cast<std::size_t>(bit / bits())] |= encoded(type, matrix(place.row, place.column)) << (bit % bits());
    }
    return words;
  }
};

/// "{%x3, %x4}": registers first to first + count - 1.
inline std::string register_list(int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}%x{}", i > 0 ? ", " : "", first + i);
  return text + "}";
}

/// Runs "opcode d, a, b, c" on one warp, with `behind` behind it, which may name %r30, the lane's word of `last`.
/// Returns all lanes' registers of d, one lane behind the other.
inline std::vector<std::uint64_t> multiplied(const std::string& opcode, const Registers& d, const Registers& a,
                                             const Registers& b, const Registers& c, const MatrixOf& a_of,
                                             const MatrixOf& b_of, const MatrixOf& c_of, const std::string& behind = "",
                                             const Words& last = {}) {
  const int words = d.bits() / 32;  // of a register
  const int inputs = a.count + b.count + c.count;
  Words input;
  for (int lane = 0; lane < 32; ++lane) {
    for (const auto& [registers, matrix] : {std::pair{&a, &a_of}, {&b, &b_of}, {&c, &c_of}}) {
      for (const std::uint64_t value : registers->filled(*matrix, lane)) {
        input.push_back(static_cast<std::uint32_t>(value));
        if (words == 2) input.push_back(static_cast<std::uint32_t>(value >> 32));
      }
    }
    if (!last.empty()) input.push_back(last[static_cast<std::size_t>(lane)]);
  }
  std::string body = fmt::format(".reg .b{} %x<40>;\n", d.bits());
  for (int i = 0; i < inputs; ++i) body += fmt::format("ld.global.b{} %x{}, [%rd5+{}];\n", d.bits(), i, 4 * words * i);
  if (!last.empty()) {
    body += fmt::format("ld.global.b32 %r30, [%rd5+{}];\n", 4 * words * inputs);
  }
  body += fmt::format("{} {}, {}, {}, {}{};\n", opcode, register_list(inputs, d.count), register_list(0, a.count),
                      register_list(a.count, b.count), register_list(a.count + b.count, c.count), behind);
  for (int i = 0; i < d.count; ++i) {
    body += fmt::format("st.global.b{} [%rd4+{}], %x{};\n", d.bits(), 4 * words * i, inputs + i);
  }
  const std::size_t out_words = std::size_t{32} * static_cast<std::size_t>(d.count) * static_cast<std::size_t>(words);
  LaneKernel kernel(body + "ret;", input, out_words, inputs * words + (last.empty() ? 0 : 1), d.count * words);
  const Words out = kernel.results();
  std::vector<std::uint64_t> results;
  for (std::size_t i = 0; i < out.size(); i += static_cast<std::size_t>(words)) {
    results.push_back(words == 2 ? out[i] | (std::uint64_t{out[i + 1]} << 32) : out[i]);
  }
  return results;
}

inline void expect_matrix(const std::string& opcode, const std::vector<std::uint64_t>& found, const Registers& d,
                          const MatrixOf& expected) {
  for (int lane = 0; lane < 32; ++lane) {
    const std::vector<std::uint64_t> words = d.filled(expected, lane);
    for (int i = 0; i < d.count; ++i) {
      const std::size_t at = static_cast<std::size_t>(lane) * words.size() + static_cast<std::size_t>(i);
      ASSERT_EQ(found[at], words[static_cast<std::size_t>(i)]) << opcode << " lane " << lane << " register " << i;
    }
  }
}

/// c + a b, or the number of bits that differ or are set in both.
inline MatrixOf product(const MatrixOf& a, const MatrixOf& b, const MatrixOf& c, int depth, bool exclusive_or = false) {
  return [=](int row, int column) {
    std::int64_t sum = c(row, column);
    for (int k = 0; k < depth; ++k) {
      sum += exclusive_or ? static_cast<std::int64_t>(a(row, k) != b(k, column)) : a(row, k) * b(k, column);
    }
    return sum;
  };
}

}  // namespace convladder::simulated

#include <array>
#include <bit>
#include <vector>

#include "simulator/stand_in/libraries/curand/sequences.hpp"

namespace convladder::stand_in::curand {
namespace {

/// A primitive polynomial by its degree and its inner coefficients, and the first direction numbers.
struct Dimension {
  unsigned degree;
  unsigned coefficients;
  std::array<unsigned, 7> numbers;
};

// The second dimension to the 21st of the paper's table (new-joe-kuo-6); the first has all direction numbers 1.
constexpr Dimension kDimensions[] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};
constexpr unsigned kMost = 1 + sizeof kDimensions / sizeof kDimensions[0];

/// The direction vectors of a dimension, from 0, as fractions of 64 bits.
std::array<std::uint64_t, 64> directions(unsigned dimension) {
  std::array<std::uint64_t, 64> result{};
  if (dimension == 0) {
    for (unsigned i = 0; i < 64; ++i) result[i] = std::uint64_t{1} << (63 - i);
    return result;
  }
  const Dimension& one = kDimensions[dimension - 1];
  for (unsigned i = 0; i < 64; ++i) {
    if (i < one.degree) {
      result[i] = std::uint64_t{one.numbers[i]} << (63 - i);
      continue;
    }
    result[i] = result[i - one.degree] ^ (result[i - one.degree] >> one.degree);
    for (unsigned k = 1; k < one.degree; ++k) {
      if (((one.coefficients >> (one.degree - 1 - k)) & 1U) != 0) result[i] ^= result[i - k];
    }
  }
  return result;
}

/// Numbers of `Word` bits.
template <typename Word>
class Sobol : public Generator {
 public:
  Sobol(unsigned dimensions, std::uint64_t offset) : next_(offset) {
    for (unsigned i = 0; i < dimensions; ++i) directions_.push_back(directions(i));
  }

  void words(std::uint32_t* out, std::size_t count) override {
    if (sizeof(Word) == 8) throw NotOffered("words of 32 bits");
    write(out, count, [](Word word) { return static_cast<std::uint32_t>(word); });
  }
  void long_words(std::uint64_t* out, std::size_t count) override {
    if (sizeof(Word) == 4) throw NotOffered("words of 64 bits");
    write(out, count, [](Word word) { return static_cast<std::uint64_t>(word); });
  }
  void uniform(float* out, std::size_t count) override {
    write(out, count, [](Word word) { return uniform_float(upper(word)); });
  }
  void uniform(double* out, std::size_t count) override { write(out, count, doubled); }
  void normal(float* out, std::size_t count, float mean, float deviation) override {
    write(out, count, [&](Word word) { return mean + deviation * normal_float(upper(word)); });
  }
  void normal(double* out, std::size_t count, double mean, double deviation) override {
    write(out, count, [&](Word word) { return mean + deviation * normal_double(word); });
  }
  void plain(double* out, std::size_t count) override {
    write(out, count, [](Word word) { return upper(word) * 0x1p-32; });
  }

 private:
  static std::uint32_t upper(Word word) { return static_cast<std::uint32_t>(word >> (8 * sizeof(Word) - 32)); }
  static double doubled(Word word) {
    if constexpr (sizeof(Word) == 4) {
      return word * 0x1p-32 + 0x1p-32;
    } else {
      return static_cast<double>(word >> 11U) * kOf53Bits + kOf53Bits / 2;
    }
  }

  template <typename Out, typename Make>
  void write(Out* out, std::size_t count, const Make& make) {
    const std::size_t points = count / directions_.size();
    for (const auto& directions : directions_) {
      std::uint64_t fraction = 0;
      const std::uint64_t gray = next_ ^ (next_ >> 1U);
      for (unsigned i = 0; i < 64; ++i) {
        if (((gray >> i) & 1U) != 0) fraction ^= directions[i];
      }
      for (std::size_t i = 0; i < points; ++i) {
        *out++ = make(static_cast<Word>(fraction >> (64 - 8 * sizeof(Word))));
        fraction ^= directions[static_cast<unsigned>(std::countr_zero(~(next_ + i))) & 63U];
      }
    }
    next_ += points;
  }

  std::vector<std::array<std::uint64_t, 64>> directions_;
  std::uint64_t next_;
};

}  // namespace

std::unique_ptr<Generator> make_sobol(unsigned bits, unsigned dimensions, std::uint64_t offset) {
  if (dimensions > kMost) throw NotOffered("Sobol sequences of more than 21 dimensions");
  if (bits == 32) return std::make_unique<Sobol<std::uint32_t>>(dimensions, offset);
  return std::make_unique<Sobol<std::uint64_t>>(dimensions, offset);
}

}  // namespace convladder::stand_in::curand

#include "simulator/stand_in/libraries/curand/sequences.hpp"

#include <bit>

namespace convladder::stand_in::curand {
namespace {

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

// Xorwow's five words are a vector of 160 bits, and a step is a matrix: column i is what becomes of bit i.
using Bits = std::array<std::uint32_t, 5>;
using BitMatrix = std::array<Bits, 160>;

Bits product(const BitMatrix& matrix, const Bits& vector) {
  Bits result{};
  for (unsigned word = 0; word < 5; ++word) {
    for (std::uint32_t left = vector[word]; left != 0; left &= left - 1) {
      const Bits& column = matrix[word * 32 + static_cast<unsigned>(std::countr_zero(left))];
      for (unsigned i = 0; i < 5; ++i) result[i] ^= column[i];
    }
  }
  return result;
}

BitMatrix squared(const BitMatrix& matrix) {
  BitMatrix result;
  for (unsigned i = 0; i < 160; ++i) result[i] = product(matrix, matrix[i]);
  return result;
}

BitMatrix one_step() {
  BitMatrix matrix;
  for (unsigned i = 0; i < 160; ++i) {
    Bits x{};
    x[i / 32] = 1U << (i % 32);
    const std::uint32_t t = x[0] ^ (x[0] >> 2);
    matrix[i] = {x[1], x[2], x[3], x[4], (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1))};
  }
  return matrix;
}

// Mrg32k3a's two recurrences: the moduli and the matrices of a step.
constexpr std::uint64_t kModuli[] = {4294967087, 4294944443};
using Matrix = std::array<Mrg32k3a::Vector, 3>;  // rows
constexpr Matrix kSteps[] = {{{{0, 1, 0}, {0, 0, 1}, {kModuli[0] - 810728, 1403580, 0}}},
                             {{{0, 1, 0}, {0, 0, 1}, {kModuli[1] - 1370589, 0, 527612}}}};

Mrg32k3a::Vector product(const Matrix& matrix, const Mrg32k3a::Vector& vector, std::uint64_t modulus) {
  Mrg32k3a::Vector result{};
  for (unsigned row = 0; row < 3; ++row) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 3; ++i) sum += matrix[row][i] * vector[i] % modulus;
    result[row] = sum % modulus;
  }
  return result;
}

Matrix product(const Matrix& left, const Matrix& right, std::uint64_t modulus) {
  Matrix result{};
  for (unsigned column = 0; column < 3; ++column) {
    const auto product_of =
        product(left, Mrg32k3a::Vector{right[0][column], right[1][column], right[2][column]}, modulus);
    for (unsigned row = 0; row < 3; ++row) result[row][column] = product_of[row];
  }
  return result;
}

/// So many steps of one of the recurrences.
Matrix steps(unsigned recurrence, std::uint64_t count) {
  Matrix result = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Matrix power = kSteps[recurrence];
  for (; count != 0; count >>= 1U) {
    if ((count & 1U) != 0) result = product(power, result, kModuli[recurrence]);
    power = product(power, power, kModuli[recurrence]);
  }
  return result;
}

Matrix squared_times(Matrix matrix, unsigned times, std::uint64_t modulus) {
  for (unsigned i = 0; i < times; ++i) matrix = product(matrix, matrix, modulus);
  return matrix;
}

}  // namespace

Xorwow::Xorwow(std::uint64_t seed, std::uint64_t rows, unsigned extra) : states_(kThreads) {
  const std::uint32_t first = 1099087573U * (low(seed) ^ 0xaad26b49U);
  const std::uint32_t second = 2591861531U * (high(seed) ^ 0xf7dcefddU);
  Bits x = {123456789U + first, 362436069U ^ first, 521288629U + second, 88675123U ^ second, 5783321U + first};
  BitMatrix power = one_step();
  for (std::uint64_t left = rows, bit = 0; bit < 67; ++bit, left >>= 1U) {
    if ((left & 1U) != 0) x = product(power, x);
    power = squared(power);
  }
  // A distance of 2^67 leaves the counter as it is.
  const std::uint32_t counter = 6615241U + second + first + 362437U * low(rows);
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    states_[thread] = {x, counter};
    x = product(power, x);
    if (thread < extra) states_[thread].next();
  }
}

Mrg32k3a::Mrg32k3a(unsigned threads, std::uint64_t seed, std::uint64_t rows, unsigned extra) : states_(threads) {
  State state = {{12345, 12345, 12345}, {12345, 12345, 12345}};
  if (seed != 0) {
    const std::uint64_t one = low(seed) ^ 0x55555555U;
    const std::uint64_t other = high(seed) ^ 0xAAAAAAAAU;
    for (unsigned i = 0; i < 3; ++i) {
      state.first[i] = (i == 1 ? other : one) * 12345 % kModuli[0];
      state.second[i] = (i == 1 ? one : other) * 12345 % kModuli[1];
    }
  }
  state.first = product(steps(0, rows), state.first, kModuli[0]);
  state.second = product(steps(1, rows), state.second, kModuli[1]);
  const Matrix first = squared_times(kSteps[0], 76, kModuli[0]);
  const Matrix second = squared_times(kSteps[1], 76, kModuli[1]);
  for (unsigned thread = 0; thread < threads; ++thread) {
    states_[thread] = state;
    state.first = product(first, state.first, kModuli[0]);
    state.second = product(second, state.second, kModuli[1]);
  }
  for (unsigned thread = 0; thread < extra; ++thread) draw(thread);
}

std::uint32_t Mrg32k3a::draw(unsigned thread) {
  State& state = states_[thread];
  Vector& x = state.first;
  Vector& y = state.second;
  // Less than 2^63, so that nothing overflows: the modulus times the factor makes the difference positive.
  const std::uint64_t next_x = (1403580 * x[1] + 810728 * (kModuli[0] - x[0])) % kModuli[0];
  const std::uint64_t next_y = (527612 * y[2] + 1370589 * (kModuli[1] - y[0])) % kModuli[1];
  x = {x[1], x[2], next_x};
  y = {y[1], y[2], next_y};
  return low(next_x > next_y ? next_x - next_y : next_x + kModuli[0] - next_y);
}

Philox::Philox(std::uint64_t seed, std::uint64_t rows, unsigned extra) : seed_(seed), states_(kThreads) {
  for (unsigned thread = 0; thread < kThreads; ++thread) states_[thread].next = rows + (thread < extra ? 1 : 0);
}

std::array<std::uint32_t, 4> Philox::block(std::uint64_t key, std::array<std::uint32_t, 4> counter) {
  std::uint32_t first = low(key);
  std::uint32_t second = high(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(odd) ^ counter[1] ^ first, low(odd), high(even) ^ counter[3] ^ second, low(even)};
    first += 0x9E3779B9U;
    second += 0xBB67AE85U;
  }
  return counter;
}

}  // namespace convladder::stand_in::curand

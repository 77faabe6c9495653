#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "simulator/stand_in/libraries/curand/sequences.hpp"
#if __has_include(<curand_mtgp32dc_p_11213.h>)
#include <cuda_runtime_api.h>
#include <curand_mtgp32.h>
#include <curand_mtgp32dc_p_11213.h>
#endif

namespace convladder::stand_in::curand {
namespace {

/// A generator that makes one number of each word, and whose words come in rounds of many.
template <typename Rounds>
class ByRounds : public Generator {
 public:
  explicit ByRounds(Rounds rounds) : rounds_(std::move(rounds)) {}

  void words(std::uint32_t* out, std::size_t count) override {
    write(out, count, [](std::uint32_t word) { return word; });
  }
  void uniform(float* out, std::size_t count) override { write(out, count, uniform_float); }
  void uniform(double* out, std::size_t count) override { write(out, count, Rounds::doubled); }
  void normal(float* out, std::size_t count, float mean, float deviation) override {
    write(out, count, [&](std::uint32_t word) { return mean + deviation * Rounds::normal(word); });
  }
  void normal(double* out, std::size_t count, double mean, double deviation) override {
    write(out, count, [&](std::uint32_t word) { return mean + deviation * Rounds::doubled_normal(word); });
  }
  void plain(double* out, std::size_t count) override {
    write(out, count, [](std::uint32_t word) { return word * 0x1p-32; });
  }

 private:
  template <typename Out, typename Make>
  void write(Out* out, std::size_t count, const Make& make) {
    for (std::size_t i = 0; i < count; ++i) out[i] = make(rounds_.word(next_++));
  }

  Rounds rounds_;
  std::uint64_t next_ = 0;
};

/// MT19937 for 8192 twisters. In a round each makes 624 words, which its 8 threads write in 78 rows: those of a row
/// stand together, of all twisters.
class Mt19937 {
 public:
  explicit Mt19937(std::uint64_t seed) {
    State& first = twisters_.emplace_back();
    first.x[0] = static_cast<std::uint32_t>(seed);
    for (unsigned i = 1; i < kWords; ++i) first.x[i] = 1812433253U * (first.x[i - 1] ^ (first.x[i - 1] >> 30U)) + i;
    first.at_begin = first.x;
  }
  static double doubled(std::uint32_t word) { return uniform_double(word); }
  static float normal(std::uint32_t word) { return normal_float(word); }
  static double doubled_normal(std::uint32_t word) { return normal_double(word); }

  std::uint32_t word(std::uint64_t position) {
    const auto column = static_cast<unsigned>(position % kColumns);
    const std::uint64_t row = position / kColumns;
    const unsigned number = column / kThreads;
    while (twisters_.size() <= number) add();
    State& state = twisters_[number];
    while (state.rounds <= row / kRows) {
      twist(state.x);
      ++state.rounds;
    }
    return tempered(state.x[place(static_cast<unsigned>(row % kRows), column % kThreads)]);
  }

 private:
  static constexpr unsigned kWords = 624;
  static constexpr unsigned kAhead = 397;
  static constexpr unsigned kBits = 19937;
  static constexpr unsigned kThreads = 8;
  static constexpr unsigned kRows = kWords / kThreads;
  static constexpr unsigned kColumns = 8192 * kThreads;
  using Words = std::array<std::uint32_t, kWords>;
  struct State {
    Words x{};
    Words at_begin{};
    std::uint64_t rounds = 0;
  };
  /// A polynomial over two elements; bit i belongs to the power i.
  using Polynomial = std::vector<std::uint64_t>;

  static std::uint32_t next(std::uint32_t first, std::uint32_t second, std::uint32_t ahead) {
    const std::uint32_t y = (first & 0x80000000U) | (second & 0x7fffffffU);
    return ahead ^ (y >> 1U) ^ ((second & 1U) != 0 ? 0x9908b0dfU : 0U);
  }
  static void twist(Words& x) {
    for (unsigned i = 0; i < kWords; ++i) x[i] = next(x[i], x[(i + 1) % kWords], x[(i + kAhead) % kWords]);
  }
  static std::uint32_t tempered(std::uint32_t y) {
    y ^= y >> 11U;
    y ^= (y << 7U) & 0x9d2c5680U;
    y ^= (y << 15U) & 0xefc60000U;
    return y ^ (y >> 18U);
  }

  /// The place among a round's 624 words of what a thread writes in a row: first a single word of each thread, then
  /// seven words of each, eleven times.
  static unsigned place(unsigned row, unsigned thread) {
    constexpr std::array<unsigned, kThreads> kSingle = {0, 113, 170, 283, 340, 397, 510, 567};
    if (row == 0) return kSingle[thread];
    const unsigned run = (row - 1) / 7;
    constexpr std::array<unsigned, 11> kBegins = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
    return kBegins[run] + 7 * thread + (row - 1) % 7;
  }

  void add();
  static Polynomial jump();

  std::vector<State> twisters_;
  Polynomial jump_;
};

void shift_into(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from, unsigned by) {
  const unsigned words = by / 64;
  const unsigned bits = by % 64;
  for (std::size_t i = 0; i < from.size() && i + words < to.size(); ++i) {
    to[i + words] ^= from[i] << bits;
    if (bits != 0 && i + words + 1 < to.size()) to[i + words + 1] ^= from[i] >> (64 - bits);
  }
}

/// The power 2^2048 of x, divided by the recurrence's characteristic polynomial: the rest.
Mt19937::Polynomial Mt19937::jump() {
  constexpr std::size_t kLong = 2 * kBits / 64 + 2;
  const auto times = [](const Polynomial& one, std::initializer_list<unsigned> powers) {
    Polynomial result(kLong);
    for (const unsigned power : powers) shift_into(result, one, power);
    return result;
  };
  // The paper's appendix: with s = t^624 + t^397, u = t^623 + t^396 and the bits a of the matrix, from the lowest, it
  // is s u^31 + sum over i < 31 of a_i s u^(30-i), and a_31. Written for w - r = 1.
  std::vector<Polynomial> powers = {Polynomial(kLong)};
  powers[0][0] = 1;
  for (unsigned i = 1; i <= 31; ++i) powers.push_back(times(powers.back(), {623, 396}));
  Polynomial characteristic = times(powers[31], {624, 397});
  for (unsigned i = 0; i < 31; ++i) {
    if (((0x9908b0dfU >> i) & 1U) == 0) continue;
    const Polynomial term = times(powers[30 - i], {624, 397});
    for (std::size_t k = 0; k < kLong; ++k) characteristic[k] ^= term[k];
  }
  characteristic[0] ^= 0x9908b0dfU >> 31U;
  std::vector<unsigned> terms;  // below the highest
  for (unsigned i = 0; i < kBits; ++i) {
    if (((characteristic[i / 64] >> (i % 64)) & 1U) != 0) terms.push_back(i);
  }

  Polynomial result(kLong);
  result[0] = 2;
  for (unsigned i = 0; i < 2048; ++i) {
    Polynomial square(kLong);
    for (unsigned bit = 0; bit < kBits; ++bit) {
      if (((result[bit / 64] >> (bit % 64)) & 1U) != 0) square[bit / 32] |= std::uint64_t{1} << (2 * bit % 64);
    }
    // From the top, a word at a time: below the highest power, 622 follow that the polynomial does not have.
    for (unsigned top = 2 * kBits; top >= kBits; top -= std::min(top, 64U)) {
      const unsigned base = std::max(kBits, top < 63 ? 0 : top - 63);
      const std::uint64_t mask = top - base == 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << (top - base + 1)) - 1;
      std::uint64_t bits = square[base / 64] >> (base % 64);
      if (base % 64 != 0) bits |= square[base / 64 + 1] << (64 - base % 64);
      bits &= mask;
      if (bits == 0) continue;
      const auto add_at = [&](unsigned at) {
        square[at / 64] ^= bits << (at % 64);
        if (at % 64 != 0) square[at / 64 + 1] ^= bits >> (64 - at % 64);
      };
      add_at(base);
      for (const unsigned term : terms) add_at(base - kBits + term);
    }
    result = std::move(square);
  }
  return result;
}

void Mt19937::add() {
  static const Polynomial* const kJump = new Polynomial(jump());
  // The words that follow from the last twister's first ones; the state i steps later is 624 of them, from i.
  constexpr unsigned kAtOnce = 4;
  constexpr unsigned kGroups = kBits / kAtOnce + 1;
  std::vector<std::uint32_t> words(kGroups * kAtOnce + kWords + kAtOnce);
  std::ranges::copy(twisters_.back().at_begin, words.begin());
  for (std::size_t i = kWords; i < words.size(); ++i) {
    words[i] = next(words[i - kWords], words[i - kWords + 1], words[i - kWords + kAhead]);
  }
  // Sums of four neighbours, for each choice of them.
  const std::size_t size = words.size() - kAtOnce;
  std::array<std::vector<std::uint32_t>, 1U << kAtOnce> sums;
  for (unsigned choice = 1; choice < sums.size(); ++choice) {
    sums[choice].resize(size);
    const unsigned rest = choice & (choice - 1);
    const std::uint32_t* const one = words.data() + std::countr_zero(choice);
    std::uint32_t* __restrict const to = sums[choice].data();
    std::copy_n(one, size, to);
    if (rest == 0) continue;
    const std::uint32_t* const other = sums[rest].data();
    for (std::size_t i = 0; i < size; ++i) to[i] ^= other[i];
  }
  Words sum{};
  for (unsigned group = 0; group < kGroups; ++group) {
    const unsigned choice = ((*kJump)[group * kAtOnce / 64] >> (group * kAtOnce % 64)) & 15U;
    if (choice == 0) continue;
    const std::uint32_t* const from = sums[choice].data() + group * kAtOnce;
    for (unsigned i = 0; i < kWords; ++i) sum[i] ^= from[i];
  }
  twisters_.push_back({sum, sum});
}

#if __has_include(<curand_mtgp32dc_p_11213.h>)
/// Twisters with parameters of their own, which write 256 words in turn.
class Mtgp32 {
 public:
  Mtgp32(unsigned twisters, std::uint64_t seed) : twisters_(twisters), words_(twisters * kAtOnce) {
    for (unsigned number = 0; number < twisters; ++number) {
      const mtgp32_params_fast_t& parameters = mtgp32dc_params_fast_11213[number];
      std::array<std::uint32_t, kBuffer>& x = twisters_[number];
      const std::uint32_t hidden = parameters.tbl[4] ^ (parameters.tbl[8] << 16U);
      std::uint32_t filling = hidden;
      filling += filling >> 16U;
      filling += filling >> 8U;
      for (unsigned i = 0; i < kWords; ++i) x[i] = (filling & 0xffU) * 0x01010101U;
      x[0] = static_cast<std::uint32_t>(seed ^ (seed >> 32U)) + number + 1;
      x[1] = hidden;
      for (unsigned i = 1; i < kWords; ++i) x[i] ^= 1812433253U * (x[i - 1] ^ (x[i - 1] >> 30U)) + i;
    }
  }

  std::uint32_t word(std::uint64_t position) {
    if (position / words_.size() >= rounds_) turn();
    return words_[position % words_.size()];
  }
  static double doubled(std::uint32_t word) { return word * 0x1p-32 + 0x1p-32; }
  static float normal(std::uint32_t word) { return static_cast<float>(doubled_normal(word)); }
  /// From as many bits as a float has; there is no number for 1, to which the greatest of them are rounded.
  static double doubled_normal(std::uint32_t word) {
    const float probability = uniform_float(word);
    return probability < 1 ? inverse_normal(probability) : normal_double(word);
  }

 private:
  static constexpr unsigned kWords = 11213 / 32 + 1;
  static constexpr unsigned kAtOnce = 256;
  static constexpr unsigned kBuffer = 1024;

  void turn() {
    for (unsigned number = 0; number < twisters_.size(); ++number) {
      const mtgp32_params_fast_t& parameters = mtgp32dc_params_fast_11213[number];
      std::array<std::uint32_t, kBuffer>& x = twisters_[number];
      const auto at = [&](std::uint64_t i) -> std::uint32_t& { return x[(rounds_ * kAtOnce + i) % kBuffer]; };
      const auto pick = static_cast<unsigned>(parameters.pos);
      for (unsigned i = 0; i < kAtOnce; ++i) {
        std::uint32_t y = (at(i) & parameters.mask) ^ at(i + 1);
        y ^= y << static_cast<unsigned>(parameters.sh1);
        y ^= at(i + pick) >> static_cast<unsigned>(parameters.sh2);
        const std::uint32_t made = y ^ parameters.tbl[y & 15U];
        at(i + kWords) = made;
        std::uint32_t temper = at(i + pick - 1);
        temper ^= temper >> 16U;
        temper ^= temper >> 8U;
        words_[number * kAtOnce + i] = made ^ parameters.tmp_tbl[temper & 15U];
      }
    }
    ++rounds_;
  }

  std::vector<std::array<std::uint32_t, kBuffer>> twisters_;
  std::vector<std::uint32_t> words_;
  std::uint64_t rounds_ = 0;
};
#endif

}  // namespace

std::unique_ptr<Generator> make_mt19937(std::uint64_t seed) {
  return std::make_unique<ByRounds<Mt19937>>(Mt19937(seed));
}

std::unique_ptr<Generator> make_mtgp32(unsigned twisters, std::uint64_t seed) {
#if __has_include(<curand_mtgp32dc_p_11213.h>)
  return std::make_unique<ByRounds<Mtgp32>>(Mtgp32(twisters, seed));
#else
  static_cast<void>(twisters);
  static_cast<void>(seed);
  throw NotOffered("MTGP32: CUDA's headers had no parameters of it when this was built");
#endif
}

}  // namespace convladder::stand_in::curand

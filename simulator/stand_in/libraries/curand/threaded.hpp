// A generator whose sequence is cut into one for each thread of a GPU: each thread draws a few words and writes what it
// makes of them, one thread after the other, and round again.
#pragma once

#include <algorithm>
#include <array>
#include <numbers>

#include "simulator/stand_in/libraries/curand/distributions.hpp"
#include "simulator/stand_in/libraries/curand/generator.hpp"

namespace convladder::stand_in::curand {

/// `Sequences` has
///   unsigned threads()                 their number, once around
///   std::uint32_t draw(unsigned thread)  the thread's next value
///   kAtOnce                            words that a thread writes at once
///   kWordsOfDouble                     words of a double: 1 or 2
///   kIsPaired                          whether normal numbers are made two at a time
///   word(value), real(value)           a value as 32 bits, and as float in (0, 1]
///   angle(value)                       as float in (0, 2 pi]
///   doubled(value...)                  as a double in (0, 1]
template <typename Sequences>
class Threaded : public Generator {
 public:
  explicit Threaded(Sequences sequences, unsigned thread = 0, unsigned within = 0)
      : sequences_(std::move(sequences)), thread_(thread) {
    // The rest of what that thread writes at once.
    for (unsigned i = 0; i < within; ++i) skip_word();
  }

  void words(std::uint32_t* out, std::size_t count) override {
    write_words(out, count, [](std::uint32_t value) { return Sequences::word(value); });
  }
  void uniform(float* out, std::size_t count) override {
    write_words(out, count, [](std::uint32_t value) { return Sequences::real(value); });
  }
  void plain(double* out, std::size_t count) override {
    write_words(out, count, [](std::uint32_t value) { return Sequences::word(value) * 0x1p-32; });
  }
  void uniform(double* out, std::size_t count) override {
    write<Sequences::kAtOnce>(out, count, [this](unsigned thread, double* to) {
      for (unsigned i = 0; i < Sequences::kAtOnce; ++i) to[i] = one_double(thread);
    });
  }
  void normal(float* out, std::size_t count, float mean, float deviation) override {
    if constexpr (Sequences::kIsPaired && Sequences::kAtOnce > 1) {
      // The words of a thread in their order, so that the rest of them is left for the next call.
      std::array<std::uint32_t, 2> pair{};
      for (; count > 0; count -= std::min<std::size_t>(count, 2), out += 2) {
        std::array<float, 2> made{};
        words(pair.data(), 2);
        write_pair(pair[0], pair[1], mean, deviation, made.data());
        std::copy_n(made.begin(), std::min<std::size_t>(count, 2), out);
      }
    } else if constexpr (Sequences::kIsPaired) {
      write<2>(out, count, [&](unsigned thread, float* to) {
        const std::uint32_t uniform = sequences_.draw(thread);
        write_pair(uniform, sequences_.draw(thread), mean, deviation, to);
      });
    } else {
      write_words(out, count, [&](std::uint32_t value) { return mean + deviation * normal_float(value); });
    }
  }
  void normal(double* out, std::size_t count, double mean, double deviation) override {
    if constexpr (Sequences::kIsPaired) {
      write<std::max(2U, Sequences::kAtOnce)>(out, count, [&](unsigned thread, double* to) {
        for (unsigned i = 0; i < std::max(2U, Sequences::kAtOnce); i += 2) {
          const double uniform = one_double(thread);
          const auto [first, second] = box_muller(uniform, one_double(thread) * (2 * std::numbers::pi));
          to[i] = mean + deviation * first;
          to[i + 1] = mean + deviation * second;
        }
      });
    } else {
      write_words(out, count, [&](std::uint32_t value) { return mean + deviation * normal_double(value); });
    }
  }

 private:
  double one_double(unsigned thread) {
    const std::uint32_t low = sequences_.draw(thread);
    if constexpr (Sequences::kWordsOfDouble == 1) {
      return Sequences::doubled(low);
    } else {
      return Sequences::doubled(low, sequences_.draw(thread));
    }
  }

  static void write_pair(std::uint32_t uniform, std::uint32_t angle, float mean, float deviation, float* to) {
    const auto [first, second] = box_muller(Sequences::real(uniform), Sequences::angle(angle));
    to[0] = mean + deviation * first;
    to[1] = mean + deviation * second;
  }

  void next_thread() { thread_ = thread_ + 1 == sequences_.threads() ? 0 : thread_ + 1; }
  void skip_word() {
    std::uint32_t one = 0;
    words(&one, 1);
  }

  /// Words of which the rest of what a thread writes at once stays for the next call.
  template <typename Out, typename Make>
  void write_words(Out* out, std::size_t count, const Make& make) {
    for (std::size_t i = 0; i < count; ++i) {
      if (left_ == 0) {
        for (std::uint32_t& value : drawn_) value = sequences_.draw(thread_);
        next_thread();
        left_ = Sequences::kAtOnce;
      }
      out[i] = make(drawn_[Sequences::kAtOnce - left_--]);
    }
  }

  /// Numbers of which a thread makes `kNumbers` at once; the rest of the last is dropped.
  template <unsigned kNumbers, typename Out, typename Make>
  void write(Out* out, std::size_t count, const Make& make) {
    left_ = 0;
    for (; count >= kNumbers; out += kNumbers, count -= kNumbers) {
      make(thread_, out);
      next_thread();
    }
    if (count == 0) return;
    std::array<Out, kNumbers> last{};
    make(thread_, last.data());
    next_thread();
    std::copy_n(last.begin(), count, out);
  }

  Sequences sequences_;
  unsigned thread_ = 0;  // the next to write
  unsigned left_ = 0;    // of `drawn_`
  std::array<std::uint32_t, Sequences::kAtOnce> drawn_{};
};

}  // namespace convladder::stand_in::curand

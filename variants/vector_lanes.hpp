// Vectors of floats without one machine's intrinsics, and the choice of their width when the program runs.
//
// Code over vectors is written once, as a template over an instruction set, with the vector extensions of GCC and
// clang. It is compiled for each instruction set below; `run_with` calls the one that was asked for. A program that was
// compiled for an old processor thus uses the registers of a new one.
//
// What such code calls is to be drawn into it: a function or a lambda by itself is compiled for what the whole program
// is compiled for, and has narrower registers. So nothing takes or returns a vector by value, and what names one in an
// `asm` is always inlined, the lambdas around it too. A build for x86-64-v3 or less shows both.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>  // declares the builtins of all instruction sets
#endif

#include "support/huge_pages.hpp"

namespace convladder {

/// Floats that one register holds in each instruction set, and the outputs that its registers can hold besides the
/// operands: `maps` output maps of `vectors` x `lanes` pixels. 32 registers for AVX-512, 16 for the others.
struct Avx512 {
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
  static constexpr int maps = 8;
  static constexpr int vectors = 3;
};
/// Half vectors with the registers of AVX-512, for processors that take two turns for whole ones (`run_with_halves`).
struct Avx512Halves {
  static constexpr int lanes = 8;
  static constexpr int registers = 32;
  static constexpr int maps = 8;
  static constexpr int vectors = 3;
};
struct Avx2 {
  static constexpr int lanes = 8;
  static constexpr int registers = 16;
  static constexpr int maps = 6;
  static constexpr int vectors = 2;
};
struct BaselineLanes {
  static constexpr int lanes = 4;
  static constexpr int registers = 16;
  static constexpr int maps = 4;
  static constexpr int vectors = 2;
};

/// The same as data.
struct InstructionSet {
  enum class Kind { baseline, avx2, avx512 } kind;
  const char* name;  ///< as in a record
  int lanes;
  int maps;
  int vectors;

  int tile_pixels() const { return vectors * lanes; }
};

/// The widest that this processor has. CONVLADDER_INSTRUCTION_SET=baseline, avx2 or avx512 in the environment asks for
/// another one. Throws std::runtime_error if that is unknown or the processor does not have it.
InstructionSet chosen_instruction_set();
/// For work that may leave lanes idle, those that may be better: the chosen one, and where the processor halves its
/// vectors (cpu_microarchitecture.hpp) that of half as many lanes. What the environment asks for is the only one.
std::vector<InstructionSet> instruction_sets_to_choose_from();
/// The same with what else it goes by.
std::vector<InstructionSet> instruction_sets_to_choose_from(const InstructionSet& chosen, bool halves_wide_vectors);
/// How long work with whole vectors takes for each of them, in cycles where nothing is halved: 1, and where the
/// processor halves them as much more as was measured, against vectors of half as many lanes.
double cycles_of_vector(const InstructionSet& set);
/// The narrowest, which every processor has.
InstructionSet baseline_instruction_set();

/// A register of `Set::lanes` floats: arithmetic goes lane by lane.
template <typename Set>
struct VectorOf {
  using Type [[gnu::vector_size(Set::lanes * sizeof(float))]] = float;
  using MaskType [[gnu::vector_size(Set::lanes * sizeof(float))]] = std::int32_t;
};
template <typename Set>
using Vector = typename VectorOf<Set>::Type;
/// `mask ? a : b` takes a's lanes where the mask's have all bits, b's where they have none.
template <typename Set>
using Mask = typename VectorOf<Set>::MaskType;

// By reference: how a vector is passed by value depends on the instruction set.
template <typename V>
[[gnu::always_inline]] inline void load_vector(V& to, const float* from) {
  std::memcpy(&to, from, sizeof to);
}
template <typename V>
[[gnu::always_inline]] inline void store_vector(float* to, const V& from) {
  std::memcpy(to, &from, sizeof from);
}

/// Keeps the compiler from loading a value again for each of its uses, which would take the loads' ports.
template <typename V>
[[gnu::always_inline]] inline void keep_in_register(V& value) {
#if defined(__x86_64__) && defined(__clang__) && !defined(__AVX512F__)
  // clang judges what an asm may name by the file's instruction set, whatever function it is drawn into.
#ifdef __AVX__
  if constexpr (sizeof value <= 32) asm("" : "+v"(value));
#else
  if constexpr (sizeof value <= 16) asm("" : "+v"(value));
#endif
#elif defined(__x86_64__)
  asm("" : "+v"(value));
#else
  static_cast<void>(value);
#endif
}

/// Past the caches, for what nobody reads soon: memory is written without being read first. `to` begins at a multiple
/// of `sizeof from` bytes. Neighbouring vectors that are written one after the other fill a line of 64 bytes; a line
/// left half full costs more than an ordinary store. Call `finish_streams` after the last one. An ordinary store where
/// the instruction set has none, and where the compiler was asked not to optimise.
template <typename V>
[[gnu::always_inline]] inline void stream_vector(float* to, const V& from) {
#if defined(__x86_64__) && defined(__clang__)
  __builtin_nontemporal_store(from, reinterpret_cast<V*>(to));
#elif defined(__x86_64__) && defined(__OPTIMIZE__)
  // Builtins instead of the functions of immintrin.h, which cannot be called from a template that is compiled for less
  // than they need before it is drawn into its caller.
  static_assert(sizeof from == 64 || sizeof from == 32 || sizeof from == 16);
  if constexpr (sizeof from == 64) {
    __builtin_ia32_movntps512(to, from);
  } else if constexpr (sizeof from == 32) {
    __builtin_ia32_movntps256(to, from);
  } else {
    __builtin_ia32_movntps(to, from);
  }
#else
  store_vector(to, from);
#endif
}
/// Orders everything that this thread streamed before what it stores from here on: another thread that learns from such
/// a store that the data is there finds it.
inline void finish_streams() {
#ifdef __x86_64__
  __builtin_ia32_sfence();
#endif
}

/// Asks for the line of 64 bytes at `address`, which is stored to some hundred cycles later: a store to a line that has
/// to come from memory first would hold up those behind it. Nothing is read or written, wherever it is.
[[gnu::always_inline]] inline void prefetch_for_store(const float* address) { __builtin_prefetch(address, 1, 3); }

/// All bits of the lanes from `first` on, none of those before.
template <typename Set>
[[gnu::always_inline]] inline void set_lanes_from(Mask<Set>& to, int first) {
  std::int32_t lanes[Set::lanes];
  for (int lane = 0; lane < Set::lanes; ++lane) lanes[lane] = lane >= first ? -1 : 0;
  std::memcpy(&to, lanes, sizeof to);
}

namespace detail {

// `flatten` draws everything called into a function that is compiled for the instruction set.
template <typename Body, typename... Arguments>
[[gnu::flatten]] void run_baseline(Arguments... arguments) {
  Body::template run<BaselineLanes>(arguments...);
}
#ifdef __x86_64__
template <typename Body, typename... Arguments>
[[gnu::flatten, gnu::target("avx2,fma,prfchw")]] void run_avx2(Arguments... arguments) {
  Body::template run<Avx2>(arguments...);
}
template <typename Body, typename Set = Avx512, typename... Arguments>
[[gnu::flatten, gnu::target("avx2,fma,prfchw,avx512f,avx512vl,avx512bw,avx512dq")]] void run_avx512(
    Arguments... arguments) {
  Body::template run<Set>(arguments...);
}
#endif

}  // namespace detail

/// Body::run<Set>(arguments...), compiled for the instruction set.
template <typename Body, typename... Arguments>
void run_with(InstructionSet::Kind set, const Arguments&... arguments) {
#ifdef __x86_64__
  if (set == InstructionSet::Kind::avx512) return detail::run_avx512<Body, Avx512, const Arguments&...>(arguments...);
  if (set == InstructionSet::Kind::avx2) return detail::run_avx2<Body, const Arguments&...>(arguments...);
#endif
  static_cast<void>(set);
  detail::run_baseline<Body, const Arguments&...>(arguments...);
}

/// Body::run<Avx512Halves>(arguments...), where the processor has AVX-512.
template <typename Body, typename... Arguments>
void run_with_halves(const Arguments&... arguments) {
#ifdef __x86_64__
  detail::run_avx512<Body, Avx512Halves, const Arguments&...>(arguments...);
#else
  Body::template run<Avx512Halves>(arguments...);
#endif
}

/// Body::run<Set>(arguments...), compiled for the instruction set: a function to be called from code that is, too.
template <typename Set, typename Body, typename... Arguments>
constexpr auto compiled_for() -> void (*)(Arguments...) {
#ifdef __x86_64__
  if constexpr (std::is_same_v<Set, Avx512>) return detail::run_avx512<Body, Avx512, Arguments...>;
  if constexpr (std::is_same_v<Set, Avx2>) return detail::run_avx2<Body, Arguments...>;
#endif
  return detail::run_baseline<Body, Arguments...>;
}

/// Calls body(std::integral_constant<int, value>) for a value in 1..kMost.
template <int kMost, typename Body>
[[gnu::always_inline]] inline void with_constant(int value, const Body& body) {
  if constexpr (kMost > 1) {
    if (value < kMost) return with_constant<kMost - 1>(value, body);
  }
  body(std::integral_constant<int, kMost>{});
}

/// Zeros, of 32 bits each, that begin at a cache line, and in huge pages where they are many.
template <typename Word>
class AlignedWords {
 public:
  AlignedWords() = default;
  explicit AlignedWords(std::int64_t count) : lines_(static_cast<std::size_t>((count + 15) / 16)) {}
  Word* data() { return lines_.empty() ? nullptr : lines_.front().words; }
  const Word* data() const { return lines_.empty() ? nullptr : lines_.front().words; }

 private:
  struct alignas(64) Line {
    Word words[16];
    static_assert(sizeof words == 64);
  };
  std::vector<Line, HugePageAllocator<Line>> lines_;
};
using AlignedFloats = AlignedWords<float>;

}  // namespace convladder

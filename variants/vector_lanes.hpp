// Vectors of floats without one machine's intrinsics, and the choice of their width when the program runs.
//
// Code over vectors is written once, as a template over an instruction set, with the vector extensions of GCC and
// clang. It is compiled for each instruction set below; `run_with` calls the one that was asked for. A program that was
// compiled for an old processor thus uses the registers of a new one.
//
// Functions that such code calls must be inlined into it: a separate function or lambda is compiled for the instruction
// set of the whole program, with narrower registers. So nothing takes or returns a vector by value, and code that names
// one in an `asm` is always inlined, including the lambdas around it. A build for x86-64-v3 or less shows both.
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

/// The floats that one register holds in each instruction set, and the outputs that its registers can hold besides the
/// operands: `maps` output maps of `vectors` x `lanes` pixels. 32 registers for AVX-512, 16 for the others.
struct Avx512 {
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
  static constexpr int maps = 8;
  static constexpr int vectors = 3;
};
/// Half vectors with the registers of AVX-512, for processors that split whole vectors in two (`run_with_halves`).
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

/// An instruction set as data, with the constants of its struct.
struct InstructionSet {
  enum class Kind { baseline, avx2, avx512 } kind;
  const char* name;  ///< as in records
  int lanes;
  int maps;
  int vectors;

  int tile_pixels() const { return vectors * lanes; }
};

/// The widest instruction set that this processor has. CONVLADDER_INSTRUCTION_SET=baseline, avx2 or avx512 in the
/// environment asks for another one. Throws std::runtime_error if that is unknown or the processor does not have it.
InstructionSet chosen_instruction_set();
/// The instruction sets that may be best for work that may leave lanes idle: the chosen one, and, if the processor
/// halves its vectors (cpu_microarchitecture.hpp), the one of half as many lanes. If the environment asks for one, it
/// is the only one.
std::vector<InstructionSet> instruction_sets_to_choose_from();
/// The instruction sets to choose from, with explicit values for everything that the choice depends on.
std::vector<InstructionSet> instruction_sets_to_choose_from(const InstructionSet& chosen, bool halves_wide_vectors);
/// The time that work with whole vectors takes for each vector, in cycles of a processor that halves nothing: 1, or,
/// where the processor halves vectors, the measured factor against vectors of half as many lanes.
double cycles_of_vector(const InstructionSet& set);
/// The narrowest instruction set, which every processor has.
InstructionSet baseline_instruction_set();

/// A register of `Set::lanes` floats; arithmetic works lane by lane.
template <typename Set>
struct VectorOf {
  using Type [[gnu::vector_size(Set::lanes * sizeof(float))]] = float;
  using MaskType [[gnu::vector_size(Set::lanes * sizeof(float))]] = std::int32_t;
};
template <typename Set>
using Vector = typename VectorOf<Set>::Type;
/// A mask for `mask ? a : b`, which takes a's lanes where all bits of the mask's lane are set, and b's where none are.
template <typename Set>
using Mask = typename VectorOf<Set>::MaskType;

// Vectors are passed by reference: how one is passed by value depends on the instruction set.
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
  // clang checks the operands of an asm against the file's instruction set, whatever function it is inlined into.
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

/// Stores past the caches, for data that nobody reads soon: memory is written without being read first. `to` begins at
/// a multiple of `sizeof from` bytes. Neighbouring vectors that are written one after the other fill a line of 64
/// bytes; a line left half full costs more than an ordinary store. Call `finish_streams` after the last one. It is an
/// ordinary store where the instruction set has no streaming stores, or where the compiler was asked not to optimise.
template <typename V>
[[gnu::always_inline]] inline void stream_vector(float* to, const V& from) {
#if defined(__x86_64__) && defined(__clang__)
  __builtin_nontemporal_store(from, reinterpret_cast<V*>(to));
#elif defined(__x86_64__) && defined(__OPTIMIZE__)
  // Builtins instead of the functions of immintrin.h: those cannot be called from a template that, before it is
  // inlined, is compiled for a lesser instruction set than they need.
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
/// Orders everything that this thread streamed before its later stores: another thread that learns from such a store
/// that the data is there finds it.
inline void finish_streams() {
#ifdef __x86_64__
  __builtin_ia32_sfence();
#endif
}

/// Prefetches the line of 64 bytes at `address`, which is stored to some hundred cycles later: a store to a line that
/// has to come from memory first would hold up the stores behind it. Any address is allowed: nothing is read or
/// written.
[[gnu::always_inline]] inline void prefetch_for_store(const float* address) { __builtin_prefetch(address, 1, 3); }

/// A mask with all bits of the lanes from `first` on, and none of the lanes before.
template <typename Set>
[[gnu::always_inline]] inline void set_lanes_from(Mask<Set>& to, int first) {
  std::int32_t lanes[Set::lanes];
  for (int lane = 0; lane < Set::lanes; ++lane) lanes[lane] = lane >= first ? -1 : 0;
  std::memcpy(&to, lanes, sizeof to);
}

namespace detail {

// `flatten` inlines everything that is called into a function that is compiled for the instruction set.
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

/// Calls Body::run<Set>(arguments...), compiled for the instruction set.
template <typename Body, typename... Arguments>
void run_with(InstructionSet::Kind set, const Arguments&... arguments) {
#ifdef __x86_64__
  if (set == InstructionSet::Kind::avx512) return detail::run_avx512<Body, Avx512, const Arguments&...>(arguments...);
  if (set == InstructionSet::Kind::avx2) return detail::run_avx2<Body, const Arguments&...>(arguments...);
#endif
  static_cast<void>(set);
  detail::run_baseline<Body, const Arguments&...>(arguments...);
}

/// Calls Body::run<Avx512Halves>(arguments...), compiled for AVX-512; the processor must have it.
template <typename Body, typename... Arguments>
void run_with_halves(const Arguments&... arguments) {
#ifdef __x86_64__
  detail::run_avx512<Body, Avx512Halves, const Arguments&...>(arguments...);
#else
  Body::template run<Avx512Halves>(arguments...);
#endif
}

/// Calls Body::run<Set>(arguments...), compiled for the instruction set, from code that is compiled for it too.
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

/// The smallest whole number that times `divisor` is at least `dividend`, which is not negative.
template <typename Dividend, typename Divisor>
constexpr std::common_type_t<Dividend, Divisor> rounded_up_quotient(Dividend dividend, Divisor divisor) {
  return (dividend + divisor - 1) / divisor;
}

/// Zeros of 32 bits each, which begin at a cache line, and lie in huge pages if they are many.
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

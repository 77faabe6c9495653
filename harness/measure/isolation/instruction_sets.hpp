// The instruction sets that the measured code was compiled for, and whether this processor has them: without them the
// first such instruction would end the program by a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace convladder {

/// ONE(as people write it, what the compiler defines where it may use it, as __builtin_cpu_supports calls it)
#define CONVLADDER_INSTRUCTION_SETS(ONE)                          \
  ONE("SSE4.2", __SSE4_2__, "sse4.2")                             \
  ONE("POPCNT", __POPCNT__, "popcnt")                             \
  ONE("AVX", __AVX__, "avx")                                      \
  ONE("AVX2", __AVX2__, "avx2")                                   \
  ONE("FMA", __FMA__, "fma")                                      \
  ONE("BMI", __BMI__, "bmi")                                      \
  ONE("BMI2", __BMI2__, "bmi2")                                   \
  ONE("FMA4", __FMA4__, "fma4")                                   \
  ONE("XOP", __XOP__, "xop")                                      \
  ONE("GFNI", __GFNI__, "gfni")                                   \
  ONE("AVX-512F", __AVX512F__, "avx512f")                         \
  ONE("AVX-512CD", __AVX512CD__, "avx512cd")                      \
  ONE("AVX-512VL", __AVX512VL__, "avx512vl")                      \
  ONE("AVX-512BW", __AVX512BW__, "avx512bw")                      \
  ONE("AVX-512DQ", __AVX512DQ__, "avx512dq")                      \
  ONE("AVX-512IFMA", __AVX512IFMA__, "avx512ifma")                \
  ONE("AVX-512VBMI", __AVX512VBMI__, "avx512vbmi")                \
  ONE("AVX-512VBMI2", __AVX512VBMI2__, "avx512vbmi2")             \
  ONE("AVX-512VNNI", __AVX512VNNI__, "avx512vnni")                \
  ONE("AVX-512BITALG", __AVX512BITALG__, "avx512bitalg")          \
  ONE("AVX-512VPOPCNTDQ", __AVX512VPOPCNTDQ__, "avx512vpopcntdq") \
  ONE("AVX-512BF16", __AVX512BF16__, "avx512bf16")

/// A bit for each instruction set of the list, in its order: those that the measured code may use. Defined in a file
/// that is compiled as that code is.
extern const std::uint32_t kCompiledInstructionSets;

/// The instruction sets of the list that this processor has and its system lets programs use.
std::uint32_t instruction_sets_here();

/// "AVX2, FMA": the names of these bits, as many as there is room for. Takes no memory of its own: it is called before
/// the libraries begin. Returns the number of characters.
std::size_t instruction_set_names(std::uint32_t sets, std::span<char> room);

}  // namespace convladder

// Vectors for the CPU stages: as many whole numbers as a register of the processor holds, and their scan.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#ifdef __AVX512F__
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

using Numbers = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));

/// Loads and stores numbers at any address. Vectors are passed by reference: how they are passed by value depends on
/// the processor.
inline void load(Numbers& numbers, const int32_t* from) { std::memcpy(&numbers, from, sizeof numbers); }
inline void store(int32_t* to, const Numbers& numbers) { std::memcpy(to, &numbers, sizeof numbers); }

/// Adds to each lane the one `kStep` lanes below it; the lowest lanes stay as they are.
template <int kStep, int... kIndices>
inline void add_lanes_below(Numbers& numbers, std::integer_sequence<int, kIndices...> /*lanes*/) {
  const Numbers zeros = {};
  numbers += __builtin_shufflevector(numbers, zeros, (kIndices >= kStep ? kIndices - kStep : kLanes)...);
}

/// Replaces each lane by the sum of the lanes up to it.
inline void scan_lanes(Numbers& numbers) {
  constexpr auto kIndices = std::make_integer_sequence<int, kLanes>{};
  add_lanes_below<1>(numbers, kIndices);
  add_lanes_below<2>(numbers, kIndices);
  add_lanes_below<4>(numbers, kIndices);
  if constexpr (kLanes > 8) add_lanes_below<8>(numbers, kIndices);
}

template <int... kIndices>
inline void spread_last(Numbers& numbers, std::integer_sequence<int, kIndices...> /*lanes*/) {
  numbers = __builtin_shufflevector(numbers, numbers, (kIndices * 0 + kLanes - 1)...);
}

/// Gives every lane the number of the last one.
inline void spread_last(Numbers& numbers) { spread_last(numbers, std::make_integer_sequence<int, kLanes>{}); }

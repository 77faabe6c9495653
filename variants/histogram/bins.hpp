// The bin of a key. The CPU stages share it.
#pragma once

#include <cstdint>

constexpr int kMostBins = 1024;

inline uint32_t bin_of(uint32_t key, int bins) { return key * static_cast<uint32_t>(bins) >> 16; }

// Where the numbers of a transform lie.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/stand_in/library_calls.hpp"

namespace convladder::stand_in::cufft {

enum class Kind { complex_to_complex, real_to_complex, complex_to_real };

/// Steps of an index through memory, in elements.
struct Steps {
  std::int64_t count = 1;
  std::int64_t distance = 1;
};

/// One side of a transform: a step for each dimension, the last one moving fastest, and one for the batch.
struct Layout {
  std::vector<Steps> dimensions;
  Steps batch;
  std::uint64_t element_bytes = 0;
};

/// A side as a program asks for it.
struct Embedding {
  std::vector<std::int64_t> sizes;  ///< the array that the data lies in; its first number means nothing
  std::int64_t stride = 1;
  std::int64_t distance = 1;
};

Layout embedded(const std::vector<std::int64_t>& sizes, const Embedding& embedding, std::int64_t batch,
                std::uint64_t element_bytes);
/// The usual layout: `row` numbers for each of the last dimension, of which `sizes` counts those in use.
Layout packed(const std::vector<std::int64_t>& sizes, std::int64_t row, std::int64_t batch,
              std::uint64_t element_bytes);

/// The memory of a side, as few uses of it as there can be.
std::vector<MemoryUse> uses_of(const char* name, const void* address, const Layout& layout, bool reads, bool writes);

}  // namespace convladder::stand_in::cufft

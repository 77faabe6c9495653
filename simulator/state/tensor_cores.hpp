// The ways of adding the products of mma and wgmma.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace convladder::simulated {

/// `rounding` adds one after the other, in ascending order of k, and rounds each sum to float32. The others do what
/// these GPUs do, as far as it is known: instructions/matrix/tensor_sum.hpp.
enum class TensorCores : std::uint8_t { rounding, a100, h100 };

inline constexpr const char* kTensorCoreNames[] = {"rounding", "a100", "h100"};

/// Finds a value by its name in `kTensorCoreNames`.
inline std::optional<TensorCores> find_tensor_cores(std::string_view name) {
  for (const TensorCores one : {TensorCores::rounding, TensorCores::a100, TensorCores::h100}) {
    if (name == kTensorCoreNames[static_cast<int>(one)]) return one;
  }
  return std::nullopt;
}

}  // namespace convladder::simulated

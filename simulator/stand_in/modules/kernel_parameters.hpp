// The places of a kernel's parameters when they are passed as one block of bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::stand_in {

struct KernelParameters {
  struct Place {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  std::vector<Place> places;
  std::size_t bytes = 0;  ///< up to the end of the last parameter

  /// Places parameters one after the other, each with its alignment.
  explicit KernelParameters(const ptx::Kernel& kernel) {
    for (const ptx::Symbol& parameter : kernel.parameters) {
      const auto alignment = static_cast<std::size_t>(parameter.alignment > 0 ? parameter.alignment : 1);
      const std::size_t offset = (bytes + alignment - 1) / alignment * alignment;
      places.push_back({offset, parameter.bytes});
      bytes = offset + parameter.bytes;
    }
  }
};

}  // namespace convladder::stand_in

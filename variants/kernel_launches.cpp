#include "variants/kernel_launches.hpp"

#include <fmt/format.h>

namespace convladder {

std::string grid_error(Dim3 grid) {
  if (grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz) return {};
  return fmt::format("a grid of {}x{}x{} blocks; a GPU allows at most {}x{}x{}", grid.x, grid.y, grid.z, max_grid_x,
                     max_grid_yz, max_grid_yz);
}

std::string shared_memory_error(std::string_view what, std::size_t bytes) {
  return fmt::format("{} need {} bytes of shared memory, but a block has {}", what, bytes, max_shared_bytes);
}

Dim3 element_grid(std::size_t elements) { return {static_cast<unsigned>((elements - 1) / kElementThreads + 1), 1, 1}; }

Dim3 item_grid(int items, std::size_t elements) {
  return {static_cast<unsigned>(items) * static_cast<unsigned>(blocks_per_item(elements)), 1, 1};
}

int blocks_per_item(std::size_t elements) { return ceil_div(static_cast<int>(elements), kElementThreads); }

}  // namespace convladder

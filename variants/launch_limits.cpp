#include "variants/launch_limits.hpp"

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

}  // namespace convladder

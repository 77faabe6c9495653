// A kernel launch as plain data, and no more: nvcc reads this with every kernel, several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace convladder {

/// The grid or block of a launch, in blocks or threads.
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  bool operator==(const Dim3&) const = default;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Contents of a variable of the kernel's module, such as a `__constant__` array, while a launch runs. All launches of
/// the module share the variable, so each launch that reads it says what is to be in it.
struct VariableContent {
  const void* variable = nullptr;  ///< host address of the variable
  const void* source = nullptr;    ///< device address
  std::size_t bytes = 0;           ///< counted from the variable's beginning
};

/// An axis of a grid.
enum class Axis { x, y, z };
inline unsigned& extent(Dim3& grid, Axis axis) { return axis == Axis::x ? grid.x : axis == Axis::y ? grid.y : grid.z; }
inline const unsigned& extent(const Dim3& grid, Axis axis) {
  return axis == Axis::x ? grid.x : axis == Axis::y ? grid.y : grid.z;
}

/// Which blocks of a launch work at which items of a batch: a block at place p of the axis works at the `per_block`
/// items from p * per_block on, and at no others.
struct ItemBlocks {
  Axis axis = Axis::x;
  unsigned per_block = 1;
};

/// One kernel launch as plain data: which kernel, how many blocks of how many threads, with which arguments.
struct KernelLaunch {
  const void* kernel = nullptr;                   ///< host address of the `__global__` function
  Dim3 grid;                                      ///< blocks
  Dim3 block;                                     ///< threads per block
  std::size_t dynamic_shared_bytes = 0;           ///< shared memory asked for at the launch, beyond the kernel's own
  std::vector<std::vector<std::byte>> arguments;  ///< one entry per parameter, its bytes exactly as declared
  std::vector<VariableContent> variables;         ///< copied before the kernel starts, in its stream
  std::optional<ItemBlocks> items;                ///< empty if nothing is known
  std::optional<Dim3> cluster = std::nullopt;     ///< blocks of a cluster; empty: what the kernel was compiled for
  bool cooperative = false;                       ///< all blocks are there at a time and may meet at grid barriers
};

/// Describes a launch of `kernel`; every argument is converted to its parameter's exact type first.
template <typename... Parameters>
KernelLaunch make_launch(void (*kernel)(Parameters...), Dim3 grid, Dim3 block, std::size_t dynamic_shared_bytes,
                         std::type_identity_t<Parameters>... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "kernel parameters are copied byte by byte");
  KernelLaunch launch{reinterpret_cast<const void*>(kernel), grid, block, dynamic_shared_bytes, {}, {}, {}};
  const auto append = [&launch](const auto& value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    launch.arguments.push_back(std::move(bytes));
  };
  (append(arguments), ...);
  return launch;
}

/// A copy of the launch that says that each block along `axis` works at `per_block` items.
inline KernelLaunch over_items(KernelLaunch launch, Axis axis = Axis::x, unsigned per_block = 1) {
  launch.items = ItemBlocks{axis, per_block};
  return launch;
}

}  // namespace convladder

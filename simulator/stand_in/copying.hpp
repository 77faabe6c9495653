// Copies and fills that both APIs ask for: boxes of bytes between any two places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {

/// Numbers as in cudaMemcpyKind.
enum class CopyKind { host_to_host = 0, host_to_device = 1, device_to_host = 2, device_to_device = 3, by_address = 4 };

/// The beginning of a box, and the bytes from one row and one slice to the next.
struct Rectangle {
  void* address = nullptr;
  std::size_t pitch = 0;
  std::size_t slice = 0;
};

/// Bytes of a row, rows, slices.
struct Size3 {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
};

/// Copies a box. Throws Failure for a direction that does not match the addresses, and for device memory that does not
/// hold the box.
void copy_rectangle(Machine& machine, const Rectangle& to, const Rectangle& from, const Size3& size, CopyKind kind,
                    int stream, bool host_waits);

/// Fills with the `unit` bytes at `value`; the width is a multiple of them. `host_waits`: for a fill of memory that the
/// host sees; with memory of the device it never does.
void fill_rectangle(Machine& machine, const Rectangle& to, const void* value, std::size_t unit, const Size3& size,
                    int stream, bool host_waits);

}  // namespace convladder::stand_in

// Where the values of registers come from and go to: the instructions of a kernel are followed in any order, so a use
// is one that may happen.
#pragma once

#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// Everything that may be done with a loaded value.
struct ValueUses {
  /// Stored by its own warp, and nothing else: no address and no other condition than that of a choice depends on it.
  bool is_only_stored = true;
  bool reaches_lanes = false;  ///< other lanes of the warp may store what was computed from it
  std::vector<int> stores;     ///< the instructions that store what was computed from it, in ascending order
};

/// The uses of what the instruction `load` brings. Anything but "ld" counts as used.
ValueUses uses_of_load(const ptx::Kernel& kernel, int load);

/// Whether anything of what the instruction `load` brings may decide which way the kernel takes, as the value of a flag
/// does that a loop waits for, or may be checked by a compare-and-swap.
bool decides_way(const ptx::Kernel& kernel, int load);

/// An element of a store that holds, unchanged, an element of a load.
struct CarriedElement {
  int store = 0;  ///< instruction
  int store_element = 0;
  int load_element = 0;
};

/// The stores that carry on what the instruction `load` brings; empty unless it is a load whose elements are all only
/// copied, in elements of the same size.
std::vector<CarriedElement> copies_of_load(const ptx::Kernel& kernel, int load);

/// Whether the instruction stores elements of `bits` bits (32 or 64) that were computed as floating point numbers.
bool stores_floats(const ptx::Kernel& kernel, int store, int bits);

}  // namespace convladder::simulated

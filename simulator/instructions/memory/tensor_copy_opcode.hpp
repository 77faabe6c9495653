// The words of copies by tensor map (PTX ISA 9.0, 9.7.9.25.5).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "simulator/instructions/memory/tensor_box.hpp"

namespace convladder::simulated {

enum class CopyDirection { load, store, prefetch };

/// The meaning of "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint".
/// It is kept in Operation::detail.
struct TensorOpcode {
  CopyDirection direction = CopyDirection::load;
  BoxAccess access = BoxAccess::tile;
  std::size_t dimensions = 1;
  int reduction = 0;  ///< in kTensorReductions, from 1 on; 0 for a copy
  bool has_offsets = false;
  bool is_multicast = false;
  bool has_policy = false;

  int packed() const { return static_cast<int>(dimensions) | static_cast<int>(access) << 4 | reduction << 8; }
  static TensorOpcode of(int packed) {
    TensorOpcode opcode;
    opcode.dimensions = static_cast<std::size_t>(packed & 15);
    opcode.access = static_cast<BoxAccess>(packed >> 4 & 15);
    opcode.reduction = packed >> 8;
    return opcode;
  }
  std::size_t coordinates() const { return access == BoxAccess::rows ? 5 : dimensions; }
  std::size_t offsets() const { return has_offsets ? dimensions - 2 : 0; }
};

inline constexpr std::string_view kTensorReductions[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

/// Parses the opcode of a copy by tensor map; none for another opcode, or one that PTX does not have.
std::optional<TensorOpcode> parse_tensor_copy(std::string_view opcode);

}  // namespace convladder::simulated

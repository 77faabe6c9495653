// Loops that count: what their counter is, and how far it goes in a trip.
#pragma once

#include <optional>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

/// A branch back that is taken while a counter has not reached a bound.
struct CountedLoop {
  int comparison = -1;          ///< the instruction that compares the counter with its bound
  std::size_t counter = 0;      ///< which operand of it is the counter
  ptx::Operand step;            ///< what a trip adds to the counter: a number, or a register that the loop leaves alone
  bool goes_on_if_true = true;  ///< whether the branch is taken where the comparison holds
};

/// The loop whose branch back is this instruction; none if it is no such branch, or its counter is not understood.
std::optional<CountedLoop> counted_loop(const ptx::Kernel& body, int branch);

}  // namespace convladder::simulated

// The set of checkers that observe a launch.
#pragma once

#include "simulator/state/finding.hpp"

namespace convladder::simulated {

struct CheckerSet {
  bool memory = false;
  bool initialization = false;
  bool race = false;
  bool synchronization = false;

  static CheckerSet all() { return {true, true, true, true}; }
  bool any() const { return memory || initialization || race || synchronization; }
  bool has(Checker checker) const {
    switch (checker) {
      case Checker::memory:
        return memory;
      case Checker::initialization:
        return initialization;
      case Checker::race:
        return race;
      case Checker::synchronization:
        break;
    }
    return synchronization;
  }
};

}  // namespace convladder::simulated

// One side of a case in a duel, whatever it is: something that has been verified and measures slots when asked.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/judge/duel/duel_round.hpp"

namespace convladder {

/// The failure of a side: it is wrong, crashed, … The message names the side and the failure.
struct SideFailure : std::runtime_error {
  explicit SideFailure(const std::string& reason, bool machine = false)
      : std::runtime_error(reason), is_the_machines(machine) {}
  bool is_the_machines = false;  ///< it was too busy to tell
};

enum class Role { base, now };
/// "base" or "new", as messages name a side.
constexpr const char* role_name(Role role) { return role == Role::base ? "base" : "new"; }

/// A figure that a slot gives. All are above 0.
struct DuelMetric {
  std::string name;         ///< "layer time", "wall time"
  std::string unit = "ns";  ///< empty for a number whose unit is not known
  bool higher_is_better = false;

  bool is_time() const { return unit == "ns"; }
};

/// A value as people read it: "1.23 ms", "4711".
std::string metric_text(const DuelMetric& metric, double value);

struct SlotValues {
  std::vector<double> values;     ///< one for each metric
  std::vector<double> clock_mhz;  ///< a GPU's clock while each was measured; empty where it is not known
};

class DuelSide {
 public:
  DuelSide() = default;
  DuelSide(const DuelSide&) = delete;
  DuelSide& operator=(const DuelSide&) = delete;
  virtual ~DuelSide() = default;

  /// Measures a slot. Throws SideFailure.
  virtual SlotValues slot() = 0;
  /// Verifies, after its last slot, what the side computed. Throws SideFailure.
  virtual void verify_after() = 0;
};

/// Measures four slots in the order of the coin. Returns a round for each metric.
std::vector<DuelRound> measure_round(DuelSide& base, DuelSide& now, bool base_outside);

}  // namespace convladder

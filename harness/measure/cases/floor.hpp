// A layer's floor: the time below which no variant gets on this device, from its ceilings as measured.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/machine/device_ceilings.hpp"
#include "harness/measure/statistics/ratio.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

struct Floor {
  double operations_ns = 0;
  std::optional<double> bytes_ns;  ///< none where all of it fits into the last-level cache
  double flop = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double peak = 0;         ///< the device's FMA peak, from which the floor follows: operations in a nanosecond
  double copy = 0;         ///< the device's copy rate, from which the floor follows: bytes in a nanosecond
  KnownFigure known = {};  ///< `value()`, with the interval that follows from those of the limits' medians

  bool bytes_bind() const { return bytes_ns && *bytes_ns > operations_ns; }
  double value() const { return bytes_bind() ? *bytes_ns : operations_ns; }
};

/// A case under the roofline that the ceilings of its own run make. Nothing is counted: operations and bytes are those
/// that a direct convolution cannot do without, as in the floor.
struct CaseRoofline {
  double flop = 0;
  double bytes = 0;             ///< input and weights read once, output written once
  double gflop_per_s = 0;       ///< of the layer time
  double gb_per_s = 0;          ///< of the layer time
  double roof_gflop_per_s = 0;  ///< the smaller of FMA peak and what a copy's rate allows
  bool bytes_bind = false;      ///< whether the copy's rate is the smaller one

  double intensity() const { return flop / bytes; }
};

/// The case's roofline; none where there is nothing to move or to compute, or no time (nanoseconds).
std::optional<CaseRoofline> case_roofline_of(const std::optional<Floor>& floor, const std::optional<double>& layer_ns);

/// The work that no implementation of the definition gets below.
struct LeastWork {
  double flop = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  bool operator==(const LeastWork&) const = default;
};
LeastWork least_work_of(const ProblemSize& shape);

/// The floor of a layer with its batch, from the run's ceilings; none where the device has none.
///   operations = `LeastWork::flop` / FMA peak; for a convolution, the taps that are on the image
///   bytes      = output written once at the rate of streaming stores, input and weights read once at the rate that a
///                copy has left for reading: copying a byte takes 2 / copy, of which 1 / store is for writing it. Null
///                where all of it fits into the last-level cache, from which the memory's rate is no bound.
/// The floor is the larger of the two, which is the `bound`. It does not hold for Winograd and FFT, which multiply less
/// often.
std::optional<Floor> floor_of(const LeastWork& work, const std::string& device, const Ceilings& ceilings);

}  // namespace convladder

// Whether an output is right: against float64, NaN-proof, every element written.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "devices/device.hpp"
#include "harness/workload.hpp"

namespace convladder {

/// What a comparison found. `passed` only if nothing is wrong at all.
struct Check {
  bool passed = false;
  double max_scaled_error = 0;  ///< largest |error| / sum(|x * w|); NaN where a compared element is not a number
  std::int64_t unwritten = 0;   ///< elements of the whole output that still hold the poison
  std::int64_t not_finite = 0;  ///< compared elements that are NaN or infinite
  std::int64_t compared = 0;    ///< elements
  std::string first_failure;    ///< one line; empty if passed

  nlohmann::ordered_json to_json() const;
};

/// Fills `floats` of device memory with a NaN of a pattern that no arithmetic produces.
void poison(Device& device, float* address, std::size_t floats);
/// How many of them still hold it.
std::int64_t count_poison(Device& device, const float* address, std::size_t floats);

/// The same for an output; at most `floats` of it, for outputs of which only a part is computed.
void poison(Device& device, const DeviceBuffer& output, std::size_t floats = std::numeric_limits<std::size_t>::max());

/// Holds the output against the problem's reference: |error| <= tolerance * sum(|x * w|) for every element of the
/// compared images, and no poison left anywhere in the problem's batch, which may be the first images of a larger one.
/// A tolerance of 0 asks for the very bits.
Check check_output(Device& device, const DeviceBuffer& output, const Problem& problem, double tolerance);

}  // namespace convladder

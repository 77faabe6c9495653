// The limits of devices as a run measured them, for everything that is judged by them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// One limit of a device, as the record names it.
struct CeilingLimit {
  std::string_view name;
  std::string_view unit;
};
inline constexpr CeilingLimit kMultiplyAddLimit{"FMA peak", "GFLOP/s"};
inline constexpr CeilingLimit kStoreLimit{"streaming store", "GB/s"};
inline constexpr CeilingLimit kCopyLimit{"copy", "GB/s"};
inline constexpr std::array kCeilingLimits{kMultiplyAddLimit, kStoreLimit, kCopyLimit};

/// A limit's samples, in its unit.
struct SampledLimit {
  CeilingLimit limit;
  std::vector<double> samples = {};  ///< at least one
};

/// The limits of one device.
struct DeviceCeilings {
  std::string device;
  std::string choice = {};  ///< of the kernels that were timed; empty if the device failed before it had any
  std::size_t last_level_cache_bytes = 0;
  std::size_t buffer_bytes = 0;
  std::string failure = {};                 ///< why there are no more samples; empty if it did not fail
  std::vector<SampledLimit> limits = {};    ///< those that were sampled, each once
  std::optional<int> kind_of_machine = {};  ///< in a record that was merged of several kinds of machines

  /// The samples of a limit; none if it was not sampled.
  const std::vector<double>* samples(const CeilingLimit& limit) const;
};

/// One entry for each device that was sampled, or failed.
using Ceilings = std::vector<DeviceCeilings>;

/// The ceilings of that device; null if there are none.
const DeviceCeilings* find_ceilings_of(const Ceilings& ceilings, std::string_view device);

}  // namespace convladder

// The ceilings of the devices that a run measures on: sampled between its cases, in a process of their own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/measure/isolation/helper_messages.hpp"
#include "harness/measure/machine/device_ceilings.hpp"
#include "harness/measure/plan/options.hpp"

namespace convladder {

/// Bytes of the device's last-level cache; 0 where it does not say.
std::size_t last_level_cache_bytes(const DeviceKind& kind);

/// Opens the device and samples its ceilings.
std::unique_ptr<Client<CeilingsMessages>> start_ceilings_here(const std::string& device);

/// Samples of the limits of some devices, spread over a run and short: about a second in all for each device. A device
/// that fails has a reason instead, and the run goes on.
class CeilingSampler {
 public:
  /// `groups` is how many groups of cases each device will measure; a device without a clock, or whose family has no
  /// kernels for it, has no ceilings. `recorded` is the ceilings that a session before this one left.
  CeilingSampler(const RunOptions& options, const std::map<std::string, int>& groups, const Ceilings& recorded = {});
  ~CeilingSampler();
  CeilingSampler(const CeilingSampler&) = delete;
  CeilingSampler& operator=(const CeilingSampler&) = delete;

  /// Takes a sample before the first case of a group on that device, always.
  void before_group(const std::string& device);
  /// Between two rounds of the group's cases: a sample after the first round, the fourth, the sixteenth and so on, as
  /// long as the group has not used up its share of the time.
  void between_rounds(const std::string& device);
  /// One sample more, now. False if the device has none.
  bool again(const std::string& device);
  /// After the last case of all: a sample of every device that has some. Ends their processes.
  void finish();

  /// All samples so far, those of earlier sessions included.
  Ceilings measured() const;
  /// For people, a line for each device that was sampled now: "cpu: FMA peak 530 GFLOP/s, …".
  std::vector<std::string> lines() const;

 private:
  struct OfDevice;
  OfDevice* find(const std::string& device) const;
  void sample(OfDevice& one) const;

  RunOptions options_;
  std::vector<std::unique_ptr<OfDevice>> devices_;
};

/// The ceilings of several machines of a kind as one: all their samples together.
Ceilings pooled_ceilings(const std::vector<Ceilings>& of_machines);

}  // namespace convladder

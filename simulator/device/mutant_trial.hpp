// One launch of a mutant, compared with the same launch of its kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulator/device/launch_memory.hpp"
#include "simulator/device/mutants.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/mutations/value_types.hpp"

namespace convladder::simulated {

class MutantTrial {
 public:
  /// To be made before the launch. `written`: the beginnings of the allocations that it may write. `stored`: the type
  /// of the floats that the kernel writes there; none if it writes others, too.
  MutantTrial(const Program& program, const Program& mutant, DeviceMemory& memory, LaunchConfiguration configuration,
              const std::vector<std::uint64_t>& written, std::optional<ValueType> stored);

  /// Runs the kernel, and then the mutant by `run`, which may throw. Memory is afterwards as the mutant leaves it: in
  /// the usual order, or in the first of `orders` others in which its results are not those of the kernel. Notes what
  /// it has changed in `outcome`.
  LaunchResult compare(const std::function<LaunchResult()>& run, std::uint64_t orders, MutantOutcome& outcome);

 private:
  LaunchResult run_aside(const Program& program, bool looks_for_races) const;
  void try_orders(std::uint64_t orders, const LaunchResult& usual, MutantOutcome& outcome);
  void look_for_findings(MutantOutcome& outcome);

  const Program& program_;
  const Program& mutant_;
  DeviceMemory& memory_;
  LaunchConfiguration configuration_;
  LaunchMemory kept_;
  std::optional<ValueType> stored_;
};

}  // namespace convladder::simulated

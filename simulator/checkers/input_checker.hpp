// Finds writes into allocations that a kernel is only to read. Hardware allows such writes, so they are carried out.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/state/access_observer.hpp"
#include "simulator/state/finding_log.hpp"

namespace convladder::simulated {

/// Addresses from `begin` to before `end`.
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Reports its findings as memcheck's.
class InputChecker final : public AccessObserver {
 public:
  InputChecker(const std::vector<AddressRange>& inputs, FindingLog& findings) : inputs_(inputs), findings_(findings) {}

  void access(const WarpAccess& access) override;
  void copy_lands(const WarpAccess& destination) override { access(destination); }

 private:
  const std::vector<AddressRange>& inputs_;
  FindingLog& findings_;
};

}  // namespace convladder::simulated

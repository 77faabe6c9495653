#include "harness/measure/plan/device_argument.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {

const DeviceKind& find_device_kind(std::string_view name) {
  static const std::vector<DeviceKind> kinds = device_kinds();
  return find_known("device", name, kinds, &DeviceKind::name);
}

std::vector<DeviceKind> chosen_devices(const std::vector<std::string>& names, DefaultDevices otherwise) {
  for (const std::string& name : names) static_cast<void>(find_device_kind(name));
  std::vector<DeviceKind> chosen;
  std::set<std::string_view> seen;    // families
  std::set<std::string_view> served;  // families with a device that is there
  for (const DeviceKind& kind : device_kinds()) {
    if (!names.empty()) {
      if (std::ranges::find(names, kind.name) != names.end()) chosen.push_back(kind);
      continue;
    }
    const bool available = kind.unavailable().empty();
    const bool wanted = otherwise == DefaultDevices::timed
                            ? kind.has_clock && available
                            : !served.contains(kind.family) && (available || !seen.contains(kind.family));
    if (!wanted) continue;
    chosen.push_back(kind);
    seen.insert(kind.family);
    if (available) served.insert(kind.family);
  }
  return chosen;
}

}  // namespace convladder

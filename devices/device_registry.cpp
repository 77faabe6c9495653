#include "devices/device_registry.hpp"

#include <algorithm>

namespace convladder {
namespace {

// A function-local static: registrars run before main in no particular order of files.
std::vector<DeviceKind>& registered_kinds() {
  static std::vector<DeviceKind> kinds;
  return kinds;
}

}  // namespace

std::vector<DeviceKind> device_kinds() {
  std::vector<DeviceKind> kinds = registered_kinds();
  std::ranges::sort(kinds, {}, &DeviceKind::order);
  return kinds;
}

DeviceRegistration::DeviceRegistration(const DeviceKind& kind) { registered_kinds().push_back(kind); }

}  // namespace convladder

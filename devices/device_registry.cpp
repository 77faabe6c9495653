#include "devices/device_registry.hpp"

#include "support/registry.hpp"

namespace convladder {
namespace {

Registry<DeviceKind>& registered_kinds() {
  static Registry<DeviceKind> kinds(
      {.before = [](const DeviceKind& a, const DeviceKind& b) { return a.order < b.order; },
       .identity = [](const DeviceKind& one) { return fmt::format("device '{}'", one.name); }});
  return kinds;
}

}  // namespace

const std::vector<DeviceKind>& device_kinds() { return registered_kinds().all(); }

DeviceRegistration::DeviceRegistration(const DeviceKind& kind) { registered_kinds().add(kind); }

}  // namespace convladder

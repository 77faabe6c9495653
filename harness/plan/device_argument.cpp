#include "harness/plan/device_argument.hpp"

#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {

const DeviceKind& find_device_kind(std::string_view name) {
  static const std::vector<DeviceKind> kinds = device_kinds();
  std::vector<std::string> known;
  for (const DeviceKind& kind : kinds) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw UserError(unknown_name_message("device", name, known));
}

}  // namespace convladder

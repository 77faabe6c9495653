// A kind of device as typed on the command line or named by another process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/device_registry.hpp"

namespace convladder {

/// The device kind of that name. Throws UserError with the known ones, nearest first.
const DeviceKind& find_device_kind(std::string_view name);

/// The devices that are taken where none is named.
enum class DefaultDevices {
  timed,            ///< the devices that have a clock and are there
  of_every_family,  ///< the first of each family, whose cases say why they are skipped if it is not there, and then
                    ///< the first that is there beside it
};

/// The kinds of these names, or the default, in the order of the registry. Throws UserError for an unknown name, as
/// `find_device_kind`.
std::vector<DeviceKind> chosen_devices(const std::vector<std::string>& names, DefaultDevices otherwise);

}  // namespace convladder

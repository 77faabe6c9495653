// The kinds of device this build has. Each registers itself from its own folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// One thing to know about a device, for `convladder list --machine` and the record: ("multiprocessors", "132").
struct DeviceFact {
  std::string name;
  std::string value;
};

/// The resources of a device that are shared by the processes that use it at a time.
struct DeviceCapacity {
  double memory_bytes = 0;          ///< the whole memory
  double free_bytes = 0;            ///< free memory now; all of it where nobody says what others have
  double bytes_per_process = 0;     ///< memory that a process takes before it has allocated anything
  bool one_process = false;         ///< a second process cannot use it meanwhile
  std::size_t other_processes = 0;  ///< processes that use it now, as far as that is known
};

/// How long a step may take on a device that is not the host.
struct DeviceSpeed {
  double flop_per_second = 0;  ///< peak of fused multiply-adds in float32, each as two
  double start_seconds = 0;    ///< until the first kernel runs, at worst
};

/// A kind of device: its name, whose variants it runs, and how to open it.
struct DeviceKind {
  std::string_view name;    ///< "cpu", "cuda", "simulated"
  std::string_view family;  ///< the variants it runs: "cpu" or "cuda"
  int order = 0;            ///< place in lists
  /// Why no device can be opened, worded to follow "skipped: "; empty if one can.
  std::string (*unavailable)() = nullptr;
  std::unique_ptr<Device> (*open)() = nullptr;
  /// The device's name and figures; empty where none is there. The first fact is ("name", …).
  std::vector<DeviceFact> (*facts)() = nullptr;
  bool has_clock = true;  ///< false for devices that count and do not time
  /// Whether that clock is virtual here: its times are predictions, and no clock of the host agrees with them. nullptr:
  /// never.
  bool (*has_virtual_clock)() = nullptr;
  /// Whether the device is simulated here, whatever its clock: new work takes the host longer than it takes the device.
  /// nullptr: never.
  bool (*is_simulated)() = nullptr;

  /// How its memory is shared; nullptr where it has the host's memory.
  DeviceCapacity (*capacity)() = nullptr;
  /// How long a step may take; nullptr for the host itself, and for devices that the host executes.
  DeviceSpeed (*speed)() = nullptr;
  /// A caveat about times of the device, in one line; empty for none. nullptr: there never is one.
  std::string (*warning)() = nullptr;

  /// The caveat about its times; empty if there is none.
  std::string what_to_know() const { return warning == nullptr ? std::string() : warning(); }
  bool clock_is_virtual() const { return has_virtual_clock != nullptr && has_virtual_clock(); }
  bool simulates() const { return is_simulated != nullptr && is_simulated(); }
};

/// All kinds in this build, by `order`.
const std::vector<DeviceKind>& device_kinds();

/// A static object of this type in a device's source file adds its kind.
struct DeviceRegistration {
  explicit DeviceRegistration(const DeviceKind& kind);
};

}  // namespace convladder

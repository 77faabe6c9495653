#include "harness/measure/isolation/ending.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "devices/device_error.hpp"
#include "support/errors.hpp"

namespace convladder {

Ending ending_of(const std::exception& error) {
  if (const auto* const ended = dynamic_cast<const EndedProcess*>(&error)) return ended->ending;
  if (dynamic_cast<const MachineFault*>(&error) != nullptr) throw MachineFault(error.what());
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  if (of_system != nullptr && of_system->code() == std::errc::resource_unavailable_try_again) {
    throw MachineFault(fmt::format("no thread can be started: {}", system_error_text(EAGAIN)));
  }
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  const bool no_device_memory = dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr;
  const std::string reason = no_memory ? "out of memory" : error.what();
  if ((no_memory || no_device_memory) && memory_is_limited()) {
    throw MachineFault(no_memory ? out_of_memory_text() : fmt::format("{}: {}", out_of_memory_text(), reason));
  }
  if (dynamic_cast<const NothingForSize*>(&error) != nullptr) return {Status::unsupported, reason};
  if (no_memory || dynamic_cast<const DeviceError*>(&error) != nullptr) {
    return {Status::launch_failed, reason, no_device_memory};
  }
  return {Status::crashed, fmt::format("exception: {}", reason)};
}

}  // namespace convladder

// Errors on a device, as separate types so that a case gets the right status.
#pragma once

#include <stdexcept>

namespace convladder {

/// A launch, a copy or a wait failed on the device. The case's status is `launch failed`.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A library, asked on the device, has nothing for this size. The case's status is `unsupported`.
struct NothingForSize : DeviceError {
  using DeviceError::DeviceError;
};

/// The device has not enough memory. The message says how much was asked for and how much is free.
struct OutOfDeviceMemory : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace convladder

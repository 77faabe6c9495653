// A problem's constants on the device, for as long as a variant is prepared.
#pragma once

#include <vector>

#include "variants/variant.hpp"

namespace convladder {

class DeviceConstants {
 public:
  /// Copies those of `tensors`, which are on the host. Throws DeviceError.
  DeviceConstants(Device& device, const ProblemTensors& tensors) : tensors_(tensors) {
    for (PlacedTensor& one : tensors_.constants) {
      const DeviceBuffer& buffer = buffers_.emplace_back(device.allocate(one.tensor.bytes(), one.tensor.name));
      device.copy_to_device(buffer.address(), one.address, buffer.bytes());
      one.address = buffer.address();
    }
  }
  /// The same tensors, with the constants on the device.
  const ProblemTensors& tensors() const { return tensors_; }

 private:
  std::vector<DeviceBuffer> buffers_;
  ProblemTensors tensors_;
};

}  // namespace convladder

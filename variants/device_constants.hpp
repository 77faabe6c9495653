// A problem's constants on the device, for as long as a variant is prepared.
#pragma once

#include <vector>

#include "variants/variant.hpp"

namespace convladder {

class DeviceConstants {
 public:
  /// Copies the constants of `tensors` from the host to the device; `packed` replaces the first one, unless it is
  /// empty. Throws DeviceError.
  DeviceConstants(Device& device, const ProblemTensors& tensors, const std::vector<float>& packed = {})
      : tensors_(tensors) {
    for (PlacedTensor& one : tensors_.constants) {
      const bool is_packed = buffers_.empty() && !packed.empty();
      const std::size_t bytes = is_packed ? packed.size() * sizeof(float) : one.tensor.bytes();
      const DeviceBuffer& buffer = buffers_.emplace_back(device.allocate(bytes, one.tensor.name));
      device.copy_to_device(buffer.address(), is_packed ? packed.data() : one.address, bytes);
      one.address = buffer.address();
    }
  }
  /// The tensors of the constructor, with the addresses of the constants on the device.
  const ProblemTensors& tensors() const { return tensors_; }

 private:
  std::vector<DeviceBuffer> buffers_;
  ProblemTensors tensors_;
};

}  // namespace convladder

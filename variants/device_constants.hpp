// A problem's constants on the device, for as long as a variant is prepared.
#pragma once

#include <span>
#include <vector>

#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

class DeviceConstants {
 public:
  /// Copies those of `tensors`, which are on the host. Throws DeviceError.
  DeviceConstants(Device& device, const ProblemSize& size, const ProblemTensors& tensors) {
    const std::vector<ProblemTensor> described = size.problem->constants(size);
    for (std::size_t i = 0; i < described.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(described[i].elements) * sizeof(float);
      const DeviceBuffer& buffer = buffers_.emplace_back(device.allocate(bytes, described[i].name));
      device.copy_to_device(buffer.address(), tensors.constants[i], bytes);
      addresses_.push_back(buffer.floats());
    }
  }
  /// In the problem's order.
  std::span<const float* const> addresses() const { return addresses_; }

 private:
  std::vector<DeviceBuffer> buffers_;
  std::vector<const float*> addresses_;
};

}  // namespace convladder

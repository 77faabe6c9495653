// The buffers, textures and surfaces of a launch on its device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/simulation/simulation_inputs.hpp"
#include "harness/measure/simulation/simulation_report.hpp"
#include "simulator/device/simulated_device.hpp"

namespace convladder {

class PlacedBuffers {
 public:
  /// Allocates and fills the buffers, and binds textures and surfaces to the references of the module. Throws UserError
  /// for textures and surfaces that CUDA would refuse.
  PlacedBuffers(simulated::SimulatedDevice& device, const ptx::Module& module, const SimulationInputs& inputs);

  /// The value of an argument or a variable, with addresses and handles filled in.
  std::vector<std::byte> value_of(const KernelArgument& argument) const;
  /// The contents of the buffers, as the kernel left them.
  std::vector<BufferContent> contents() const;
  void free() { placed_.clear(); }

 private:
  struct Placed {
    const KernelArgument* argument = nullptr;
    DeviceBuffer buffer;
    simulated::TextureDescription texture{};  ///< if the argument is a texture or a surface
    std::uint64_t handle = 0;
  };
  void place(const KernelArgument& argument);
  void place_texels(const KernelArgument& argument);
  void bind(const ptx::Module& module, const KernelArgument& reference);
  const Placed& find(const std::string& name) const;
  /// The number that a kernel gets for a buffer, texture or surface: the address, or the handle.
  std::uint64_t number_of(const std::string& name) const;

  simulated::SimulatedDevice& device_;
  std::vector<Placed> placed_;
};

}  // namespace convladder

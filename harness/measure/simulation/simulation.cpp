#include "harness/measure/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

std::vector<std::byte> bytes_of(std::uint64_t number) {
  std::vector<std::byte> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Calls copy(where a row of texels begins in the device's buffer, where in the argument's bytes, bytes of a row).
template <typename Copy>
void for_each_row(const DeviceBuffer& buffer, const simulated::TexelResource& resource, const Copy& copy) {
  const std::uint64_t row = resource.width * static_cast<std::uint64_t>(resource.format.bytes());
  for (std::uint64_t i = 0; i < resource.height * resource.depth; ++i) {
    copy(static_cast<std::byte*>(buffer.address()) + i * resource.row_pitch, i * row, row);
  }
}

/// The buffers, textures and surfaces of a launch on its device.
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

PlacedBuffers::PlacedBuffers(simulated::SimulatedDevice& device, const ptx::Module& module,
                             const SimulationInputs& inputs)
    : device_(device) {
  for (const auto* const list : {&inputs.arguments, &inputs.buffers, &inputs.references}) {
    for (const KernelArgument& argument : *list) {
      if (argument.is_buffer()) argument.texture ? place_texels(argument) : place(argument);
    }
  }
  for (const KernelArgument& reference : inputs.references) bind(module, reference);
}

void PlacedBuffers::place(const KernelArgument& argument) {
  placed_.push_back({&argument, device_.allocate(argument.buffer_bytes(), argument.name)});
  const DeviceBuffer& buffer = placed_.back().buffer;
  device_.copy_to_device(buffer.address(), argument.bytes.data(), argument.bytes.size());
  if (argument.kind == ArgumentKind::input) device_.only_read(buffer);
}

void PlacedBuffers::place_texels(const KernelArgument& argument) {
  simulated::TextureDescription texture = argument.texture->description;
  placed_.push_back({&argument, device_.allocate(simulated::resource_bytes(texture.resource), argument.name)});
  Placed& placed = placed_.back();
  texture.resource.address = reinterpret_cast<std::uint64_t>(placed.buffer.address());
  if (!argument.bytes.empty()) {
    for_each_row(placed.buffer, texture.resource, [&](std::byte* at, std::uint64_t from, std::uint64_t bytes) {
      device_.copy_to_device(at, argument.bytes.data() + from, bytes);
    });
  }
  if (argument.kind == ArgumentKind::input) device_.only_read(placed.buffer);
  try {
    placed.handle = argument.texture->is_surface ? device_.textures().create_surface(texture.resource)
                                                 : device_.textures().create_texture(texture);
  } catch (const DeviceError& error) {
    throw UserError(fmt::format("{}: {}", argument.texture->what, error.what()));
  }
  placed.texture = texture;
}

void PlacedBuffers::bind(const ptx::Module& module, const KernelArgument& reference) {
  const Placed& placed = find(reference.name);
  const ptx::Symbol& symbol = find_reference(module, reference);
  const auto address = reinterpret_cast<std::uint64_t>(device_.variable(module, symbol));
  if (reference.texture->is_surface) {
    device_.textures().bind_surface(address, placed.texture.resource);
  } else {
    device_.textures().bind_texture(address, placed.texture);
  }
}

const PlacedBuffers::Placed& PlacedBuffers::find(const std::string& name) const {
  return *std::ranges::find_if(placed_, [&name](const Placed& placed) { return placed.argument->name == name; });
}

std::uint64_t PlacedBuffers::number_of(const std::string& name) const {
  const Placed& placed = find(name);
  return placed.argument->texture ? placed.handle : reinterpret_cast<std::uint64_t>(placed.buffer.address());
}

std::vector<std::byte> PlacedBuffers::value_of(const KernelArgument& argument) const {
  if (argument.is_buffer()) return bytes_of(number_of(argument.name));
  std::vector<std::byte> value = argument.bytes;
  for (const BufferAddress& address : argument.addresses) {
    const std::vector<std::byte> number = bytes_of(number_of(address.buffer) + address.offset);
    std::memcpy(value.data() + address.at, number.data(), number.size());
  }
  return value;
}

std::vector<BufferContent> PlacedBuffers::contents() const {
  std::vector<BufferContent> contents;
  for (const Placed& placed : placed_) {
    const KernelArgument& argument = *placed.argument;
    BufferContent content{argument.name, argument.kind != ArgumentKind::input, *argument.type, argument.shape,
                          std::vector<std::byte>(argument.buffer_bytes())};
    if (argument.texture) {
      for_each_row(placed.buffer, placed.texture.resource, [&](std::byte* at, std::uint64_t to, std::uint64_t bytes) {
        device_.copy_to_host(content.bytes.data() + to, at, bytes);
      });
    } else {
      device_.copy_to_host(content.bytes.data(), placed.buffer.address(), content.bytes.size());
    }
    contents.push_back(std::move(content));
  }
  return contents;
}

BufferContent read_variable(simulated::SimulatedDevice& device, const ptx::Module& module, const ReadContent& wanted,
                            const SimulationInputs& inputs) {
  BufferContent content{wanted.name, true, wanted.type.value_or(ElementType::u8), variable_shape(wanted, inputs), {}};
  content.bytes.resize(wanted.variable->bytes);
  device.copy_to_host(content.bytes.data(), device.variable(module, *wanted.variable), content.bytes.size());
  return content;
}

}  // namespace

SimulationReport run_simulation(const ptx::Module& module, const ptx::Kernel& kernel, KernelLaunch launch,
                                const SimulationInputs& inputs, const std::vector<ReadContent>& variables,
                                const simulated::SimulatedDeviceOptions& options, bool is_counted) {
  simulated::SimulatedDevice device(options);
  device.set_counting(is_counted);
  SimulationReport report{.kernel = kernel.name,
                          .display_name = display_name(kernel.name),
                          .grid = launch.grid,
                          .block = launch.block,
                          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                          .buffers = {},
                          .is_counted = is_counted,
                          .counters = {},
                          .findings = {},
                          .fault = {},
                          .stopped = {},
                          .expectations = {}};
  launch.kernel = device.load(module, kernel);
  PlacedBuffers buffers(device, module, inputs);
  for (const KernelArgument& argument : inputs.arguments) launch.arguments.push_back(buffers.value_of(argument));
  for (const auto& [name, value] : inputs.variables) {
    const std::vector<std::byte> bytes = buffers.value_of(value);
    const auto symbol = std::ranges::find(module.symbols, name, &ptx::Symbol::name);
    device.copy_to_device(device.variable(module, *symbol), bytes.data(), bytes.size());
  }
  try {
    device.launch(launch);
  } catch (const simulated::LaunchEndedEarly& stopped) {
    report.stopped = stopped.what();
  } catch (const DeviceError& error) {
    report.fault = error.what();
  }
  report.counters = device.take_counters();
  for (const auto& [name, figures] : device.take_instructions()) {
    report.lines.push_back(kernel_lines(display_name(name), figures, *find_gpu(options.gpu->name), module.file));
  }
  report.printed = device.take_printed();
  report.findings = device.take_findings();
  for (const auto& [name, tried] : device.take_orders_tried()) report.orders += tried;
  report.buffers = buffers.contents();
  for (const ReadContent& wanted : variables) {
    report.buffers.push_back(read_variable(device, module, wanted, inputs));
  }
  buffers.free();  // memory that is left after this is the kernel's own
  if (options.checkers.memory && report.stopped.empty()) {
    for (simulated::Finding& leak : device.leaks()) report.findings.push_back(std::move(leak));
  }
  return report;
}

}  // namespace convladder

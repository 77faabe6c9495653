#include "harness/simulation/simulation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"

namespace convladder {
namespace {

std::uint64_t address_number(const DeviceBuffer& buffer) { return reinterpret_cast<std::uint64_t>(buffer.address()); }

/// The buffers of a launch on its device.
class PlacedBuffers {
 public:
  PlacedBuffers(simulated::SimulatedDevice& device, const SimulationInputs& inputs) : device_(device) {
    for (const KernelArgument& argument : inputs.arguments) place(argument);
    for (const KernelArgument& buffer : inputs.buffers) place(buffer);
  }

  /// Of an argument or a variable: addresses are filled in.
  std::vector<std::byte> value_of(const KernelArgument& argument) const {
    if (argument.is_buffer()) return bytes_of(address_number(find(argument.name)));
    std::vector<std::byte> value = argument.bytes;
    for (const BufferAddress& address : argument.addresses) {
      const std::vector<std::byte> number = bytes_of(address_number(find(address.buffer)) + address.offset);
      std::memcpy(value.data() + address.at, number.data(), number.size());
    }
    return value;
  }

  std::vector<BufferContent> contents() const {
    std::vector<BufferContent> contents;
    for (const auto& [argument, buffer] : placed_) {
      BufferContent content{argument->name, argument->kind != ArgumentKind::input, *argument->type, argument->shape,
                            std::vector<std::byte>(argument->buffer_bytes())};
      device_.copy_to_host(content.bytes.data(), buffer.address(), content.bytes.size());
      contents.push_back(std::move(content));
    }
    return contents;
  }

  void free() { placed_.clear(); }

 private:
  void place(const KernelArgument& argument) {
    if (!argument.is_buffer()) return;
    placed_.emplace_back(&argument, device_.allocate(argument.buffer_bytes(), argument.name));
    device_.copy_to_device(placed_.back().second.address(), argument.bytes.data(), argument.bytes.size());
    if (argument.kind == ArgumentKind::input) device_.only_read(placed_.back().second);
  }

  const DeviceBuffer& find(const std::string& name) const {
    const auto has_name = [&name](const auto& placed) { return placed.first->name == name; };
    return std::ranges::find_if(placed_, has_name)->second;
  }

  static std::vector<std::byte> bytes_of(std::uint64_t number) {
    std::vector<std::byte> bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  }

  simulated::SimulatedDevice& device_;
  std::vector<std::pair<const KernelArgument*, DeviceBuffer>> placed_;
};

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
                                const simulated::SimulatedDeviceOptions& options) {
  simulated::SimulatedDevice device(options);
  SimulationReport report{.kernel = kernel.name,
                          .display_name = display_name(kernel.name),
                          .grid = launch.grid,
                          .block = launch.block,
                          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                          .buffers = {},
                          .counters = {},
                          .findings = {},
                          .fault = {},
                          .stopped = {},
                          .expectations = {}};
  launch.kernel = device.load(module, kernel);
  PlacedBuffers buffers(device, inputs);
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
  report.printed = device.take_printed();
  report.findings = device.take_findings();
  report.buffers = buffers.contents();
  for (const ReadContent& wanted : variables) {
    report.buffers.push_back(read_variable(device, module, wanted, inputs));
  }
  buffers.free();  // what is left then is the kernel's own
  if (options.checkers.memory && report.stopped.empty()) {
    for (simulated::Finding& leak : device.leaks()) report.findings.push_back(std::move(leak));
  }
  return report;
}

}  // namespace convladder

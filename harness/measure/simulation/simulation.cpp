#include "harness/measure/simulation/simulation.hpp"

#include <algorithm>
#include <utility>

#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"
#include "harness/measure/simulation/placed_buffers.hpp"

namespace convladder {
namespace {

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
  report.printed = device.take_printed();
  report.findings = device.take_findings();
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

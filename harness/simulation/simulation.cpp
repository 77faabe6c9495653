#include "harness/simulation/simulation.hpp"

#include <utility>

#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"

namespace convladder {

SimulationReport run_simulation(const ptx::Module& module, const ptx::Kernel& kernel, KernelLaunch launch,
                                const std::vector<KernelArgument>& arguments,
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
                          .stopped = {}};
  launch.kernel = device.load(module, kernel);
  std::vector<DeviceBuffer> buffers;
  for (const KernelArgument& argument : arguments) {
    buffers.emplace_back();
    if (!argument.is_buffer()) {
      launch.arguments.push_back(argument.bytes);
      continue;
    }
    buffers.back() = device.allocate(argument.buffer_bytes(), argument.name);
    device.copy_to_device(buffers.back().address(), argument.bytes.data(), argument.bytes.size());
    const auto address = reinterpret_cast<std::uint64_t>(buffers.back().address());
    const auto* const begin = reinterpret_cast<const std::byte*>(&address);
    launch.arguments.emplace_back(begin, begin + sizeof address);
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
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument& argument = arguments[i];
    if (!argument.is_buffer()) continue;
    BufferContent content{argument.name, argument.kind != ArgumentKind::input, *argument.type, argument.shape,
                          std::vector<std::byte>(argument.buffer_bytes())};
    device.copy_to_host(content.bytes.data(), buffers[i].address(), content.bytes.size());
    report.buffers.push_back(std::move(content));
  }
  buffers.clear();  // what is left then is the kernel's own
  if (options.checkers.memory) {
    for (simulated::Finding& leak : device.leaks()) report.findings.push_back(std::move(leak));
  }
  return report;
}

}  // namespace convladder

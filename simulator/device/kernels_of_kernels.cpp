// Launches, copies and fills that kernels ask the device for (state/device_runtime.hpp), carried out when they have
// ended.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include "devices/device_error.hpp"
#include "simulator/device/launch_checks.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/state/device_runtime.hpp"

namespace convladder::simulated {
namespace {

constexpr int kInvalidConfiguration = 9;        // cudaErrorInvalidConfiguration
constexpr int kPendingLaunches = 4;             // cudaLimitDevRuntimePendingLaunchCount
constexpr std::size_t kUsualPending = 2048;     // its value if nobody sets it
constexpr std::size_t kMostLaunched = 1 << 20;  // kernels by one and its children: each is counted by itself

}  // namespace

/// Answers the questions of kernels about this device.
class SimulatedDevice::RuntimeHost final : public DeviceRuntimeHost {
 public:
  explicit RuntimeHost(SimulatedDevice& device) : device_(device) {}

  const DeviceRuntimeFacts& facts() const override { return device_.runtime_facts_; }

  int prepare(const Program& parent, DeviceWork& work) override {
    const Program& program = device_.program_in(*parent.module, *work.kernel);
    KernelLaunch launch = device_.launch_of(work);
    for (const ptx::Symbol& parameter : program.kernel->parameters) launch.arguments.emplace_back(parameter.bytes);
    try {
      check_launch(program, in_blocks(*program.kernel, launch), *device_.options_.gpu);
    } catch (const DeviceError&) {
      return kInvalidConfiguration;
    }
    const auto& most_shared = device_.runtime_facts_.most_dynamic_shared_bytes;
    if (most_shared && work.dynamic_shared_bytes > most_shared(*work.kernel)) return kInvalidConfiguration;
    work.parameters.resize(program.parameter_bytes);
    return 0;
  }

  int resident_blocks(const Program& parent, const ptx::Kernel& kernel, std::uint64_t threads,
                      std::uint64_t dynamic_shared_bytes) override {
    const Program& program = device_.program_in(*parent.module, kernel);
    if (threads > 1024) return 0;
    return static_cast<int>(
        simulated::resident_blocks(*device_.options_.gpu, threads, program.static_shared_bytes + dynamic_shared_bytes));
  }

  std::uint64_t text_on_device(const std::string& text) override {
    std::uint64_t& address = device_.texts_[text];
    if (address == 0) {
      address = device_.memory_.allocate(text.size() + 1, "a text of the CUDA runtime");
      std::memcpy(device_.memory_.host(address), text.c_str(), text.size() + 1);
      device_.memory_.set_devices(address, ~std::uint64_t{0});
    }
    return address;
  }

 private:
  SimulatedDevice& device_;
};

/// A kernel's requests, and the memory for them, which ends with it.
struct SimulatedDevice::Requests {
  Requests(SimulatedDevice& its_device, int depth) : device(its_device), host(its_device) {
    runtime.host = &host;
    runtime.depth = depth;
  }
  ~Requests() {
    for (const auto& [address, bytes] : runtime.buffers) {
      device.free(reinterpret_cast<void*>(address), bytes);  // NOLINT(performance-no-int-to-ptr): addresses are numbers
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  SimulatedDevice& device;
  RuntimeHost host;
  DeviceRuntime runtime;
};

const Program& SimulatedDevice::program_in(const ptx::Module& module, const ptx::Kernel& kernel) {
  std::unique_ptr<Program>& program = programs_[{memory_.device(), &kernel}];
  if (!program) program = decoded(module, kernel);
  return *program;
}

KernelLaunch SimulatedDevice::launch_of(const DeviceWork& work) const {
  KernelLaunch launch;
  launch.kernel = work.kernel;
  launch.grid = work.grid;
  launch.block = work.block;
  launch.dynamic_shared_bytes = work.dynamic_shared_bytes;
  return launch;
}

std::string SimulatedDevice::run_with_requests(const Program& program, const KernelLaunch& launch,
                                               LaunchConfiguration configuration) {
  struct Item {
    DeviceWork work;
    const ptx::Module* module = nullptr;
    int depth = 0;
  };
  std::vector<Item> left;  // the next one is the last
  const auto take = [&](const ptx::Module& module, DeviceRuntime& runtime) {
    note_many_launches(runtime.work);
    for (const bool is_tail : {true, false}) {
      for (std::size_t i = runtime.work.size(); i-- > 0;) {
        if (runtime.work[i].is_tail != is_tail) continue;
        // A kernel that is launched as a tail takes the place of its parent.
        left.push_back({std::move(runtime.work[i]), &module, runtime.depth + (is_tail ? 0 : 1)});
      }
    }
  };
  {
    Requests requests(*this, 0);
    configuration.runtime = &requests.runtime;
    if (std::string stopped = run_counted(program, launch, std::move(configuration)); !stopped.empty()) return stopped;
    take(*program.module, requests.runtime);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t done = 0; !left.empty(); ++done) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (options_.seconds_of_launched > 0 && took.count() > options_.seconds_of_launched) {
      return fmt::format("after {:g} s and {} kernels that it and its children have launched, {} were left",
                         options_.seconds_of_launched, done, left.size());
    }
    if (done == kMostLaunched) return fmt::format("after {} kernels that it and its children have launched", done);
    const Item item = std::move(left.back());
    left.pop_back();
    if (item.work.kind != DeviceWork::Kind::kernel) {
      carry_out(item.work);
      continue;
    }
    const Program& child = program_in(*item.module, *item.work.kernel);
    const KernelLaunch of_child = in_blocks(*child.kernel, launch_of(item.work));
    LaunchConfiguration its = configuration_of(child, of_child);
    its.parameters = item.work.parameters;
    Requests requests(*this, item.depth);
    its.runtime = &requests.runtime;
    const std::size_t earlier = findings_.size();
    const std::string stopped = run_recorded(child, of_child, its);
    for (Finding& finding : std::span(findings_).subspan(earlier)) finding.launcher = kernel_text(item.work.place);
    if (!stopped.empty()) return stopped;
    take(*item.module, requests.runtime);
  }
  return "";
}

void SimulatedDevice::note_many_launches(const std::vector<DeviceWork>& work) {
  const auto limit = runtime_facts_.limit ? runtime_facts_.limit(kPendingLaunches) : std::nullopt;
  const std::size_t most = limit.value_or(kUsualPending);
  const auto is_kernel = [](const DeviceWork& one) { return one.kind == DeviceWork::Kind::kernel; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(work, is_kernel));
  if (count <= most || !options_.checkers.memory) return;
  Finding note = std::ranges::find_if(work, is_kernel)->place;
  note.severity = Severity::note;
  note.problem = fmt::format(
      "{} kernels are launched; where more than {} are pending, a GPU answers "
      "cudaErrorLaunchPendingCountExceeded (cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, …))",
      count, most);
  findings_.push_back(std::move(note));
}

void SimulatedDevice::carry_out(const DeviceWork& work) {
  const bool is_copy = work.kind == DeviceWork::Kind::copy;
  for (std::uint64_t row = 0; row < work.rows; ++row) {
    const std::uint64_t to = work.to + row * work.to_pitch;
    const std::uint64_t from = work.from + row * work.from_pitch;
    for (const std::uint64_t address : is_copy ? std::vector{to, from} : std::vector{to}) {
      const Allocation* const allocation = memory_.find(address);
      if (allocation != nullptr && work.row_bytes <= allocation->end - address) continue;
      Finding finding = work.place;
      finding.space = "global";
      finding.address = address;
      if (allocation != nullptr) finding.allocation = allocation->label;
      finding.problem =
          fmt::format("{} of {} bytes by a kernel {}: 0x{:x} {}", is_copy ? "copy" : "fill", work.row_bytes,
                      address == to ? "writes outside of an allocation" : "reads outside of an allocation", address,
                      allocation == nullptr ? "is in none" : "is in one that is smaller");
      if (!options_.checkers.any()) throw KernelFault(finding);
      if (options_.checkers.memory) findings_.push_back(std::move(finding));
      return;
    }
    if (is_copy) {
      std::memmove(memory_.host(to), memory_.host(from), work.row_bytes);
    } else {
      std::memset(memory_.host(to), std::to_integer<int>(work.value), work.row_bytes);
    }
    written_.written(to, work.row_bytes);
    if (is_copy) written_.copied(to, from, work.row_bytes);
  }
}

std::vector<LaunchedKernel> SimulatedDevice::launched_kernels() const {
  std::vector<LaunchedKernel> kernels;
  for (const RecordedLaunch& recorded : launches_) {
    kernels.push_back(
        {recorded.program->kernel->name, recorded.launch.grid.count(), recorded.result.blocks, recorded.seconds});
  }
  return kernels;
}

}  // namespace convladder::simulated

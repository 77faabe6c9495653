// The machine as one of this project's devices, for foreign code that is loaded into a case's process.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <mutex>

#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"
#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/machine.hpp"
#include "simulator/stand_in/report/running_kernel.hpp"

namespace convladder::stand_in {
namespace {

class ServedDevice final : public LoadedCodesDevice {
 public:
  explicit ServedDevice(Machine& machine) : machine_(machine) {
    machine_.collects_counters = true;
    machine_.device().keep_instructions();
    machine_.beside.start();
  }

  std::size_t free_bytes() const override {
    return locked([&] { return machine_.free_bytes(); });
  }
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override {
    return locked([&] {
      try {
        machine_.contexts.use_primary();
        return DeviceBuffer(*this, machine_.allocate(MemoryKind::device, bytes, 0, "convladder", label), bytes);
      } catch (const Failure&) {
        throw OutOfDeviceMemory(
            fmt::format("allocating {} of {} bytes failed: {} bytes are free", label, bytes, machine_.free_bytes()));
      }
    });
  }
  void copy_to_device(void* destination, const void* source, std::size_t bytes) override {
    locked([&] { machine_.device().copy_to_device(destination, source, bytes); });
  }
  void copy_to_host(void* destination, const void* source, std::size_t bytes) override {
    locked([&] { machine_.device().copy_to_host(destination, source, bytes); });
  }
  /// Launches kernels of this program: after everything that loaded code has launched, since that is carried out at
  /// once.
  void launch(const KernelLaunch& launch) override {
    locked([&] {
      machine_.synchronize_all();
      const RunningKernel running("a kernel of convladder");
      machine_.device().launch(launch);
      for (KernelCounters& one : machine_.device().take_counters())
        machine_.collected_counters.push_back(std::move(one));
      machine_.collect_instructions();
      if (auto found = machine_.device().take_findings(); !found.empty()) machine_.report.found(std::move(found), {});
    });
  }
  void wait() override {
    locked([&] {
      if (machine_.lost() != kSuccess) throw DeviceError(machine_.why_lost());
      if (const std::string failure = std::exchange(machine_.failed_launch, {}); !failure.empty()) {
        throw DeviceError(failure);
      }
      machine_.synchronize_all();
    });
  }
  double time_ns(const std::function<void()>& work) override {
    const auto begin = std::chrono::steady_clock::now();
    work();
    wait();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }
  bool has_clock() const override { return false; }
  std::vector<KernelCounters> take_counters() override {
    return locked([&] { return std::exchange(machine_.collected_counters, {}); });
  }
  std::vector<LineCounters> take_lines() override {
    return locked([&] { return simulated::by_line(std::exchange(machine_.collected_instructions, {})); });
  }

  WorkBeside take_work_beside() override {
    return locked([&] { return machine_.beside.take(); });
  }

  void only_read(const void* address) override {
    locked([&] {
      const Memory* const memory = machine_.memory_at(address);
      if (memory != nullptr) machine_.device().only_read(memory->buffer);
    });
  }
  std::vector<simulated::Finding> take_findings() override {
    return locked([&] { return machine_.report.take_findings(); });
  }
  simulated::OrdersTried take_orders() override {
    return locked([&] { return machine_.report.take_orders(); });
  }
  simulated::MutantsSeen take_mutants() override {
    return locked([&] { return machine_.take_mutants(); });
  }

 private:
  void free(void* address, std::size_t /*bytes*/) noexcept override {
    try {
      locked([&] { machine_.free(address, false, "convladder"); });
    } catch (const std::exception&) {
      return;  // the loaded code has freed it, or reset the device
    }
  }

  template <typename Work>
  auto locked(const Work& work) const -> decltype(work()) {
    const std::scoped_lock lock(machine_.mutex);
    return work();
  }

  Machine& machine_;
};

}  // namespace

}  // namespace convladder::stand_in

/// See libraries.hpp.
extern "C" convladder::stand_in::LoadedCodesDevice* convladder_stand_in_open_device(
    const convladder::stand_in::OwnKernels& own) {
  using convladder::stand_in::Machine;
  try {
    Machine& machine = Machine::get();
    const convladder::KernelNamesRegistration names(own.mangled_name);
    machine.device().use_images(own.images);
    return std::make_unique<convladder::stand_in::ServedDevice>(machine).release();
  } catch (const convladder::stand_in::Failure& failure) {
    throw convladder::DeviceError(failure.what());
  }
}

// A device without hardware: it executes the PTX that the compiler made of the kernels, checks it and counts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "simulator/checkers/checker_set.hpp"
#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/checkers/input_checker.hpp"
#include "simulator/execution/alike_blocks.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/textures/texture_table.hpp"

namespace convladder::simulated {

/// What a launch did, instruction by instruction.
struct RecordedLaunch {
  const Program* program = nullptr;
  KernelLaunch launch;
  LaunchResult result;           ///< if only some blocks ran to count all: counters of all, caches of those that ran
  unsigned items_executed = 0;   ///< as in KernelCounters
  bool depends_on_data = false;  ///< as in KernelCounters
  std::optional<LaunchResult> half{};  ///< likewise of half of those that ran
};

/// A limit ended a launch: the message says which and where. What the kernel did until then is counted, and in memory.
struct LaunchEndedEarly : DeviceError {
  using DeviceError::DeviceError;
};

/// A kernel did what hardware ends it for; no checker looked on.
struct KernelFaulted : DeviceError {
  explicit KernelFaulted(const KernelFault& fault) : DeviceError(fault.what()), finding(fault.finding) {}
  Finding finding;
};

struct SimulatedDeviceOptions {
  CheckerSet checkers;                               ///< none: the first fault of a kernel ends its launch
  int host_threads = 0;                              ///< 0: all cores; results and counters do not depend on it
  const GpuModel* gpu = &default_gpu_model();        ///< whose multiprocessors and caches are modelled
  bool with_caches = true;                           ///< whether traffic below the L1 is counted
  LaunchLimits limits;                               ///< of every launch
  std::string ptx_compiler;                          ///< "clang": which of `ptx_images` this build's kernels run from;
                                                     ///< empty: the first
  TensorCores tensor_cores = TensorCores::rounding;  ///< how products of matrices are added
};

class SimulatedDevice final : public Device {
 public:
  /// Throws DeviceError if that compiler had no part in this build.
  explicit SimulatedDevice(SimulatedDeviceOptions options = {});

  std::size_t free_bytes() const override { return memory_.capacity() - memory_.used(); }
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override;
  void copy_to_device(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host(void* destination, const void* source, std::size_t bytes) override;
  /// Runs the kernel to its end. What hardware would end it for is a DeviceError, or, with checkers, a finding; throws
  /// LaunchEndedEarly at a limit.
  void launch(const KernelLaunch& given) override;
  void wait() override {}
  /// The host's time: the simulated device has no clock, and nobody may take this for the kernel's.
  double time_ns(const std::function<void()>& work) override;

  /// Everything is carried out at once, in the order in which it is enqueued: one of the orders that streams allow.
  bool can_overlap() const override { return true; }
  PinnedBuffer allocate_pinned(std::size_t bytes, std::string_view label) override;
  void set_stream(int stream) override { check_stream(stream); }
  void record_event(int event) override { check_event(event); }
  void stream_waits_for(int stream, int event) override;
  void copy_to_device_async(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host_async(void* destination, const void* source, std::size_t bytes) override;

  bool has_clock() const override { return false; }
  std::vector<KernelCounters> take_counters() override;
  /// Those that are not counted are not in `take_launches` either. Checkers see them all the same.
  void set_counting(bool counts) override { counts_ = counts; }
  void set_grid_window(std::optional<GridWindow> window) override { window_ = window; }
  void set_counted_items(std::optional<GridWindow> items) override { counted_ = items; }

  /// From now on this build's kernels run from these images; they must outlive the device. nullptr: it has none.
  void use_images(const PtxImages* images) { images_ = images; }

  /// Makes a kernel that is no part of this build ready to run; what it returns is `KernelLaunch::kernel`. Throws
  /// ptx::PtxError for what the device does not execute. `module` must outlive the device.
  const void* load(const ptx::Module& module, const ptx::Kernel& kernel);

  /// Forgets its kernels and frees its variables: from now on the module need not live.
  void unload(const ptx::Module& module);

  /// The address of a variable in global or constant memory, the same for all kernels of the module. `module` must
  /// outlive the device.
  void* variable(const ptx::Module& module, const ptx::Symbol& symbol);

  /// Memory that the host reads and writes at the same address, as it likes: initcheck takes all of it as written.
  DeviceBuffer allocate_visible(std::size_t bytes, std::string_view label);
  /// The same of memory that the host has already, until `release`. Throws DeviceError if some of it is the device's.
  void adopt(void* address, std::size_t bytes, std::string_view label);
  void release(void* address);
  /// Where the host finds bytes of the device. Throws DeviceError if they leave their allocation; `what` begins it.
  std::byte* bytes_at(const void* address, std::size_t bytes, const char* what) const {
    return checked_host(address, bytes, what);
  }
  /// The host has written there, past `copy_to_device`.
  void host_wrote(const void* address, std::size_t bytes);
  /// Begins and ends of the live allocations that are the device's own, ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> own_allocations() const;
  /// Begins of the live allocations that the launch may write, those that the host sees included, as far as
  /// written_allocations.hpp knows. Throws DeviceError as `launch`.
  std::vector<std::uint64_t> may_be_written_by(const KernelLaunch& given);
  /// For the launches from now on.
  void set_clocks(const KernelClocks& clocks) { clocks_ = clocks; }
  /// False if the kernel reads no clock.
  bool may_read_clock(const void* kernel);
  /// Whether it runs from its first instruction to its last, whatever it reads: no branch leads back, nothing is
  /// called.
  bool runs_straight(const void* kernel);
  /// The allocation that holds the address, or nullptr.
  const Allocation* allocation_at(const void* address) const;
  /// That, or the nearest below it, freed ones included; nullptr below the first.
  const Allocation* nearest_allocation(const void* address) const {
    return memory_.nearest(reinterpret_cast<std::uint64_t>(address));
  }
  std::uint64_t memory_bytes() const { return memory_.capacity(); }

  /// Textures and surfaces for kernels, also for the variables `.texref` and `.surfref` at the addresses that
  /// `variable` gives. What is destroyed or bound while no launch runs holds for the next.
  TextureTable& textures() { return textures_; }

  /// From now on memcheck reports what kernels write into this allocation; it is written all the same.
  void only_read(const DeviceBuffer& buffer);

  /// The launches since the last call, in order, instruction by instruction.
  std::vector<RecordedLaunch> take_launches() { return std::exchange(launches_, {}); }

  /// What kernels have printed since the last call, in the order of launches, blocks and warps.
  std::string take_printed() { return std::exchange(printed_, {}); }

  /// What the checkers found since the last call, in the order of launches.
  std::vector<Finding> take_findings() { return std::exchange(findings_, {}); }
  /// Allocations that are still live, as findings of memcheck: to be asked when all should have been freed.
  std::vector<Finding> leaks() const;

 private:
  void free(void* address, std::size_t bytes) noexcept override;
  const Program& program_of(const void* kernel);
  std::uint64_t place(const ptx::Module& module, const ptx::Symbol& symbol);
  /// Of a variable or function that an initial value names.
  std::uint64_t address_of(const ptx::Module& module, const std::string& name);
  std::uint64_t allocate_address(std::size_t bytes, std::string_view label);
  std::unique_ptr<Program> decoded(const ptx::Module& module, const ptx::Kernel& kernel);
  std::byte* checked_host(const void* address, std::size_t bytes, const char* what) const;

  void fill(const ptx::Module& module, const VariableContent& content);
  /// Returns which limit ended the launch; empty if none did.
  std::string execute(const Program& program, const KernelLaunch& launch);
  LaunchConfiguration configuration_of(const Program& program, const KernelLaunch& launch) const;
  AlikeBlocks alike(const Program& program, const KernelLaunch& launch, const LaunchConfiguration& configuration) const;
  LaunchResult run(const Program& program, LaunchConfiguration configuration);
  RecordedLaunch count(const Program& program, const KernelLaunch& launch, LaunchConfiguration configuration);

  SimulatedDeviceOptions options_;
  DeviceMemory memory_;
  TextureTable textures_{memory_};
  WrittenMemory written_;  // looked after if initcheck looks on
  /// Of modules, one for all kernels of a module, as long as the device lives.
  std::map<std::pair<const ptx::Module*, std::string>, std::uint64_t> variables_;
  std::map<const Program*, double> seconds_of_block_;  // of the host's processor, in launches before
  std::unique_ptr<CacheHierarchy> caches_;             // for every launch, from the first on
  std::vector<AddressRange> inputs_;                   // allocations that are only to be read
  std::vector<Finding> findings_;
  std::string printed_;
  std::map<const void*, std::unique_ptr<Program>> programs_;
  const PtxImages* images_ = nullptr;  // of which this build's kernels run
  std::vector<RecordedLaunch> launches_;
  std::map<std::uint64_t, std::uint64_t>
      filled_;  // by the begin of an allocation: bytes of it that the host has written
  KernelClocks clocks_;
  bool counts_ = true;
  std::optional<GridWindow> window_;
  std::optional<GridWindow> counted_;
};

}  // namespace convladder::simulated

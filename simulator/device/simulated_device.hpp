// A device without hardware: it executes the PTX that the compiler made of the kernels, checks it and counts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/checkers/input_checker.hpp"
#include "simulator/checkers/work_order.hpp"
#include "simulator/counters/instruction_figures.hpp"
#include "simulator/device/mutants.hpp"
#include "simulator/execution/equivalent_blocks.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/state/device_runtime.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"
#include "simulator/textures/texture_table.hpp"

namespace convladder::simulated {

/// The host's time for all blocks of a launch. Measured where all of them ran; otherwise scaled up from the two halves
/// of the sample that ran.
struct SecondsOfLaunch {
  double low = 0;
  double high = 0;
};

/// The counts of a launch, instruction by instruction.
struct RecordedLaunch {
  const Program* program = nullptr;
  KernelLaunch launch;
  LaunchResult result;                 ///< where only some blocks ran: counters of all blocks, caches of those that ran
  unsigned items_executed = 0;         ///< as in KernelCounters
  bool depends_on_data = false;        ///< as in KernelCounters
  std::optional<LaunchResult> half{};  ///< as `result`, but for half of the blocks that ran
  double scale = 1;                    ///< of a sample: all blocks for each one that ran and that `result` has
  SecondsOfLaunch seconds{};
};

/// A launch as its cost is told.
struct LaunchedKernel {
  std::string name;  ///< in the PTX
  std::uint64_t blocks = 0;
  std::uint64_t blocks_run = 0;
  SecondsOfLaunch seconds;
};

/// A limit ended a launch: the message says which limit and where. The kernel's work until then is counted and in
/// memory.
struct LaunchEndedEarly : DeviceError {
  using DeviceError::DeviceError;
};

/// A kernel did something for which hardware ends it, and no checker was looking.
struct KernelFaulted : DeviceError {
  explicit KernelFaulted(const KernelFault& fault) : DeviceError(fault.what()), finding(fault.finding) {}
  Finding finding;
};

/// A kernel was to run whose text has something that the device does not execute.
struct KernelNotSupported : DeviceError {
  using DeviceError::DeviceError;
};

struct SimulatedDeviceOptions {
  CheckerSet checkers;                               ///< none: the first fault of a kernel ends its launch
  int host_threads = 0;                              ///< 0: all cores; results and counters do not depend on it
  const GpuModel* gpu = &default_gpu_model();        ///< whose multiprocessors and caches are modelled
  bool with_caches = true;                           ///< whether traffic below the L1 is counted
  LaunchLimits limits;                               ///< of every launch
  SchedulesWanted schedules{};                       ///< orders of each launch besides the usual one
  bool keeps_instructions = false;                   ///< whether take_instructions and take_lines give anything
  MutantsWanted mutants{};                           ///< which are listed, and which one runs
  std::uint64_t sample_blocks = 0;                   ///< about so many blocks of a launch run, for a quick look; 0: all
  double seconds_of_launched = 0;                    ///< for all kernels that a kernel launches; 0: no limit
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
  /// Runs the kernel to its end. An act for which hardware would end it is a DeviceError, or, with checkers, a finding.
  /// Throws LaunchEndedEarly at a limit.
  void launch(const KernelLaunch& given) override;
  void wait() override {}
  /// The host's time: the simulated device has no clock, and this is not a time of the kernel.
  double time_ns(const std::function<void()>& work) override;

  /// Everything is carried out at once, in the order in which it is enqueued, which is one of the orders that streams
  /// allow.
  bool can_overlap() const override { return true; }
  PinnedBuffer allocate_pinned(std::size_t bytes, std::string_view label) override;
  void set_stream(int stream) override { check_stream(stream); }
  void record_event(int event) override { check_event(event); }
  void stream_waits_for(int stream, int event) override;
  void copy_to_device_async(void* destination, const void* source, std::size_t bytes) override;
  void copy_to_host_async(void* destination, const void* source, std::size_t bytes) override;

  bool has_clock() const override { return false; }
  std::vector<KernelCounters> take_counters() override;
  /// The counts of the instructions of the launches that `take_counters` has given since the last call, by the kernel's
  /// name in the PTX.
  std::map<std::string, KernelFigures> take_instructions() { return std::exchange(instructions_, {}); }
  /// None unless the device keeps instructions.
  std::vector<LineCounters> take_lines() override { return by_line(take_instructions()); }
  void keep_instructions() { options_.keeps_instructions = true; }
  /// Launches that are not counted are missing in `take_launches` as well. Checkers see them all the same.
  void set_counting(bool counts) override { counts_ = counts; }
  /// From now on launches are looked at for their order with other work. Null: no more.
  void set_work_order(simulated::WorkOrder* order) { work_order_ = order; }
  void set_grid_window(std::optional<GridWindow> window) override { window_ = window; }
  void set_counted_items(std::optional<GridWindow> items) override { counted_ = items; }

  /// From now on this build's kernels run from these images; they must outlive the device. nullptr: it has none.
  void use_images(const PtxImages* images) { images_ = images; }

  /// Makes a kernel that is no part of this build ready to run and returns its `KernelLaunch::kernel`. Throws
  /// ptx::PtxError for what the device does not execute. `module` must outlive the device.
  const void* load(const ptx::Module& module, const ptx::Kernel& kernel);

  /// Whether `load` has made this handle ready to run on the device of now.
  bool is_loaded(const void* kernel) const { return programs_.contains({memory_.device(), kernel}); }

  /// Forgets the module's kernels and frees its variables; the module need not live any longer.
  void unload(const ptx::Module& module);

  /// The address of a variable in global or constant memory, the same for all kernels of the module. `module` must
  /// outlive the device.
  void* variable(const ptx::Module& module, const ptx::Symbol& symbol);

  /// Memory that the host reads and writes at the same address, whenever it likes: initcheck takes all of it as
  /// written.
  DeviceBuffer allocate_visible(std::size_t bytes, std::string_view label);
  /// Makes existing host memory visible to kernels at the same address, until `release`. Throws DeviceError if some of
  /// it is the device's.
  void adopt(void* address, std::size_t bytes, std::string_view label);
  void release(void* address);
  /// The host's view of bytes of the device. Throws DeviceError if they leave their allocation; the message begins with
  /// `what`.
  std::byte* bytes_at(const void* address, std::size_t bytes, const char* what) const {
    return checked_host(address, bytes, what);
  }
  /// Notes that the host has written there without `copy_to_device`.
  void host_wrote(const void* address, std::size_t bytes);
  /// For initcheck, if it is on: bytes at `from` that nothing has written are unwritten at `to` as well; adds those at
  /// `from` to `unwritten`.
  void copied(const void* to, const void* from, std::size_t bytes);
  void look_for_unwritten(UnwrittenBytes& unwritten, const void* from, std::size_t bytes);
  /// Beginnings and ends of the live allocations that are the device's own, ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> own_allocations() const;
  /// Beginnings of the live allocations that the launch may write, host-visible ones included, as far as
  /// written_allocations.hpp knows. Throws DeviceError as `launch` does.
  std::vector<std::uint64_t> may_be_written_by(const KernelLaunch& given);
  // --- several devices: one object is all of them, which share the addresses ---------------------------------------

  /// From now on allocations, variables and launches are that device's.
  void set_device(int device) {
    memory_.set_device(device);
    runtime_facts_.device = device;
  }
  void let_reach(int device, int peer, bool may) { memory_.let_reach(device, peer, may); }
  /// The memory, for those who handle addresses and what is behind them apart. Its content counts as written.
  DeviceMemory& memory() { return memory_; }

  /// Sets the clocks for the launches from now on.
  void set_clocks(const KernelClocks& clocks) { clocks_ = clocks; }
  /// Whether the kernel may read a clock.
  bool may_read_clock(const void* kernel);
  /// Whether the kernel runs straight from its first instruction to its last, whatever it reads: no branch leads back,
  /// and nothing is called.
  bool runs_straight(const void* kernel);
  /// The allocation that holds the address, or nullptr.
  const Allocation* allocation_at(const void* address) const;
  /// The allocation that holds the address, or else the nearest below it, freed ones included; nullptr below the first.
  const Allocation* nearest_allocation(const void* address) const {
    return memory_.nearest(reinterpret_cast<std::uint64_t>(address));
  }
  /// Describes an address as findings do (global_place.hpp), and sets `label` to that of the allocation meant.
  std::string place_of(const void* address, std::string& label) const;
  std::uint64_t memory_bytes() const { return memory_.capacity(); }

  /// Textures and surfaces for kernels, including those for the variables `.texref` and `.surfref` at the addresses
  /// that `variable` gives. Changes made while no launch runs hold for the next.
  TextureTable& textures() { return textures_; }

  /// From now on memcheck reports writes of kernels into this allocation; they are carried out all the same.
  void only_read(const DeviceBuffer& buffer);
  /// As above for a part of memory; `is_so` false: reports them no longer.
  void only_read(std::uint64_t begin, std::uint64_t end, bool is_so);

  /// Sets the figures of the machine that kernels are told when they ask.
  void set_runtime_facts(DeviceRuntimeFacts facts) { runtime_facts_ = std::move(facts); }

  /// The launches since the last `take_launches`, those by kernels included.
  std::vector<LaunchedKernel> launched_kernels() const;

  /// The launches since the last call, in order, instruction by instruction.
  std::vector<RecordedLaunch> take_launches() { return std::exchange(launches_, {}); }

  /// The text that kernels have printed since the last call, in the order of launches, blocks and warps.
  std::string take_printed() { return std::exchange(printed_, {}); }
  /// The driver's lines for the standard error since the last call, one for each thread whose
  /// assertion failed.
  std::string take_asserted() { return std::exchange(asserted_, {}); }

  /// The findings of the checkers since the last call, in the order of launches.
  std::vector<Finding> take_findings() { return std::exchange(findings_, {}); }
  /// The outcome of other orders of each kernel's launches since the last call, by its name in the PTX.
  std::map<std::string, OrdersTried> take_orders_tried() { return std::exchange(orders_tried_, {}); }
  /// The mutants that the kernels which have run since the last call could have, of several kernels of one name those
  /// of the first; and what the one that runs has changed so far.
  MutantsSeen take_mutants();
  /// Notes that the host reads these bytes of the device without `copy_to_host`.
  void host_reads(const std::byte* bytes, std::size_t count) {
    if (options_.mutants.lists || options_.mutants.has_one()) host_reads_.add(bytes, count);
  }
  /// The checkers for which the host has had too little memory, "racecheck": they have not seen everything.
  std::string blind_checkers() const;
  /// Allocations that are still live, as findings of memcheck: to be called when all should have been freed.
  std::vector<Finding> leaks() const;

 private:
  void free(void* address, std::size_t bytes) noexcept override;
  const Program& program_of(const void* kernel);
  std::uint64_t place(const ptx::Module& module, const ptx::Symbol& symbol);
  /// The address of a variable or function that an initial value names.
  std::uint64_t address_of(const ptx::Module& module, const std::string& name);
  std::uint64_t allocate_address(std::size_t bytes, std::string_view label);
  std::unique_ptr<Program> decoded(const ptx::Module& module, const ptx::Kernel& kernel);
  std::byte* checked_host(const void* address, std::size_t bytes, const char* what) const;

  void fill(const ptx::Module& module, const VariableContent& content);
  /// Returns which limit ended the launch; empty if none did.
  std::string execute(const Program& program, const KernelLaunch& launch);
  LaunchConfiguration configuration_of(const Program& program, const KernelLaunch& launch) const;
  EquivalentBlocks equivalence(const Program& program, const KernelLaunch& launch,
                               const LaunchConfiguration& configuration) const;
  LaunchResult run(const Program& program, LaunchConfiguration configuration);
  LaunchResult run_in_order(const Program& program, LaunchConfiguration configuration);
  /// Runs the mutant of the program, if there is to be one, and otherwise the program.
  LaunchResult run_or_mutant(const Program& program, const LaunchConfiguration& configuration);
  /// As written_allocations, with what a cooperative launch writes besides.
  std::vector<std::uint64_t> may_be_written_by(const Program& program, const LaunchConfiguration& configuration) const;
  struct Mutant;
  const Mutant* mutant_of(const Program& program);
  void note_executions(const Program& program, const LaunchResult& result);
  class RuntimeHost;
  struct Requests;
  /// Runs a launch, and then all that it asks for.
  std::string run_with_requests(const Program& program, const KernelLaunch& launch, LaunchConfiguration configuration);
  std::string run_counted(const Program& program, const KernelLaunch& launch, LaunchConfiguration configuration);
  const Program& program_in(const ptx::Module& module, const ptx::Kernel& kernel);
  KernelLaunch launch_of(const DeviceWork& work) const;
  void carry_out(const DeviceWork& work);
  void note_many_launches(const std::vector<DeviceWork>& work);
  RecordedLaunch count(const Program& program, const KernelLaunch& launch, LaunchConfiguration configuration);
  /// Beginnings of the live allocations that the program may write with these parameters, ascending.
  std::vector<std::uint64_t> may_be_written_by(const Program& program, const std::vector<std::byte>& parameters) const;
  /// Runs the launch, or a sample of its blocks, and keeps its counts.
  std::string run_recorded(const Program& program, const KernelLaunch& launch, LaunchConfiguration configuration);
  RecordedLaunch run_sample(const Program& program, const KernelLaunch& launch, LaunchConfiguration configuration);

  SimulatedDeviceOptions options_;
  DeviceMemory memory_;
  TextureTable textures_{memory_};
  WrittenMemory written_;  // kept up to date if initcheck is on
  /// The addresses of modules' variables, shared by all kernels of a module on a device, for as long as that lives.
  std::map<std::tuple<int, const ptx::Module*, std::string>, std::uint64_t> variables_;
  std::map<const Program*, double> seconds_of_block_;      // the host processor's time in earlier launches
  std::map<int, std::unique_ptr<CacheHierarchy>> caches_;  // by device: made by its first launch, used by all
  WorkOrder* work_order_ = nullptr;
  std::vector<AddressRange> inputs_;  // allocations that are only to be read
  std::vector<Finding> findings_;
  std::map<std::string, OrdersTried> orders_tried_;
  std::map<const Program*, std::shared_ptr<const Mutant>> mutants_;  // of kernels that have run; none for most
  MutantOutcome mutant_outcome_;
  HostReads host_reads_;
  bool has_visible_memory_ = false;
  /// The mutants that a kernel could have, and the instructions of each in the program that has run.
  struct Executions {
    const Program* program = nullptr;
    std::size_t instructions = 0;
    std::uint64_t launches = 0;
    std::vector<PossibleMutant> mutants;
    std::vector<std::vector<std::size_t>> of_mutant;
  };
  std::map<std::string, Executions> executions_;
  bool race_is_blind_ = false;
  std::string printed_;
  std::string asserted_;
  std::map<std::pair<int, const void*>, std::unique_ptr<Program>> programs_;  // by device and handle
  const PtxImages* images_ = nullptr;  // the images that this build's kernels run from
  std::vector<RecordedLaunch> launches_;
  std::map<std::string, KernelFigures> instructions_;
  std::map<std::uint64_t, std::uint64_t>
      filled_;  // by the beginning of an allocation: bytes of it that the host has written
  KernelClocks clocks_;
  DeviceRuntimeFacts runtime_facts_;
  std::map<std::string, std::uint64_t> texts_;  // that kernels have asked for: their addresses
  bool counts_ = true;
  std::optional<GridWindow> window_;
  std::optional<GridWindow> counted_;
};

}  // namespace convladder::simulated

// The machine as the programs of a process see it: one GPU with its memory, modules, streams and events, on the
// simulated device.
//
// Everything is carried out when it is enqueued, in that order, which is one of the orders that streams allow; the
// timeline says when it would have happened on a GPU. With the real clock it is carried out in the same order, but
// deferred as deferred_work.hpp describes. One lock around every call: any host thread may call.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/device/simulated_device.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/gpus/time_model.hpp"
#include "simulator/stand_in/beside_kernels.hpp"
#include "simulator/stand_in/contexts.hpp"
#include "simulator/stand_in/deferred_work.hpp"
#include "simulator/stand_in/gpu_clock.hpp"
#include "simulator/stand_in/host_accesses.hpp"
#include "simulator/stand_in/memory_of_graphs.hpp"
#include "simulator/stand_in/modules/modules.hpp"
#include "simulator/stand_in/python.hpp"
#include "simulator/stand_in/report/call_places.hpp"
#include "simulator/stand_in/report/report.hpp"
#include "simulator/stand_in/report/trace.hpp"
#include "simulator/stand_in/settings.hpp"
#include "simulator/stand_in/status.hpp"
#include "simulator/stand_in/timeline.hpp"

namespace convladder::stand_in {

/// The kind of a piece of memory.
enum class MemoryKind { device, managed, pinned, registered };

/// Where memory comes from, and so which call ends it.
enum class Origin { allocated, mapped, opened };

struct Memory {
  MemoryKind kind = MemoryKind::device;
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;                ///< in the order of allocations, from 1
  DeviceBuffer buffer;                     ///< empty for registered memory
  unsigned flags = 0;                      ///< as given at its creation
  const DeviceContext* context = nullptr;  ///< the context with which it ends
  Origin origin = Origin::allocated;
  std::uint64_t file = 0;  ///< of opened memory: the inode of its file
  unsigned opened = 0;     ///< how often
};

struct Stream {
  int number = 0;  ///< in the timeline
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  const DeviceContext* context = nullptr;
  std::map<int, std::array<std::byte, 64>> attributes{};  ///< the attributes set, numbered as in cudaLaunchAttributeID
};

struct Event {
  const DeviceContext* context = nullptr;
  unsigned flags = 0;
  bool is_recorded = false;
  Moment at;
};

/// A launch that was executed before, with the real clock: the same function, sizes and arguments.
struct KnownLaunch {
  const Function* function = nullptr;
  std::shared_ptr<const DeferredOperation> operation;  ///< none: it is executed each time, at once
  bool is_timeless = false;                            ///< it reads clocks, but takes the same time whatever they say
  bool has_no_effect = false;                          ///< it writes nothing
  LaunchCounts counts;                                 ///< of the last execution at once
  KernelCounters counters;
  double share = 1;             ///< the part of the device that it fills
  double least_cycles = 0;      ///< cycles that a kernel has seen pass on the clock that it reads
  std::map<int, double> ns_at;  ///< time by clock in MHz
  std::uint64_t times = 0;      ///< number of launches
  Nanoseconds total_ns = 0;
};

/// A launch as either API asks for it, with arguments in the form of the kernel's parameters.
struct LaunchRequest {
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  int stream = 0;
  bool cooperative = false;
  Dim3 cluster{0, 0, 0};  ///< 0: as compiled
};

class Arrays;
class Graphs;
class MemoryPools;
struct KernelWork;

class Machine {
 public:
  ~Machine();
  /// The machine of this process, made at the first call and never destroyed, as programs call until their very end.
  /// Throws Failure if the settings cannot be fulfilled.
  static Machine& get();

  MutexBesidePython mutex;
  Settings settings;
  Timeline timeline;
  Report report;
  Contexts contexts;
  Trace trace;
  MemoryOfGraphs memory_of_graphs;
  /// Numbers as in cudaDeviceSetLimit: stack, printf buffer, heap, …
  std::array<std::size_t, 8> limits = {1024, 1 << 20, 8 << 20, 2, 2048, 0, 0, 0};

  const GpuFacts& gpu() const { return *gpu_; }
  /// The compute capability as a number: 90 for 9.0.
  int architecture() const;
  /// The device, of which the caller may read and write everything: deferred work is carried out first.
  simulated::SimulatedDevice& device();
  /// The textures. From now on no launch is deferred, since a kernel may read from a texture.
  simulated::TextureTable& textures();
  /// All that it has seen of mutants since the last call.
  simulated::MutantsSeen take_mutants() { return device_.take_mutants(); }
  /// Notes that the host reads these bytes of the device.
  void host_reads(const std::byte* bytes, std::uint64_t count) { device_.host_reads(bytes, count); }
  /// Whether the address is one of the device, or of memory that it sees.
  bool owns(const void* address) const { return device_.allocation_at(address) != nullptr; }
  const simulated::Allocation* allocation_at(const void* address) const { return device_.allocation_at(address); }
  /// 13000, unless the settings make it older, and of no use to the runtime.
  int driver_version() const;
  /// How many devices the program sees: those of the settings that CUDA_VISIBLE_DEVICES does not hide.
  int device_count() const { return static_cast<int>(visible_.size()); }
  /// The number of the program's device among the machine's.
  int gpu_of(int device) const {
    return static_cast<std::size_t>(device) < visible_.size() ? visible_[static_cast<std::size_t>(device)] : device;
  }
  /// The program's number of a GPU of the machine; -1 where CUDA_VISIBLE_DEVICES hides it.
  int device_of(int gpu) const {
    const auto found = std::ranges::find(visible_, gpu);
    return found == visible_.end() ? -1 : static_cast<int>(found - visible_.begin());
  }
  /// From now on memory, variables and launches are that device's.
  void work_on(int device) { device_.set_device(device); }
  /// The current device may reach the peer's memory. Throws Failure if it may already, or if it is its own.
  void let_reach(int peer);
  void reach_no_longer(int peer);
  /// Beside its own device these may reach the memory: a bit for each.
  void let_devices(const void* address, std::uint64_t others);

  // Modules and their contents.
  Module& add_module(const void* fat_binary);
  Module& add_module(std::vector<const void*> fat_binaries);
  Module& add_module(std::string ptx);
  /// Adds a kernel, found from now on by the result's address, and by `host` if there is such a function.
  Function& add_function(const void* host, Module& module, std::string name);
  void add_variable(const void* host, Variable variable);
  /// Forgets everything that belongs to the module; its kernels may still be in reports.
  void forget(const Module& module);
  /// Removes the module, and its kernels and variables from the device.
  void remove_module(Module& module);
  /// Throws Failure for an address that is no kernel's.
  Function& function(const void* host);
  Function* find_function(const void* host);
  /// Makes a kernel ready to run. Throws Failure with what is not supported.
  const ptx::Kernel& kernel(Function& function);
  const void* loaded(Function& function);
  std::uint64_t static_shared_bytes(Function& function);
  /// The architecture that the PTX was made for: 75 for compute_75.
  int ptx_architecture(Function& function);
  /// A usual number of registers, as no compiler has said how many the kernel takes.
  static int assumed_registers(const Function& /*function*/) { return 32; }
  /// Blocks of `threads` threads that a multiprocessor holds at a time; 0 if it holds none.
  int resident_blocks(Function& function, int threads, std::uint64_t dynamic_shared_bytes);
  /// Clusters of launches like this one that the device holds at a time. Throws Failure if it has no clusters.
  int resident_clusters(Function& function, const LaunchRequest& request);
  /// The most blocks of a cluster for which it holds one.
  int largest_cluster(Function& function, const LaunchRequest& request);
  const Variable& variable(const void* host) const;
  /// Gives the program's pointers to managed variables of the module their addresses. Throws Failure.
  void place_managed(const Module& module);
  /// The variable's address on the device.
  std::byte* address_of(const Variable& variable);
  std::byte* address_of(Module& module, const std::string& name, std::uint64_t* bytes);

  // Memory.
  /// Allocates memory; findings call it `name`, if that is given.
  void* allocate(MemoryKind kind, std::uint64_t bytes, unsigned flags, const char* call, std::string_view name = {});
  /// Notes that so many bytes more of a device are used.
  void uses(int device, std::int64_t bytes);
  /// Notes memory of a device that was mapped at an address, or is there no longer.
  void note_mapped(std::uint64_t address, std::uint64_t bytes, int device);
  void forget_mapped(std::uint64_t address) { memory_.erase(address); }
  /// Moves allocated memory of the device into a file for other processes: its descriptor. Throws Failure.
  int share(void* address, std::uint64_t& bytes);
  /// The address of such a file of another process, opened maybe not for the first time. Throws Failure.
  void* open_shared(int file, std::uint64_t bytes, std::uint64_t inode);
  void close_shared(void* address);
  void register_host(void* address, std::uint64_t bytes, unsigned flags);
  void free(void* address, bool host, const char* call);
  /// The memory that holds the address, with its beginning in `begin`; nullptr for the host's own memory and wrong
  /// addresses.
  const Memory* memory_at(const void* address, std::uint64_t* begin = nullptr) const;
  /// The bytes that can be allocated.
  std::uint64_t free_bytes() const {
    return capacity_ - std::min(capacity_, used_by(Contexts::current_device()) + bytes_of_other());
  }
  /// The capacity that the program is told: where the memory grows from a small size, twice what has been used.
  std::uint64_t capacity() const;
  std::uint64_t told_free_bytes() const { return told_free_bytes(Contexts::current_device()); }
  std::uint64_t told_free_bytes(int device) const {
    return capacity() - std::min(capacity(), used_by(device) + bytes_of_other());
  }
  /// The host's view of these bytes, in any kind of memory. Throws Failure if device memory does not hold them.
  std::byte* bytes_at(const void* address, std::uint64_t bytes) const;
  void wrote(void* address, std::uint64_t bytes);
  /// For initcheck: bytes that nothing has written stay so where a copy on the device brings them.
  void copied(void* to, const void* from, std::uint64_t bytes) { device_.copied(to, from, bytes); }
  void look_for_unwritten(simulated::UnwrittenBytes& unwritten, const void* from, std::uint64_t bytes) {
    device_.look_for_unwritten(unwritten, from, bytes);
  }
  /// Lets initcheck report a copy to the host from `from` on that brings such bytes.
  void brought_unwritten(const simulated::UnwrittenBytes& unwritten, const void* from);

  // Streams and events; a null stream is the default stream.
  Stream* add_stream(unsigned flags, int priority);
  void remove_stream(Stream* stream);
  /// Throws Failure for a wrong handle.
  int stream_number(const void* stream);
  Stream* find_stream(const void* stream) const;
  /// The attributes set for a stream, which the default stream has as well. Throws Failure for a wrong handle.
  std::map<int, std::array<std::byte, 64>>& stream_attributes(const void* stream);
  Event* add_event(unsigned flags);
  void remove_event(Event* event);
  Event& event(const void* event) const;

  /// Graphs and current captures.
  Graphs& graphs() { return *graphs_; }
  Arrays& arrays() { return *arrays_; }
  MemoryPools& pools() { return *pools_; }

  // Work.
  /// Launches, or captures the launch if the stream is captured.
  void launch(Function& function, const LaunchRequest& request, void* const* arguments);
  /// The launch as data. Throws Failure for sizes that the kernel or the GPU does not accept.
  KernelWork kernel_work(Function& function, const LaunchRequest& request, void* const* arguments);
  void run(const KernelWork& work, int stream);
  /// Copies or fills memory, now or deferred. It writes `to` and reads `from`, if these are on the device. `kept_bytes`
  /// is the size of the data that comes with it, which is a part of its name.
  void move_bytes(const ContentName& name, const void* to, const void* from, std::uint64_t kept_bytes,
                  std::function<void()> carry_out);
  /// Copies bytes of the device to the host: `look` gives them and `deliver` puts them where they go. This happens at
  /// once, or when the host has waited. False if nothing is deferred; then nothing was done.
  bool bring_to_host(const ContentName& name, const void* from, std::function<std::vector<std::byte>()> look,
                     std::function<void(const std::vector<std::byte>&)> deliver, bool at_once);
  /// Called when the host has waited for something: delivers the deferred copies to it. Throws Failure as `settle`
  /// does.
  void host_may_look();
  /// Whether something is deferred: whatever follows it has to be as well.
  bool is_put_off() const { return deferred_ && !deferred_->is_settled(); }
  /// Notes that the host has just written to this memory.
  void moved_by_host(const void* to);
  /// Carries out all deferred work. Throws Failure if that loses the device.
  void settle();
  /// The clock of the device, with the real clock; otherwise null.
  GpuClock* gpu_clock() { return gpu_clock_ ? &*gpu_clock_ : nullptr; }
  // Order between streams, which racecheck looks at from the first stream on that a program makes.
  /// Begins work in a stream; `what` is what people know it by.
  void begin_work(std::string_view what, int stream);
  /// The work that has begun reads or writes these bytes, if they are memory of the device or seen by it.
  void touches(const void* address, std::uint64_t bytes, bool writes);
  /// The graph whose nodes have the timeline's streams from `first` on ends as this work of a stream.
  void graph_ended(int first, int stream, std::uint32_t number);
  /// Notes a copy or a fill of so many bytes and when it happens.
  void note_copy(const char* what, Engine engine, std::uint64_t bytes, bool pinned, int stream, bool host_waits);
  /// Notes a copy or a fill that stays on the device and moves `moved` bytes through its memory, and when it happens.
  void note_copy_on_device(const char* what, std::uint64_t moved, std::uint64_t bytes, int stream);
  void synchronize(int stream);
  void synchronize_all();

  // Errors.
  /// The error of a kernel, which the next call and every later one returns.
  Status lost() const { return lost_; }
  void lose(Status status, const std::string& text);
  /// The explanation given when the device was lost.
  const std::string& why_lost() const { return why_lost_; }

  /// A call of the program begins or ends, none within another. In between the host's own accesses of memory that it
  /// shares with the device are looked at (HostAccesses).
  void call_begins();
  void call_ends() noexcept;
  /// The host has seen the end of all work in the stream, though it has not waited for it.
  void host_sees(int stream) { host_accesses_.sees(timeline.end_of(stream).ended); }

  // Members for the device that served_device.cpp makes of this machine.
  bool collects_counters = false;
  std::vector<KernelCounters> collected_counters;  ///< for every launch, in order, if `collects_counters`
  BesideKernels beside;                            ///< if `collects_counters`
  std::map<std::string, simulated::KernelFigures> collected_instructions;  ///< by kernel, if `collects_counters`
  /// Adds the instructions of the launches whose counters were taken last.
  void collect_instructions();
  std::string failed_launch;  ///< the first launch that was refused, and why; empty if there was none
  /// Notes the failure, if the call is one that launches and its failure says why.
  void note_failed_launch(std::string_view call, const Failure& failure);
  /// Begins a call: counts it, and takes its time of the host. Throws Failure for an injected fault, and if the process
  /// has no context and gets none.
  void begin_call(const char* name, bool needs_context);
  /// For cudaDeviceReset: frees everything that the context has made, and forgets its error. Modules stay.
  void reset(const DeviceContext& context);

  /// Whether this process was forked from one that had used the device, and so has none, as on a GPU.
  static bool is_lost_by_fork();

  /// At the end of the process: looks for leaks and writes the report.
  void finish() noexcept;
  /// As `finish`, but in the handler of a signal, as far as that is possible. If `touched` is an address of the device,
  /// the host has touched it, at `places`.
  void finish_by_signal(const std::string& signal, std::uint64_t touched, const CallPlaces& places);

 private:
  Machine(Settings settings, const GpuFacts& gpu);
  void open_context();
  simulated::DeviceRuntimeFacts facts_for_kernels();
  std::uint64_t most_dynamic_shared_bytes(const ptx::Kernel& found);
  std::uint64_t used_by(int device) const;
  std::uint64_t bytes_of_other() const { return settings.real_clock ? settings.real_clock->sharing.memory_bytes : 0; }
  /// The beginning of the allocation that holds the address; 0 for addresses outside of the device's own memory.
  std::uint64_t own_begin(const void* address) const;
  void execute(const KernelWork& work, const LaunchRequest& request);
  void take_over(const Function& function, const LaunchRequest& request);
  void found_in(const Function& function, std::vector<simulated::Finding> findings);
  void write_asserted();
  KernelLaunch device_launch(const KernelWork& work, const LaunchRequest& request);
  void run_by_real_clock(const KernelWork& work, const LaunchRequest& request);
  bool may_be_put_off(const KernelLaunch& launch);
  std::optional<KernelCounters> counted_aside(const KernelLaunch& launch, bool is_part);
  Timeline::Span enqueue_kernel(KnownLaunch& known, int stream);
  simulated::KernelClocks clocks_of_next(int stream);
  void put_off_with_clocks(const KernelWork& work, const LaunchRequest& request);
  void end_if_signalled();
  void report_known_launches();
  void find_leaks();
  void note_freed_wrongly(const void* address, const char* call);
  void check_launch(Function& function, const LaunchRequest& request);

  const GpuFacts* gpu_;
  const simulated::GpuModel* gpu_model_;  // the model of the caches: that GPU's, or the default's
  simulated::SimulatedDevice device_;
  /// From now on looks at the order of work: of all, or only where it uses memory that the host sees.
  void look_at_order(bool of_all);
  std::optional<simulated::WorkOrder> work_order_;
  HostAccesses host_accesses_;
  std::string work_;                      // the last one that has begun
  std::optional<DeferredWork> deferred_;  // with the real clock, like the next members
  std::optional<GpuClock> gpu_clock_;
  bool has_textures_ = false;
  struct HashOfName {
    std::size_t operator()(const ContentName& name) const { return name.low; }
  };
  std::unordered_map<ContentName, KnownLaunch, HashOfName> known_launches_;
  std::unordered_map<ContentName, KernelCounters, HashOfName> counted_by_sizes_;
  std::map<int, GpuFacts> gpu_at_;  // by clock in MHz
  std::vector<Memory> ending_;      // freed by the program, but deferred work may still need them
  std::uint64_t capacity_ = 0;
  std::map<int, std::uint64_t> used_;      // by device
  std::vector<int> visible_;               // the machine's numbers of the program's devices
  std::set<std::pair<int, int>> reaches_;  // devices, and the peers whose memory they may reach
  std::list<Module> modules_;
  std::unordered_map<const void*, std::shared_ptr<Function>> functions_;
  std::unordered_map<const void*, Variable> variables_;
  std::map<std::uint64_t, Memory> memory_;  // by beginning
  std::uint64_t allocations_ = 0;
  std::map<const void*, std::unique_ptr<Stream>> streams_;
  std::uint64_t next_stream_id_ = 1;
  Stream default_stream_;
  std::map<const void*, std::unique_ptr<Event>> events_;
  std::unique_ptr<Graphs> graphs_;
  std::unique_ptr<Arrays> arrays_;
  std::unique_ptr<MemoryPools> pools_;
  Status lost_ = kSuccess;
  std::string why_lost_;
  bool has_context_ = false;
  int exclusive_lock_ = -1;     // a file, locked by the one process with a context
  std::string blind_checkers_;  // as the device says
  bool finished_ = false;
  bool calls_ever_ = false;
};

/// While it exists, this thread works on that device, in its primary context.
class OnDevice {
 public:
  OnDevice(Machine& machine, int device) : machine_(machine), changes_(device != Contexts::current_device()) {
    if (!changes_) return;
    machine_.contexts.push(machine_.contexts.live_primary(device));
    machine_.work_on(device);
  }
  ~OnDevice() {
    if (!changes_) return;
    machine_.contexts.pop();
    machine_.work_on(Contexts::current_device());
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  Machine& machine_;
  bool changes_;
};

/// A call of the program, from its begin to its end, for the report.
class TimedCall {
 public:
  TimedCall(Machine& machine, std::string_view name) : machine_(machine), name_(name), begin_(machine.timeline.now()) {}
  ~TimedCall() {
    machine_.report.call_took(name_, machine_.timeline.now() - begin_);
    machine_.trace.add_call(name_, {begin_, machine_.timeline.now()});
  }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  Machine& machine_;
  std::string_view name_;
  Nanoseconds begin_;
};

}  // namespace convladder::stand_in

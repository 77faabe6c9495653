// What the programs of a process see: one GPU with its memory, modules, streams and events, on the simulated device.
//
// Everything is carried out when it is enqueued, in that order, which is one of the orders that streams allow; when it
// would have happened on a GPU is the timeline's to say. By the real clock it is carried out in the same order, but put
// off as deferred_work.hpp says. One lock around every call: any host thread may call.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/device/simulated_device.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/gpus/time_model.hpp"
#include "simulator/stand_in/contexts.hpp"
#include "simulator/stand_in/deferred_work.hpp"
#include "simulator/stand_in/gpu_clock.hpp"
#include "simulator/stand_in/modules/modules.hpp"
#include "simulator/stand_in/report/report.hpp"
#include "simulator/stand_in/report/trace.hpp"
#include "simulator/stand_in/settings.hpp"
#include "simulator/stand_in/status.hpp"
#include "simulator/stand_in/timeline.hpp"

namespace convladder::stand_in {

/// What a piece of memory is to the program.
enum class MemoryKind { device, managed, pinned, registered };

struct Memory {
  MemoryKind kind = MemoryKind::device;
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;                ///< in the order of allocations, from 1
  DeviceBuffer buffer;                     ///< empty for registered memory
  unsigned flags = 0;                      ///< as given when it was made
  const DeviceContext* context = nullptr;  ///< that ends with it
};

struct Stream {
  int number = 0;  ///< of the timeline
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  const DeviceContext* context = nullptr;
  std::map<int, std::array<std::byte, 64>> attributes{};  ///< that were set, as cudaLaunchAttributeID numbers them
};

struct Event {
  const DeviceContext* context = nullptr;
  unsigned flags = 0;
  bool is_recorded = false;
  Nanoseconds at = 0;
};

/// A launch that was executed before, by the real clock: the same function, sizes and arguments.
struct KnownLaunch {
  const Function* function = nullptr;
  std::shared_ptr<const DeferredOperation> operation;  ///< none: it is executed each time, at once
  bool is_timeless = false;                            ///< it reads clocks, and takes as long whatever they say
  bool has_no_effect = false;                          ///< it writes nothing
  LaunchCounts counts;                                 ///< of the last time that it was executed at once
  KernelCounters counters;
  double share = 1;             ///< of the device, that it fills
  double least_cycles = 0;      ///< that a kernel has seen pass by the clock that it reads
  std::map<int, double> ns_at;  ///< by MHz
  std::uint64_t times = 0;      ///< that it was launched
  Nanoseconds total_ns = 0;
};

/// A launch as either API asks for it; arguments as the kernel's parameters have them.
struct LaunchRequest {
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  int stream = 0;
  bool cooperative = false;
  Dim3 cluster{0, 0, 0};  ///< 0: as the kernel says
};

class Arrays;
class Graphs;
class MemoryPools;
struct KernelWork;

class Machine {
 public:
  ~Machine();
  /// The one of this process, made at the first call and never destroyed: programs call until their very end. Throws
  /// Failure if the settings cannot be had.
  static Machine& get();

  std::recursive_mutex mutex;
  Settings settings;
  Timeline timeline;
  Report report;
  Contexts contexts;
  Trace trace;
  /// As cudaDeviceSetLimit numbers them: stack, printf buffer, heap, …
  std::array<std::size_t, 8> limits = {1024, 1 << 20, 8 << 20, 2, 2048, 0, 0, 0};

  const GpuFacts& gpu() const { return *gpu_; }
  /// 90 for compute capability 9.0.
  int architecture() const;
  /// Whoever asks for it may look and write: what was put off is carried out.
  simulated::SimulatedDevice& device();
  /// From now on no launch is put off, since what a kernel reads may come from a texture.
  simulated::TextureTable& textures();
  /// Whether the address is one of the device, or of memory that it sees.
  bool owns(const void* address) const { return device_.allocation_at(address) != nullptr; }
  const simulated::Allocation* allocation_at(const void* address) const { return device_.allocation_at(address); }
  /// 13000, unless the settings say that it is older, and of no use to the runtime.
  int driver_version() const;
  /// 1, or 0 where CUDA_VISIBLE_DEVICES hides it.
  int device_count() const;

  // Modules and what is in them.
  Module& add_module(const void* fat_binary);
  Module& add_module(std::vector<const void*> fat_binaries);
  Module& add_module(std::string ptx);
  /// A kernel, found from now on by the address of what this returns, and by `host`, if there is such a function.
  Function& add_function(const void* host, Module& module, std::string name);
  void add_variable(const void* host, Variable variable);
  /// Forgets what belongs to the module; its kernels may still be in reports.
  void forget(const Module& module);
  /// Its kernels and variables are gone from the device as well.
  void remove_module(Module& module);
  /// Throws Failure for an address that is none of a kernel's.
  Function& function(const void* host);
  Function* find_function(const void* host);
  /// Makes it ready to run. Throws Failure with what is not supported.
  const ptx::Kernel& kernel(Function& function);
  const void* loaded(Function& function);
  std::uint64_t static_shared_bytes(Function& function);
  /// 75 for PTX that was made for compute_75.
  int ptx_architecture(Function& function);
  /// No compiler has said how many registers the kernel takes: a usual number.
  static int assumed_registers(const Function& /*function*/) { return 32; }
  /// Blocks of `threads` threads that a multiprocessor holds at a time; 0 if it holds none.
  int resident_blocks(Function& function, int threads, std::uint64_t dynamic_shared_bytes);
  const Variable& variable(const void* host) const;
  /// Gives the program's pointers to managed variables of the module their addresses. Throws Failure.
  void place_managed(const Module& module);
  /// Its address on the device.
  std::byte* address_of(const Variable& variable);
  std::byte* address_of(Module& module, const std::string& name, std::uint64_t* bytes);

  // Memory.
  /// `name`, if there is one, is what findings call it.
  void* allocate(MemoryKind kind, std::uint64_t bytes, unsigned flags, const char* call, std::string_view name = {});
  void register_host(void* address, std::uint64_t bytes, unsigned flags);
  void free(void* address, bool host, const char* call);
  /// The memory that holds the address; nullptr for the host's own and for wrong ones. `begin` becomes its begin.
  const Memory* memory_at(const void* address, std::uint64_t* begin = nullptr) const;
  /// What can be allocated.
  std::uint64_t free_bytes() const { return capacity_ - std::min(capacity_, used_ + bytes_of_other()); }
  /// What the program is told: where the memory is small at first, twice of what was used, as it grows.
  std::uint64_t capacity() const;
  std::uint64_t told_free_bytes() const { return capacity() - std::min(capacity(), used_ + bytes_of_other()); }
  /// Where the host finds these bytes, of any kind of memory. Throws Failure if device memory does not hold them.
  std::byte* bytes_at(const void* address, std::uint64_t bytes) const;
  void wrote(void* address, std::uint64_t bytes);

  // Streams and events; a null stream is the default stream.
  Stream* add_stream(unsigned flags, int priority);
  void remove_stream(Stream* stream);
  /// Throws Failure for what is none.
  int stream_number(const void* stream) const;
  Stream* find_stream(const void* stream) const;
  /// The default stream has some as well. Throws Failure for what is no stream.
  std::map<int, std::array<std::byte, 64>>& stream_attributes(const void* stream);
  Event* add_event(unsigned flags);
  void remove_event(Event* event);
  Event& event(const void* event) const;

  /// Graphs, and what is being captured.
  Graphs& graphs() { return *graphs_; }
  Arrays& arrays() { return *arrays_; }
  MemoryPools& pools() { return *pools_; }

  // Work.
  /// Launches, or keeps the launch if the stream is captured.
  void launch(Function& function, const LaunchRequest& request, void* const* arguments);
  /// The launch as data. Throws Failure for sizes that the kernel or the GPU does not take.
  KernelWork kernel_work(Function& function, const LaunchRequest& request, void* const* arguments);
  void run(const KernelWork& work, int stream);
  /// Work that copies or fills: carried out now, or put off. `to` is what it writes, `from` what it reads, if they are
  /// on the device. What it brings along is `kept_bytes`, and a part of its name.
  void move_bytes(const ContentName& name, const void* to, const void* from, std::uint64_t kept_bytes,
                  std::function<void()> carry_out);
  /// A copy of the device's bytes to the host: `look` gives them and `deliver` puts them where they go. At once, or
  /// when the host has waited. False if nothing is put off, and nothing was done.
  bool bring_to_host(const ContentName& name, const void* from, std::function<std::vector<std::byte>()> look,
                     std::function<void(const std::vector<std::byte>&)> deliver, bool at_once);
  /// The host has waited for something: what was put off and goes to it is there. Throws Failure as `settle`.
  void host_may_look();
  /// Whether something is put off: what is to come behind it has to be as well.
  bool is_put_off() const { return deferred_ && !deferred_->is_settled(); }
  /// The host has written to this memory, now.
  void moved_by_host(const void* to);
  /// What was put off is carried out. Throws Failure if that loses the device.
  void settle();
  /// The device's clock, by the real clock.
  GpuClock* gpu_clock() { return gpu_clock_ ? &*gpu_clock_ : nullptr; }
  /// Notes a copy or a fill of so many bytes and when it happens.
  void note_copy(const char* what, Engine engine, std::uint64_t bytes, bool pinned, int stream, bool host_waits);
  /// The same of one that stays on the device and moves `moved` bytes through its memory.
  void note_copy_on_device(const char* what, std::uint64_t moved, std::uint64_t bytes, int stream);
  void synchronize(int stream);
  void synchronize_all();

  // Errors.
  /// The error of a kernel that the next call hears of; from then on every call has it.
  Status lost() const { return lost_; }
  void lose(Status status, const std::string& text);
  /// What was said when it was lost.
  const std::string& why_lost() const { return why_lost_; }

  // For the device that served_device.cpp makes of it.
  bool keeps_counters = false;
  std::vector<KernelCounters> kept_counters;  ///< of every launch, in order, if so
  std::string failed_launch;                  ///< the first that was refused, and why; empty if there was none
  /// Keeps it, if the call is one that launches and its failure says why.
  void note_failed_launch(std::string_view call, const Failure& failure);
  /// What every call begins with: it is counted, and takes its time of the host. Throws Failure for a fault that is
  /// injected, and if the process has no context and gets none.
  void begin_call(const char* name, bool needs_context);
  /// After cudaDeviceReset: what the context has made is freed, and its error forgotten. Modules stay.
  void reset(const DeviceContext& context);

  /// A forked process has no device if its parent has used one, as on a GPU.
  static bool is_lost_by_fork();

  /// The end of the process: leaks are looked for, the report is written.
  void finish() noexcept;
  /// The same in the handler of a signal: as far as it can be had. If `touched` is an address of the device, the host
  /// has touched it, at `places`.
  void finish_by_signal(const std::string& signal, std::uint64_t touched, const CallPlaces& places);

 private:
  Machine(Settings settings, const GpuFacts& gpu);
  void open_context();
  std::uint64_t bytes_of_other() const { return settings.real_clock ? settings.real_clock->sharing.memory_bytes : 0; }
  /// Where the allocation begins that holds the address; 0 for addresses that are not the device's own memory.
  std::uint64_t own_begin(const void* address) const;
  void execute(const KernelWork& work, const LaunchRequest& request);
  void take_over(const Function& function, const LaunchRequest& request);
  KernelLaunch device_launch(const KernelWork& work, const LaunchRequest& request);
  void run_by_real_clock(const KernelWork& work, const LaunchRequest& request);
  bool may_be_put_off(const KernelLaunch& launch);
  std::optional<KernelCounters> counted_aside(const KernelLaunch& launch, bool is_part);
  Timeline::Span enqueue_kernel(KnownLaunch& known, int stream);
  simulated::KernelClocks clocks_of_next(int stream);
  void put_off_with_clocks(const KernelWork& work, const LaunchRequest& request);
  void report_known_launches();
  void find_leaks();
  void note_freed_wrongly(const void* address, const char* call);
  void check_launch(Function& function, const LaunchRequest& request);

  const GpuFacts* gpu_;
  const simulated::GpuModel* gpu_model_;  // whose caches are modelled: that GPU's, or the default's
  simulated::SimulatedDevice device_;
  std::optional<DeferredWork> deferred_;  // by the real clock, as the next
  std::optional<GpuClock> gpu_clock_;
  bool has_textures_ = false;
  struct HashOfName {
    std::size_t operator()(const ContentName& name) const { return name.low; }
  };
  std::unordered_map<ContentName, KnownLaunch, HashOfName> known_launches_;
  std::unordered_map<ContentName, KernelCounters, HashOfName> counted_by_sizes_;
  std::map<int, GpuFacts> gpu_at_;  // by MHz
  std::vector<Memory> ending_;      // that the program has freed, and what is put off may still need
  std::uint64_t capacity_ = 0;
  std::uint64_t used_ = 0;
  std::list<Module> modules_;
  std::unordered_map<const void*, std::shared_ptr<Function>> functions_;
  std::unordered_map<const void*, Variable> variables_;
  std::map<std::uint64_t, Memory> memory_;  // by begin
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
  int exclusive_lock_ = -1;  // a file that the one process with a context holds
  bool finished_ = false;
  bool calls_ever_ = false;
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

/// Where the program has called from, innermost first, without what is ours.
CallPlaces calling_places();
/// The place of an instruction; none if it is nobody's or ours.
std::optional<CallPlace> place_of(std::uint64_t instruction);

}  // namespace convladder::stand_in

// A device holds memory, runs kernels and knows its own clock.
//
// The harness and the variants see only this interface, whatever executes a launch (a GPU, or the simulated device).
// Nothing here knows of convolution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/kernel_launch.hpp"

namespace convladder {

class Device;
class DeviceFilling;

/// Memory on a device, freed with its owner. Move-only.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device& device, void* address, std::size_t bytes) : device_(&device), address_(address), bytes_(bytes) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  void* address() const { return address_; }
  float* floats() const { return static_cast<float*>(address_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Host memory that a device copies from and to without the processor's help. Move-only.
class PinnedBuffer {
 public:
  using Release = void (*)(void*);
  PinnedBuffer() = default;
  PinnedBuffer(void* address, std::size_t bytes, Release release) : memory_(address, release), bytes_(bytes) {}

  void* address() const { return memory_.get(); }
  float* floats() const { return static_cast<float*>(memory_.get()); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, Release> memory_{nullptr, [](void*) {}};
  std::size_t bytes_ = 0;
};

/// The condition of a device apart from its work. Asking may take milliseconds, so it belongs between measurements; the
/// growing figures show what happens meanwhile. Empty where the device cannot tell.
struct DeviceState {
  std::optional<double> temperature_celsius;
  /// For how many nanoseconds, since the driver was loaded, the clock was held down, by reason. The difference of two
  /// states covers the time between them.
  std::vector<std::pair<std::string, double>> held_ns;
  /// Why the clock is held down at this moment, where `held_ns` is not known: an idle device no longer knows.
  std::vector<std::string> held_now;
};

/// Work that was recorded once, on a device that outlives it. Replaying it costs the host little more than one launch,
/// however many launches it has.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;
  /// Enqueues all of the work, in the current stream of `launch`. Throws DeviceError.
  virtual void replay() = 0;
};

/// A device's counts of one kernel launch, without times, summed over all its blocks.
struct KernelCounters {
  std::string kernel;  ///< the name as written: "convladder::conv_shared_memory"
  Dim3 grid;
  Dim3 block;
  std::vector<std::pair<std::string, double>> values;  ///< counts by the profiler's names
  /// Traffic from a model of caches, by the profiler's names. It also depends on where the data lies.
  std::vector<std::pair<std::string, double>> modelled;
  unsigned items_executed = 0;   ///< 0: every block ran; otherwise the blocks of so many of the launch's items
  bool depends_on_data = false;  ///< whether other data could have led to other sums

  bool operator==(const KernelCounters&) const = default;
};

/// A device's counts of one line of source, over kernels that it has executed.
struct LineCounters {
  std::string path;  ///< of the source, as its compiler was told; empty: instructions of which nobody told it
  int line = 0;
  int instructions = 0;                    ///< that were made of it
  std::map<std::string, double> counters;  ///< sums by the profiler's names; no zeros

  bool operator==(const LineCounters&) const = default;
};

/// The work of a program between the kernels that it launches: it takes time on a GPU as well.
struct WorkBeside {
  double bus_ns = 0;       ///< copies between host and device, by the times of the model of the bus
  double moved_bytes = 0;  ///< read and written in the device's memory by copies and fills that stay on it
  int operations = 0;      ///< these copies and fills
  double calls_ns = 0;     ///< allocating and freeing memory, by the same model
  double host_ns = 0;      ///< processor time of the process outside of its calls of the API: measured on this machine

  bool operator==(const WorkBeside&) const = default;
};

/// The items first … first + count - 1 of a batch of `of` items. If a launch says which blocks work at which items, and
/// its grid is as large as that asks for, blocks of other items need not run.
struct GridWindow {
  unsigned first = 0;
  unsigned count = 0;
  unsigned of = 0;  ///< 0: the window counts places on the grid's x axis, whatever the launch says
};

/// The groups of activities; a profile has a table for each. The first two come from a GPU's profiling interface, the
/// others from the clocks of the device and of the host.
namespace activity_group {
inline constexpr std::string_view kGpu = "GPU activities";
inline constexpr std::string_view kApi = "API calls";
inline constexpr std::string_view kLayers = "layers";
inline constexpr std::string_view kHost = "host phases";
}  // namespace activity_group

/// An entry of the timeline of a device, as a profiler would list it: a kernel, a copy, a call, a layer or a phase.
struct Activity {
  std::string group;    ///< activity_group::…
  std::string name;     ///< "void conv_shared_memory(float const*, …)", "[CUDA memcpy HtoD]", "cudaMalloc", "conv1"
  double start_ns = 0;  ///< on one clock for all activities of a recording
  double duration_ns = 0;  ///< measured
};

/// A place where convolutions run. Every failure is an exception: `DeviceError` for a launch or a copy that failed.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Bytes that can still be allocated.
  virtual std::size_t free_bytes() const = 0;

  /// Allocates `bytes`, aligned to at least 64; `label` names the allocation in errors.
  virtual DeviceBuffer allocate(std::size_t bytes, std::string_view label) = 0;
  virtual void copy_to_device(void* destination, const void* source, std::size_t bytes) = 0;
  virtual void copy_to_host(void* destination, const void* source, std::size_t bytes) = 0;
  /// Copies values that the next call of a variant is to find, and no work before it. They stay where they are until
  /// that call has ended: a device may copy them only when it begins.
  virtual void copy_for_call(void* destination, const void* source, std::size_t bytes) {
    copy_to_device(destination, source, bytes);
  }
  /// From now on a call is to have written this memory when it returns: a device may look whether it changes after.
  virtual void expect_final(void* /*address*/, std::size_t /*bytes*/) {}
  /// Copies single elements of `bytes` each, one behind the other, from these places of an array.
  virtual void copy_elements_to_host(void* destination, const void* source, std::size_t bytes,
                                     std::span<const std::int64_t> places);
  /// Whether addresses are host memory, which the host may read and write directly, from any thread.
  virtual bool is_host_memory() const { return false; }
  /// The kernels that fill and change tensors where they lie (device_filling.hpp); null on devices that have none.
  virtual DeviceFilling* filling() { return nullptr; }

  /// Enqueues the copies into the kernel's variables and then the kernel. Throws on devices that run host code only.
  virtual void launch(const KernelLaunch& launch) = 0;
  /// Waits until everything enqueued is done.
  virtual void wait() = 0;

  /// Runs `work` and returns the nanoseconds it took by the device's own clock: events on a GPU, so that an
  /// asynchronous launch is timed to its end and not to its return.
  virtual double time_ns(const std::function<void()>& work) = 0;

  /// Times each of `work(0)`, `work(1)`, … alone, as `time_ns` does; `before(i)` runs ahead of each and is not timed.
  /// An asynchronous device is given all of it without waiting in between, so that its work is enqueued before it gets
  /// there: otherwise a short call would take as long as enqueuing it.
  virtual std::vector<double> times_ns(std::size_t calls, const std::function<void(std::size_t)>& before,
                                       const std::function<void(std::size_t)>& work);

  /// Whether `flush_caches` does anything: only then are cold times measured.
  virtual bool can_flush_caches() const { return false; }
  /// Evicts the last-level cache and leaves no dirty lines that would have to be written back while something is timed.
  virtual void flush_caches() {}
  /// Makes cached data that earlier work had set aside a part of the cache for evictable like all other. Enqueues
  /// nothing.
  virtual void forget_persisting() {}

  /// The condition of the device at this moment.
  virtual DeviceState state() const { return {}; }
  /// The clock of the multiprocessors in MHz, as it was on average during the last `time_ns` or `times_ns`, measured by
  /// the device itself. None where it was too short to tell, and on devices that cannot. Asking may take milliseconds.
  virtual std::optional<double> timed_clock_mhz() { return std::nullopt; }

  /// Whether `record` may succeed.
  virtual bool can_record() const { return false; }
  /// Records what `work` enqueues, to be replayed; none of it runs now. nullptr if not all of it could be recorded,
  /// because it waits, allocates, or enqueues behind this interface's back; it may then have run.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& /*work*/) { return nullptr; }
  /// Enqueues a kernel that does nothing, which shows what a launch alone takes.
  virtual void launch_nothing() {}
  /// The stream of the launches, for libraries that enqueue work themselves: a cudaStream_t; null is the default one.
  virtual void* native_stream() const { return nullptr; }

  /// Whether `launch` returns before the work is done.
  virtual bool is_asynchronous() const { return false; }

  /// Whether the result of `time_ns` says anything about a kernel. A device of which it does not counts instead.
  virtual bool has_clock() const { return true; }
  /// The counters of the launches since the last call, in order. Empty for devices that count nothing.
  virtual std::vector<KernelCounters> take_counters() { return {}; }
  /// The counts of the launches that `take_counters` has given since the last call, by line of their source, without
  /// order. Their sum is that of all counters that are sums. Empty for devices that do not count by line.
  virtual std::vector<LineCounters> take_lines() { return {}; }
  /// The work beside the kernels since the last call. Zeros for devices that do not look for it.
  virtual WorkBeside take_work_beside() { return {}; }
  /// Switches the counting of launches, which is on at first. Launches that are not counted run faster and are missing
  /// in `take_counters`. For devices that can do without counting.
  virtual void set_counting(bool /*counts*/) {}
  /// From now on only the window's blocks need to run, in launches where the device can be sure that the other blocks
  /// do the same for their items; none lifts the limit. For devices that count.
  virtual void set_grid_window(std::optional<GridWindow> /*window*/) {}
  /// From now on launches run only for the counters of the whole grid: where the device can be sure that blocks do the
  /// same for other items, it may run the blocks of about `count` items only. What launches write is of no use. None
  /// ends this.
  virtual void set_counted_items(std::optional<GridWindow> /*items*/) {}

  /// Streams and events that a device with `can_overlap` has, each numbered from 0.
  static constexpr int kStreams = 3;
  static constexpr int kEvents = 8;

  /// Whether copies and kernels in different streams can be under way at a time. Where they cannot, the calls below
  /// throw DeviceError. Stream 0 is where everything else is enqueued: `launch` at first, libraries, `time_ns`. The
  /// other streams do not wait for it; `wait` waits for all.
  virtual bool can_overlap() const { return false; }
  /// Page-locked memory, aligned to at least 64 bytes; `label` names it in errors.
  virtual PinnedBuffer allocate_pinned(std::size_t bytes, std::string_view label);
  /// Lets the device copy from and to existing memory without the processor's help, as with `allocate_pinned`, until
  /// the result is destroyed. Empty where that cannot be: copies take longer then.
  virtual PinnedBuffer pin(void* /*address*/, std::size_t /*bytes*/) { return {}; }
  /// Launches, asynchronous copies and `record_event` from now on go to this stream.
  virtual void set_stream(int stream);
  /// Marks the current end of the current stream; an earlier mark of the event is forgotten.
  virtual void record_event(int event);
  /// Work enqueued in `stream` from now on starts after the place that `event` marks, in whatever stream that is.
  virtual void stream_waits_for(int stream, int event);
  /// Copies in the current stream. The host memory is pinned and stays as it is until the copy is done.
  virtual void copy_to_device_async(void* destination, const void* source, std::size_t bytes);
  virtual void copy_to_host_async(void* destination, const void* source, std::size_t bytes);

  /// Whether `start_activities` records anything: kernels, copies and API calls, by a profiler's interface.
  virtual bool records_activities() const { return false; }
  /// Why `start_activities` records nothing on a device that might, in one line: "no CUPTI (why)". Empty where it does,
  /// and for devices that never do.
  virtual std::string why_no_activities() const { return {}; }
  /// Records from now on what the device does. Recording takes time of its own, so no op time is taken meanwhile.
  virtual void start_activities() {}
  /// Waits for the device and returns what was recorded since `start_activities`, by start; ends the recording.
  virtual std::vector<Activity> stop_activities() { return {}; }

  /// The writes outside of an allocation since the last call, in one line; empty if none were seen.
  virtual std::string memory_violation() { return {}; }

 protected:
  /// Throw DeviceError for a number that no stream or no event has.
  static void check_stream(int stream);
  static void check_event(int event);

 private:
  friend class DeviceBuffer;
  virtual void free(void* address, std::size_t bytes) noexcept = 0;
};

inline DeviceBuffer::~DeviceBuffer() {
  if (device_ != nullptr && address_ != nullptr) device_->free(address_, bytes_);
}

}  // namespace convladder

// A device holds memory, runs kernels and knows its own clock.
//
// The harness and the variants see only this interface; what executes a launch (a GPU, or later the simulated
// device) is behind it. Nothing here knows of convolution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/activity.hpp"
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

/// Host memory that a device copies from and to by itself, without the processor's help. Move-only.
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

/// What a device says of itself beside its work. Asking may take milliseconds: it belongs between measurements, and
/// what happens meanwhile shows in what grows. Empty where the device cannot tell.
struct DeviceState {
  std::optional<double> temperature_celsius;
  /// For how many nanoseconds, since the driver was loaded, the clock was held down, by reason. The difference of two
  /// states is of the time between them.
  std::vector<std::pair<std::string, double>> held_ns;
  /// Why the clock is held down at this moment, where `held_ns` is not known: an idle device has forgotten.
  std::vector<std::string> held_now;
};

/// Work that was recorded once, on the device that it was recorded on and which outlives it. Replaying it costs the
/// host as much as one launch or little more, however many launches it has.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;
  /// Enqueues all of it, in the stream of `launch` at the start. Throws DeviceError.
  virtual void replay() = 0;
};

/// What a device counted of one kernel launch: no times. The sums are those of all its blocks.
struct KernelCounters {
  std::string kernel;  ///< as written: "convladder::conv_shared_memory"
  Dim3 grid;
  Dim3 block;
  std::vector<std::pair<std::string, double>> values;    ///< by the profiler's names of them
  std::vector<std::pair<std::string, double>> modelled;  ///< likewise: traffic below a model of caches, which also
                                                         ///< depends on where the data lies
  unsigned items_executed = 0;   ///< 0: every block ran; otherwise the blocks of so many of the launch's items
  bool depends_on_data = false;  ///< whether other data could have led to other sums

  bool operator==(const KernelCounters&) const = default;
};

/// The items first … first + count - 1 of a batch of `of` items. Of a launch that says which blocks work at
/// them, and whose grid is as large as that asks for, the others need not run.
struct GridWindow {
  unsigned first = 0;
  unsigned count = 0;
  unsigned of = 0;  ///< 0: places of the grid's x axis themselves, whatever the launch says
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
  /// Whether addresses are the host's own memory, which it may write and read by itself, from any thread.
  virtual bool is_host_memory() const { return false; }
  /// What fills and changes tensors where they lie (device_filling.hpp); null on devices that have no kernels for it.
  virtual DeviceFilling* filling() { return nullptr; }

  /// Enqueues the copies into the kernel's variables, and the kernel. Throws on devices that run host code only.
  virtual void launch(const KernelLaunch& launch) = 0;
  /// Waits until everything enqueued is done.
  virtual void wait() = 0;

  /// Runs `work` and returns the nanoseconds it took by the device's own clock: events on a GPU, so that an
  /// asynchronous launch is timed to its end and not to its return.
  virtual double time_ns(const std::function<void()>& work) = 0;

  /// Likewise of `work(0)`, `work(1)`, …, each by itself; `before(i)` is done ahead of each and not timed. A device
  /// that works by itself is given all of it without waiting in between, so that what it is told is there before it
  /// gets there: otherwise short calls would be as long as telling it.
  virtual std::vector<double> times_ns(std::size_t calls, const std::function<void(std::size_t)>& before,
                                       const std::function<void(std::size_t)>& work);

  /// Whether `flush_caches` does anything: only then are cold times measured.
  virtual bool can_flush_caches() const { return false; }
  /// Evicts the last-level cache, and leaves nothing in it that would have to be written back while something is timed.
  virtual void flush_caches() {}
  /// Has what earlier work set aside of a cache for its own data go the way of all others. Enqueues nothing.
  virtual void forget_persisting() {}

  /// What the device says of itself now.
  virtual DeviceState state() const { return {}; }
  /// The clock of the multiprocessors in MHz, as it was on average during the last `time_ns` or `times_ns`, measured by
  /// the device itself. None where it was too short to tell, and on devices that cannot. Asking may take milliseconds.
  virtual std::optional<double> timed_clock_mhz() { return std::nullopt; }

  /// Whether `record` may succeed.
  virtual bool can_record() const { return false; }
  /// What `work` enqueues, to be replayed: nothing of it runs now. nullptr if not all of it could be recorded, because
  /// it waits, allocates, or enqueues behind this interface's back; it may have run then.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& /*work*/) { return nullptr; }
  /// Enqueues a kernel that does nothing: what a launch takes by itself.
  virtual void launch_nothing() {}
  /// The stream that launches go to, for libraries that enqueue by themselves: a cudaStream_t; null is the default one.
  virtual void* native_stream() const { return nullptr; }

  /// Whether `launch` returns before the work is done.
  virtual bool is_asynchronous() const { return false; }

  /// Whether `time_ns` says anything about a kernel. A device that does not counts instead.
  virtual bool has_clock() const { return true; }
  /// The counters of the launches since the last call, in order. Empty for devices that count nothing.
  virtual std::vector<KernelCounters> take_counters() { return {}; }
  /// Whether launches are counted from now on, as they are at first. Those that are not counted run the quicker and are
  /// missing in `take_counters`. For devices that can do without.
  virtual void set_counting(bool /*counts*/) {}
  /// From now on only the window's blocks need to run, of launches of which the device can be sure that the others do
  /// the same for their items; none lifts the limit. For devices that count.
  virtual void set_grid_window(std::optional<GridWindow> /*window*/) {}
  /// From now on launches run to be counted as a whole: of those as above it may be the blocks of about `count` items
  /// only, from which the others' counters are known. What they write is of no use. None ends it.
  virtual void set_counted_items(std::optional<GridWindow> /*items*/) {}

  /// Streams and events that a device with `can_overlap` has, each numbered from 0.
  static constexpr int kStreams = 3;
  static constexpr int kEvents = 8;

  /// Whether copies and kernels in different streams can be under way at a time. Where they cannot, the calls below
  /// throw DeviceError. Stream 0 is where everything else enqueues: `launch` at the start, libraries, `time_ns`; the
  /// others do not wait for it. `wait` waits for all streams.
  virtual bool can_overlap() const { return false; }
  /// Page-locked memory, aligned to at least 64 bytes; `label` names it in errors.
  virtual PinnedBuffer allocate_pinned(std::size_t bytes, std::string_view label);
  /// Has the device copy from and to memory that is already there by itself, as from `allocate_pinned`, until the
  /// result is gone. Empty where that cannot be: copies take longer then.
  virtual PinnedBuffer pin(void* /*address*/, std::size_t /*bytes*/) { return {}; }
  /// Launches, asynchronous copies and `record_event` from now on go to this stream.
  virtual void set_stream(int stream);
  /// Marks the place that the current stream has come to; an earlier mark of the event is forgotten.
  virtual void record_event(int event);
  /// What follows in `stream` starts after the place that `event` marks now, in whatever stream that is.
  virtual void stream_waits_for(int stream, int event);
  /// Copies in the current stream. The host memory is pinned and stays as it is until the copy is done.
  virtual void copy_to_device_async(void* destination, const void* source, std::size_t bytes);
  virtual void copy_to_host_async(void* destination, const void* source, std::size_t bytes);

  /// Whether `start_activities` records anything: kernels, copies and API calls, by a profiler's interface.
  virtual bool records_activities() const { return false; }
  /// Why it does not though it might, in one line: "no CUPTI (why)". Empty where it does, and for devices that never
  /// do.
  virtual std::string why_no_activities() const { return {}; }
  /// Records from now on what the device does. Recording takes time of its own: no op time is taken meanwhile.
  virtual void start_activities() {}
  /// Waits for the device and returns what was recorded since `start_activities`, by start; ends the recording.
  virtual std::vector<Activity> stop_activities() { return {}; }

  /// What was written outside of an allocation since the last call, in one line; empty if nothing was seen.
  virtual std::string memory_violation() { return {}; }

 protected:
  /// Throw DeviceError for a number that is none of a stream's or an event's.
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

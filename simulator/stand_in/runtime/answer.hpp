// The frame of every function of the runtime API: it locks, counts the call, and answers with a status.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

#include "simulator/stand_in/machine.hpp"
#include "simulator/stand_in/python.hpp"

namespace convladder::stand_in {

/// The last error of this thread, as cudaGetLastError gives it.
inline thread_local cudaError_t last_error = cudaSuccess;

/// The driver's function that has asked this one to do the same work: calls count under its name, and do not affect the
/// runtime's last error. nullptr: the program has made the call.
inline thread_local const char* asked_by = nullptr;

/// The name that the program has called.
inline const char* called(const char* name) { return asked_by == nullptr ? name : asked_by; }

inline cudaError_t remember(int status) {
  const auto error = static_cast<cudaError_t>(status);
  if (asked_by != nullptr) return error;
  // Neither of these is an error to cudaGetLastError.
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

/// While it exists, a call is being answered on this thread. A call that lets another one do its work counts once.
class Answering {
 public:
  static inline thread_local int depth = 0;
  /// At the end of the outermost call, `returns_at` becomes the time when it may return.
  Answering(Machine& machine, Nanoseconds& returns_at) : machine_(machine), returns_at_(returns_at) {
    if (depth == 0) machine.call_begins();  // which may throw
    ++depth;
  }
  ~Answering() {
    if (--depth > 0) return;
    machine_.call_ends();
    returns_at_ = machine_.timeline.now();
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  Machine& machine_;
  Nanoseconds& returns_at_;
};

/// With the real clock, a call takes its time and waits for the device after it has let others call.
struct Returning {
  bool is_real = false;
  Nanoseconds at = 0;
  ~Returning() {
    if (is_real) wait_until(at);
  }
};

/// How a call uses the process's context.
enum class Context {
  needed,   ///< it is made by the first call that needs it; when it is lost, calls answer with the reason
  not_used  ///< the call concerns the runtime or the device as such
};

/// Runs `work(machine)`, which throws Failure.
template <typename Work>
cudaError_t answer(const char* name, const Work& work, Context context = Context::needed) noexcept {
  try {
    if (Machine::is_lost_by_fork()) return remember(kNotInitialized);  // the machine's locks may be held for ever
    if (Answering::depth == 0 && context == Context::needed) note_python_caller();
    Machine& machine = Machine::get();
    Returning returning{machine.timeline.is_real()};
    const std::scoped_lock lock(machine.mutex);
    const Answering answering(machine, returning.at);
    name = called(name);
    const bool needed = context == Context::needed;
    try {
      if (machine.lost() != kSuccess && needed) throw Failure(machine.lost());
      std::optional<TimedCall> timed;
      if (Answering::depth == 1) {
        timed.emplace(machine, name);
        machine.begin_call(name, needed);
      }
      if (asked_by == nullptr && needed) machine.contexts.use_primary();
      machine.work_on(Contexts::current_device());
      work(machine);
    } catch (const Unlisted& unlisted) {
      return remember(unlisted.status);
    } catch (const Failure& failure) {
      if (failure.status != kNotReady) machine.report.failed(name, failure.status, failure.what(), calling_places);
      machine.note_failed_launch(name, failure);
      return remember(failure.status);
    } catch (const std::bad_alloc&) {
      machine.report.failed(name, kOutOfMemory, "the host is out of memory", calling_places);
      return remember(kOutOfMemory);
    } catch (const std::exception& error) {
      machine.report.failed(name, kUnknown, error.what(), calling_places);
      return remember(kUnknown);
    }
    return cudaSuccess;
  } catch (...) {
    return remember(kUnknown);  // no machine could be made, so there is nowhere to say more
  }
}

inline void require(bool holds, Status status = kInvalidValue) {
  if (!holds) throw Failure(status);
}

/// The answer of a call that is wrong whatever the device knows. The report lists it, as every call that fails.
inline cudaError_t refuse(const char* name, Status status) {
  return answer(name, [status](Machine&) { throw Failure(status); });
}

/// Requires the number of a device. Where all are hidden, the first is known all the same.
inline void require_device(int device) {
  require(device >= 0 && device < std::max(1, Machine::get().device_count()), kInvalidDevice);
}

template <typename T>
void give(T* place, const T& value) {
  require(place != nullptr);
  *place = value;
}

}  // namespace convladder::stand_in

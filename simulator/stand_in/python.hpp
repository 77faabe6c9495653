// A process that runs Python: the line that makes a call, and Python's own lock (the GIL).
#pragma once

#include <mutex>

#include "simulator/stand_in/report/host_place.hpp"

namespace convladder::stand_in {

/// Notes the innermost line of Python on this thread's stack that is of the program; where there is none, of a package
/// other than torch and Triton. To be called at the begin of a call, while this thread holds no lock of ours: it waits
/// for Python's own, which another thread may hold that waits for us.
void note_python_caller() noexcept;

/// The line noted last by this thread; without a line where there is none.
const CallPlace& python_caller();

/// While it exists, this thread does not hold Python's lock.
class WithoutPythonLock {
 public:
  WithoutPythonLock();
  ~WithoutPythonLock();
  WithoutPythonLock(const WithoutPythonLock&) = delete;
  WithoutPythonLock& operator=(const WithoutPythonLock&) = delete;

 private:
  void* thread_ = nullptr;  ///< its state in Python, if it held the lock
};

/// A recursive mutex for which no thread waits while it holds Python's lock. Whoever holds the mutex may therefore wait
/// for that lock: a replayed graph calls functions of Python.
class MutexBesidePython {
 public:
  void lock() {
    if (mutex_.try_lock()) return;
    const WithoutPythonLock unlocked;
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::recursive_mutex mutex_;
};

}  // namespace convladder::stand_in

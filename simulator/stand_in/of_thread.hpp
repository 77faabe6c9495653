// A thread's own object, which its very last code may use.
#pragma once

#include <unistd.h>

#include <new>

namespace convladder::stand_in {

/// For `thread_local`. The main thread's is never destroyed: destructors of a program's global objects run in it after
/// those of its thread_local objects. Another thread's is empty from its destructor on, but still there for the
/// destructors of older thread_local objects.
template <typename T>
class OfThread {
 public:
  OfThread() : object_() {}
  ~OfThread() {
    if (gettid() == getpid()) return;
    object_.~T();
    new (&object_) T();
  }
  OfThread(const OfThread&) = delete;
  OfThread& operator=(const OfThread&) = delete;

  T& operator*() { return object_; }
  T* operator->() { return &object_; }

 private:
  union {
    T object_;
  };
};

}  // namespace convladder::stand_in

// The objects that a library has made for the program: handles, descriptors, programs to compile.
#pragma once

#include <mutex>
#include <set>

namespace convladder::stand_in {

/// Knows which of a library's objects live, so that a pointer that is none of them is told. Threads may share it.
class LivingObjects {
 public:
  /// Returns the object, for the program.
  template <typename T>
  T* add(T* object) {
    const std::scoped_lock lock(mutex_);
    objects_.insert(object);
    return object;
  }
  bool has(const void* object) const {
    const std::scoped_lock lock(mutex_);
    return objects_.contains(object);
  }
  /// Whether it was one that lived: of two threads that destroy it, one.
  bool remove(const void* object) {
    const std::scoped_lock lock(mutex_);
    return objects_.erase(object) > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::set<const void*> objects_;
};

/// Those of this library. Programs call until their very end, so they are never destroyed.
inline LivingObjects& living_objects() {
  static auto* const all = new LivingObjects;
  return *all;
}

}  // namespace convladder::stand_in

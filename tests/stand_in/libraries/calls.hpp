// What the tests' own cuDNN, cuBLAS, NVML and CUPTI share: every call is written to a file, in order, and fails where a
// test wants it to.
//
// CONVLADDER_TEST_LIBRARIES holds the settings as JSON: {"log": FILE, "dropped": 0, "faults": [{"call": "cudnnCreate",
// "from": 2, "count": 1, "status": 4000}]}. `from` counts calls of this name in this process from 1 on; `count` 0, the
// default, lets all from there on fail.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>

namespace library_of_tests {

/// What the call has to fail with; 0: it does its work. Counts it.
int fault_of(const char* call);

/// Appends {"process": …, "call": …, "status": …, "object": …} to the log; "object" is what it made, used or destroyed,
/// a number that no other object of this process has.
void log(const char* call, int status, const void* object);

/// By the stand-in's real clock (docs/use/stand_in.md) a call takes the host's time before it does anything: a query to
/// NVML sleeps, a call of cuDNN or cuBLAS works.
void host_takes(const char* call);

/// Records that the tests' CUPTI shall say that it has lost.
std::size_t dropped_records();

/// The call's status: the fault's, or that of `work`. `object` is read after the work.
template <typename Status, typename Object, typename Work>
Status answered(const char* call, const Object* const& object, const Work& work) {
  host_takes(call);
  auto status = static_cast<Status>(fault_of(call));
  if (static_cast<int>(status) == 0) status = work();
  log(call, static_cast<int>(status), object);
  return status;
}

/// Those of a kind that were made and not yet destroyed.
template <typename Object>
class Living {
 public:
  Object* make() {
    auto* const object = new Object();
    const std::scoped_lock lock(mutex_);
    objects_.insert(object);
    return object;
  }
  bool has(const Object* object) const {
    const std::scoped_lock lock(mutex_);
    return objects_.contains(object);
  }
  /// Whether it was alive. Its memory stays, so that no other object gets its address, and its number in the log.
  bool destroy(const Object* object) {
    const std::scoped_lock lock(mutex_);
    return objects_.erase(object) > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::set<const Object*> objects_;
};

}  // namespace library_of_tests

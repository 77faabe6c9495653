// Contexts of the devices: the primary one of each, which the runtime works in, and those that a program makes with the
// driver API.
//
// All see the same memory, as on a GPU with unified addresses. Whatever a context has made ends with it.
#pragma once

#include <cstdint>
#include <list>
#include <map>

namespace convladder::stand_in {

struct DeviceContext {
  std::uint64_t id = 0;
  int device = 0;
  unsigned flags = 0;
  unsigned api_version = 0;  ///< of the call that made it: 3020
  bool is_live = false;      ///< a handle remains known when its context is destroyed
  unsigned uses = 0;         ///< of a primary context: how many times it has been retained
  bool is_of_runtime =
      false;  ///< whether the runtime works in this primary context, which then stays until it is reset
};

/// The contexts of the process; each thread has its own current one.
class Contexts {
 public:
  /// Whether the program may call the driver: it has called cuInit, or the runtime has.
  bool is_initialized = false;

  DeviceContext& primary(int device);
  /// The primary context, which is made if there is none.
  DeviceContext& live_primary(int device);
  bool is_primary(const DeviceContext& context) const;
  /// Makes the primary context of the thread's device current if no context is: every call of the runtime begins with
  /// this.
  void use_primary();

  /// The device that this thread works on: that of its current context, or the one that it has chosen.
  static int current_device();
  /// From now on this thread works on the device, in its primary context.
  void choose(int device);

  DeviceContext& create(int device, unsigned flags, unsigned api_version);
  /// Throws Failure for a handle of no context, and for a destroyed context.
  DeviceContext& at(const void* handle);

  bool is_other_live(const DeviceContext& than) const;

  /// The top of this thread's stack, even if it has been destroyed; nullptr if there is none.
  const DeviceContext* current() const;
  /// The top of this thread's stack; throws Failure if calls cannot be made in it.
  DeviceContext& usable();
  void push(DeviceContext& context);
  /// Removes the top of this thread's stack. Throws Failure if the stack is empty.
  DeviceContext& pop();
  /// Replaces the top of this thread's stack; nullptr removes it.
  void set(DeviceContext* context);

 private:
  std::map<int, DeviceContext> primaries_;  // by device
  std::list<DeviceContext> created_;
  std::uint64_t next_id_ = 1;
};

}  // namespace convladder::stand_in

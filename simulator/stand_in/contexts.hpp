// Contexts of the device: the primary one, which the runtime works in, and those that a program makes by the driver
// API.
//
// All of them see the same memory, as they do on a GPU with unified addresses. What a context has made ends with it.
#pragma once

#include <cstdint>
#include <list>

namespace convladder::stand_in {

struct DeviceContext {
  std::uint64_t id = 0;
  unsigned flags = 0;
  unsigned api_version = 0;  ///< of the call that made it: 3020
  bool is_live = false;      ///< a handle stays known when its context is destroyed
};

/// Of the process; which of them are current is the calling thread's.
class Contexts {
 public:
  /// Whether the program may call the driver: it has called cuInit, or the runtime has.
  bool is_initialized = false;
  /// How often the primary context has been retained.
  unsigned primary_uses = 0;
  /// The runtime works in it: it stays until it is reset.
  bool runtime_has_primary = false;

  DeviceContext& primary() { return primary_; }
  /// Makes the primary context if there is none.
  DeviceContext& live_primary();
  /// What calls of the runtime begin with: the primary context becomes current where none is.
  void use_primary();

  DeviceContext& create(unsigned flags, unsigned api_version);
  /// Throws Failure for what is no context, and for one that is destroyed.
  DeviceContext& at(const void* handle);

  bool is_other_live(const DeviceContext& than) const;

  /// The top of this thread's stack, also if it is destroyed meanwhile; nullptr if there is none.
  const DeviceContext* current() const;
  /// The same; throws Failure if calls cannot be made in it.
  DeviceContext& usable();
  void push(DeviceContext& context);
  /// Throws Failure if nothing is there.
  DeviceContext& pop();
  /// In place of the top; nullptr takes the top away.
  void set(DeviceContext* context);

 private:
  DeviceContext primary_{.api_version = 3020};
  std::list<DeviceContext> created_;
  std::uint64_t next_id_ = 1;
};

}  // namespace convladder::stand_in

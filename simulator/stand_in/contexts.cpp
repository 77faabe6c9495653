#include "simulator/stand_in/contexts.hpp"

#include <algorithm>
#include <vector>

#include "simulator/stand_in/of_thread.hpp"
#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {
namespace {

thread_local OfThread<std::vector<DeviceContext*>> stack_of_thread;
thread_local int chosen = 0;

}  // namespace

DeviceContext& Contexts::primary(int device) {
  return primaries_.try_emplace(device, DeviceContext{.device = device, .api_version = 3020}).first->second;
}

DeviceContext& Contexts::live_primary(int device) {
  DeviceContext& found = primary(device);
  if (!found.is_live) {
    found.is_live = true;
    found.id = next_id_++;
  }
  return found;
}

bool Contexts::is_primary(const DeviceContext& context) const {
  const auto found = primaries_.find(context.device);
  return found != primaries_.end() && &found->second == &context;
}

void Contexts::use_primary() {
  if (!stack_of_thread->empty() && !is_primary(*stack_of_thread->back())) {
    static_cast<void>(usable());  // the runtime works in the context that the driver has made current
    return;
  }
  is_initialized = true;
  DeviceContext& own = live_primary(current_device());
  own.is_of_runtime = true;
  if (stack_of_thread->empty()) stack_of_thread->push_back(&own);
}

int Contexts::current_device() { return stack_of_thread->empty() ? chosen : stack_of_thread->back()->device; }

void Contexts::choose(int device) {
  chosen = device;
  if (!stack_of_thread->empty() && stack_of_thread->back() != &primary(device)) set(&live_primary(device));
}

DeviceContext& Contexts::create(int device, unsigned flags, unsigned api_version) {
  return created_.emplace_back(
      DeviceContext{.id = next_id_++, .device = device, .flags = flags, .api_version = api_version, .is_live = true});
}

DeviceContext& Contexts::at(const void* handle) {
  DeviceContext* found = nullptr;
  for (auto& [device, one] : primaries_) {
    if (&one == handle) found = &one;
  }
  for (DeviceContext& one : created_) {
    if (&one == handle) found = &one;
  }
  if (found == nullptr) throw Failure(kInvalidContext);
  if (!found->is_live) throw Failure(kContextIsDestroyed);
  return *found;
}

bool Contexts::is_other_live(const DeviceContext& than) const {
  for (const auto& [device, one] : primaries_) {
    if (&one != &than && one.is_live) return true;
  }
  return std::ranges::any_of(created_, [&](const DeviceContext& one) { return &one != &than && one.is_live; });
}

const DeviceContext* Contexts::current() const { return stack_of_thread->empty() ? nullptr : stack_of_thread->back(); }

DeviceContext& Contexts::usable() {
  if (stack_of_thread->empty()) throw Failure(kInvalidContext);
  if (!stack_of_thread->back()->is_live) throw Failure(kContextIsDestroyed);
  return *stack_of_thread->back();
}

void Contexts::push(DeviceContext& context) { stack_of_thread->push_back(&context); }

DeviceContext& Contexts::pop() {
  if (stack_of_thread->empty()) throw Failure(kInvalidContext);
  DeviceContext& top = *stack_of_thread->back();
  stack_of_thread->pop_back();
  return top;
}

void Contexts::set(DeviceContext* context) {
  if (!stack_of_thread->empty()) stack_of_thread->pop_back();
  if (context != nullptr) stack_of_thread->push_back(context);
}

}  // namespace convladder::stand_in

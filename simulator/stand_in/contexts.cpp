#include "simulator/stand_in/contexts.hpp"

#include <algorithm>
#include <vector>

#include "simulator/stand_in/of_thread.hpp"
#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {
namespace {

thread_local OfThread<std::vector<DeviceContext*>> stack_of_thread;

}  // namespace

DeviceContext& Contexts::live_primary() {
  if (!primary_.is_live) {
    primary_.is_live = true;
    primary_.id = next_id_++;
  }
  return primary_;
}

void Contexts::use_primary() {
  if (!stack_of_thread->empty() && stack_of_thread->back() != &primary_) {
    static_cast<void>(usable());  // the runtime works in the context that the driver has made current
    return;
  }
  is_initialized = true;
  runtime_has_primary = true;
  live_primary();
  if (stack_of_thread->empty()) stack_of_thread->push_back(&primary_);
}

DeviceContext& Contexts::create(unsigned flags, unsigned api_version) {
  return created_.emplace_back(
      DeviceContext{.id = next_id_++, .flags = flags, .api_version = api_version, .is_live = true});
}

DeviceContext& Contexts::at(const void* handle) {
  DeviceContext* found = handle == &primary_ ? &primary_ : nullptr;
  for (DeviceContext& one : created_) {
    if (&one == handle) found = &one;
  }
  if (found == nullptr) throw Failure(kInvalidContext);
  if (!found->is_live) throw Failure(kContextIsDestroyed);
  return *found;
}

bool Contexts::is_other_live(const DeviceContext& than) const {
  if (&than != &primary_ && primary_.is_live) return true;
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

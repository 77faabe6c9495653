#include "simulator/stand_in/contexts.hpp"

#include <algorithm>
#include <vector>

#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {
namespace {

thread_local std::vector<DeviceContext*> stack;

}  // namespace

DeviceContext& Contexts::live_primary() {
  if (!primary_.is_live) {
    primary_.is_live = true;
    primary_.id = next_id_++;
  }
  return primary_;
}

void Contexts::use_primary() {
  if (!stack.empty() && stack.back() != &primary_) {
    static_cast<void>(usable());  // the runtime works in the context that the driver has made current
    return;
  }
  is_initialized = true;
  runtime_has_primary = true;
  live_primary();
  if (stack.empty()) stack.push_back(&primary_);
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

const DeviceContext* Contexts::current() const { return stack.empty() ? nullptr : stack.back(); }

DeviceContext& Contexts::usable() {
  if (stack.empty()) throw Failure(kInvalidContext);
  if (!stack.back()->is_live) throw Failure(kContextIsDestroyed);
  return *stack.back();
}

void Contexts::push(DeviceContext& context) { stack.push_back(&context); }

DeviceContext& Contexts::pop() {
  if (stack.empty()) throw Failure(kInvalidContext);
  DeviceContext& top = *stack.back();
  stack.pop_back();
  return top;
}

void Contexts::set(DeviceContext* context) {
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) stack.push_back(context);
}

}  // namespace convladder::stand_in

#include "simulator/stand_in/runtime/refusal.hpp"

#include "simulator/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {

int refuse_runtime_call(const char* name) noexcept {
  return answer(name, [name](Machine& machine) {
    machine.report.not_supported(asked_by == nullptr ? name : asked_by);
    throw Failure(kNotSupported);
  });
}

}  // namespace convladder::stand_in

/// `refuse_runtime_call` for the libraries of older runtimes.
extern "C" int convladder_stand_in_refuse(const char* name) noexcept {
  return convladder::stand_in::refuse_runtime_call(name);
}

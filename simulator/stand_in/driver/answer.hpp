// The frame of every function of the driver API. The driver and the runtime use the same numbers for the same errors,
// so most functions have the runtime's do their work; they differ in what must exist before the call.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/stand_in/runtime/answer.hpp"

// Functions under the names that they have in the library, with no macro in between: cuMemAlloc_v2.
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): the header's own
#include <cuda.h>

namespace convladder::stand_in {

/// The preconditions of a call.
enum class Needs {
  nothing,
  initialization,  ///< cuInit
  device,          ///< cuInit, and that the process gets the device
  context          ///< a current context
};

/// While it exists, functions of the runtime work for the driver's function of that name.
class Asking {
 public:
  explicit Asking(const char* name) : before_(asked_by) { asked_by = name; }
  ~Asking() { asked_by = before_; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  const char* before_;
};

inline void require_ready(Machine& machine, Needs needs) {
  if (needs == Needs::nothing) return;
  require(machine.contexts.is_initialized, kNotInitialized);
  if (needs == Needs::context) static_cast<void>(machine.contexts.usable());
}

/// Runs `work(machine)`, which throws Failure.
template <typename Work>
// NOLINTNEXTLINE(bugprone-exception-escape): `answer` catches all of them
CUresult answer_driver(const char* name, Needs needs, const Work& work) noexcept {
  const Asking asking(name);
  const auto checked = [&](Machine& machine) {
    require_ready(machine, needs);
    work(machine);
  };
  const bool is_needed = needs == Needs::device || needs == Needs::context;
  return static_cast<CUresult>(answer(name, checked, is_needed ? Context::needed : Context::not_used));
}

/// As `answer_driver`, for a call that needs no context, only cuInit.
template <typename Work>
CUresult after_init(const char* name, const Work& work) noexcept {
  return answer_driver(name, Needs::initialization, work);
}

/// Lets a function of the runtime do the work, in the current context.
template <typename... Parameters, typename... Arguments>
// NOLINTNEXTLINE(bugprone-exception-escape): `answer` catches all of them
CUresult forward(const char* name, cudaError_t (*function)(Parameters...), Arguments... arguments) noexcept {
  const Asking asking(name);
  if (!Machine::is_lost_by_fork()) {
    Machine& machine = Machine::get();
    const std::scoped_lock lock(machine.mutex);
    try {
      require_ready(machine, Needs::context);
    } catch (const Failure& failure) {
      return answer_driver(name, Needs::nothing, [&](Machine&) { throw Failure(failure.status); });
    }
  }
  return static_cast<CUresult>(function(static_cast<Parameters>(arguments)...));
}

/// Throws what a function of the runtime has answered, and has listed, if it failed.
inline void succeed(cudaError_t status) {
  if (status != cudaSuccess) throw Unlisted(static_cast<Status>(status));
}

/// The answer to unsupported calls, for code that does not know their parameters: CUDA_ERROR_NOT_SUPPORTED; the report
/// names the call.
int refuse_driver_call(const char* name) noexcept;

/// The address of memory on the device, which the driver's functions give as a number.
inline void* address_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
inline CUdeviceptr number_of(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

/// The function of a handle: of a kernel, a function, or what the runtime gives out for either. Throws Failure for
/// others.
Function& function_of(Machine& machine, const void* handle);

}  // namespace convladder::stand_in

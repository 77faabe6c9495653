// Contexts: the calling thread's stack of them, the primary one, and a context's settings.
#include "simulator/stand_in/driver/answer.hpp"
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/modules/loaded_modules.hpp"

using namespace convladder::stand_in;

namespace {

DeviceContext& context_at(Machine& machine, CUcontext handle) { return machine.contexts.at(handle); }

CUcontext handle_of(const DeviceContext* context) {
  return reinterpret_cast<CUcontext>(const_cast<DeviceContext*>(context));
}

/// Ends a context and everything that it has made.
void end(Machine& machine, DeviceContext& context) {
  LoadedModules::get().unload_all_of(machine, context);
  machine.reset(context);
  context.is_live = false;
}

CUresult create(const char* name, CUcontext* context, unsigned flags, CUdevice device, unsigned api_version) {
  return answer_driver(name, Needs::device, [&](Machine& machine) {
    require(context != nullptr && (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
    require_device(device);
    DeviceContext& made = machine.contexts.create(device, flags, api_version);
    machine.contexts.push(made);
    *context = handle_of(&made);
  });
}

CUresult refuse(const char* what) { return static_cast<CUresult>(refuse_driver_call(what)); }

CUresult primary_reset(const char* name, CUdevice device) {
  return after_init(name, [&](Machine& machine) {
    require_device(device);
    DeviceContext& primary = machine.contexts.primary(device);
    end(machine, primary);
    primary.uses = 0;
    primary.is_of_runtime = false;
  });
}

}  // namespace

extern "C" {

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return create("cuCtxCreate", context, flags, device, 2000);
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create("cuCtxCreate", context, flags, device, 3020);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* /*affinity*/, int affinities, unsigned flags,
                        CUdevice device) {
  return affinities != 0 ? refuse("cuCtxCreate with an execution affinity")
                         : create("cuCtxCreate", context, flags, device, 3020);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
  const bool wants_more =
      parameters != nullptr && (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr);
  return wants_more ? refuse("cuCtxCreate with an execution affinity or graphics")
                    : create("cuCtxCreate", context, flags, device, 3020);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return after_init("cuCtxDestroy", [&](Machine& machine) {
    DeviceContext& found = context_at(machine, context);
    require(!machine.contexts.is_primary(found), kInvalidContext);
    end(machine, found);
    if (machine.contexts.current() == &found) machine.contexts.pop();
  });
}
CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }
// It counted uses once; since cuCtxAttach is out of use there is one.
CUresult cuCtxDetach(CUcontext context) { return cuCtxDestroy_v2(context); }

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return after_init("cuCtxPushCurrent", [&](Machine& machine) { machine.contexts.push(context_at(machine, context)); });
}
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return after_init("cuCtxPopCurrent", [&](Machine& machine) {
    const DeviceContext& popped = machine.contexts.pop();
    if (context != nullptr) *context = handle_of(&popped);
  });
}
CUresult cuCtxPopCurrent(CUcontext* context) { return cuCtxPopCurrent_v2(context); }

CUresult cuCtxSetCurrent(CUcontext context) {
  return after_init("cuCtxSetCurrent", [&](Machine& machine) {
    machine.contexts.set(context == nullptr ? nullptr : &context_at(machine, context));
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return after_init("cuCtxGetCurrent", [&](Machine& machine) { give(context, handle_of(machine.contexts.current())); });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return after_init("cuCtxGetDevice", [&](Machine& machine) {
    const DeviceContext& found = context == nullptr ? machine.contexts.usable() : context_at(machine, context);
    give(device, found.device);
  });
}
CUresult cuCtxGetDevice(CUdevice* device) { return cuCtxGetDevice_v2(device, nullptr); }

CUresult cuCtxGetFlags(unsigned* flags) {
  return after_init("cuCtxGetFlags", [&](Machine& machine) { give(flags, machine.contexts.usable().flags); });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return after_init("cuCtxSetFlags", [&](Machine& machine) {
    require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
    machine.contexts.usable().flags = flags;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return after_init("cuCtxGetId", [&](Machine& machine) {
    const DeviceContext& found = context == nullptr ? machine.contexts.usable() : context_at(machine, context);
    give(id, static_cast<unsigned long long>(found.id));
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return after_init("cuCtxGetApiVersion", [&](Machine& machine) {
    const DeviceContext& found = context == nullptr ? machine.contexts.usable() : context_at(machine, context);
    give(version, found.api_version);
  });
}

CUresult cuCtxSynchronize() { return forward("cuCtxSynchronize", cudaDeviceSynchronize); }

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return after_init("cuCtxSynchronize", [&](Machine& machine) {
    static_cast<void>(context == nullptr ? machine.contexts.usable() : context_at(machine, context));
    machine.graphs().wait_for_all();
    machine.synchronize_all();
  });
}

CUresult cuCtxResetPersistingL2Cache() { return forward("cuCtxResetPersistingL2Cache", cudaCtxResetPersistingL2Cache); }

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return answer_driver("cuCtxEnablePeerAccess", Needs::context, [&](Machine& machine) {
    const DeviceContext& found = context_at(machine, peer);
    require(flags == 0);
    machine.let_reach(found.device);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return answer_driver("cuCtxDisablePeerAccess", Needs::context,
                       [&](Machine& machine) { machine.reach_no_longer(context_at(machine, peer).device); });
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return forward("cuCtxSetLimit", cudaDeviceSetLimit, static_cast<cudaLimit>(limit), value);
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return forward("cuCtxGetLimit", cudaDeviceGetLimit, value, static_cast<cudaLimit>(limit));
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* configuration) {
  return answer_driver("cuCtxGetCacheConfig", Needs::context,
                       [&](Machine&) { give(configuration, CU_FUNC_CACHE_PREFER_NONE); });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache /*configuration*/) {
  return answer_driver("cuCtxSetCacheConfig", Needs::context, [](Machine&) {});
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* configuration) {
  return answer_driver("cuCtxGetSharedMemConfig", Needs::context,
                       [&](Machine&) { give(configuration, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE); });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig /*configuration*/) {
  return answer_driver("cuCtxSetSharedMemConfig", Needs::context, [](Machine&) {});
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return forward("cuCtxGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange, least, greatest);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return answer_driver("cuDevicePrimaryCtxRetain", Needs::device, [&](Machine& machine) {
    require_device(device);
    DeviceContext& primary = machine.contexts.live_primary(device);
    give(context, handle_of(&primary));
    ++primary.uses;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return after_init("cuDevicePrimaryCtxRelease", [&](Machine& machine) {
    require_device(device);
    DeviceContext& primary = machine.contexts.primary(device);
    require(primary.uses > 0, kInvalidContext);
    if (--primary.uses == 0 && !primary.is_of_runtime) end(machine, primary);
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return after_init("cuDevicePrimaryCtxSetFlags", [&](Machine& machine) {
    require_device(device);
    require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0);
    machine.contexts.primary(device).flags = flags;
  });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  return after_init("cuDevicePrimaryCtxGetState", [&](Machine& machine) {
    require_device(device);
    give(flags, machine.contexts.primary(device).flags);
    give(is_active, machine.contexts.primary(device).is_live ? 1 : 0);
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return primary_reset("cuDevicePrimaryCtxReset", device); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return primary_reset("cuDevicePrimaryCtxReset", device); }

}  // extern "C"

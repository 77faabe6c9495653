// Launches, and host functions in a stream.
#include "simulator/stand_in/driver/answer.hpp"
#include "simulator/stand_in/modules/loaded_modules.hpp"
#include "simulator/stand_in/runtime/launch_attributes.hpp"

using namespace convladder::stand_in;

namespace {

/// The content of `extra`: a block of bytes with all parameters.
struct ParameterBuffer {
  std::byte* bytes = nullptr;
  std::size_t size = 0;
};

ParameterBuffer buffer_of(void** extra) {
  ParameterBuffer buffer;
  bool has_size = false;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer.bytes = static_cast<std::byte*>(extra[1]);
    } else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr) {
      buffer.size = *static_cast<const std::size_t*>(extra[1]);
      has_size = true;
    } else {
      throw Failure(kInvalidValue);
    }
  }
  require(buffer.bytes != nullptr && has_size);
  return buffer;
}

CUresult launch(const char* name, CUfunction function, const LaunchRequest& request, CUstream stream, void** parameters,
                void** extra, const CUlaunchAttribute* attributes = nullptr, unsigned count = 0) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    Function& found = function_of(machine, function);
    AttributedLaunch wanted{request, {}};
    apply(wanted, reinterpret_cast<const cudaLaunchAttribute*>(attributes), count);
    wanted.request.stream = machine.stream_number(stream);
    require(parameters == nullptr || extra == nullptr);
    if (extra == nullptr) {
      machine.launch(found, wanted.request, parameters);
      record_events(machine, wanted);
      return;
    }
    const ParameterBuffer buffer = buffer_of(extra);
    const KernelParameters known(machine.kernel(found));
    require(buffer.size >= known.bytes);
    std::vector<void*> arguments;
    for (const KernelParameters::Place& place : known.places) arguments.push_back(buffer.bytes + place.offset);
    machine.launch(found, wanted.request, arguments.data());
    record_events(machine, wanted);
  });
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** parameters,
                        void** extra) {
  return launch(
      "cuLaunchKernel", function,
      {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .dynamic_shared_bytes = shared}, stream,
      parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void** parameters) {
  return launch("cuLaunchCooperativeKernel", function,
                {.grid = {grid_x, grid_y, grid_z},
                 .block = {block_x, block_y, block_z},
                 .dynamic_shared_bytes = shared,
                 .cooperative = true},
                stream, parameters, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* configuration, CUfunction function, void** parameters, void** extra) {
  if (configuration == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return launch("cuLaunchKernelEx", function,
                {.grid = {configuration->gridDimX, configuration->gridDimY, configuration->gridDimZ},
                 .block = {configuration->blockDimX, configuration->blockDimY, configuration->blockDimZ},
                 .dynamic_shared_bytes = configuration->sharedMemBytes},
                configuration->hStream, parameters, extra, configuration->attrs, configuration->numAttrs);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return forward("cuLaunchHostFunc", cudaLaunchHostFunc, stream, function, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  // The status that the function is called with has the same number.
  return forward("cuStreamAddCallback", cudaStreamAddCallback, stream, reinterpret_cast<cudaStreamCallback_t>(callback),
                 data, flags);
}

}  // extern "C"

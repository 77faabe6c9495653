// Launches, and functions of the host in a stream.
#include "devices/stand_in/driver/answer.hpp"
#include "devices/stand_in/modules/kernel_parameters.hpp"

using namespace convladder::stand_in;

namespace {

/// What `extra` has: a block of bytes with all parameters.
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

CUresult launch(const char* name, CUfunction function, const LaunchRequest& wanted, CUstream stream, void** parameters,
                void** extra) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    Function& found = function_of(machine, function);
    LaunchRequest request = wanted;
    request.stream = machine.stream_number(stream);
    require(parameters == nullptr || extra == nullptr);
    if (extra == nullptr) {
      machine.launch(found, request, parameters);
      return;
    }
    const ParameterBuffer buffer = buffer_of(extra);
    const KernelParameters known(machine.kernel(found));
    require(buffer.size >= known.bytes);
    std::vector<void*> arguments;
    for (const KernelParameters::Place& place : known.places) arguments.push_back(buffer.bytes + place.offset);
    machine.launch(found, request, arguments.data());
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
  LaunchRequest request{.grid = {configuration->gridDimX, configuration->gridDimY, configuration->gridDimZ},
                        .block = {configuration->blockDimX, configuration->blockDimY, configuration->blockDimZ},
                        .dynamic_shared_bytes = configuration->sharedMemBytes};
  for (unsigned i = 0; i < configuration->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = configuration->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) request.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      request.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
    }
  }
  return launch("cuLaunchKernelEx", function, request, configuration->hStream, parameters, extra);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return forward("cuLaunchHostFunc", cudaLaunchHostFunc, stream, function, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  // The status that it is called with has the same number.
  return forward("cuStreamAddCallback", cudaStreamAddCallback, stream, reinterpret_cast<cudaStreamCallback_t>(callback),
                 data, flags);
}

}  // extern "C"

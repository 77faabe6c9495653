// Launches, and queries about kernels.
#include <cstring>

#include "devices/kernel_resources.hpp"
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/of_thread.hpp"
#include "simulator/stand_in/runtime/launch_attributes.hpp"

namespace convladder::stand_in {
namespace {

/// The configuration that <<<>>> pushed for the next stub, in this thread.
struct PushedConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local OfThread<std::vector<PushedConfiguration>> pushed;

Dim3 size_of(const dim3& size) { return {size.x, size.y, size.z}; }

cudaError_t launch(const char* name, const void* function, LaunchRequest request, void** arguments, void* stream) {
  return answer(name, [&](Machine& machine) {
    request.stream = machine.stream_number(stream);
    machine.launch(machine.function(function), request, arguments);
  });
}

/// The launch that a query is about.
LaunchRequest request_of(const cudaLaunchConfig_t* wanted) {
  require(wanted != nullptr);
  AttributedLaunch launch{{.grid = size_of(wanted->gridDim),
                           .block = size_of(wanted->blockDim),
                           .dynamic_shared_bytes = wanted->dynamicSmemBytes},
                          {}};
  apply(launch, wanted->attrs, wanted->numAttrs);
  return launch.request;
}

/// Sets one of a function's three cluster sizes; at a launch all of them must be set, or none.
void set_cluster(Machine& machine, Function& function, unsigned Dim3::*size, int value) {
  require(value >= 0);
  require(machine.kernel(function).cluster_size[0] == 0, kNotPermitted);  // the kernel was compiled with one
  function.cluster.*size = static_cast<unsigned>(value);
}

}  // namespace
}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  pushed->push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (pushed->empty()) return remember(kInvalidConfiguration);
  const PushedConfiguration last = pushed->back();
  pushed->pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  std::memcpy(stream, &last.stream, sizeof last.stream);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  LaunchRequest request{.grid = size_of(grid), .block = size_of(block), .dynamic_shared_bytes = shared};
  return launch("cudaLaunchKernel", function, request, arguments, stream);
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  // The host function's address serves as the handle.
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  LaunchRequest request{
      .grid = size_of(grid), .block = size_of(block), .dynamic_shared_bytes = shared, .cooperative = true};
  return launch("cudaLaunchCooperativeKernel", function, request, arguments, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function, void** arguments) {
  return answer("cudaLaunchKernelExC", [&](Machine& machine) {
    require(configuration != nullptr);
    AttributedLaunch wanted{.request = {.grid = size_of(configuration->gridDim),
                                        .block = size_of(configuration->blockDim),
                                        .dynamic_shared_bytes = configuration->dynamicSmemBytes,
                                        .stream = machine.stream_number(configuration->stream)},
                            .events = {}};
    apply(wanted, configuration->attrs, configuration->numAttrs);
    machine.launch(machine.function(function), wanted.request, arguments);
    record_events(machine, wanted);
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool is_captured = false;
  const cudaError_t status = answer("cudaLaunchHostFunc", [&](Machine& machine) {
    require(function != nullptr);
    is_captured = machine.graphs().capture(machine.stream_number(stream), HostWork{function, data});
    if (is_captured) return;
    machine.settle();
    machine.host_sees(machine.stream_number(stream));
  });
  if (status == cudaSuccess && !is_captured)
    function(data);  // everything before it in the stream is done; the function may wait for others
  return status;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  const cudaError_t status = answer("cudaStreamAddCallback", [&](Machine& machine) {
    require(callback != nullptr && flags == 0);
    machine.graphs().wait_for_stream(machine.stream_number(stream));
    machine.settle();
    machine.host_sees(machine.stream_number(stream));
  });
  if (status == cudaSuccess) callback(stream, cudaSuccess, data);
  return status;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return answer("cudaFuncSetAttribute", [&](Machine& machine) {
    Function& found = machine.function(function);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const auto most = machine.gpu().occupancy.shared_per_block;
      require(value >= 0 && value <= most - static_cast<int>(machine.static_shared_bytes(found)));
      found.most_dynamic_shared_bytes = value;
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      require(value >= -1 && value <= 100);
      found.carveout = value;
    } else if (attribute == cudaFuncAttributeRequiredClusterWidth) {
      set_cluster(machine, found, &convladder::Dim3::x, value);
    } else if (attribute == cudaFuncAttributeRequiredClusterHeight) {
      set_cluster(machine, found, &convladder::Dim3::y, value);
    } else if (attribute == cudaFuncAttributeRequiredClusterDepth) {
      set_cluster(machine, found, &convladder::Dim3::z, value);
    } else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      require(value == 0 || value == 1);
      found.may_have_large_clusters = value == 1;
    } else {
      require(attribute == cudaFuncAttributeClusterSchedulingPolicyPreference && value >= 0 && value <= 2);
    }
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return answer("cudaFuncGetAttributes", [&](Machine& machine) {
    require(attributes != nullptr);
    Function& found = machine.function(function);
    const convladder::ptx::Kernel& kernel = machine.kernel(found);
    *attributes = {};
    attributes->sharedSizeBytes = machine.static_shared_bytes(found);
    attributes->maxThreadsPerBlock = kernel.max_threads_per_block > 0 ? kernel.max_threads_per_block : 1024;
    attributes->numRegs = machine.assumed_registers(found);
    attributes->ptxVersion = machine.ptx_architecture(found);  // the PTX's, which CUB compares with its own list
    attributes->binaryVersion = machine.architecture();
    attributes->maxDynamicSharedSizeBytes = found.most_dynamic_shared_bytes > 0
                                                ? found.most_dynamic_shared_bytes
                                                : 48 * 1024 - static_cast<int>(attributes->sharedSizeBytes);
    attributes->preferredShmemCarveout = found.carveout;
    const bool is_compiled_with_cluster = kernel.cluster_size[0] > 0;
    attributes->requiredClusterWidth =
        is_compiled_with_cluster ? kernel.cluster_size[0] : static_cast<int>(found.cluster.x);
    attributes->requiredClusterHeight =
        is_compiled_with_cluster ? kernel.cluster_size[1] : static_cast<int>(found.cluster.y);
    attributes->requiredClusterDepth =
        is_compiled_with_cluster ? kernel.cluster_size[2] : static_cast<int>(found.cluster.z);
    attributes->nonPortableClusterSizeAllowed = found.may_have_large_clusters ? 1 : 0;
    for (const convladder::ptx::Symbol& symbol : kernel.symbols) {
      if (symbol.space == convladder::ptx::Space::local) attributes->localSizeBytes += symbol.bytes;
    }
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache /*configuration*/) {
  return answer("cudaFuncSetCacheConfig", [&](Machine& machine) { static_cast<void>(machine.function(function)); });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig /*configuration*/) {
  return answer("cudaFuncSetSharedMemConfig", [&](Machine& machine) { static_cast<void>(machine.function(function)); });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return answer("cudaFuncGetName", [&](Machine& machine) { give(name, machine.function(function).name.c_str()); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          std::size_t dynamic_shared_bytes) {
  return answer("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Machine& machine) {
    give(blocks, machine.resident_blocks(machine.function(function), threads, dynamic_shared_bytes));
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   std::size_t dynamic_shared_bytes,
                                                                   unsigned /*flags*/) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared_bytes);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* wanted) {
  return answer("cudaOccupancyMaxActiveClusters", [&](Machine& machine) {
    const LaunchRequest request = request_of(wanted);
    give(clusters, machine.resident_clusters(machine.function(function), request));
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function, const cudaLaunchConfig_t* wanted) {
  return answer("cudaOccupancyMaxPotentialClusterSize", [&](Machine& machine) {
    const LaunchRequest request = request_of(wanted);
    give(blocks, machine.largest_cluster(machine.function(function), request));
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                      int threads) {
  return answer("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Machine& machine) {
    require(blocks > 0 && threads > 0);
    Function& found = machine.function(function);
    const auto& limits = machine.gpu().occupancy;
    const auto of_block =
        static_cast<std::size_t>(limits.shared_per_multiprocessor / blocks - limits.shared_reserved_per_block);
    const std::size_t own = machine.static_shared_bytes(found);
    const std::size_t most = std::min(of_block, static_cast<std::size_t>(limits.shared_per_block));
    give(bytes, most > own ? most - own : 0);
  });
}

}  // extern "C"

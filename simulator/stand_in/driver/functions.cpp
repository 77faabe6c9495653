// Functions and kernels, which are the same here: queries about them, and how many blocks fit.
#include <algorithm>

#include "simulator/stand_in/driver/answer.hpp"
#include "simulator/stand_in/modules/loaded_modules.hpp"
#include "simulator/stand_in/runtime/launch_attributes.hpp"

using namespace convladder::stand_in;

namespace {

/// The launch that a query is about.
LaunchRequest request_of(const CUlaunchConfig* wanted) {
  require(wanted != nullptr);
  AttributedLaunch launch{{.grid = {wanted->gridDimX, wanted->gridDimY, wanted->gridDimZ},
                           .block = {wanted->blockDimX, wanted->blockDimY, wanted->blockDimZ},
                           .dynamic_shared_bytes = wanted->sharedMemBytes},
                          {}};
  apply(launch, reinterpret_cast<const cudaLaunchAttribute*>(wanted->attrs), wanted->numAttrs);
  return launch.request;
}

int value_of(const cudaFuncAttributes& known, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return known.maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(known.sharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(known.constSizeBytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(known.localSizeBytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return known.numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return known.ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return known.binaryVersion;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return known.cacheModeCA;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return known.maxDynamicSharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return known.preferredShmemCarveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return known.clusterDimMustBeSet;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return known.requiredClusterWidth;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return known.requiredClusterHeight;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return known.requiredClusterDepth;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return known.nonPortableClusterSizeAllowed;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return known.clusterSchedulingPolicyPreference;
    default:
      throw Failure(kInvalidValue);
  }
}

CUresult get_attribute(const char* name, Needs needs, int* value, CUfunction_attribute attribute,
                       const void* function) {
  return answer_driver(name, needs, [&](Machine& machine) {
    Function& found = function_of(machine, function);
    cudaFuncAttributes known = {};
    const cudaError_t status = cudaFuncGetAttributes(&known, &found);
    succeed(status);
    give(value, value_of(known, attribute));
  });
}

CUresult set_attribute(const char* name, Needs needs, CUfunction_attribute attribute, int value, const void* function) {
  return answer_driver(name, needs, [&](Machine& machine) {
    if (attribute >= CU_FUNC_ATTRIBUTE_MAX) throw Unlisted(kInvalidValue);  // of newer drivers
    const cudaError_t status =
        cudaFuncSetAttribute(&function_of(machine, function), static_cast<cudaFuncAttribute>(attribute), value);
    succeed(status);
  });
}

template <typename Work>
CUresult of_function(const char* name, const void* function, const Work& work) {
  return answer_driver(name, Needs::context, [&](Machine& machine) { work(machine, function_of(machine, function)); });
}

void give_parameter(Machine& machine, Function& function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  const KernelParameters parameters(machine.kernel(function));
  require(offset != nullptr && index < parameters.places.size());
  *offset = parameters.places[index].offset;
  if (bytes != nullptr) *bytes = parameters.places[index].bytes;
}

/// Gives the block size with which the most threads are resident; of several, the largest.
void give_best_block(Machine& machine, Function& function, int* grid, int* block, CUoccupancyB2DSize shared_of,
                     std::size_t shared, int limit) {
  require(grid != nullptr && block != nullptr && limit >= 0);
  const auto& kernel = machine.kernel(function);
  int most = machine.gpu().occupancy.threads_per_block;
  if (kernel.max_threads_per_block > 0) most = std::min(most, kernel.max_threads_per_block);
  if (limit > 0) most = std::min(most, limit);
  constexpr int kWarp = 32;
  int best_resident = 0;
  *grid = 0;
  *block = 0;
  for (int rounded = (most + kWarp - 1) / kWarp * kWarp; rounded > 0; rounded -= kWarp) {
    const int threads = std::min(rounded, most);
    const int blocks = machine.resident_blocks(function, threads, shared_of == nullptr ? shared : shared_of(threads));
    if (blocks * threads <= best_resident) continue;
    best_resident = blocks * threads;
    *block = threads;
    *grid = blocks * machine.gpu().multiprocessors;
  }
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return get_attribute("cuFuncGetAttribute", Needs::context, value, attribute, function);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return get_attribute("cuKernelGetAttribute", Needs::initialization, value, attribute, kernel);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return set_attribute("cuFuncSetAttribute", Needs::context, attribute, value, function);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return set_attribute("cuKernelSetAttribute", Needs::initialization, attribute, value, kernel);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache /*configuration*/) {
  return of_function("cuFuncSetCacheConfig", function, [](Machine&, Function&) {});
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache /*configuration*/, CUdevice /*device*/) {
  return of_function("cuKernelSetCacheConfig", kernel, [](Machine&, Function&) {});
}
// Only cuLaunch and cuLaunchGrid ask for it, which are refused by name.
CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return of_function("cuFuncSetBlockShape", function, [&](Machine&, Function&) { require(x > 0 && y > 0 && z > 0); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig /*configuration*/) {
  return of_function("cuFuncSetSharedMemConfig", function, [](Machine&, Function&) {});
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return of_function("cuFuncGetModule", function, [&](Machine&, Function& found) {
    give(module, reinterpret_cast<CUmodule>(&LoadedModules::get().of(found)));
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return of_function("cuFuncGetName", function, [&](Machine&, Function& found) { give(name, found.name.c_str()); });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return answer_driver("cuKernelGetName", Needs::initialization,
                       [&](Machine& machine) { give(name, function_of(machine, kernel).name.c_str()); });
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return of_function("cuFuncGetParamInfo", function,
                     [&](Machine& machine, Function& found) { give_parameter(machine, found, index, offset, bytes); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return answer_driver("cuKernelGetParamInfo", Needs::initialization, [&](Machine& machine) {
    give_parameter(machine, function_of(machine, kernel), index, offset, bytes);
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return of_function("cuFuncIsLoaded", function, [&](Machine&, Function& found) {
    give(state, found.loaded == nullptr ? CU_FUNCTION_LOADING_STATE_UNLOADED : CU_FUNCTION_LOADING_STATE_LOADED);
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return of_function("cuFuncLoad", function, [](Machine& machine, Function& found) { machine.loaded(found); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t dynamic_shared_bytes) {
  return of_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, [&](Machine& machine, Function& found) {
    give(blocks, machine.resident_blocks(found, threads, dynamic_shared_bytes));
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              std::size_t dynamic_shared_bytes, unsigned flags) {
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared_bytes);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          std::size_t shared, int limit) {
  return of_function("cuOccupancyMaxPotentialBlockSize", function, [&](Machine& machine, Function& found) {
    give_best_block(machine, found, grid, block, shared_of, shared, limit);
  });
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared, int limit,
                                                   unsigned flags) {
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* wanted) {
  return of_function("cuOccupancyMaxActiveClusters", function, [&](Machine& machine, Function& found) {
    give(clusters, machine.resident_clusters(found, request_of(wanted)));
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function, const CUlaunchConfig* wanted) {
  return of_function("cuOccupancyMaxPotentialClusterSize", function, [&](Machine& machine, Function& found) {
    give(blocks, machine.largest_cluster(found, request_of(wanted)));
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function, int blocks, int threads) {
  return forward("cuOccupancyAvailableDynamicSMemPerBlock", cudaOccupancyAvailableDynamicSMemPerBlock, bytes,
                 static_cast<const void*>(function), blocks, threads);
}

}  // extern "C"

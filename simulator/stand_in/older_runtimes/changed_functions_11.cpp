// Functions that had other parameters, or smaller structures, in CUDA 11 than in CUDA 12.
#include <cstddef>
#include <cstring>

#include "simulator/stand_in/older_runtimes/names.hpp"

CONVLADDER_TODAY(cudaFuncGetAttributes);
CONVLADDER_TODAY(cudaGraphInstantiate);
CONVLADDER_TODAY(cudaGraphExecUpdate);
CONVLADDER_TODAY(cudaGetDriverEntryPointByVersion);

extern "C" {

cudaError_t function_attributes(void* wanted, const void* function) CONVLADDER_SYMBOL(cudaFuncGetAttributes);
cudaError_t function_attributes(void* wanted, const void* function) {
  cudaFuncAttributes now = {};
  const cudaError_t status = today_cudaFuncGetAttributes(wanted == nullptr ? nullptr : &now, function);
  // The members after these are of CUDA 11.8.
  if (status == cudaSuccess && wanted != nullptr)
    std::memcpy(wanted, &now, offsetof(cudaFuncAttributes, clusterDimMustBeSet));
  return status;
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                        std::size_t log_bytes) CONVLADDER_SYMBOL(cudaGraphInstantiate);
cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                        std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return today_cudaGraphInstantiate(executable, graph, 0);
}

cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                   cudaGraphExecUpdateResult* result) CONVLADDER_SYMBOL(cudaGraphExecUpdate);
cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                   cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo information = {};
  const cudaError_t status = today_cudaGraphExecUpdate(executable, graph, &information);
  if (error_node != nullptr) *error_node = information.errorNode;
  if (result != nullptr) *result = information.result;
  return status;
}

cudaError_t entry_point(const char* name, void** address, unsigned long long flags)
    CONVLADDER_SYMBOL(cudaGetDriverEntryPoint);
cudaError_t entry_point(const char* name, void** address, unsigned long long flags) {
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
  const cudaError_t status =
      today_cudaGetDriverEntryPointByVersion(name, address, CONVLADDER_RUNTIME_VERSION, flags, &found);
  return status == cudaSuccess && found != cudaDriverEntryPointSuccess ? cudaErrorSymbolNotFound : status;
}

}  // extern "C"

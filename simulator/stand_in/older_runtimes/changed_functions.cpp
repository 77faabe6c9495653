// Functions whose parameters have changed. Where an older one had a newer form beside it, that has a suffix.
#include "simulator/stand_in/older_runtimes/names.hpp"

CONVLADDER_TODAY(cudaRuntimeGetVersion);
CONVLADDER_TODAY(cudaPointerGetAttributes);
CONVLADDER_TODAY(cudaGetDriverEntryPointByVersion);
CONVLADDER_TODAY(cudaMemAdvise);
CONVLADDER_TODAY(cudaMemPrefetchAsync);
CONVLADDER_TODAY(cudaStreamGetCaptureInfo);
CONVLADDER_TODAY(cudaStreamUpdateCaptureDependencies);
CONVLADDER_TODAY(cudaGraphGetEdges);
CONVLADDER_TODAY(cudaGraphNodeGetDependencies);
CONVLADDER_TODAY(cudaGraphNodeGetDependentNodes);
CONVLADDER_TODAY(cudaGraphAddDependencies);
CONVLADDER_TODAY(cudaGraphRemoveDependencies);
CONVLADDER_TODAY(cudaGraphAddNode);

namespace {

/// cudaPointerAttributes of CUDA 11 and 12.
struct PointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
static_assert(sizeof(PointerAttributes) == 24);

/// A location from a device number; cudaCpuDeviceId is the host.
cudaMemLocation location_of(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

}  // namespace

extern "C" {

cudaError_t runtime_version(int* version) CONVLADDER_SYMBOL(cudaRuntimeGetVersion);
cudaError_t runtime_version(int* version) {
  const cudaError_t status = today_cudaRuntimeGetVersion(version);
  if (status == cudaSuccess && version != nullptr) *version = CONVLADDER_RUNTIME_VERSION;
  return status;
}

cudaError_t pointer_attributes(PointerAttributes* wanted, const void* address)
    CONVLADDER_SYMBOL(cudaPointerGetAttributes);
cudaError_t pointer_attributes(PointerAttributes* wanted, const void* address) {
  cudaPointerAttributes now = {};
  const cudaError_t status = today_cudaPointerGetAttributes(wanted == nullptr ? nullptr : &now, address);
  if (status == cudaSuccess && wanted != nullptr) *wanted = {now.type, now.device, now.devicePointer, now.hostPointer};
  return status;
}

cudaError_t advise(const void* address, std::size_t bytes, cudaMemoryAdvise advice, int device)
    CONVLADDER_SYMBOL(cudaMemAdvise);
cudaError_t advise(const void* address, std::size_t bytes, cudaMemoryAdvise advice, int device) {
  return today_cudaMemAdvise(address, bytes, advice, location_of(device));
}
decltype(cudaMemAdvise) advise_2 CONVLADDER_SYMBOL(cudaMemAdvise_v2);
cudaError_t advise_2(const void* address, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return today_cudaMemAdvise(address, bytes, advice, location);
}

cudaError_t prefetch(const void* address, std::size_t bytes, int device, cudaStream_t stream)
    CONVLADDER_SYMBOL(cudaMemPrefetchAsync);
cudaError_t prefetch(const void* address, std::size_t bytes, int device, cudaStream_t stream) {
  return today_cudaMemPrefetchAsync(address, bytes, location_of(device), 0, stream);
}
decltype(cudaMemPrefetchAsync) prefetch_2 CONVLADDER_SYMBOL(cudaMemPrefetchAsync_v2);
cudaError_t prefetch_2(const void* address, std::size_t bytes, cudaMemLocation location, unsigned flags,
                       cudaStream_t stream) {
  return today_cudaMemPrefetchAsync(address, bytes, location, flags, stream);
}

#if CONVLADDER_RUNTIME_VERSION >= 12000
cudaError_t entry_point(const char* name, void** address, unsigned long long flags,
                        cudaDriverEntryPointQueryResult* found) CONVLADDER_SYMBOL(cudaGetDriverEntryPoint);
cudaError_t entry_point(const char* name, void** address, unsigned long long flags,
                        cudaDriverEntryPointQueryResult* found) {
  return today_cudaGetDriverEntryPointByVersion(name, address, CONVLADDER_RUNTIME_VERSION, flags, found);
}
#endif

// Graphs, whose edges had no data.

cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id)
    CONVLADDER_SYMBOL(cudaStreamGetCaptureInfo);
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return today_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
cudaError_t capture_info_2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                           cudaGraph_t* graph, const cudaGraphNode_t** nodes, std::size_t* count)
    CONVLADDER_SYMBOL(cudaStreamGetCaptureInfo_v2);
cudaError_t capture_info_2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                           cudaGraph_t* graph, const cudaGraphNode_t** nodes, std::size_t* count) {
  return today_cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
decltype(cudaStreamGetCaptureInfo) capture_info_3 CONVLADDER_SYMBOL(cudaStreamGetCaptureInfo_v3);
cudaError_t capture_info_3(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                           cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                           std::size_t* count) {
  return today_cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count);
}

cudaError_t update_dependencies(cudaStream_t stream, cudaGraphNode_t* nodes, std::size_t count, unsigned flags)
    CONVLADDER_SYMBOL(cudaStreamUpdateCaptureDependencies);
cudaError_t update_dependencies(cudaStream_t stream, cudaGraphNode_t* nodes, std::size_t count, unsigned flags) {
  return today_cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
decltype(cudaStreamUpdateCaptureDependencies) update_dependencies_2
    CONVLADDER_SYMBOL(cudaStreamUpdateCaptureDependencies_v2);
cudaError_t update_dependencies_2(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* edges,
                                  std::size_t count, unsigned flags) {
  return today_cudaStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags);
}

cudaError_t edges_of(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count)
    CONVLADDER_SYMBOL(cudaGraphGetEdges);
cudaError_t edges_of(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count) {
  return today_cudaGraphGetEdges(graph, from, to, nullptr, count);
}
decltype(cudaGraphGetEdges) edges_of_2 CONVLADDER_SYMBOL(cudaGraphGetEdges_v2);
cudaError_t edges_of_2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                       std::size_t* count) {
  return today_cudaGraphGetEdges(graph, from, to, edges, count);
}

cudaError_t dependencies_of(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count)
    CONVLADDER_SYMBOL(cudaGraphNodeGetDependencies);
cudaError_t dependencies_of(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count) {
  return today_cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
decltype(cudaGraphNodeGetDependencies) dependencies_of_2 CONVLADDER_SYMBOL(cudaGraphNodeGetDependencies_v2);
cudaError_t dependencies_of_2(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                              std::size_t* count) {
  return today_cudaGraphNodeGetDependencies(node, nodes, edges, count);
}

cudaError_t dependents_of(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count)
    CONVLADDER_SYMBOL(cudaGraphNodeGetDependentNodes);
cudaError_t dependents_of(cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count) {
  return today_cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
decltype(cudaGraphNodeGetDependentNodes) dependents_of_2 CONVLADDER_SYMBOL(cudaGraphNodeGetDependentNodes_v2);
cudaError_t dependents_of_2(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                            std::size_t* count) {
  return today_cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}

cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                             std::size_t count) CONVLADDER_SYMBOL(cudaGraphAddDependencies);
cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                             std::size_t count) {
  return today_cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
decltype(cudaGraphAddDependencies) add_dependencies_2 CONVLADDER_SYMBOL(cudaGraphAddDependencies_v2);
cudaError_t add_dependencies_2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                               const cudaGraphEdgeData* edges, std::size_t count) {
  return today_cudaGraphAddDependencies(graph, from, to, edges, count);
}

cudaError_t remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                std::size_t count) CONVLADDER_SYMBOL(cudaGraphRemoveDependencies);
cudaError_t remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                std::size_t count) {
  return today_cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
decltype(cudaGraphRemoveDependencies) remove_dependencies_2 CONVLADDER_SYMBOL(cudaGraphRemoveDependencies_v2);
cudaError_t remove_dependencies_2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                  const cudaGraphEdgeData* edges, std::size_t count) {
  return today_cudaGraphRemoveDependencies(graph, from, to, edges, count);
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
                     cudaGraphNodeParams* parameters) CONVLADDER_SYMBOL(cudaGraphAddNode);
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
                     cudaGraphNodeParams* parameters) {
  return today_cudaGraphAddNode(node, graph, dependencies, nullptr, count, parameters);
}
decltype(cudaGraphAddNode) add_node_2 CONVLADDER_SYMBOL(cudaGraphAddNode_v2);
cudaError_t add_node_2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                       const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters) {
  return today_cudaGraphAddNode(node, graph, dependencies, edges, count, parameters);
}

}  // extern "C"

// Graphs and the capture of streams: the runtime's, whose handles are the same. Nodes whose parameters the driver
// describes in structures of its own cannot be made here.
#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace {

/// Both structures have the same members under different names.
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) <= sizeof(cudaHostNodeParams));

const cudaGraphEdgeData* edges_of(const CUgraphEdgeData* edges) {
  return reinterpret_cast<const cudaGraphEdgeData*>(edges);
}
cudaGraphEdgeData* edges_of(CUgraphEdgeData* edges) { return reinterpret_cast<cudaGraphEdgeData*>(edges); }
const cudaGraphEdgeData* const kNoEdges = nullptr;
cudaGraphEdgeData* const kNoPlaceForEdges = nullptr;

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return forward("cuStreamBeginCapture", cudaStreamBeginCapture, stream, static_cast<cudaStreamCaptureMode>(mode));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return forward("cuStreamEndCapture", cudaStreamEndCapture, stream, graph);
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return forward("cuStreamIsCapturing", cudaStreamIsCapturing, stream,
                 reinterpret_cast<cudaStreamCaptureStatus*>(status));
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, const CUgraphEdgeData** edges, std::size_t* count) {
  return forward("cuStreamGetCaptureInfo", cudaStreamGetCaptureInfo, stream,
                 reinterpret_cast<cudaStreamCaptureStatus*>(status), reinterpret_cast<unsigned long long*>(id), graph,
                 nodes, reinterpret_cast<const cudaGraphEdgeData**>(edges), count);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* edges,
                                              std::size_t count, unsigned flags) {
  return forward("cuStreamUpdateCaptureDependencies", cudaStreamUpdateCaptureDependencies, stream, nodes,
                 edges_of(edges), count, flags);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return forward("cuThreadExchangeStreamCaptureMode", cudaThreadExchangeStreamCaptureMode,
                 reinterpret_cast<cudaStreamCaptureMode*>(mode));
}

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return forward("cuGraphCreate", cudaGraphCreate, graph, flags);
}
CUresult cuGraphDestroy(CUgraph graph) { return forward("cuGraphDestroy", cudaGraphDestroy, graph); }
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) { return forward("cuGraphClone", cudaGraphClone, clone, graph); }
CUresult cuGraphNodeFindInClone(CUgraphNode* place, CUgraphNode node, CUgraph clone) {
  return forward("cuGraphNodeFindInClone", cudaGraphNodeFindInClone, place, node, clone);
}
CUresult cuGraphDestroyNode(CUgraphNode node) { return forward("cuGraphDestroyNode", cudaGraphDestroyNode, node); }
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return forward("cuGraphNodeGetType", cudaGraphNodeGetType, node, reinterpret_cast<cudaGraphNodeType*>(type));
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return forward("cuGraphGetNodes", cudaGraphGetNodes, graph, nodes, count);
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return forward("cuGraphGetRootNodes", cudaGraphGetRootNodes, graph, nodes, count);
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges,
                            std::size_t* count) {
  return forward("cuGraphGetEdges", cudaGraphGetEdges, graph, from, to, edges_of(edges), count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return forward("cuGraphGetEdges", cudaGraphGetEdges, graph, from, to, kNoPlaceForEdges, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                       std::size_t* count) {
  return forward("cuGraphNodeGetDependencies", cudaGraphNodeGetDependencies, node, nodes, edges_of(edges), count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return forward("cuGraphNodeGetDependencies", cudaGraphNodeGetDependencies, node, nodes, kNoPlaceForEdges, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                         std::size_t* count) {
  return forward("cuGraphNodeGetDependentNodes", cudaGraphNodeGetDependentNodes, node, nodes, edges_of(edges), count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return forward("cuGraphNodeGetDependentNodes", cudaGraphNodeGetDependentNodes, node, nodes, kNoPlaceForEdges, count);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edges, std::size_t count) {
  return forward("cuGraphAddDependencies", cudaGraphAddDependencies, graph, from, to, edges_of(edges), count);
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return forward("cuGraphAddDependencies", cudaGraphAddDependencies, graph, from, to, kNoEdges, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edges, std::size_t count) {
  return forward("cuGraphRemoveDependencies", cudaGraphRemoveDependencies, graph, from, to, edges_of(edges), count);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return forward("cuGraphRemoveDependencies", cudaGraphRemoveDependencies, graph, from, to, kNoEdges, count);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, std::size_t count) {
  return forward("cuGraphAddEmptyNode", cudaGraphAddEmptyNode, node, graph, needs, count);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, std::size_t count,
                                  CUgraph child) {
  return forward("cuGraphAddChildGraphNode", cudaGraphAddChildGraphNode, node, graph, needs, count, child);
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, std::size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaHostNodeParams same = {};
  same.fn = parameters->fn;
  same.userData = parameters->userData;
  return forward("cuGraphAddHostNode", cudaGraphAddHostNode, node, graph, needs, count, &same);
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, std::size_t count,
                                   CUevent event) {
  return forward("cuGraphAddEventRecordNode", cudaGraphAddEventRecordNode, node, graph, needs, count, event);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, std::size_t count,
                                 CUevent event) {
  return forward("cuGraphAddEventWaitNode", cudaGraphAddEventWaitNode, node, graph, needs, count, event);
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, std::size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaKernelNodeParams same = {};
  same.func = parameters->func != nullptr ? static_cast<void*>(parameters->func) : static_cast<void*>(parameters->kern);
  same.gridDim = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
  same.blockDim = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
  same.sharedMemBytes = parameters->sharedMemBytes;
  same.kernelParams = parameters->kernelParams;
  same.extra = parameters->extra;
  return forward("cuGraphAddKernelNode", cudaGraphAddKernelNode, node, graph, needs, count, &same);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* ready, CUgraph graph, unsigned long long flags) {
  return forward("cuGraphInstantiate", cudaGraphInstantiateWithFlags, ready, graph, flags);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* ready, CUgraph graph, CUgraphNode* error_node, char* log,
                               std::size_t bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && bytes > 0) *log = '\0';
  return cuGraphInstantiateWithFlags(ready, graph, 0);
}
CUresult cuGraphExecGetFlags(CUgraphExec ready, cuuint64_t* flags) {
  return forward("cuGraphExecGetFlags", cudaGraphExecGetFlags, ready, reinterpret_cast<unsigned long long*>(flags));
}
CUresult cuGraphUpload(CUgraphExec ready, CUstream stream) {
  return forward("cuGraphUpload", cudaGraphUpload, ready, stream);
}
CUresult cuGraphLaunch(CUgraphExec ready, CUstream stream) {
  return forward("cuGraphLaunch", cudaGraphLaunch, ready, stream);
}
CUresult cuGraphExecDestroy(CUgraphExec ready) { return forward("cuGraphExecDestroy", cudaGraphExecDestroy, ready); }
CUresult cuGraphNodeSetEnabled(CUgraphExec ready, CUgraphNode node, unsigned enabled) {
  return forward("cuGraphNodeSetEnabled", cudaGraphNodeSetEnabled, ready, node, enabled);
}
CUresult cuGraphNodeGetEnabled(CUgraphExec ready, CUgraphNode node, unsigned* enabled) {
  return forward("cuGraphNodeGetEnabled", cudaGraphNodeGetEnabled, ready, node, enabled);
}

}  // extern "C"

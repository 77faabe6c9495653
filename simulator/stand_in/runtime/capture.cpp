// Captures streams into graphs.
#include "simulator/stand_in/of_thread.hpp"
#include "simulator/stand_in/runtime/graph_parameters.hpp"

using namespace convladder::stand_in;

namespace {

/// The nodes that the next work in a stream needs, for the last call in this thread that asked.
thread_local OfThread<std::vector<cudaGraphNode_t>> told_nodes;

std::vector<GraphNode*> nodes_at(Machine& machine, const cudaGraphNode_t* nodes, std::size_t count) {
  require(count == 0 || nodes != nullptr);
  std::vector<GraphNode*> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(&machine.graphs().node(nodes[i]));
  return found;
}

cudaStreamCaptureStatus status_of(const CapturingStream* capturing) {
  if (capturing == nullptr) return cudaStreamCaptureStatusNone;
  return capturing->capture->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return answer("cudaStreamBeginCapture", [&](Machine& machine) {
    require(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed);
    machine.graphs().begin_capture(machine.stream_number(stream), machine.find_stream(stream), mode, nullptr, {});
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                          const cudaGraphEdgeData* /*edges*/, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return answer("cudaStreamBeginCaptureToGraph", [&](Machine& machine) {
    require(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed);
    Graph& into = machine.graphs().graph(graph);
    machine.graphs().begin_capture(machine.stream_number(stream), machine.find_stream(stream), mode, &into,
                                   nodes_at(machine, needs, count));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return answer("cudaStreamEndCapture", [&](Machine& machine) {
    require(graph != nullptr);
    *graph = nullptr;
    Graph* const made = machine.graphs().end_capture(machine.stream_number(stream), machine.find_stream(stream));
    *graph = reinterpret_cast<cudaGraph_t>(made);
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return answer("cudaStreamIsCapturing", [&](Machine& machine) {
    give(status, status_of(machine.graphs().capturing(machine.stream_number(stream))));
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** needs, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  return answer("cudaStreamGetCaptureInfo", [&](Machine& machine) {
    const CapturingStream* const capturing = machine.graphs().capturing(machine.stream_number(stream));
    give(status, status_of(capturing));
    if (capturing == nullptr || capturing->capture->is_invalid) return;
    told_nodes->clear();
    for (GraphNode* const node : capturing->last) told_nodes->push_back(reinterpret_cast<cudaGraphNode_t>(node));
    if (id != nullptr) *id = capturing->capture->id;
    if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(capturing->capture->graph);
    if (needs != nullptr) *needs = told_nodes->data();
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = told_nodes->size();
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* needs,
                                                const cudaGraphEdgeData* /*edges*/, std::size_t count, unsigned flags) {
  return answer("cudaStreamUpdateCaptureDependencies", [&](Machine& machine) {
    CapturingStream* const capturing = machine.graphs().capturing(machine.stream_number(stream));
    require(capturing != nullptr && !capturing->capture->is_invalid, kIllegalState);
    require(flags == cudaStreamAddCaptureDependencies || flags == cudaStreamSetCaptureDependencies);
    std::vector<GraphNode*> nodes = nodes_at(machine, needs, count);
    if (flags == cudaStreamAddCaptureDependencies) {
      nodes.insert(nodes.begin(), capturing->last.begin(), capturing->last.end());
    }
    capturing->last = std::move(nodes);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return answer("cudaThreadExchangeStreamCaptureMode", [&](Machine&) {
    require(mode != nullptr && *mode >= cudaStreamCaptureModeGlobal && *mode <= cudaStreamCaptureModeRelaxed);
    const auto before = static_cast<cudaStreamCaptureMode>(capture_mode_of_thread);
    capture_mode_of_thread = *mode;
    *mode = before;
  });
}

}  // extern "C"

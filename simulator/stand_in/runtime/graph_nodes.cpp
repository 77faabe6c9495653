// Adds nodes to graphs, and gets and sets their parameters, in a graph and in one that is ready.
#include <cstring>

#include "simulator/stand_in/runtime/graph_parameters.hpp"

using namespace convladder::stand_in;

namespace {

/// Adds the node whose work `make(machine)` gives.
template <typename Make>
cudaError_t add(const char* name, cudaGraphNode_t* place, cudaGraph_t graph, const cudaGraphNode_t* needs,
                std::size_t count, const Make& make) {
  return answer(name, [&](Machine& machine) {
    require(place != nullptr && (count == 0 || needs != nullptr));
    Graph& found = machine.graphs().graph(graph);
    std::vector<GraphNode*> nodes;
    for (std::size_t i = 0; i < count; ++i) nodes.push_back(&machine.graphs().node(needs[i]));
    *place = handle_of(&found.add(make(machine), std::move(nodes)));
  });
}

/// Calls `use(machine, work)` with a node's work, which must be of type T.
template <typename T, typename Use>
cudaError_t with(const char* name, cudaGraphNode_t node, const Use& use) {
  return answer(name, [&](Machine& machine) {
    auto* const work = std::get_if<T>(&machine.graphs().node(node).work);
    require(work != nullptr);
    use(machine, *work);
  });
}

GraphNode& in_ready(Machine& machine, cudaGraphExec_t ready, cudaGraphNode_t node) {
  GraphNode* const copy = machine.graphs().ready(ready).graph->copy_of(machine.graphs().node(node));
  require(copy != nullptr);
  return *copy;
}

/// As `with`, for the node's copy in a graph that is ready.
template <typename T, typename Use>
cudaError_t with_ready(const char* name, cudaGraphExec_t ready, cudaGraphNode_t node, const Use& use) {
  return answer(name, [&](Machine& machine) {
    auto* const work = std::get_if<T>(&in_ready(machine, ready, node).work);
    require(work != nullptr);
    use(machine, *work);
  });
}

void set_any(Machine& machine, Work& work, cudaGraphNodeParams* parameters) {
  require(parameters != nullptr && type_of(work) == parameters->type);
  require(parameters->type != cudaGraphNodeTypeMemAlloc && parameters->type != cudaGraphNodeTypeMemFree, kNotSupported);
  work = any_work(machine, parameters);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaKernelNodeParams* parameters) {
  return add("cudaGraphAddKernelNode", node, graph, needs, count,
             [&](Machine& machine) { return kernel_work(machine, parameters); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaMemcpy3DParms* parameters) {
  return add("cudaGraphAddMemcpyNode", node, graph, needs, count,
             [&](Machine& machine) { return copy_work(machine, parameters); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", node, graph, needs, count,
             [&](Machine&) { return copy_work(to, from, bytes, kind); });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                           std::size_t count, const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeToSymbol", node, graph, needs, count,
             [&](Machine& machine) { return symbol_work(machine, symbol, offset, nullptr, from, bytes, kind); });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                             std::size_t count, void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeFromSymbol", node, graph, needs, count,
             [&](Machine& machine) { return symbol_work(machine, symbol, offset, to, nullptr, bytes, kind); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaMemsetParams* parameters) {
  return add("cudaGraphAddMemsetNode", node, graph, needs, count, [&](Machine&) { return fill_work(parameters); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
  return add("cudaGraphAddHostNode", node, graph, needs, count, [&](Machine&) { return host_work(parameters); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                       std::size_t count, cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", node, graph, needs, count,
             [&](Machine& machine) { return child_work(machine, child); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                  std::size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, needs, count, [](Machine&) { return EmptyWork{}; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                        std::size_t count, cudaEvent_t event) {
  return add("cudaGraphAddEventRecordNode", node, graph, needs, count,
             [&](Machine& machine) { return EventRecordWork{&machine.event(event)}; });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                      std::size_t count, cudaEvent_t event) {
  return add("cudaGraphAddEventWaitNode", node, graph, needs, count,
             [&](Machine& machine) { return EventWaitWork{&machine.event(event)}; });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                     std::size_t count, cudaMemAllocNodeParams* parameters) {
  return add("cudaGraphAddMemAllocNode", node, graph, needs, count, [&](Machine& machine) {
    require(parameters != nullptr);
    const AllocationWork work = allocation_work(machine, parameters->bytesize);
    parameters->dptr = work.address;
    return work;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                    std::size_t count, void* address) {
  return add("cudaGraphAddMemFreeNode", node, graph, needs, count,
             [&](Machine& machine) { return free_work(machine, address); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                             const cudaGraphEdgeData* /*edges*/, std::size_t count, cudaGraphNodeParams* parameters) {
  return add("cudaGraphAddNode", node, graph, needs, count,
             [&](Machine& machine) { return any_work(machine, parameters); });
}

// The parameters of nodes.

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return with<KernelWork>("cudaGraphKernelNodeGetParams", node, [&](Machine&, KernelWork& work) {
    require(parameters != nullptr);
    const auto size = [](const convladder::Dim3& d) {
      return dim3(static_cast<unsigned>(d.x), static_cast<unsigned>(d.y), static_cast<unsigned>(d.z));
    };
    work.pointers.clear();
    for (std::vector<std::byte>& argument : work.arguments) work.pointers.push_back(argument.data());
    *parameters = {const_cast<void*>(work.function->host),
                   size(work.request.grid),
                   size(work.request.block),
                   static_cast<unsigned>(work.request.dynamic_shared_bytes),
                   work.pointers.data(),
                   nullptr};
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return with<CopyWork>("cudaGraphMemcpyNodeGetParams", node,
                        [&](Machine&, const CopyWork& work) { give(parameters, parameters_of(work)); });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return with<FillWork>("cudaGraphMemsetNodeGetParams", node,
                        [&](Machine&, const FillWork& work) { give(parameters, parameters_of(work)); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return with<HostWork>("cudaGraphHostNodeGetParams", node, [&](Machine&, const HostWork& work) {
    give(parameters, cudaHostNodeParams{work.function, work.data});
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return with<ChildWork>("cudaGraphChildGraphNodeGetGraph", node, [&](Machine&, const ChildWork& work) {
    give(graph, reinterpret_cast<cudaGraph_t>(work.graph.get()));
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with<EventRecordWork>("cudaGraphEventRecordNodeGetEvent", node, [&](Machine&, const EventRecordWork& work) {
    give(event, reinterpret_cast<cudaEvent_t>(work.event));
  });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with<EventWaitWork>("cudaGraphEventWaitNodeGetEvent", node, [&](Machine&, const EventWaitWork& work) {
    give(event, reinterpret_cast<cudaEvent_t>(work.event));
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  return with<AllocationWork>("cudaGraphMemAllocNodeGetParams", node, [&](Machine&, const AllocationWork& work) {
    require(parameters != nullptr);
    *parameters = {};
    parameters->poolProps.allocType = cudaMemAllocationTypePinned;
    parameters->poolProps.location = {cudaMemLocationTypeDevice, {0}};
    parameters->bytesize = work.bytes;
    parameters->dptr = work.address;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* address) {
  return with<FreeWork>("cudaGraphMemFreeNodeGetParams", node, [&](Machine&, const FreeWork& work) {
    require(address != nullptr);
    std::memcpy(address, &work.address, sizeof work.address);
  });
}

// New parameters, for graphs that are instantiated later.

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return with<KernelWork>("cudaGraphKernelNodeSetParams", node,
                          [&](Machine& machine, KernelWork& work) { work = kernel_work(machine, parameters); });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return with<CopyWork>("cudaGraphMemcpyNodeSetParams", node,
                        [&](Machine& machine, CopyWork& work) { work = copy_work(machine, parameters); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind) {
  return with<CopyWork>("cudaGraphMemcpyNodeSetParams1D", node,
                        [&](Machine&, CopyWork& work) { work = copy_work(to, from, bytes, kind); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                 std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return with<CopyWork>("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](Machine& machine, CopyWork& work) {
    work = symbol_work(machine, symbol, offset, nullptr, from, bytes, kind);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                                   std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return with<CopyWork>("cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](Machine& machine, CopyWork& work) {
    work = symbol_work(machine, symbol, offset, to, nullptr, bytes, kind);
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return with<FillWork>("cudaGraphMemsetNodeSetParams", node,
                        [&](Machine&, FillWork& work) { work = fill_work(parameters); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return with<HostWork>("cudaGraphHostNodeSetParams", node,
                        [&](Machine&, HostWork& work) { work = host_work(parameters); });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with<EventRecordWork>("cudaGraphEventRecordNodeSetEvent", node,
                               [&](Machine& machine, EventRecordWork& work) { work.event = &machine.event(event); });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with<EventWaitWork>("cudaGraphEventWaitNodeSetEvent", node,
                             [&](Machine& machine, EventWaitWork& work) { work.event = &machine.event(event); });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return answer("cudaGraphNodeSetParams",
                [&](Machine& machine) { set_any(machine, machine.graphs().node(node).work, parameters); });
}

// New parameters for the next launches of a ready graph.

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return with_ready<KernelWork>("cudaGraphExecKernelNodeSetParams", ready, node,
                                [&](Machine& machine, KernelWork& work) { work = kernel_work(machine, parameters); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return with_ready<CopyWork>("cudaGraphExecMemcpyNodeSetParams", ready, node,
                              [&](Machine& machine, CopyWork& work) { work = copy_work(machine, parameters); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t node, void* to, const void* from,
                                               std::size_t bytes, cudaMemcpyKind kind) {
  return with_ready<CopyWork>("cudaGraphExecMemcpyNodeSetParams1D", ready, node,
                              [&](Machine&, CopyWork& work) { work = copy_work(to, from, bytes, kind); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t ready, cudaGraphNode_t node, const void* symbol,
                                                     const void* from, std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return with_ready<CopyWork>("cudaGraphExecMemcpyNodeSetParamsToSymbol", ready, node,
                              [&](Machine& machine, CopyWork& work) {
                                work = symbol_work(machine, symbol, offset, nullptr, from, bytes, kind);
                              });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t ready, cudaGraphNode_t node, void* to,
                                                       const void* symbol, std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return with_ready<CopyWork>(
      "cudaGraphExecMemcpyNodeSetParamsFromSymbol", ready, node,
      [&](Machine& machine, CopyWork& work) { work = symbol_work(machine, symbol, offset, to, nullptr, bytes, kind); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return with_ready<FillWork>("cudaGraphExecMemsetNodeSetParams", ready, node,
                              [&](Machine&, FillWork& work) { work = fill_work(parameters); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return with_ready<HostWork>("cudaGraphExecHostNodeSetParams", ready, node,
                              [&](Machine&, HostWork& work) { work = host_work(parameters); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node, cudaGraph_t child) {
  return with_ready<ChildWork>("cudaGraphExecChildGraphNodeSetParams", ready, node,
                               [&](Machine& machine, ChildWork& work) { work = child_work(machine, child); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node, cudaEvent_t event) {
  return with_ready<EventRecordWork>(
      "cudaGraphExecEventRecordNodeSetEvent", ready, node,
      [&](Machine& machine, EventRecordWork& work) { work.event = &machine.event(event); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node, cudaEvent_t event) {
  return with_ready<EventWaitWork>("cudaGraphExecEventWaitNodeSetEvent", ready, node,
                                   [&](Machine& machine, EventWaitWork& work) { work.event = &machine.event(event); });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return answer("cudaGraphExecNodeSetParams",
                [&](Machine& machine) { set_any(machine, in_ready(machine, ready, node).work, parameters); });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t ready, cudaGraphNode_t node, unsigned enabled) {
  return answer("cudaGraphNodeSetEnabled", [&](Machine& machine) {
    GraphNode& copy = in_ready(machine, ready, node);
    const cudaGraphNodeType type = type_of(copy.work);
    require(type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeMemset);
    copy.is_enabled = enabled != 0;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t ready, cudaGraphNode_t node, unsigned* enabled) {
  return answer("cudaGraphNodeGetEnabled",
                [&](Machine& machine) { give(enabled, in_ready(machine, ready, node).is_enabled ? 1U : 0U); });
}

}  // extern "C"

// Converts parameters of a graph's nodes, as the runtime API has them, into the work that they describe. All functions
// throw Failure.
#pragma once

#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/runtime/answer.hpp"
#include "simulator/stand_in/runtime/boxes.hpp"

namespace convladder::stand_in {

inline cudaGraphNode_t handle_of(const GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node));
}

KernelWork kernel_work(Machine& machine, const cudaKernelNodeParams* parameters);
CopyWork copy_work(Machine& machine, const cudaMemcpy3DParms* parameters);
CopyWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
/// Work that copies to or from a symbol: the other side is null.
CopyWork symbol_work(Machine& machine, const void* symbol, std::size_t offset, void* to, const void* from,
                     std::size_t bytes, cudaMemcpyKind kind);
FillWork fill_work(const cudaMemsetParams* parameters);
HostWork host_work(const cudaHostNodeParams* parameters);
ChildWork child_work(Machine& machine, cudaGraph_t graph);
/// The work of a node that allocates memory, which exists from now on.
AllocationWork allocation_work(Machine& machine, std::uint64_t bytes);
FreeWork free_work(Machine& machine, void* address);
/// The work of a node of any supported kind; also returns the call's results (the address of an allocation) in
/// `parameters`.
Work any_work(Machine& machine, cudaGraphNodeParams* parameters);

cudaMemcpy3DParms parameters_of(const CopyWork& work);
cudaMemsetParams parameters_of(const FillWork& work);
cudaGraphNodeType type_of(const Work& work);

}  // namespace convladder::stand_in

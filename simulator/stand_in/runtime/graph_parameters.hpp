// Parameters of a graph's nodes, as the runtime API has them and as the work that they describe. All throw Failure.
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
/// To or from a symbol: the other side is null.
CopyWork symbol_work(Machine& machine, const void* symbol, std::size_t offset, void* to, const void* from,
                     std::size_t bytes, cudaMemcpyKind kind);
FillWork fill_work(const cudaMemsetParams* parameters);
HostWork host_work(const cudaHostNodeParams* parameters);
ChildWork child_work(Machine& machine, cudaGraph_t graph);
/// The memory that the node is going to have, which is there from now on.
AllocationWork allocation_work(Machine& machine, std::uint64_t bytes);
FreeWork free_work(Machine& machine, void* address);
/// Of a node of any kind that is supported; gives out what the call gives out (the address of an allocation).
Work any_work(Machine& machine, cudaGraphNodeParams* parameters);

cudaMemcpy3DParms parameters_of(const CopyWork& work);
cudaMemsetParams parameters_of(const FillWork& work);
cudaGraphNodeType type_of(const Work& work);

}  // namespace convladder::stand_in

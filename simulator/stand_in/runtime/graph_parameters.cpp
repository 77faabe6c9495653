#include "simulator/stand_in/runtime/graph_parameters.hpp"

#include <cstring>

namespace convladder::stand_in {
namespace {

[[noreturn]] void refuse(Machine& machine, const char* what) {
  machine.report.not_supported(what);
  throw Failure(kNotSupported);
}

}  // namespace

KernelWork kernel_work(Machine& machine, const cudaKernelNodeParams* parameters) {
  require(parameters != nullptr);
  if (parameters->extra != nullptr) refuse(machine, "a graph's kernel node with its arguments in `extra`");
  const LaunchRequest request{.grid = {parameters->gridDim.x, parameters->gridDim.y, parameters->gridDim.z},
                              .block = {parameters->blockDim.x, parameters->blockDim.y, parameters->blockDim.z},
                              .dynamic_shared_bytes = parameters->sharedMemBytes};
  return machine.kernel_work(machine.function(parameters->func), request, parameters->kernelParams);
}

CopyWork copy_work(Machine& machine, const cudaMemcpy3DParms* parameters) {
  require(parameters != nullptr);
  const BoxCopy copy = box_copy(machine, *parameters);
  return {copy.to, copy.from, copy.size, copy.kind};
}

CopyWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  require(to != nullptr && from != nullptr);
  return {line(to), line(from), {bytes, 1, 1}, kind_of(kind)};
}

CopyWork symbol_work(Machine& machine, const void* symbol, std::size_t offset, void* to, const void* from,
                     std::size_t bytes, cudaMemcpyKind kind) {
  require((to == nullptr) != (from == nullptr));
  std::byte* const place = symbol_place(machine, symbol, offset, bytes);
  return copy_work(to == nullptr ? place : to, from == nullptr ? place : from, bytes, kind);
}

FillWork fill_work(const cudaMemsetParams* parameters) {
  require(parameters != nullptr);
  const cudaMemsetParams& p = *parameters;
  require(p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4);
  FillWork work{rows(p.dst, p.pitch), {}, p.elementSize, {p.width * p.elementSize, p.height, 1}};
  std::memcpy(work.value.data(), &p.value, p.elementSize);
  return work;
}

HostWork host_work(const cudaHostNodeParams* parameters) {
  require(parameters != nullptr && parameters->fn != nullptr);
  return {parameters->fn, parameters->userData};
}

ChildWork child_work(Machine& machine, cudaGraph_t graph) { return {machine.graphs().graph(graph).copy()}; }

AllocationWork allocation_work(Machine& machine, std::uint64_t bytes) {
  require(bytes > 0);
  void* const address = machine.allocate(MemoryKind::device, bytes, 0, "cudaGraphAddMemAllocNode");
  machine.graphs().add_memory(address);
  return {address, bytes};
}

FreeWork free_work(Machine& machine, void* address) {
  require(machine.graphs().is_memory(address));
  return {address};
}

Work any_work(Machine& machine, cudaGraphNodeParams* parameters) {
  require(parameters != nullptr);
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& own = parameters->kernel;
      const cudaKernelNodeParams kernel{own.func,           own.gridDim,      own.blockDim,
                                        own.sharedMemBytes, own.kernelParams, own.extra};
      return kernel_work(machine, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_work(machine, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& own = parameters->memset;
      const cudaMemsetParams fill{own.dst, own.pitch, own.value, own.elementSize, own.width, own.height};
      return fill_work(&fill);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{parameters->host.fn, parameters->host.userData};
      return host_work(&host);
    }
    case cudaGraphNodeTypeGraph:
      return child_work(machine, parameters->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return EmptyWork{};
    case cudaGraphNodeTypeWaitEvent:
      return EventWaitWork{&machine.event(parameters->eventWait.event)};
    case cudaGraphNodeTypeEventRecord:
      return EventRecordWork{&machine.event(parameters->eventRecord.event)};
    case cudaGraphNodeTypeMemAlloc: {
      const AllocationWork work = allocation_work(machine, parameters->alloc.bytesize);
      parameters->alloc.dptr = work.address;
      return work;
    }
    case cudaGraphNodeTypeMemFree:
      return free_work(machine, parameters->free.dptr);
    default:
      refuse(machine, parameters->type == cudaGraphNodeTypeConditional ? "a conditional node of a graph"
                                                                       : "a graph's node for a semaphore");
  }
}

cudaMemcpy3DParms parameters_of(const CopyWork& work) {
  const auto pitched = [&](const Rectangle& place) {
    const bool is_line = place.pitch == 0;
    return cudaPitchedPtr{place.address, is_line ? work.size.width : place.pitch, work.size.width,
                          is_line || place.slice == 0 ? work.size.height : place.slice / place.pitch};
  };
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = pitched(work.from);
  parameters.dstPtr = pitched(work.to);
  parameters.extent = {work.size.width, work.size.height, work.size.depth};
  parameters.kind = static_cast<cudaMemcpyKind>(work.kind);
  return parameters;
}

cudaMemsetParams parameters_of(const FillWork& work) {
  cudaMemsetParams parameters{};
  parameters.dst = work.to.address;
  parameters.pitch = work.to.pitch;
  std::memcpy(&parameters.value, work.value.data(), work.unit);
  parameters.elementSize = static_cast<unsigned>(work.unit);
  parameters.width = work.size.width / work.unit;
  parameters.height = work.size.height;
  return parameters;
}

cudaGraphNodeType type_of(const Work& work) {
  // In the order of the variant's types.
  constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeEmpty,   cudaGraphNodeTypeKernel,      cudaGraphNodeTypeMemcpy,    cudaGraphNodeTypeMemset,
      cudaGraphNodeTypeHost,    cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree, cudaGraphNodeTypeGraph,       cudaGraphNodeTypeKernel};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

}  // namespace convladder::stand_in

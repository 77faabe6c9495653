// Graphs of the CUDA runtime: made node by node, captured from streams, changed, launched.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

constexpr int kCount = 256;

__device__ int factor = 1;

__global__ void add(int* values, int what) { values[blockIdx.x * blockDim.x + threadIdx.x] += what; }
__global__ void multiply(int* values) { values[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }
__global__ void work(float* values, int rounds) {
  float value = values[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 0.5f + 1;
  values[threadIdx.x] = value;
}

void count_calls(void* calls) { ++*static_cast<int*>(calls); }

cudaKernelNodeParams kernel_of(void* function, void** arguments) {
  cudaKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = dim3(2);
  parameters.blockDim = dim3(kCount / 2);
  parameters.kernelParams = arguments;
  return parameters;
}

/// Fill with 1, add 2, multiply with the symbol (3), copy to the host, call the host.
void made_node_by_node() {
  int* values = nullptr;
  EXPECT_OK(cudaMalloc(&values, kCount * sizeof(int)));
  std::vector<int> host(kCount);
  int calls = 0;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{};
  fill.dst = values;
  fill.value = 1;
  fill.elementSize = 4;
  fill.width = kCount;
  fill.height = 1;
  cudaGraphNode_t filled, added, set, multiplied, copied, told;
  EXPECT_OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  int two = 2;
  void* add_arguments[] = {&values, &two};
  const cudaKernelNodeParams adding = kernel_of(reinterpret_cast<void*>(add), add_arguments);
  EXPECT_OK(cudaGraphAddKernelNode(&added, graph, &filled, 1, &adding));
  int three = 3;
  EXPECT_OK(
      cudaGraphAddMemcpyNodeToSymbol(&set, graph, nullptr, 0, factor, &three, sizeof three, 0, cudaMemcpyHostToDevice));
  void* multiply_arguments[] = {&values};
  const cudaKernelNodeParams multiplying = kernel_of(reinterpret_cast<void*>(multiply), multiply_arguments);
  const cudaGraphNode_t both[] = {added, set};
  EXPECT_OK(cudaGraphAddKernelNode(&multiplied, graph, both, 2, &multiplying));
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&copied, graph, &multiplied, 1, host.data(), values, kCount * sizeof(int),
                                     cudaMemcpyDeviceToHost));
  const cudaHostNodeParams tell{count_calls, &calls};
  EXPECT_OK(cudaGraphAddHostNode(&told, graph, &copied, 1, &tell));

  std::size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 6);
  EXPECT_OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT(count == 5);
  cudaGraphNode_t needs[3];
  count = 3;
  EXPECT_OK(cudaGraphNodeGetDependencies(multiplied, needs, nullptr, &count));
  EXPECT(count == 2 && needs[0] == added && needs[1] == set && needs[2] == nullptr);
  cudaGraphNodeType type;
  EXPECT_OK(cudaGraphNodeGetType(copied, &type));
  EXPECT(type == cudaGraphNodeTypeMemcpy);
  cudaKernelNodeParams asked{};
  EXPECT_OK(cudaGraphKernelNodeGetParams(added, &asked));
  EXPECT(asked.func == reinterpret_cast<void*>(add) && asked.gridDim.x == 2 &&
         *static_cast<int*>(asked.kernelParams[1]) == 2);
  two = 100;  // arguments were taken when the node was made
  EXPECT(host[0] == 0 && calls == 0);

  cudaGraphExec_t ready = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&ready, graph, 0));
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 9 && host[kCount - 1] == 9 && calls == 2);

  // What is ready is a copy; its parameters are changed by themselves.
  two = 4;
  EXPECT_OK(cudaGraphExecKernelNodeSetParams(ready, added, &adding));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 15);
  EXPECT_OK(cudaGraphNodeSetEnabled(ready, multiplied, 0));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 5);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(ready, added, &fill));

  // The graph itself still has what it had; an update takes it over.
  EXPECT_OK(cudaGraphExecUpdate(ready, graph, nullptr));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 9 || host[0] == 3);                      // whether the node stays switched off is not documented
  EXPECT_OK(cudaGraphNodeSetEnabled(ready, multiplied, 1));  // its nodes are still known by those of the first graph
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 9);
  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, graph));
  cudaGraphNode_t told_clone = nullptr;
  EXPECT_OK(cudaGraphNodeFindInClone(&told_clone, told, clone));
  EXPECT(told_clone != nullptr && told_clone != told);
  EXPECT_OK(cudaGraphDestroyNode(told_clone));
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_STATUS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(ready, clone, &info));
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);

  // A circle is found when the graph is made ready.
  EXPECT_OK(cudaGraphAddDependencies(graph, &told, &filled, nullptr, 1));
  cudaGraphExec_t never = nullptr;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphInstantiate(&never, graph, 0));
  EXPECT_OK(cudaGraphRemoveDependencies(graph, &told, &filled, nullptr, 1));
  EXPECT_OK(cudaGraphInstantiate(&never, graph, 0));

  EXPECT_OK(cudaGraphExecDestroy(never));
  EXPECT_OK(cudaGraphExecDestroy(ready));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphExecDestroy(ready));
  EXPECT_OK(cudaGraphDestroy(clone));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaFree(values));
  static_cast<void>(cudaGetLastError());
}

/// A fork into a second stream and a join, with everything that a stream takes.
void captured() {
  int* values = nullptr;
  EXPECT_OK(cudaMalloc(&values, 2 * kCount * sizeof(int)));
  EXPECT_OK(cudaMemset(values, 0, 2 * kCount * sizeof(int)));
  std::vector<int> host(2 * kCount, -1);
  int calls = 0;
  cudaStream_t first, second;
  cudaEvent_t forked, joined;
  EXPECT_OK(cudaStreamCreate(&first));
  EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreate(&forked));
  EXPECT_OK(cudaEventCreate(&joined));
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  EXPECT_OK(cudaStreamIsCapturing(first, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  EXPECT_OK(cudaEventRecord(forked, first));
  EXPECT_OK(cudaStreamWaitEvent(second, forked, 0));
  EXPECT_OK(cudaStreamIsCapturing(second, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  add<<<2, kCount / 2, 0, first>>>(values, 1);
  add<<<2, kCount / 2, 0, second>>>(values + kCount, 2);
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaEventRecord(joined, second));
  EXPECT_OK(cudaStreamWaitEvent(first, joined, 0));
  EXPECT_OK(cudaMemcpyAsync(host.data(), values, host.size() * sizeof(int), cudaMemcpyDeviceToHost, first));
  EXPECT_OK(cudaLaunchHostFunc(first, count_calls, &calls));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(first, &graph));
  EXPECT_OK(cudaStreamIsCapturing(second, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  std::size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 4);
  EXPECT_OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  EXPECT(host[0] == -1 && calls == 0);  // nothing of it has happened
  cudaGraphExec_t ready = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&ready, graph, 0));
  EXPECT_OK(cudaGraphLaunch(ready, second));
  EXPECT_OK(cudaGraphLaunch(ready, first));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(host[0] == 2 && host[kCount] == 4 && calls == 2);

  // A launch that is captured becomes a graph in the graph.
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  EXPECT_OK(cudaGraphLaunch(ready, first));
  EXPECT_OK(cudaGraphLaunch(ready, first));
  cudaGraph_t outer = nullptr;
  EXPECT_OK(cudaStreamEndCapture(first, &outer));
  cudaGraphExec_t outer_ready = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&outer_ready, outer, 0));
  EXPECT_OK(cudaGraphLaunch(outer_ready, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(host[0] == 4 && host[kCount] == 8 && calls == 4);
  EXPECT_OK(cudaGraphExecDestroy(outer_ready));
  EXPECT_OK(cudaGraphExecDestroy(ready));
  EXPECT_OK(cudaGraphDestroy(outer));
  EXPECT_OK(cudaGraphDestroy(graph));

  // What may not be captured.
  graph = nullptr;
  EXPECT_STATUS(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  EXPECT_STATUS(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(first));
  EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
  EXPECT(graph == nullptr);
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  int* more = nullptr;
  EXPECT_STATUS(cudaErrorStreamCaptureUnsupported, cudaMalloc(&more, 4));
  EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  add<<<1, 1>>>(values, 0);
  EXPECT_STATUS(cudaErrorStreamCaptureImplicit, cudaGetLastError());
  EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaEventRecord(forked, first));
  EXPECT_OK(cudaStreamWaitEvent(second, forked, 0));
  add<<<1, 1, 0, second>>>(values, 0);
  EXPECT_STATUS(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(second, &graph));
  EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaEventRecord(forked, first));
  EXPECT_OK(cudaStreamWaitEvent(second, forked, 0));
  add<<<1, 1, 0, second>>>(values, 0);
  EXPECT_STATUS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(first, &graph));
  EXPECT_STATUS(cudaErrorIllegalState, cudaStreamEndCapture(first, &graph));
  static_cast<void>(cudaGetLastError());
  EXPECT_OK(cudaEventDestroy(forked));
  EXPECT_OK(cudaEventDestroy(joined));
  EXPECT_OK(cudaStreamDestroy(first));
  EXPECT_OK(cudaStreamDestroy(second));
  EXPECT_OK(cudaFree(values));
}

/// What captures of each mode forbid, in the thread that captures and in another one.
void forbidden_while_captured() {
  cudaStream_t stream;
  cudaEvent_t recorded, other;
  int* values = nullptr;
  EXPECT_OK(cudaMalloc(&values, kCount * sizeof(int)));
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreate(&recorded));
  EXPECT_OK(cudaEventCreate(&other));
  // Status of the call while the stream is captured in this mode; 0 if the capture then ends well.
  const auto status = [&](cudaStreamCaptureMode mode, auto call) {
    EXPECT_OK(cudaStreamBeginCapture(stream, mode));
    add<<<1, 1, 0, stream>>>(values, 1);
    EXPECT_OK(cudaEventRecord(recorded, stream));
    const cudaError_t answer = call();
    cudaGraph_t graph = nullptr;
    const cudaError_t end = cudaStreamEndCapture(stream, &graph);
    EXPECT((answer == cudaSuccess) == (end == cudaSuccess));
    EXPECT(end == cudaSuccess || end == cudaErrorStreamCaptureInvalidated);
    if (graph != nullptr) EXPECT_OK(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    return answer;
  };
  const auto in_other_thread = [](auto call) {
    return [call] {
      cudaError_t answer = cudaSuccess;
      std::thread([&] { answer = call(); }).join();
      return answer;
    };
  };
  void* made = nullptr;
  std::size_t pitch = 0;
  const auto allocate = [&] { return cudaMalloc(&made, 16); };
  const auto wait = [] { return cudaDeviceSynchronize(); };
  constexpr cudaStreamCaptureMode kGlobal = cudaStreamCaptureModeGlobal, kThread = cudaStreamCaptureModeThreadLocal,
                                  kRelaxed = cudaStreamCaptureModeRelaxed;
  for (const cudaStreamCaptureMode mode : {kGlobal, kThread, kRelaxed}) {
    const cudaError_t unsafe = mode == kRelaxed ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
    EXPECT(status(mode, allocate) == unsafe);
    EXPECT(status(mode, [&] { return cudaMallocPitch(&made, &pitch, 64, 4); }) == unsafe);
    EXPECT(status(mode, [&] { return cudaMallocManaged(&made, 64); }) == unsafe);
    EXPECT(status(mode, [&] { return cudaMallocHost(&made, 64); }) == unsafe);
    EXPECT(status(mode, [&] { return cudaEventQuery(other); }) == unsafe);
    EXPECT(status(mode, [&] { return cudaEventQuery(recorded); }) == cudaErrorCapturedEvent);
    EXPECT(status(mode, [&] { return cudaEventSynchronize(recorded); }) == cudaErrorCapturedEvent);
    EXPECT(status(mode, [&] { return cudaStreamQuery(stream); }) == cudaErrorStreamCaptureUnsupported);
    EXPECT(status(mode, wait) == cudaErrorStreamCaptureUnsupported);
    EXPECT(status(mode, in_other_thread(wait)) == cudaErrorStreamCaptureUnsupported);
    EXPECT(status(mode, in_other_thread(allocate)) == (mode == kGlobal ? unsafe : cudaSuccess));
    const auto relaxed = [&] {
      cudaStreamCaptureMode now = kRelaxed;
      EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&now));
      const cudaError_t answer = cudaMalloc(&made, 16);
      EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&now));
      return answer;
    };
    EXPECT(status(mode, relaxed) == cudaSuccess);
    const auto end = in_other_thread([&] {
      cudaGraph_t graph = nullptr;
      const cudaError_t answer = cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) EXPECT_OK(cudaGraphDestroy(graph));
      return answer;
    });
    if (mode != kRelaxed) EXPECT(status(mode, end) == cudaErrorStreamCaptureWrongThread);
  }
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorStreamCaptureUnjoined), "capturing stream has unjoined work") == 0);
  EXPECT_OK(cudaEventDestroy(recorded));
  EXPECT_OK(cudaEventDestroy(other));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaFree(values));
}

/// Memory that a graph allocates is at one address, for every launch.
void memory_of_a_graph() {
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  int host[kCount] = {};
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* values = nullptr;
  EXPECT_OK(cudaMallocAsync(&values, sizeof host, stream));
  EXPECT_OK(cudaMemsetAsync(values, 0, sizeof host, stream));
  add<<<2, kCount / 2, 0, stream>>>(values, 7);
  EXPECT_OK(cudaMemcpyAsync(host, values, sizeof host, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaFreeAsync(values, stream));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  std::size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 5);
  cudaGraphExec_t ready = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 2; ++i) {
    host[5] = 0;
    EXPECT_OK(cudaGraphLaunch(ready, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT(host[5] == 7);
  }
  EXPECT_OK(cudaGraphExecDestroy(ready));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaStreamDestroy(stream));
}

/// Milliseconds that a graph with two kernels takes, in a row or beside each other.
float two_kernels(float* values, bool in_a_row) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  int rounds = 2000;
  void* arguments[] = {&values, &rounds};
  cudaKernelNodeParams parameters = kernel_of(reinterpret_cast<void*>(work), arguments);
  parameters.gridDim = dim3(1);
  cudaGraphNode_t one, other;
  EXPECT_OK(cudaGraphAddKernelNode(&one, graph, nullptr, 0, &parameters));
  EXPECT_OK(cudaGraphAddKernelNode(&other, graph, &one, in_a_row ? 1 : 0, &parameters));
  cudaGraphExec_t ready = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&ready, graph, 0));
  cudaStream_t stream;
  cudaEvent_t begin, end;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaEventCreate(&begin));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventRecord(begin, stream));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaEventRecord(end, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  float milliseconds = 0;
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT_OK(cudaGraphExecDestroy(ready));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaEventDestroy(begin));
  EXPECT_OK(cudaEventDestroy(end));
  EXPECT_OK(cudaStreamDestroy(stream));
  return milliseconds;
}

}  // namespace

int main() {
  made_node_by_node();
  captured();
  forbidden_while_captured();
  memory_of_a_graph();
  float* values = nullptr;
  EXPECT_OK(cudaMalloc(&values, kCount * sizeof(float)));
  EXPECT_OK(cudaMemset(values, 0, kCount * sizeof(float)));
  const float in_a_row = two_kernels(values, true);
  const float beside = two_kernels(values, false);
  // By the real clock a busy machine's times say little.
  const char* const settings = std::getenv("CONVLADDER_STAND_IN");
  const bool is_virtual = settings == nullptr || std::strstr(settings, "real_clock") == nullptr;
  EXPECT(!is_virtual || (beside < 0.7f * in_a_row && beside > 0.4f * in_a_row));
  EXPECT_OK(cudaFree(values));
  return outcome();
}

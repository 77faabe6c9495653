// Work of several streams on the same memory: with the order that the first argument names, or without one.
#include <cublas_v2.h>

#include <cstdio>
#include <cstring>
#include <string>

constexpr int kElements = 1024;
constexpr std::size_t kBytes = kElements * sizeof(float);

__global__ void fill(float* values, float value) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = value;  // fill's store
}

__global__ void twice(const float* from, float* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = 2.0F * from[i];  // twice's load
}

__global__ void count(unsigned* counter) { atomicAdd(counter, 1U); }

namespace {

struct Streams {
  cudaStream_t one;
  cudaStream_t two;
  cudaEvent_t event;
};

void fill_in(cudaStream_t stream, float* values, float value) { fill<<<4, kElements / 4, 0, stream>>>(values, value); }
void twice_in(cudaStream_t stream, const float* from, float* to) { twice<<<4, kElements / 4, 0, stream>>>(from, to); }

/// Fills `a` in one stream and reads it in the other, which `how` orders.
void hand_over(const std::string& how, const Streams& s, float* a, float* b) {
  if (how == "event of before") cudaEventRecord(s.event, s.one);
  fill_in(s.one, a, 1);
  if (how == "event") cudaEventRecord(s.event, s.one);
  if (how.starts_with("event")) cudaStreamWaitEvent(s.two, s.event, 0);
  if (how == "stream") cudaStreamSynchronize(s.one);
  if (how == "other stream") cudaStreamSynchronize(s.two);
  if (how == "device") cudaDeviceSynchronize();
  if (how == "query") {
    cudaEventRecord(s.event, s.one);
    while (cudaEventQuery(s.event) == cudaErrorNotReady) {
    }
  }
  if (how == "recorded only") cudaEventRecord(s.event, s.one);
  twice_in(s.two, a, b);
}

/// Three nodes in two branches, which meet in the last one; launched again and again.
void launch_graph(bool shares, const Streams& s, float* a, float* b) {
  cudaMemset(a, 0, kBytes);
  cudaMemset(b, 0, kBytes);
  cudaDeviceSynchronize();
  cudaEvent_t joined;
  cudaEventCreate(&joined);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
  fill_in(s.one, a, 1);
  cudaEventRecord(s.event, s.one);
  cudaStreamWaitEvent(s.two, s.event, 0);
  fill_in(s.two, shares ? a : b, 2);
  fill_in(s.one, a, 3);
  cudaEventRecord(joined, s.two);
  cudaStreamWaitEvent(s.one, joined, 0);
  twice_in(s.one, a, b);
  cudaStreamEndCapture(s.one, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 50; ++i) cudaGraphLaunch(executable, s.one);
  fill_in(s.one, b, 4);
  cudaStreamSynchronize(s.one);
}

}  // namespace

int main(int arguments, char** words) {
  const std::string how = arguments > 1 ? words[1] : "";
  const unsigned flags = how.starts_with("blocking") ? cudaStreamDefault : cudaStreamNonBlocking;
  Streams s{};
  cudaStreamCreateWithFlags(&s.one, flags);
  cudaStreamCreateWithFlags(&s.two, flags);
  cudaEventCreate(&s.event);
  float* a = nullptr;
  float* b = nullptr;
  float* pinned = nullptr;
  static float plain[kElements];
  cudaMalloc(&a, kBytes);
  cudaMalloc(&b, kBytes);
  cudaMallocHost(&pinned, kBytes);
  if (how == "blocking streams and the default one") {
    fill_in(s.one, a, 1);
    fill_in(nullptr, a, 2);
    twice_in(s.two, a, b);
  } else if (how == "copy") {
    fill_in(s.one, a, 1);
    cudaMemcpy(plain, a, kBytes, cudaMemcpyDeviceToHost);  // the copy that does not wait
  } else if (how == "copy in the stream") {
    fill_in(s.one, a, 1);
    cudaMemcpyAsync(plain, a, kBytes, cudaMemcpyDeviceToHost, s.one);
  } else if (how == "memset") {
    cudaMemsetAsync(a, 0, kBytes, s.one);
    cudaMemsetAsync(a, 1, kBytes, s.two);
  } else if (how == "pinned") {
    fill_in(s.one, a, 1);
    cudaMemcpyAsync(pinned, a, kBytes, cudaMemcpyDeviceToHost, s.one);
    cudaMemcpyAsync(b, pinned, kBytes, cudaMemcpyHostToDevice, s.two);
  } else if (how == "overwritten while it is read") {
    cudaMemset(a, 0, kBytes);
    cudaDeviceSynchronize();
    twice_in(s.one, a, b);
    fill_in(s.two, a, 1);
  } else if (how == "halves") {
    fill<<<2, kElements / 4, 0, s.one>>>(a, 1);
    fill<<<2, kElements / 4, 0, s.two>>>(a + kElements / 2, 2);
  } else if (how == "counter") {
    cudaMemset(a, 0, kBytes);
    cudaDeviceSynchronize();
    count<<<1, 32, 0, s.one>>>(reinterpret_cast<unsigned*>(a));
    count<<<1, 32, 0, s.two>>>(reinterpret_cast<unsigned*>(a));
  } else if (how == "freed") {
    fill_in(s.one, a, 1);
    cudaFree(a);
    cudaMalloc(&a, kBytes);
    fill_in(s.two, a, 2);
  } else if (how == "library") {
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, s.two);
    fill_in(s.one, a, 1);
    const float alpha = 2;
    cublasSscal(handle, kElements, &alpha, a, 1);
  } else if (how.starts_with("graph")) {
    launch_graph(how == "graph that shares", s, a, b);
  } else {
    hand_over(how, s, a, b);
  }
  cudaDeviceSynchronize();
  std::puts("done");
}

// Kernels that launch kernels (-rdc=true): streams, tails, recursion, errors, copies, and what kernels may ask. Says
// what is not as documented.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "expect.h"

namespace {

constexpr int kThreads = 64;

struct Pair {
  short few;
  double many;
};

__global__ void add(int* values, short by, Pair pair) {
  extern __shared__ int staged[];
  staged[threadIdx.x] = values[threadIdx.x] + by + pair.few + static_cast<int>(pair.many);
  __syncthreads();
  values[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

__global__ void times(int* values, int factor) { values[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }

template <typename T>
__global__ void copy_from(T* to, const T* from) {
  to[threadIdx.x] = from[threadIdx.x];
}

__device__ void (*chosen)(int*, int) = times;

/// (value + 6) * 2 in the block's stream, then * 3, then, when all that is done, * 5 of what the tail copies.
__global__ void in_order(int* values, int* results) {
  if (threadIdx.x != 0) return;
  copy_from<<<1, kThreads, 0, cudaStreamTailLaunch>>>(results, values);
  times<<<dim3(2, 1), dim3(kThreads / 2), 0, cudaStreamTailLaunch>>>(results, 5);
  add<<<1, kThreads, kThreads * sizeof(int)>>>(values, 1, Pair{2, 3.0});
  times<<<1, kThreads>>>(values, 2);
  chosen<<<1, kThreads>>>(values, 3);
}

/// The sum of `count` values in values[0]: halves are summed by children, and added by a tail.
__global__ void join(int* values, int half) { values[0] += values[half]; }
__global__ void sum(int* values, int count) {
  if (count == 1) return;
  sum<<<1, 1, 0, cudaStreamFireAndForget>>>(values, count / 2);
  sum<<<1, 1, 0, cudaStreamFireAndForget>>>(values + count / 2, count / 2);
  join<<<1, 1, 0, cudaStreamTailLaunch>>>(values, count / 2);
}

__global__ void deeper(int* deepest, int level) {
  *deepest = level;
  deeper<<<1, 1>>>(deepest, level + 1);
  if (cudaGetLastError() == cudaErrorLaunchMaxDepthExceeded) deepest[1] = level;
}

__global__ void tails(int* count, int left) {
  ++*count;
  if (left > 0) tails<<<1, 1, 0, cudaStreamTailLaunch>>>(count, left - 1);
}

__global__ void __launch_bounds__(32) small() {}

__global__ void errors(int* statuses) {
  add<<<1, 2048>>>(nullptr, 0, Pair{});
  statuses[0] = cudaPeekAtLastError();
  statuses[1] = cudaGetLastError();
  statuses[2] = cudaGetLastError();
  add<<<0, 1>>>(nullptr, 0, Pair{});
  statuses[3] = cudaGetLastError();
  small<<<1, 64>>>();
  statuses[4] = cudaGetLastError();
  cudaStream_t stream = nullptr;
  statuses[5] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  statuses[6] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  statuses[7] = cudaStreamDestroy(stream);
  times<<<1, 1, 0, stream>>>(statuses, 1);
  statuses[8] = cudaGetLastError();
  printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidValue), cudaGetErrorString(cudaErrorInvalidValue));
}

__global__ void streams_and_copies(int* values, int* results) {
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t done = nullptr;
  int bad = 0;
  bad += cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  bad += cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  bad += cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  bad += cudaMemsetAsync(values, 1, kThreads * sizeof(int), first);
  times<<<1, kThreads, 0, first>>>(values, 2);
  bad += cudaEventRecord(done, first);
  bad += cudaStreamWaitEvent(second, done, 0);
  bad += cudaMemcpyAsync(results, values, kThreads * sizeof(int), cudaMemcpyDeviceToDevice, second);
  bad += cudaEventDestroy(done);
  bad += cudaStreamDestroy(first);
  bad += cudaStreamDestroy(second);
  int* heap = nullptr;
  bad += cudaMalloc(&heap, 64);
  heap[15] = 1;
  bad += cudaFree(heap);
  results[kThreads] = bad;
}

__global__ void questions(int* answers) {
  int bad = 0;
  bad += cudaGetDevice(&answers[0]);
  bad += cudaGetDeviceCount(&answers[1]);
  bad += cudaDeviceGetAttribute(&answers[2], cudaDevAttrMaxThreadsPerBlock, 0);
  bad += cudaRuntimeGetVersion(&answers[3]);
  bad += cudaOccupancyMaxActiveBlocksPerMultiprocessor(&answers[4], times, 1024, 0);
  std::size_t pending = 0;
  bad += cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount);
  answers[5] = static_cast<int>(pending);
  answers[6] = bad;
}

/// Every thread launches, and gives its child what no other has.
__global__ void one(int* values, int which) { atomicAdd(&values[which], which); }
__global__ void many(int* values) { one<<<1, 1>>>(values, blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace

int main() {
  int* values = nullptr;
  int* results = nullptr;
  int host[2 * kThreads] = {};
  const auto get = [&](const int* from) {
    EXPECT_OK(cudaGetLastError());
    EXPECT_OK(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost));
  };
  EXPECT_OK(cudaMalloc(&values, sizeof host));
  EXPECT_OK(cudaMalloc(&results, sizeof host));
  const auto reset = [&] {
    int numbers[2 * kThreads];
    for (int i = 0; i < 2 * kThreads; ++i) numbers[i] = i;
    EXPECT_OK(cudaMemcpy(values, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemset(results, 0, sizeof host));
  };

  reset();
  in_order<<<1, 32>>>(values, results);
  get(results);
  EXPECT(host[0] == (kThreads - 1 + 6) * 2 * 3 * 5 && host[kThreads - 1] == 6 * 2 * 3 * 5);

  reset();
  sum<<<1, 1>>>(values, kThreads);
  times<<<1, 1>>>(values, 10);  // in the host's stream: behind all children and tails
  get(values);
  EXPECT(host[0] == 10 * kThreads * (kThreads - 1) / 2);

  reset();
  deeper<<<1, 1>>>(results, 0);
  get(results);
  EXPECT(host[0] == 24 && host[1] == 24);

  reset();
  tails<<<1, 1>>>(results, 100);
  get(results);
  EXPECT(host[0] == 101);

  reset();
  errors<<<1, 1>>>(results);
  get(results);
  EXPECT(host[0] == cudaErrorInvalidConfiguration && host[1] == host[0] && host[2] == cudaSuccess);
  EXPECT(host[3] == cudaErrorInvalidConfiguration && host[4] == cudaErrorInvalidConfiguration);
  EXPECT(host[5] == cudaErrorInvalidValue && host[6] == cudaSuccess && host[7] == cudaSuccess);
  EXPECT(host[8] == cudaErrorInvalidResourceHandle);

  reset();
  streams_and_copies<<<1, 1>>>(values, results);
  get(results);
  EXPECT(host[0] == 0x02020202 && host[kThreads - 1] == 0x02020202 && host[kThreads] == 0);

  reset();
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  questions<<<1, 1>>>(results);
  get(results);
  EXPECT(host[0] == 0 && host[1] == 1 && host[2] == 1024 && host[3] == CUDART_VERSION);
  EXPECT(host[4] == 2 && host[5] == 4096 && host[6] == 0);

  reset();
  many<<<2, kThreads / 2>>>(results);
  get(results);
  for (int i = 0; i < kThreads; ++i) EXPECT(host[i] == i);
  EXPECT_OK(cudaFree(values));
  EXPECT_OK(cudaFree(results));
  EXPECT_OK(cudaDeviceSynchronize());
  return outcome();
}

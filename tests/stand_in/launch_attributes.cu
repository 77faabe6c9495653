// Attributes of launches and of functions. Says what is not as documented.
#include <cuda_runtime.h>

#include "expect.h"

namespace {

__global__ void plain(int* mark) { *mark = 1; }

extern __shared__ float dynamic[];

__global__ void only_dynamic(int* mark, int floats) {
  dynamic[floats - 1] = 2.0F;
  *mark = static_cast<int>(dynamic[floats - 1]) - 1;
}

__global__ void with_four_bytes(int* mark, int floats) {
  volatile __shared__ int four;
  four = 1;
  dynamic[floats - 1] = 2.0F;
  *mark = four + static_cast<int>(dynamic[floats - 1]) - 2;
}

__global__ void __launch_bounds__(128) bounded(int* mark) { *mark = 1; }

__global__ void __block_size__((64, 1, 1)) of_64(int* mark) { *mark = 1; }

/// How many blocks the cluster of each block has.
__global__ void cluster_sizes(int* sizes) {
  unsigned size = 0;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) sizes[blockIdx.x] = static_cast<int>(size);
}

__global__ void __cluster_dims__(2) compiled_cluster(int* sizes) {
  unsigned size = 0;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) sizes[blockIdx.x] = static_cast<int>(size);
}

int* device_sizes = nullptr;

/// The size of block 0's cluster.
int seen() {
  int size = -1;
  EXPECT_OK(cudaMemcpy(&size, device_sizes, sizeof size, cudaMemcpyDeviceToHost));
  return size;
}

cudaError_t launch(const cudaLaunchAttribute* attributes, unsigned count, int blocks = 16) {
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(32);
  configuration.attrs = const_cast<cudaLaunchAttribute*>(attributes);
  configuration.numAttrs = count;
  return cudaLaunchKernelEx(&configuration, cluster_sizes, device_sizes);
}

cudaLaunchAttribute cluster_of(unsigned blocks) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks, 1, 1};
  return attribute;
}

void clusters() {
  EXPECT_OK(launch(nullptr, 0));
  EXPECT(seen() == 1);
  cudaLaunchAttribute attribute = cluster_of(4);
  EXPECT_OK(launch(&attribute, 1));
  EXPECT(seen() == 4);
  EXPECT_STATUS(cudaErrorInvalidClusterSize, launch(&attribute, 1, 6));
  attribute = cluster_of(16);
  EXPECT_STATUS(cudaErrorInvalidClusterSize, launch(&attribute, 1));
  EXPECT_OK(cudaFuncSetAttribute(cluster_sizes, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  EXPECT_OK(launch(&attribute, 1));
  EXPECT(seen() == 16);
  attribute = cluster_of(0);
  EXPECT_STATUS(cudaErrorInvalidValue, launch(&attribute, 1));

  EXPECT_OK(cudaFuncSetAttribute(cluster_sizes, cudaFuncAttributeRequiredClusterWidth, 2));
  EXPECT_OK(cudaFuncSetAttribute(cluster_sizes, cudaFuncAttributeRequiredClusterHeight, 1));
  EXPECT_OK(cudaFuncSetAttribute(cluster_sizes, cudaFuncAttributeRequiredClusterDepth, 1));
  EXPECT_OK(launch(nullptr, 0));
  EXPECT(seen() == 2);
  cudaFuncAttributes known = {};
  EXPECT_OK(cudaFuncGetAttributes(&known, cluster_sizes));
  EXPECT(known.requiredClusterWidth == 2 && known.requiredClusterDepth == 1 &&
         known.nonPortableClusterSizeAllowed == 1);
  EXPECT_OK(cudaFuncGetAttributes(&known, compiled_cluster));
  EXPECT(known.requiredClusterWidth == 2);
  EXPECT_STATUS(cudaErrorNotPermitted,
                cudaFuncSetAttribute(compiled_cluster, cudaFuncAttributeRequiredClusterWidth, 4));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFuncSetAttribute(cluster_sizes, cudaFuncAttributeClusterDimMustBeSet, 1));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFuncSetAttribute(cluster_sizes, static_cast<cudaFuncAttribute>(0), 1));
  EXPECT_STATUS(cudaErrorInvalidValue,
                cudaFuncSetAttribute(cluster_sizes, cudaFuncAttributeNonPortableClusterSizeAllowed, 2));
}

int* mark = nullptr;

/// The last error, which is then gone, of a launch that ran (and marked that it did) or did not.
cudaError_t told() {
  const cudaError_t first = cudaPeekAtLastError();
  EXPECT_STATUS(first, cudaGetLastError());
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaDeviceSynchronize());
  int ran = 0;
  EXPECT_OK(cudaMemcpy(&ran, mark, sizeof ran, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaMemset(mark, 0, sizeof(int)));
  EXPECT(ran == (first == cudaSuccess ? 1 : 0));
  return first;
}

void limits() {
  EXPECT_OK(cudaMalloc(&mark, sizeof(int)));
  EXPECT_OK(cudaMemset(mark, 0, sizeof(int)));
  const dim3 impossible[][2] = {{0, 32},         {1, 0},          {{5, 0}, {32, 32}}, {1, 1025},        {1, {32, 33}},
                                {1, {1, 1, 65}}, {{1, 65536}, 1}, {{1, 1, 65536}, 1}, {2147483648U, 32}};
  for (const auto& [grid, block] : impossible) {
    plain<<<grid, block>>>(mark);
    EXPECT_STATUS(cudaErrorInvalidConfiguration, told());
  }
  plain<<<1, 1024>>>(mark);
  EXPECT_OK(told());
  constexpr int kFloats = 12 * 1024;  // 48 KiB, which need no asking
  only_dynamic<<<1, 1, 4 * kFloats>>>(mark, kFloats);
  EXPECT_OK(told());
  only_dynamic<<<1, 1, 4 * kFloats + 4>>>(mark, kFloats + 1);
  EXPECT_STATUS(cudaErrorInvalidValue, told());
  with_four_bytes<<<1, 1, 4 * kFloats>>>(mark, kFloats);
  EXPECT_STATUS(cudaErrorInvalidValue, told());
  EXPECT_OK(cudaFuncSetAttribute(only_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  only_dynamic<<<1, 1, 65536>>>(mark, 16384);
  EXPECT_OK(told());
  only_dynamic<<<1, 1, 65540>>>(mark, 16385);
  EXPECT_STATUS(cudaErrorInvalidValue, told());
  int most = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_STATUS(cudaErrorInvalidValue,
                cudaFuncSetAttribute(with_four_bytes, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaGetLastError());
  // Its four bytes are sixteen, as ptxas says: dynamic memory begins at a multiple of that.
  EXPECT_OK(cudaFuncSetAttribute(with_four_bytes, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 16));
  with_four_bytes<<<1, 1, most - 16>>>(mark, most / 4 - 4);
  EXPECT_OK(told());
  bounded<<<1, 128>>>(mark);
  EXPECT_OK(told());
  bounded<<<1, 256>>>(mark);
  EXPECT_STATUS(cudaErrorInvalidValue, told());
  // A size that the kernel was compiled for: no other, however many threads it has.
  for (const dim3 block : {dim3(32), dim3(65), dim3(128), dim3(8, 8), dim3(1, 64), dim3(1)}) {
    of_64<<<1, block>>>(mark);
    EXPECT_STATUS(cudaErrorInvalidValue, told());
  }
  of_64<<<1, 64>>>(mark);
  EXPECT_OK(told());
  // Nobody looks at the launch: its error is still there behind other calls.
  plain<<<0, 32>>>(mark);
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 16));
  EXPECT_STATUS(cudaErrorInvalidConfiguration, cudaGetLastError());
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaFree(mark));
}

void others() {
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  cudaLaunchAttribute attributes[3] = {};
  attributes[0].id = cudaLaunchAttributePriority;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  attributes[2].id = cudaLaunchAttributeLaunchCompletionEvent;
  attributes[2].val.launchCompletionEvent.event = event;
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(launch(attributes, 3));
  EXPECT_STATUS(cudaErrorNotReady, cudaEventQuery(event));  // it was recorded behind the kernel
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cudaEventQuery(event));
  attributes[2].val.launchCompletionEvent.event = nullptr;
  EXPECT_STATUS(cudaErrorInvalidResourceHandle, launch(attributes, 3));
  attributes[0].id = cudaLaunchAttributeSynchronizationPolicy;  // of streams
  EXPECT_STATUS(cudaErrorInvalidValue, launch(attributes, 1));
  attributes[0].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attributes[0].val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  EXPECT_STATUS(cudaErrorNotSupported, launch(attributes, 1));
  EXPECT_STATUS(cudaErrorInvalidValue, launch(nullptr, 1));
  EXPECT_OK(cudaEventDestroy(event));
}

}  // namespace

int main() {
  EXPECT_OK(cudaMalloc(&device_sizes, 16 * sizeof(int)));
  clusters();
  limits();
  others();
  cudaGetLastError();
  compiled_cluster<<<2, 32>>>(device_sizes);
  EXPECT_OK(cudaGetLastError());
  EXPECT(seen() == 2);
  EXPECT_OK(cudaFree(device_sizes));
  return outcome();
}

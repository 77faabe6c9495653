// Attributes of launches and of functions. Says what is not as documented.
#include <cuda_runtime.h>

#include "expect.h"

namespace {

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
  others();
  cudaGetLastError();
  compiled_cluster<<<2, 32>>>(device_sizes);
  EXPECT_OK(cudaGetLastError());
  EXPECT(seen() == 2);
  EXPECT_OK(cudaFree(device_sizes));
  return outcome();
}

// Virtual memory management, and clusters that fit. Says what is not as documented.
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include "expect.h"

namespace {

__global__ void write(int* values, int from) { values[threadIdx.x] = from + static_cast<int>(threadIdx.x); }
__global__ void nothing() {}

int at(CUdeviceptr address) {
  int value = -1;
  EXPECT_OK(cudaMemcpy(&value, reinterpret_cast<const void*>(address), sizeof value, cudaMemcpyDefault));
  return value;
}

void growing() {
  CUmemAllocationProp wanted = {};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t unit = 0;
  EXPECT_OK(cuMemGetAllocationGranularity(&unit, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(unit == 2 << 20);
  CUdeviceptr begin = 0, again = 0;
  EXPECT_OK(cuMemAddressReserve(&begin, 4 * unit, 0, 0, 0));
  EXPECT_OK(cuMemAddressReserve(&again, unit, 4 * unit, 0, 0));
  EXPECT(again % (4 * unit) == 0);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&again, unit + 1, 0, 0, 0));
  CUmemGenericAllocationHandle first = 0, second = 0;
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&first, unit / 2, &wanted, 0));
  EXPECT_OK(cuMemCreate(&first, unit, &wanted, 0));
  EXPECT_OK(cuMemCreate(&second, 2 * unit, &wanted, 0));
  CUmemAccessDesc access = {};
  access.location = wanted.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

  EXPECT_OK(cuMemMap(begin, unit, 0, first, 0));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemMap(begin, unit, 0, second, 0));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemMap(begin + unit, 2 * unit, 0, first, 0));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemMap(begin + 3 * unit, 2 * unit, 0, second, 0));
  unsigned long long flags = 0;
  EXPECT_OK(cuMemGetAccess(&flags, &access.location, begin));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_OK(cuMemSetAccess(begin, unit, &access, 1));
  EXPECT_OK(cuMemGetAccess(&flags, &access.location, begin));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_OK(cuMemMap(begin + unit, 2 * unit, 0, second, 0));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(begin, 4 * unit, &access, 1));
  EXPECT_OK(cuMemSetAccess(begin + unit, 2 * unit, &access, 1));

  // One piece for kernels and copies, across what was mapped piece by piece.
  const auto* const values = reinterpret_cast<int*>(begin + unit) - 16;
  write<<<1, 32>>>(const_cast<int*>(values), 100);
  EXPECT_OK(cudaGetLastError());
  int host[32] = {};
  EXPECT_OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 100 && host[31] == 131);
  cudaPointerAttributes known = {};
  EXPECT_OK(cudaPointerGetAttributes(&known, values));
  EXPECT(known.type == cudaMemoryTypeDevice && known.device == 0);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(reinterpret_cast<void*>(begin)));
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  // A piece of memory is mapped at two addresses, and at a third one after it is mapped at the first no longer.
  EXPECT_OK(cuMemAddressReserve(&again, 2 * unit, 0, 0, 0));
  EXPECT_OK(cuMemMap(again, 2 * unit, 0, second, 0));
  EXPECT_OK(cuMemSetAccess(again, 2 * unit, &access, 1));
  EXPECT(at(again) == 116);
  write<<<1, 32>>>(reinterpret_cast<int*>(again), 7);
  EXPECT(at(begin + unit) == 7);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(begin + unit, unit));  // not the whole of it
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(begin, 4 * unit));
  CUmemGenericAllocationHandle same = 0;
  EXPECT_OK(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(begin + unit)));
  EXPECT(same == second);
  EXPECT_OK(cuMemRelease(same));
  EXPECT_OK(cuMemUnmap(begin, 3 * unit));
  EXPECT(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT_OK(cuMemMap(begin, unit, 0, first, 0));
  EXPECT_OK(cuMemSetAccess(begin, unit, &access, 1));
  EXPECT(at(begin + unit - 64) == 100);

  EXPECT_OK(cuMemRelease(first));
  EXPECT_OK(cuMemRelease(second));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(second));
  EXPECT(at(begin + unit - 64) == 100);  // it ends with its last mapping
  EXPECT_OK(cuMemUnmap(begin, unit));
  EXPECT_OK(cuMemUnmap(again, 2 * unit));
  EXPECT_OK(cuMemAddressFree(begin, 4 * unit));
  EXPECT_OK(cuMemAddressFree(again, 2 * unit));
}

void clusters() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t launch = {};
  launch.gridDim = {64, 1, 1};
  launch.blockDim = {1024, 1, 1};
  launch.dynamicSmemBytes = 0;
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  int count = 0;
  EXPECT_OK(cudaOccupancyMaxActiveClusters(&count, nothing, &launch));
  EXPECT(count == 66);  // two blocks of an H100's 132 multiprocessors, four of them a cluster
  attribute.val.clusterDim = {16, 1, 1};
  EXPECT_STATUS(cudaErrorInvalidClusterSize, cudaOccupancyMaxActiveClusters(&count, nothing, &launch));
  EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
  EXPECT_OK(cudaOccupancyMaxPotentialClusterSize(&count, nothing, &launch));
  EXPECT(count == 8);
  EXPECT_OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  EXPECT_OK(cudaOccupancyMaxPotentialClusterSize(&count, nothing, &launch));
  EXPECT(count == 16);
  EXPECT_OK(cudaOccupancyMaxActiveClusters(&count, nothing, &launch));
  EXPECT(count == 16);
}

}  // namespace

int main() {
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cudaFree(nullptr));
  growing();
  clusters();
  return outcome();
}

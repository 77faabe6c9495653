// Memory: made, set, copied, asked about.
#include "subjects.hpp"

#include <cuda.h>

#include <cstddef>

#include "expect.h"

void memory() {
  CUdeviceptr data = 0;
  std::size_t pitch = 0;
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&data, 0));
  EXPECT_OK(cuMemAllocPitch(&data, &pitch, 24, 3, 4));
  EXPECT(pitch >= 24 && pitch % 4 == 0);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&data, &pitch, 24, 3, 3));
  EXPECT_OK(cuMemsetD2D32(data, pitch, 7, 6, 3));
  EXPECT_OK(cuMemsetD16(data + pitch, 0x0102, 2));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(data + 1, 0, 1));
  unsigned rows[3][8] = {};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = data;
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = rows;
  copy.dstPitch = sizeof rows[0];
  copy.dstXInBytes = 4;
  copy.WidthInBytes = 24;
  copy.Height = 3;
  EXPECT_OK(cuMemcpy2D(&copy));
  EXPECT(rows[0][0] == 0 && rows[0][1] == 7 && rows[2][6] == 7 && rows[1][1] == 0x01020102 && rows[1][2] == 7);
  copy.WidthInBytes = 32;
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(rows, data, 1 << 20));

  void* pinned = nullptr;
  CUdeviceptr there = 0;
  EXPECT_OK(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  EXPECT_OK(cuMemHostGetDevicePointer(&there, pinned, 0));
  unsigned type = 0;
  EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, there));
  EXPECT(type == CU_MEMORYTYPE_HOST);
  EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data));
  EXPECT(type == CU_MEMORYTYPE_DEVICE);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE,
                cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)));
  CUdeviceptr begin = 0;
  int ordinal = 7;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&begin, &ordinal};
  EXPECT_OK(cuPointerGetAttributes(2, attributes, values, data + 3));
  EXPECT(begin == data && ordinal == 0);
  EXPECT_OK(cuPointerGetAttributes(2, attributes, values, reinterpret_cast<CUdeviceptr>(&type)));
  EXPECT(begin == 0 && ordinal == -2);
  EXPECT_OK(cuMemFreeHost(pinned));
  EXPECT_OK(cuMemFree(data));
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_OK(cuMemGetInfo(&free, &total));
  EXPECT_STATUS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&data, total * 2));
}

// What kernels see through descriptions: tensor maps and textures.
#include "subjects.hpp"

#include <cuda.h>

#include <cstddef>
#include <vector>

#include "expect.h"

namespace {

const char* const kTile = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry tile(.param .align 64 .b8 tile_map[128], .param .u64 tile_out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  .shared .align 128 .b8 box[128];
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r2, 2;
  mov.u32 %r3, 1;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [bar], 1;
READY:
  bar.sync 0;
  @%p1 bra WAIT;
  mov.b64 %rd1, tile_map;
  cvta.param.u64 %rd2, %rd1;
  mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%rd2, {%r2, %r3}], [bar];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
  @!%p2 bra WAIT;
  mul.lo.u32 %r4, %r1, 4;
  mov.u32 %r5, box;
  add.u32 %r5, %r5, %r4;
  ld.shared.u32 %r5, [%r5];
  ld.param.u64 %rd4, [tile_out];
  cvt.u64.u32 %rd5, %r4;
  add.u64 %rd4, %rd4, %rd5;
  st.global.u32 [%rd4], %r5;
  ret;
}
)";

const char* const kSample = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry sample(.param .u64 sample_texture, .param .u64 sample_out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  .reg .f32 %f<7>;
  ld.param.u64 %rd1, [sample_texture];
  ld.param.u64 %rd2, [sample_out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mad.lo.u32 %r3, %r2, 4, %r1;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f3;
  ret;
}
)";

}  // namespace

/// A kernel gets a box of a matrix by a tensor map that was made here.
void tensor_maps() {
  constexpr unsigned kWidth = 16;
  constexpr unsigned kHeight = 8;
  std::vector<unsigned> matrix(kWidth * kHeight);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<unsigned>(i);
  CUdeviceptr data = 0;
  CUdeviceptr out = 0;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(cuMemAlloc(&data, matrix.size() * 4));
  EXPECT_OK(cuMemAlloc(&out, 128));
  EXPECT_OK(cuMemcpyHtoD(data, matrix.data(), matrix.size() * 4));
  CUtensorMap map = {};
  const cuuint64_t sizes[] = {kWidth, kHeight};
  const cuuint64_t strides[] = {kWidth * 4};
  const cuuint32_t box[] = {8, 4};
  const cuuint32_t steps[] = {1, 1};
  const auto encode = [&](CUdeviceptr address, unsigned rank) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, rank, reinterpret_cast<void*>(address), sizes,
                                  strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, encode(data, 6));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, encode(data + 8, 2));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(data)));
  EXPECT_OK(encode(data + 16, 2));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(data + 4)));
  EXPECT_OK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(data)));
  EXPECT_OK(cuModuleLoadData(&module, kTile));
  EXPECT_OK(cuModuleGetFunction(&function, module, "tile"));
  void* parameters[] = {&map, &out};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  unsigned got[32] = {};
  EXPECT_OK(cuMemcpyDtoH(got, out, sizeof got));
  // The box begins at column 2 of row 1.
  EXPECT(got[0] == 18 && got[7] == 25 && got[8] == 34 && got[31] == 73);
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_OK(cuMemFree(data));
  EXPECT_OK(cuMemFree(out));
}

void textures() {
  CUDA_ARRAY_DESCRIPTOR wanted = {};
  wanted.Width = 4;
  wanted.Height = 2;
  wanted.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  wanted.NumChannels = 1;
  CUarray array = nullptr;
  EXPECT_OK(cuArrayCreate(&array, &wanted));
  CUDA_ARRAY3D_DESCRIPTOR known = {};
  EXPECT_OK(cuArray3DGetDescriptor(&known, array));
  EXPECT(known.Width == 4 && known.Height == 2 && known.Depth == 0 && known.NumChannels == 1);
  EXPECT(known.Format == CU_AD_FORMAT_UNSIGNED_INT8);
  const unsigned char texels[2][4] = {{0, 10, 20, 30}, {40, 50, 60, 70}};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels;
  copy.srcPitch = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  EXPECT_OK(cuMemcpy2D(&copy));
  copy.Height = 3;
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  unsigned char row[4] = {};
  EXPECT_OK(cuMemcpyAtoH(row, array, 1, 3));
  EXPECT(row[0] == 10 && row[2] == 30);

  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture = {};
  for (CUaddress_mode& mode : texture.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  texture.filterMode = CU_TR_FILTER_MODE_POINT;
  CUtexObject object = 0;
  EXPECT_OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  float got[8] = {};
  EXPECT_OK(cuMemAlloc(&out, sizeof got));
  EXPECT_OK(cuModuleLoadData(&module, kSample));
  EXPECT_OK(cuModuleGetFunction(&function, module, "sample"));
  void* parameters[] = {&object, &out};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 4, 2, 1, 0, nullptr, parameters, nullptr));
  EXPECT_OK(cuMemcpyDtoH(got, out, sizeof got));
  EXPECT(got[0] == 0 && got[3] == 30 / 255.0F && got[5] == 50 / 255.0F);
  EXPECT_OK(cuTexObjectDestroy(object));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(object));
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_OK(cuMemFree(out));
}

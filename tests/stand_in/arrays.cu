// Arrays, textures and surfaces of the CUDA runtime.
#include <cuda_runtime.h>

#include <vector>

#include "expect.h"

namespace {

constexpr int kWidth = 6;
constexpr int kHeight = 4;

__global__ void fetch(cudaTextureObject_t texture, float x, float y, float* result) {
  *result = tex2D<float>(texture, x, y);
}
__global__ void fetch_line(cudaTextureObject_t texture, int i, float* result) {
  *result = tex1Dfetch<float>(texture, i);
}
__global__ void fetch_layer(cudaTextureObject_t texture, float x, float y, int layer, int* result) {
  *result = tex2DLayered<int>(texture, x, y, layer);
}
__global__ void store(cudaSurfaceObject_t surface, int x, int y, float value) {
  surf2Dwrite(value, surface, x * static_cast<int>(sizeof(float)), y);
}

struct Place {
  Place() { cudaMalloc(&on_device, sizeof(T)); }
  using T = int;
  float number() {
    float value = -1;
    EXPECT_OK(cudaMemcpy(&value, on_device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  int whole() {
    int value = -1;
    EXPECT_OK(cudaMemcpy(&value, on_device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  void* on_device = nullptr;
};

float texel(int x, int y) { return static_cast<float>(10 * y + x); }

void two_dimensions(Place& place) {
  auto* const result = static_cast<float*>(place.on_device);
  std::vector<float> texels;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) texels.push_back(texel(x, y));
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  const std::size_t row = kWidth * sizeof(float);
  EXPECT_OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, kHeight, cudaMemcpyHostToDevice));
  EXPECT_STATUS(cudaErrorInvalidValue,
                cudaMemcpy2DToArray(array, 4, 0, texels.data(), row, row, kHeight, cudaMemcpyHostToDevice));
  cudaChannelFormatDesc told{};
  cudaExtent extent{};
  unsigned flags = 0;
  EXPECT_OK(cudaArrayGetInfo(&told, &extent, &flags, array));
  EXPECT(told.x == 32 && told.y == 0 && told.f == cudaChannelFormatKindFloat);
  EXPECT(extent.width == kWidth && extent.height == kHeight && extent.depth == 0 && flags == cudaArraySurfaceLoadStore);

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  cudaTextureDesc given{};
  EXPECT_OK(cudaGetTextureObjectTextureDesc(&given, texture));
  EXPECT(given.addressMode[1] == cudaAddressModeClamp);
  fetch<<<1, 1>>>(texture, 2.5f, 3.5f, result);
  EXPECT(place.number() == texel(2, 3));
  fetch<<<1, 1>>>(texture, 99, -5, result);
  EXPECT(place.number() == texel(kWidth - 1, 0));

  // A surface of the same array; what it stores is what is fetched next.
  cudaSurfaceObject_t surface = 0;
  EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
  store<<<1, 1>>>(surface, 1, 2, 77);
  fetch<<<1, 1>>>(texture, 1.5f, 2.5f, result);
  EXPECT(place.number() == 77);
  std::vector<float> back(texels.size());
  EXPECT_OK(cudaMemcpy2DFromArray(back.data(), row, array, 0, 0, row, kHeight, cudaMemcpyDeviceToHost));
  EXPECT(back[2 * kWidth + 1] == 77 && back[2 * kWidth + 2] == texel(2, 2));
  EXPECT_OK(cudaDestroySurfaceObject(surface));
  EXPECT_OK(cudaDestroyTextureObject(texture));

  // Half way between four texels, coordinates from 0 to 1.
  description.filterMode = cudaFilterModeLinear;
  description.normalizedCoords = 1;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  fetch<<<1, 1>>>(texture, 4.0f / kWidth, 1.0f / kHeight, result);
  EXPECT(place.number() == (texel(3, 0) + texel(4, 0) + texel(3, 1) + texel(4, 1)) / 4);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaFreeArray(array));
  static_cast<void>(cudaGetLastError());

  // Rows with a pitch, and a line, in ordinary memory.
  float* rows = nullptr;
  std::size_t pitch = 0;
  EXPECT_OK(cudaMallocPitch(&rows, &pitch, row, kHeight));
  EXPECT_OK(cudaMemcpy2D(rows, pitch, texels.data(), row, row, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc pitched{};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {rows, format, kWidth, kHeight, pitch};
  cudaTextureDesc plain{};
  plain.addressMode[0] = plain.addressMode[1] = cudaAddressModeBorder;
  plain.borderColor[0] = 5;
  EXPECT_OK(cudaCreateTextureObject(&texture, &pitched, &plain, nullptr));
  fetch<<<1, 1>>>(texture, 4.5f, 1.5f, result);
  EXPECT(place.number() == texel(4, 1));
  EXPECT_OK(cudaDestroyTextureObject(texture));
  cudaResourceDesc line{};
  line.resType = cudaResourceTypeLinear;
  line.res.linear = {rows, format, row};
  plain.filterMode = cudaFilterModeLinear;  // ignored, as address modes are
  EXPECT_OK(cudaCreateTextureObject(&texture, &line, &plain, nullptr));
  fetch_line<<<1, 1>>>(texture, 5, result);
  EXPECT(place.number() == texel(5, 0));
  fetch_line<<<1, 1>>>(texture, 6, result);
  EXPECT(place.number() == 0);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  // The pitch of a single row is not looked at.
  const std::vector<int> few(8, 3);
  EXPECT_OK(cudaMemcpy2D(rows, 4, few.data(), 4, 32, 1, cudaMemcpyDefault));
  EXPECT_STATUS(cudaErrorInvalidPitchValue, cudaMemcpy2D(rows, 32, few.data(), 4, 32, 2, cudaMemcpyDefault));
  EXPECT_OK(cudaFree(rows));
}

/// Three layers, filled by one copy in three dimensions, of which a part is copied on.
void layers(Place& place) {
  std::vector<int> texels;
  for (int i = 0; i < 3 * kWidth * kHeight; ++i) texels.push_back(i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kWidth, kHeight, 3), cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), kWidth * sizeof(int), kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kWidth, kHeight, 3);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  fetch_layer<<<1, 1>>>(texture, 3.5f, 1.5f, 2, static_cast<int*>(place.on_device));
  EXPECT(place.whole() == 2 * kWidth * kHeight + kWidth + 3);
  int part[2] = {};
  cudaMemcpy3DParms out{};
  out.srcArray = array;
  out.srcPos = make_cudaPos(4, 1, 1);
  out.dstPtr = make_cudaPitchedPtr(part, sizeof part, 2, 1);
  out.extent = make_cudaExtent(2, 1, 1);
  out.kind = cudaMemcpyDeviceToHost;
  EXPECT_OK(cudaMemcpy3D(&out));
  EXPECT(part[0] == kWidth * kHeight + kWidth + 4 && part[1] == part[0] + 1);
  out.srcPos = make_cudaPos(5, 1, 1);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy3D(&out));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 5, 6), cudaArrayCubemap));
  static_cast<void>(cudaGetLastError());
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));
}

}  // namespace

int main() {
  Place place;
  two_dimensions(place);
  layers(place);
  return outcome();
}

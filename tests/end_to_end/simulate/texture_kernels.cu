// Kernels with textures and surfaces as others write them; test_simulate_textures.py runs them against NumPy.

extern "C" __global__ void bilateral(cudaTextureObject_t image, uchar4* out, int width, int height, float radius,
                                     const float* gauss) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float4 center = tex2D<float4>(image, x, y);
  float4 sum = {0, 0, 0, 0};
  float weights = 0;
  for (int i = -2; i <= 2; ++i) {
    for (int j = -2; j <= 2; ++j) {
      const float4 p = tex2D<float4>(image, x + j, y + i);
      const float dx = p.x - center.x, dy = p.y - center.y, dz = p.z - center.z;
      const float weight = gauss[i + 2] * gauss[j + 2] * expf(-(dx * dx + dy * dy + dz * dz) / (2 * radius * radius));
      weights += weight;
      sum.x += weight * p.x, sum.y += weight * p.y, sum.z += weight * p.z, sum.w += weight * p.w;
    }
  }
  out[y * width + x] = make_uchar4(255 * sum.x / weights + 0.5f, 255 * sum.y / weights + 0.5f,
                                   255 * sum.z / weights + 0.5f, 255 * sum.w / weights + 0.5f);
}

struct Job {
  cudaTextureObject_t volume;
  float* out;
  int count;
};
extern "C" __global__ void volume(Job job, const float4* at) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < job.count) job.out[i] = tex3D<float>(job.volume, at[i].x, at[i].y, at[i].z);
}

__device__ cudaTextureObject_t layers;
extern "C" __global__ void layered(float2* out, const float4* at, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2DLayered<float2>(layers, at[i].x, at[i].y, static_cast<int>(at[i].z));
}

extern "C" __global__ void copy_surfaces(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  for (int slice = 0; slice < 3; ++slice) {  // outside it is read from the edge, and not written
    const short2 texel = surf3Dread<short2>(from, (x + 1) * 4, y, slice, cudaBoundaryModeClamp);
    surf2DLayeredwrite(make_short2(texel.y, texel.x), to, x * 4, y, slice, cudaBoundaryModeZero);
  }
}

extern "C" __global__ void table(int* out, cudaTextureObject_t values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<int>(values, 3 * i - 4);
}

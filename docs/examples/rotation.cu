// An image, turned about its middle: read through a texture with a linear filter, written to a surface.

extern "C" __global__ void rotation(cudaTextureObject_t image, cudaSurfaceObject_t turned, int width, int height,
                                    float sine, float cosine) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;

  const float x = column + 0.5f - width / 2.0f;  // from the middle, to the middle of the texel
  const float y = row + 0.5f - height / 2.0f;
  const float u = (x * cosine - y * sine) / width + 0.5f;  // normalized: 0 to 1
  const float v = (x * sine + y * cosine) / height + 0.5f;
  surf2Dwrite(tex2D<float>(image, u, v), turned, column * 4, row);  // a surface counts bytes
}

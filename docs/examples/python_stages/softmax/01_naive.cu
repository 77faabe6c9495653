// @title A thread per row
// @launch softmax grid(div(R + 127, 128)) block(128)
__global__ void softmax(const float* x, float* y, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float most = -INFINITY;
  for (int c = 0; c < C; ++c) most = fmaxf(most, x[r * C + c]);
  float sum = 0;
  for (int c = 0; c < C; ++c) sum += expf(x[r * C + c] - most);
  for (int c = 0; c < C; ++c) y[r * C + c] = expf(x[r * C + c] - most) / sum;
}

// @title One warp per row
// @hypothesis the threads of a warp read neighbours: an eighth of the sectors
// @parameter WARPS 4 1 8
//
// Against the stage below, 32 threads share a row. Each takes every 32nd element, and they add up what they have found
// by shuffles, from register to register. When it loses: rows of less than 32 elements leave threads idle.
#ifndef WARPS
#define WARPS 4  // in a block
#endif

__global__ void softmax(const float* x, float* y, int R, int C) {
  const int row = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.y);
  if (row >= R) return;  // the whole warp
  x += static_cast<size_t>(row) * C;
  y += static_cast<size_t>(row) * C;
  const int lane = static_cast<int>(threadIdx.x);
  float largest = -INFINITY;
  for (int c = lane; c < C; c += 32) largest = fmaxf(largest, x[c]);
  for (int i = 16; i > 0; i /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, i));
  float sum = 0;
  for (int c = lane; c < C; c += 32) sum += expf(x[c] - largest);
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffff, sum, i);
  for (int c = lane; c < C; c += 32) y[c] = expf(x[c] - largest) / sum;
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  softmax<<<(R + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(x, y, R, C);
}

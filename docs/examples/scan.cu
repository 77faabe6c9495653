// The running sums of up to 1024 numbers, in one block: y[i] = x[0] + ... + x[i]. Each warp scans its 32 numbers with
// shuffles, the first warp scans the sums of the warps, and every warp adds the sum of those before it.

__device__ inline int scan_warp(int value) {
  const int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(0xffffffff, value, offset);
    if (lane >= offset) value += before;
  }
  return value;
}

extern "C" __global__ void scan(const int* x, int* y, int n) {
  __shared__ int warp_sums[32];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;

  int sum = scan_warp(thread < n ? x[thread] : 0);
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();

  if (warp == 0) {
    const int warps = blockDim.x / 32;
    const int scanned = scan_warp(lane < warps ? warp_sums[lane] : 0);
    if (lane < warps) warp_sums[lane] = scanned;
  }
  __syncthreads();

  if (warp > 0) sum += warp_sums[warp - 1];
  if (thread < n) y[thread] = sum;
}

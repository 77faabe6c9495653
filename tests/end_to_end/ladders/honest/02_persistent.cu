// @title A persistent kernel
//
// As many blocks as fit fetch their pieces from a counter in memory that is kept and reset by each call.
__global__ void pieces(const float* x, float* y, int N, int* next) {
  __shared__ int piece;
  for (;;) {
    if (threadIdx.x == 0) piece = atomicAdd(next, 1);
    __syncthreads();
    const int from = piece * 1024;
    if (from >= N) return;
    for (int i = from + threadIdx.x; i < N && i < from + 1024; i += blockDim.x) y[i] = 2 * x[i];
    __syncthreads();
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static int* next = nullptr;
  if (next == nullptr) cudaMalloc(&next, sizeof(int));
  cudaMemsetAsync(next, 0, sizeof(int));
  pieces<<<8, 256>>>(x, y, N, next);
}

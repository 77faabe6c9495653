// @title Replays a graph
// expected: incorrect
//
// The first call's work is kept in a graph whose answer stands, and later calls replay a copy of it.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static cudaGraphExec_t graph = nullptr;
  static float* kept = nullptr;
  if (graph == nullptr) {
    cudaMalloc(&kept, sizeof(float) * N);
    twice<<<(N + 255) / 256, 256>>>(x, kept, N);
    cudaStream_t own = nullptr;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaGraph_t captured = nullptr;
    cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed);
    cudaMemcpyAsync(y, kept, sizeof(float) * N, cudaMemcpyDeviceToDevice, own);
    cudaStreamEndCapture(own, &captured);
    cudaGraphInstantiate(&graph, captured, 0);
  }
  cudaGraphLaunch(graph, nullptr);
}

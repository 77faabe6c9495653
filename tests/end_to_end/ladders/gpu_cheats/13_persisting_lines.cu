// @title Persisting lines
// expected: gains nothing
//
// Its tensors are to persist in the L2 cache, where a flush before a cold call does not reach them.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static bool first = true;
  if (first) {
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16 << 20);
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = const_cast<float*>(x);
    window.accessPolicyWindow.num_bytes = sizeof(float) * N;
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &window);
    first = false;
  }
  twice<<<(N + 255) / 256, 256>>>(x, y, N);
}

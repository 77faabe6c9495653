// A library that uses the device while it is loaded, and unloaded.
__global__ void fill(int* numbers) { numbers[threadIdx.x] = threadIdx.x; }

extern "C" int work() {
  int* numbers = nullptr;
  int copy[32] = {};
  cudaMalloc(&numbers, sizeof copy);
  fill<<<1, 32>>>(numbers);
  const bool failed = cudaMemcpy(copy, numbers, sizeof copy, cudaMemcpyDefault) != cudaSuccess;
  cudaFree(numbers);
  int sum = 0;
  for (const int one : copy) sum += one;
  return failed ? -1 : sum;
}

struct Early {
  int sum = work();
  ~Early() { work(); }
} early;

extern "C" int sum_at_first() { return early.sum; }

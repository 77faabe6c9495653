// Programs in one, by their first argument, that leave somebody wondering unless they are told.
#include <cuda_runtime.h>

#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "callers.h"

__device__ int counter;

__global__ void hangs(int* out, int n) {
  __shared__ long long a[21];
  long long* behind = a + 32;
  while (true) {
    if (threadIdx.x == 0) *behind = atomicAdd(&counter, 1);  // left out
    __syncthreads();
    const int c = static_cast<int>(*behind);
    if (c >= n) break;
    if (threadIdx.x == 0) out[c] = c;
    __syncthreads();
  }
}

__global__ void ones(float* a, int step) { a[(blockIdx.x * blockDim.x + threadIdx.x) * step] = 1; }

struct Padded {
  double number;
  char letter;
};
__global__ void pad(Padded* a) {
  a[threadIdx.x].number = 1;
  a[threadIdx.x].letter = 'x';
}

__global__ void far(const char* p, long long d, char* o) { *o = p[d]; }

__global__ void bytes(unsigned char* p) { p[threadIdx.x] = 1; }

__global__ void touch_pages(int* p) { p[(blockIdx.x * blockDim.x + threadIdx.x) * 1024] = 1; }

namespace {
template <int kBy>
__global__ void of_template(int* a) {
  a[threadIdx.x + 100] = kBy;
}
__global__ void of_nobody(int* a) { a[threadIdx.x + 100] = 1; }
}  // namespace
static __global__ void of_file(int* a) { a[threadIdx.x + 100] = 1; }

struct Global {
  int* memory = nullptr;
  ~Global() {
    if (memory == nullptr) return;
    void* more = nullptr;
    const cudaError_t freed = cudaFree(memory);
    const cudaError_t given = cudaMalloc(&more, 16);
    ones<<<1, 4>>>(static_cast<float*>(more), 1);
    const cudaError_t done = cudaDeviceSynchronize();
    std::printf("destructor: %s, %s, %s, %s\n", cudaGetErrorName(freed), cudaGetErrorName(given),
                cudaGetErrorName(done), cudaGetErrorName(cudaFree(more)));
  }
};
Global global;
thread_local Global of_thread;

void kinds() {
  int from[4] = {1, 2, 3, 4};
  int *a, *b;
  cudaMalloc(&a, 16);
  cudaMalloc(&b, 16);
  cudaMemcpy(a, from, 16, cudaMemcpyHostToDevice);
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) {
    int to[4] = {};
    cudaMemset(b, 0, 16);
    const cudaError_t on_device = cudaMemcpy(b, a, 16, kind);
    cudaMemcpy(to, b, 16, cudaMemcpyDefault);
    std::printf("%d: %s %d", kind, cudaGetErrorName(on_device), to[3]);
    std::printf(", up %s", cudaGetErrorName(cudaMemcpy(b, from, 16, kind)));
    std::printf(", down %s\n", cudaGetErrorName(cudaMemcpy(to, a, 16, kind)));
  }
  cudaFree(a);
  cudaFree(b);
}

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  const auto is = [what](const char* word) { return std::strcmp(what, word) == 0; };
  const long long number = count > 2 ? std::atoll(words[2]) : 0;
  if (is("hang")) {
    int* d;
    cudaMalloc(&d, 400);
    std::thread other([number] {
      sleep(1);
      if (number == SIGABRT) std::abort();
      if (number > 0) kill(getpid(), static_cast<int>(number));
    });
    hangs<<<1, 64>>>(d, 100);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    other.join();
  } else if (is("kinds")) {
    kinds();
  } else if (is("global")) {
    cudaMalloc(&global.memory, 128);
    ones<<<1, 32>>>(reinterpret_cast<float*>(global.memory), 1);
    cudaDeviceSynchronize();
    std::thread([] { cudaMalloc(&of_thread.memory, 128); }).join();
    if (number != 0) std::exit(static_cast<int>(number));
  } else if (is("unwritten")) {
    static float h[4096];
    float *d, *copy;
    cudaMalloc(&d, 4 * number);
    cudaMalloc(&copy, 4 * number);
    const int step = count > 3 ? std::atoi(words[3]) : 1;
    ones<<<7, 128>>>(d, step);
    cudaMemcpy(copy, d, 4 * number, cudaMemcpyDeviceToDevice);
    cudaMemcpy(h, copy, 4 * number, cudaMemcpyDeviceToHost);  // the copy
    cudaFree(d);
    cudaFree(copy);
  } else if (is("padding")) {
    Padded h[32];
    Padded* d;
    cudaMalloc(&d, sizeof h);
    pad<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
  } else if (is("far")) {
    char *p, *o;
    cudaMalloc(&p, 4096);
    cudaMalloc(&o, 1);
    far<<<1, 1>>>(p, number, o);
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaFree(o);
  } else if (is("large")) {
    unsigned char* p;
    const cudaError_t given = cudaMalloc(&p, number << 20);
    bytes<<<1, 32>>>(p + (count > 3 ? std::atoll(words[3]) : 0));
    std::printf("%s %s\n", cudaGetErrorName(given), cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(p);
  } else if (is("pages")) {
    int* p;
    const cudaError_t given = cudaMalloc(&p, number << 20);
    touch_pages<<<static_cast<unsigned>(number), 256>>>(p);
    std::printf("%s %s\n", cudaGetErrorName(given), cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(p);
  } else if (is("stubs")) {
    int* a;
    cudaMalloc(&a, 400);
    of_template<3><<<1, 1>>>(a);  // template's launch
    of_nobody<<<1, 1>>>(a);       // nobody's launch
    of_file<<<1, 1>>>(a);         // file's launch
    cudaDeviceSynchronize();
    cudaFree(a);
  } else if (is("callers")) {
    calls(100);
  }
  return 0;
}

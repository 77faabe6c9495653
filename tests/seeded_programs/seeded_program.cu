// A whole program with bugs for `convladder simulate -- ./program`, one by name: ./seeded_program NAME [EXIT_CODE].
// The comments behind lines name them: tests look for the line by its comment.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void copy(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];  // copy line
}

__global__ void without_barrier(float* to) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x;
  to[threadIdx.x] = tile[63 - threadIdx.x];  // race line
}

__global__ void misaligned(char* to) {
  *reinterpret_cast<int*>(to + 1) = 1;  // misaligned line
}

__global__ void half_a_barrier(float* to) {
  if (threadIdx.x < 16) __syncthreads();  // barrier line
  to[threadIdx.x] = 1;
}

static void check(cudaError_t error) {
  if (error != cudaSuccess) std::printf("error %d: %s\n", error, cudaGetErrorString(error));
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const auto is = [what](const char* name) { return std::strcmp(what, name) == 0; };
  const int n = 64;
  float *a = nullptr, *b = nullptr;
  if (is("fork first")) fork();              // before any call: the child has a GPU
  check(cudaMalloc(&a, n * sizeof(float)));  // a's line
  check(cudaMalloc(&b, n * sizeof(float)));  // b's line
  check(cudaMemset(a, 0, n * sizeof(float)));
  if (is("bounds")) copy<<<1, 128>>>(a, b, n + 1);                         // bounds launch
  if (is("uninitialized")) copy<<<1, 64>>>(b, a, n);                       // uninitialized launch
  if (is("race")) without_barrier<<<1, 64>>>(b);                           // race launch
  if (is("misaligned")) misaligned<<<1, 1>>>(reinterpret_cast<char*>(b));  // misaligned launch
  if (is("barrier")) half_a_barrier<<<1, 32>>>(b);                         // barrier launch
  if (is("freed")) {
    check(cudaFree(a));
    copy<<<1, 64>>>(a, b, n);  // freed launch
    a = nullptr;
  }
  if (is("leak")) b = nullptr;
  if (is("double free")) {
    check(cudaFree(a));
    check(cudaFree(a));  // double free
    a = nullptr;
  }
  if (is("host read")) std::printf("%f\n", b[3]);         // host read
  if (is("host memcpy")) std::memcpy(b + 2, argv[0], 4);  // host memcpy
  if (is("found and aborted")) {
    copy<<<1, 128>>>(a, b, n + 1);
    std::abort();
  }
  if (is("_exit")) _exit(7);
  if (is("sleep")) {
    std::puts("asleep");
    std::fflush(stdout);
    sleep(60);
  }
  if (is("fork later") && fork() == 0) {
    std::printf("the child's error is %d\n", cudaMemset(a, 0, 4));
    return 0;
  }
  if (is("error")) check(cudaMemset(a, 0, 1 << 20));
  check(cudaDeviceSynchronize());
  check(cudaFree(a));
  check(cudaFree(b));
  if (std::strncmp(what, "fork", 4) == 0) wait(nullptr);
  std::printf("done: %s\n", what);
  return argc > 2 ? std::atoi(argv[2]) : 0;
}

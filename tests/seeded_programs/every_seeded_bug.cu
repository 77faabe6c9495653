// Whole programs with bugs, one by name: ./every_seeded_bug NAME. Each is a function of the host whose lines are
// marked:
// "// allocates" where the memory that the finding names is made, "// launches" where the kernel is launched or the
// call is wrong, "// faulty" in the kernel. The kernels of tests/seeded_kernels run as they are.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../seeded_kernels/initcheck.cu"
#include "../seeded_kernels/memcheck.cu"
#include "../seeded_kernels/racecheck.cu"
#include "../seeded_kernels/synccheck.cu"

#include "seeded_library.hpp"

namespace {

constexpr int kElements = 512;
constexpr std::size_t kBytes = kElements * sizeof(float);

/// Kernels of tests/seeded_kernels: `in` is written, `out` is not, but for the races.
using Seeded = void (*)(const float*, float*, int);

int run_seeded(Seeded kernel, bool with_zeros) {
  std::vector<float> values(kElements);
  for (int i = 0; i < kElements; ++i) values[i] = static_cast<float>(i % 5);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kBytes);   // in
  cudaMalloc(&out, kBytes);  // out
  cudaMemcpy(in, values.data(), kBytes, cudaMemcpyHostToDevice);
  if (with_zeros) cudaMemset(out, 0, kBytes);
  kernel<<<4, 128>>>(in, out, kElements);  // seeded launch
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}

}  // namespace

__constant__ int table[16];
__device__ int counters[16];

namespace shapes {

template <typename T, int Stride>
__global__ void write(T* to) {
  to[threadIdx.x * Stride] = T(1);  // faulty: write
}

__global__ void read_table(const int* at, int* to) {
  to[threadIdx.x] = table[at[threadIdx.x]];  // faulty: read_table
}

__global__ void count(const int* at) {
  atomicAdd(&counters[at[threadIdx.x]], 1);  // faulty: count
}

__global__ void write_table() {
  const_cast<int*>(table)[threadIdx.x] = 1;  // faulty: write_table
}

__global__ void draw(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0F, surface, static_cast<int>(threadIdx.x * sizeof(float)), 0, cudaBoundaryModeTrap);  // faulty: draw
}

template <typename Work>
__global__ void each(int n, Work work) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) work(i);
}

__device__ void free_twice(void* memory) {
  free(memory);
  free(memory);  // faulty: heap
}

__global__ void heap() { free_twice(malloc(16)); }

__global__ void grown_stack(int* to) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = 1;  // faulty: grown_stack
  to[threadIdx.x] = 1;
}

}  // namespace shapes

namespace {

using namespace shapes;

float* allocated_elsewhere() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);  // allocates: helper
  return memory;
}

void helper() {
  write<float, 5><<<1, 128>>>(allocated_elsewhere());  // launches: helper
}

void managed() {
  float* memory = nullptr;
  cudaMallocManaged(&memory, kBytes);   // allocates: managed
  write<float, 5><<<1, 128>>>(memory);  // launches: managed
}

void pinned() {
  double* memory = nullptr;
  cudaHostAlloc(&memory, kBytes, cudaHostAllocDefault);  // allocates: pinned
  write<double, 5><<<1, 128>>>(memory);                  // launches: pinned
}

void registered() {
  static float memory[kElements];
  cudaHostRegister(memory, kBytes, cudaHostRegisterDefault);  // allocates: registered
  write<float, 5><<<1, 128>>>(memory);                        // launches: registered
}

void pitched() {
  float* memory = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&memory, &pitch, 100 * sizeof(float), 2);  // allocates: pitched
  write<float, 5><<<1, 128>>>(memory);                       // launches: pitched
}

void asynchronous() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* memory = nullptr;
  cudaMallocAsync(&memory, kBytes, stream);        // allocates: asynchronous
  write<float, 5><<<1, 128, 0, stream>>>(memory);  // launches: asynchronous
  cudaFreeAsync(memory, stream);
  cudaStreamSynchronize(stream);
}

void array() {
  cudaArray_t memory = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&memory, &format, 32, 1, cudaArraySurfaceLoadStore);  // allocates: array
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = memory;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  draw<<<1, 33>>>(surface);  // launches: array
}

void of_library() {
  float* const memory = seeded_library::allocate(kBytes);
  write<float, 5><<<1, 128>>>(memory);  // launches: of_library
}

void in_library() { seeded_library::run(); }

void in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      float* memory = nullptr;
      cudaMalloc(&memory, kBytes);                      // allocates: in_threads
      if (i == 2) write<float, 5><<<1, 128>>>(memory);  // launches: in_threads
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void used_again() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);  // allocates: used_again
  float* const before = memory;
  cudaFree(memory);
  cudaMalloc(&memory, kBytes);  // as large, and perhaps at the same address
  write<float, 1><<<1, 128>>>(memory);
  write<float, 1><<<1, 64>>>(before);  // launches: used_again
}

void freed() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);  // allocates: freed
  cudaFree(memory);
  write<float, 1><<<1, 128>>>(memory);  // launches: freed
}

void host_pointer() {
  float* const memory = static_cast<float*>(std::malloc(kBytes));
  write<float, 1><<<1, 128>>>(memory);  // launches: host_pointer
}

void null_pointer() {
  write<float, 1><<<1, 128>>>(static_cast<float*>(nullptr));  // launches: null_pointer
}

void device_variable() {
  int* at = nullptr;
  cudaMalloc(&at, 16 * sizeof(int));
  const int places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16};
  cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice);
  count<<<1, 16>>>(at);  // launches: device_variable
}

void constant() {
  int* at = nullptr;
  cudaMalloc(&at, 16 * sizeof(int));
  const int places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -7};
  cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice);
  read_table<<<1, 16>>>(at, at);  // launches: constant
}

void constant_written() {
  write_table<<<1, 16>>>();  // launches: constant_written
}

void lambda() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);                                                                     // allocates: lambda
  each<<<1, 128>>>(128, [memory] __device__(int i) { memory[i + 400] = static_cast<float>(i); });  // launches: lambda
}

void too_little_shared() {
  int* to = nullptr;
  cudaMalloc(&to, kBytes);
  grown_stack<<<1, 128, 256>>>(to);  // launches: too_little_shared
}

void heap_freed_twice() {
  heap<<<1, 1>>>();  // launches: heap_freed_twice
}

void freed_twice() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);  // allocates: freed_twice
  cudaFree(memory);
  cudaFree(memory);  // launches: freed_twice
}

void freed_in_the_middle() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);  // allocates: freed_in_the_middle
  cudaFree(memory + 1);         // launches: freed_in_the_middle
}

void host_memory_freed() {
  void* const memory = std::malloc(kBytes);
  cudaFree(memory);  // launches: host_memory_freed
}

void pinned_freed_as_device() {
  void* memory = nullptr;
  cudaMallocHost(&memory, kBytes);  // allocates: pinned_freed_as_device
  cudaFree(memory);                 // launches: pinned_freed_as_device
}

void never_freed() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);  // allocates: never_freed
}

void too_many_threads() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);
  write<float, 1><<<1, 2048>>>(memory);  // launches: too_many_threads
}

void copied_beyond() {
  float* memory = nullptr;
  cudaMalloc(&memory, kBytes);
  std::vector<float> values(2 * kElements);
  cudaMemcpy(memory, values.data(), 2 * kBytes, cudaMemcpyHostToDevice);  // launches: copied_beyond
}

struct Named {
  const char* name;
  void (*run)();
};
#define NAMED(name) \
  { #name, name }
const Named kBugs[] = {NAMED(helper),
                       NAMED(managed),
                       NAMED(pinned),
                       NAMED(registered),
                       NAMED(pitched),
                       NAMED(asynchronous),
                       NAMED(array),
                       NAMED(of_library),
                       NAMED(in_library),
                       NAMED(in_threads),
                       NAMED(used_again),
                       NAMED(freed),
                       NAMED(host_pointer),
                       NAMED(null_pointer),
                       NAMED(device_variable),
                       NAMED(constant),
                       NAMED(constant_written),
                       NAMED(lambda),
                       NAMED(too_little_shared),
                       NAMED(heap_freed_twice),
                       NAMED(freed_twice),
                       NAMED(freed_in_the_middle),
                       NAMED(host_memory_freed),
                       NAMED(pinned_freed_as_device),
                       NAMED(never_freed),
                       NAMED(too_many_threads),
                       NAMED(copied_beyond)};

struct NamedKernel {
  const char* name;
  Seeded kernel;
};
const NamedKernel kKernels[] = {
    NAMED(halo_off_by_one),
    NAMED(write_past_the_last_image),
    NAMED(rows_and_columns_swapped),
    NAMED(misaligned_vector_load),
    NAMED(tile_too_small),
    NAMED(before_the_begin),
    NAMED(local_array_too_short),
    NAMED(bytes_for_elements),
    NAMED(accumulates_without_zero),
    NAMED(halo_never_loaded),
    NAMED(too_few_threads_copy_the_filter),
    NAMED(only_even_threads_write),
    NAMED(border_left_out),
    NAMED(reads_the_wrong_buffer),
    NAMED(partial_sums_of_blocks_that_have_none),
    NAMED(local_array_half_filled),
    NAMED(no_barrier_after_the_load),
    NAMED(no_barrier_before_the_next_tile),
    NAMED(reduction_without_barriers),
    NAMED(warp_in_lockstep),
    NAMED(counts_without_atomics),
    NAMED(blocks_overlap),
    NAMED(shared_counter),
    NAMED(stencil_in_place),
    NAMED(barrier_in_a_branch),
    NAMED(votes_as_long_as_the_thread_likes),
    NAMED(loop_as_long_as_the_thread_likes),
    NAMED(leaves_the_loop_alone),
    NAMED(warp_barrier_with_absent_lanes),
    NAMED(shuffle_in_a_branch),
    NAMED(vote_with_absent_lanes),
    NAMED(barrier_for_more_than_come),
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  for (const Named& bug : kBugs) {
    if (what != bug.name) continue;
    bug.run();
    cudaDeviceSynchronize();
    return 0;
  }
  for (const NamedKernel& kernel : kKernels) {
    if (what == kernel.name) return run_seeded(kernel.kernel, argc > 2 && std::strcmp(argv[2], "zeros") == 0);
  }
  std::fprintf(stderr, "no bug is called '%s'\n", what.c_str());
  return 2;
}

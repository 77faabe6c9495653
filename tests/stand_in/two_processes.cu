// Memory that a process shares with a process that it has forked before its first call (cudaIpc…). Says what is not as
// documented.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

namespace {

__global__ void add(int* values, int by) { values[threadIdx.x] += by; }

void of_child(int from_parent, int to_parent) {
  cudaIpcMemHandle_t handle = {};
  EXPECT(read(from_parent, &handle, sizeof handle) == sizeof handle);
  int *memory = nullptr, *again = nullptr;
  EXPECT_OK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&memory), handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_OK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT(memory == again);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(memory));
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  add<<<1, 32>>>(memory, 7);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaIpcCloseMemHandle(again));
  int value = 0;
  EXPECT_OK(cudaMemcpy(&value, memory + 31, sizeof value, cudaMemcpyDefault));
  EXPECT(value == 38);
  EXPECT_OK(cudaIpcCloseMemHandle(memory));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(write(to_parent, "x", 1) == 1);
}

void of_parent(int from_child, int to_child) {
  int* memory = nullptr;
  int host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  EXPECT_OK(cudaMalloc(&memory, sizeof host));
  EXPECT_OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
  cudaIpcMemHandle_t handle = {}, wrong = {};
  EXPECT_OK(cudaIpcGetMemHandle(&handle, memory));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&wrong, host));
  void* opened = nullptr;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaIpcOpenMemHandle(&opened, wrong, cudaIpcMemLazyEnablePeerAccess));
  // The process that has made it cannot open it.
  EXPECT_STATUS(cudaErrorDeviceUninitialized, cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT(cudaGetLastError() == cudaErrorDeviceUninitialized);
  char done = 0;
  EXPECT(write(to_child, &handle, sizeof handle) == sizeof handle);
  EXPECT(read(from_child, &done, 1) == 1);
  EXPECT_OK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 7 && host[31] == 38);
  EXPECT_OK(cudaFree(memory));
}

}  // namespace

int main() {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) return 3;
  const pid_t child = fork();
  if (child == 0) {
    of_child(down[0], up[1]);
    return *failures() == 0 ? 0 : 1;
  }
  close(up[1]);  // a child that ends early leaves nothing to wait for
  of_parent(up[0], down[1]);
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  return outcome();
}

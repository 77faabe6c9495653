// Programs that use cuBLAS in a way that has to be told, and some that are right in an unusual way; the name of one is
// on the command line.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "../expect.h"

namespace {

cublasHandle_t handle;
constexpr float kOne = 1;
constexpr float kZero = 0;

float* memory(std::size_t count, bool is_written = true) {
  float* at = nullptr;
  EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&at), count * sizeof(float)));
  const std::vector<float> ones(count, 1);
  if (is_written) EXPECT_OK(cudaMemcpy(at, ones.data(), count * sizeof(float), cudaMemcpyDefault));
  return at;
}

float first_of(const float* at) {
  float value = 0;
  EXPECT_OK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDefault));
  return value;
}

cublasStatus_t multiply(int size, const float* a, const float* b, float* c, int leading) {
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &kOne, a, leading, b, leading, &kZero, c,
                     leading);
}

/// B ends before its last column does.
void short_matrix() {
  float* const a = memory(16 * 16);
  float* const b = memory(16 * 16);
  float* const c = memory(16 * 16, false);
  EXPECT_OK(multiply(15, a, b + 16, c, 16));
  EXPECT_OK(multiply(16, a, b + 8, c, 16));
  first_of(c);
}

void unwritten_matrix() {
  float* const a = memory(16 * 16);
  float* const b = memory(16 * 16, false);
  float* const c = memory(16 * 16, false);
  EXPECT_OK(multiply(16, a, b, c, 16));
}

void pointer_of_the_host() {
  std::vector<float> a(16);
  float* const c = memory(16);
  EXPECT_OK(multiply(4, a.data(), c, c, 4));
}

/// None of these is a finding: each is refused with a status.
void wrong_arguments() {
  float* const a = memory(16 * 16);
  EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, multiply(16, a, a, a, 15));
  EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, multiply(-1, a, a, a, 16));
  EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(7)));
  EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, cublasSaxpy(nullptr, 4, &kOne, a, 1, a, 1));
  EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, cublasSaxpy(handle, 4, nullptr, a, 1, a, 1));
  EXPECT_OK(multiply(0, nullptr, nullptr, nullptr, 1));
  EXPECT_OK(cublasSaxpy(handle, -1, &kOne, a, 1, a, 1));
}

void ignored_failure() {
  float* const a = memory(16 * 16);
  multiply(16, a, a, a, 8);
}

/// A handle lives until it is destroyed, and only once.
void destroyed_twice() {
  cublasHandle_t other = nullptr;
  EXPECT_OK(cublasCreate(&other));
  EXPECT_OK(cublasDestroy(other));
  EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, cublasDestroy(other));
  cublasLtHandle_t lt = nullptr;
  EXPECT_OK(cublasLtCreate(&lt));
  EXPECT_OK(cublasLtDestroy(lt));
  EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, cublasLtDestroy(lt));
  cusolverDnHandle_t solver = nullptr;
  EXPECT_OK(cusolverDnCreate(&solver));
  EXPECT_OK(cusolverDnDestroy(solver));
  EXPECT_STATUS(CUSOLVER_STATUS_NOT_INITIALIZED, cusolverDnDestroy(solver));
}

/// The libraries' versions are known where there is no GPU.
void versions() {
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int value = -1;
    EXPECT_OK(cublasGetProperty(part, &value));
    EXPECT_OK(cublasLtGetProperty(part, &value));
    EXPECT_OK(cusolverGetProperty(part, &value));
    EXPECT(value >= 0);
  }
  int version = 0;
  EXPECT_OK(cusolverGetVersion(&version));
  EXPECT_STATUS(CUBLAS_STATUS_EXECUTION_FAILED, cublasCreate(&handle));
}

void missing_function() {
  int info = 0;
  EXPECT_STATUS(CUBLAS_STATUS_NOT_SUPPORTED,
                cublasSgelsBatched(handle, CUBLAS_OP_N, 4, 4, 1, nullptr, 4, nullptr, 4, &info, nullptr, 1));
}

/// A product, its use in the same stream, and a number that only the device knows, captured and run three times.
void graph() {
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_OK(cublasSetStream(handle, stream));
  float* const a = memory(4);
  float* const sum = memory(1);
  float* const b = memory(4);
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cublasSaxpy(handle, 4, &kOne, a, 1, b, 1));  // b = 2, 4 and so on
  EXPECT_OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  EXPECT_OK(cublasSdot(handle, 4, a, 1, b, 1, sum));  // 8
  EXPECT_OK(cublasSscal(handle, 4, sum, b, 1));       // 16
  EXPECT_OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT(first_of(b) == 1);
  std::size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 3);
  std::vector<cudaGraphNode_t> nodes(count);
  EXPECT_OK(cudaGraphGetNodes(graph, nodes.data(), &count));
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  EXPECT_OK(cudaGraphNodeGetType(nodes[0], &type));
  EXPECT(type == cudaGraphNodeTypeKernel);
  cudaGraphExec_t ready = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&ready, graph, 0));
  EXPECT_OK(cudaGraphLaunch(ready, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(first_of(b) == 16);
  EXPECT_OK(cudaGraphLaunch(ready, stream));  // 17, 68, 1156
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(first_of(b) == 1156);
  EXPECT_OK(cudaGraphExecDestroy(ready));
  EXPECT_OK(cudaGraphDestroy(graph));
}

/// The host cannot wait for a number in a graph.
void captured_result() {
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_OK(cublasSetStream(handle, stream));
  float* const a = memory(4);
  float sum = 0;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cublasSdot(handle, 4, a, 1, a, 1, &sum) != CUBLAS_STATUS_SUCCESS);
  cudaGraph_t graph = nullptr;
  EXPECT(cudaStreamEndCapture(stream, &graph) != cudaSuccess);
}

/// Copies of vectors and matrices, and large products, whose bits must not depend on the number of threads.
void large() {
  constexpr int kSize = 700;
  std::vector<float> numbers(kSize * kSize);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 2654435761U % 1000) / 1000;
  float* const a = memory(kSize * kSize);
  float* const c = memory(kSize * kSize);
  EXPECT_OK(cublasSetMatrix(kSize, kSize, sizeof(float), numbers.data(), kSize, a, kSize));
  EXPECT_OK(multiply(kSize, a, a, c, kSize));
  EXPECT_OK(cublasGetMatrix(kSize, kSize, sizeof(float), c, kSize, numbers.data(), kSize));
  std::uint32_t hash = 0;
  for (const float number : numbers) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    hash = hash * 31 + bits;
  }
  std::printf("%08x\n", hash);
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "versions") == 0) {
    versions();
    return outcome();
  }
  EXPECT_OK(cublasCreate(&handle));
  const struct {
    const char* name;
    void (*run)();
  } programs[] = {{"short_matrix", short_matrix},
                  {"unwritten_matrix", unwritten_matrix},
                  {"pointer_of_the_host", pointer_of_the_host},
                  {"wrong_arguments", wrong_arguments},
                  {"ignored_failure", ignored_failure},
                  {"destroyed_twice", destroyed_twice},
                  {"missing_function", missing_function},
                  {"graph", graph},
                  {"captured_result", captured_result},
                  {"large", large}};
  for (const auto& [name, run] : programs) {
    if (count == 2 && std::strcmp(words[1], name) == 0) run();
  }
  EXPECT_OK(cublasDestroy(handle));
  return outcome();
}

// cuDNN's tensors on the host: numbers of any type at any distances, which are computed in double precision.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/stand_in/libraries/answer.hpp"

/// The program's handles point to these.
struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<std::int64_t> sizes;    // N, C, and then the image's
  std::vector<std::int64_t> strides;  // in elements
};
struct cudnnFilterStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  std::vector<std::int64_t> sizes;  // K, C, and then the window's
};

namespace convladder::stand_in::cudnn {

using Sizes = std::vector<std::int64_t>;

void require(bool holds, const char* why);
/// Throws Refused(CUDNN_STATUS_NOT_SUPPORTED).
[[noreturn]] void refuse(const std::string& what);

std::uint64_t bytes_of(cudnnDataType_t type);
std::int64_t count_of(const Sizes& sizes);
/// The distances of a tensor without gaps: channels first, or last.
Sizes packed(const Sizes& sizes, cudnnTensorFormat_t format);
/// A filter as the tensor that it is stored as.
cudnnTensorStruct as_tensor(const cudnnFilterStruct& filter);

/// The bytes from a tensor's first number to behind its last.
std::uint64_t span_bytes(const cudnnTensorStruct& tensor);
/// The memory of a tensor, as few uses of it as there can be.
std::vector<MemoryUse> uses_of(const char* name, const void* address, const cudnnTensorStruct& tensor, bool reads,
                               bool writes);

/// The numbers of a tensor, one behind the other, the last dimension fastest.
std::vector<double> numbers_of(const void* memory, const cudnnTensorStruct& tensor);
/// Stores numbers as result = alpha * number + beta * what is there, rounded once; with beta 0 nothing is read.
void store(const std::vector<double>& numbers, double alpha, double beta, void* memory,
           const cudnnTensorStruct& tensor);

}  // namespace convladder::stand_in::cudnn

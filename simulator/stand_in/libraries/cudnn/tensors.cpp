#include "simulator/stand_in/libraries/cudnn/tensors.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>

namespace convladder::stand_in::cudnn {
namespace {

/// Calls `each(number, offset)` for every number of a tensor, in order, with its distance from the first.
template <typename Each>
void each_number(const cudnnTensorStruct& tensor, const Each& each) {
  Sizes index(tensor.sizes.size());
  std::int64_t offset = 0;
  const std::int64_t count = count_of(tensor.sizes);
  for (std::int64_t number = 0; number < count; ++number) {
    each(static_cast<std::size_t>(number), offset);
    for (std::size_t i = index.size(); i-- > 0;) {
      offset += tensor.strides[i];
      if (++index[i] < tensor.sizes[i]) break;
      offset -= tensor.strides[i] * tensor.sizes[i];
      index[i] = 0;
    }
  }
}

/// Calls `work` with a null pointer of the type.
template <typename Work>
void with_type(cudnnDataType_t type, const Work& work) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return work(static_cast<float*>(nullptr));
    case CUDNN_DATA_DOUBLE:
      return work(static_cast<double*>(nullptr));
    case CUDNN_DATA_HALF:
      return work(static_cast<__half*>(nullptr));
    case CUDNN_DATA_BFLOAT16:
      return work(static_cast<__nv_bfloat16*>(nullptr));
    default:
      refuse("a tensor that is neither of float, double, half nor bfloat16");
  }
}

double wide(float number) { return number; }
double wide(double number) { return number; }
double wide(__half number) { return __half2float(number); }
double wide(__nv_bfloat16 number) { return __bfloat162float(number); }
void narrow(double number, float& to) { to = static_cast<float>(number); }
void narrow(double number, double& to) { to = number; }
void narrow(double number, __half& to) { to = __double2half(number); }
void narrow(double number, __nv_bfloat16& to) { to = __double2bfloat16(number); }

}  // namespace

void require(bool holds, const char* why) {
  if (!holds) throw Refused(CUDNN_STATUS_BAD_PARAM, why);
}

void refuse(const std::string& what) { throw Refused(CUDNN_STATUS_NOT_SUPPORTED, what + " is not supported here"); }

std::uint64_t bytes_of(cudnnDataType_t type) {
  std::uint64_t bytes = 0;
  with_type(type, [&](auto* number) { bytes = sizeof *number; });
  return bytes;
}

std::int64_t count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

Sizes packed(const Sizes& sizes, cudnnTensorFormat_t format) {
  Sizes strides(sizes.size());
  std::int64_t distance = 1;
  if (format == CUDNN_TENSOR_NHWC && sizes.size() > 1) {
    strides[1] = 1;
    distance = sizes[1];
  }
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (i == 1 && format == CUDNN_TENSOR_NHWC) continue;
    strides[i] = distance;
    distance *= sizes[i];
  }
  return strides;
}

cudnnTensorStruct as_tensor(const cudnnFilterStruct& filter) {
  return {filter.type, filter.sizes, packed(filter.sizes, filter.format)};
}

std::uint64_t span_bytes(const cudnnTensorStruct& tensor) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) last += (tensor.sizes[i] - 1) * tensor.strides[i];
  return static_cast<std::uint64_t>(last + 1) * bytes_of(tensor.type);
}

std::vector<MemoryUse> uses_of(const char* name, const void* address, const cudnnTensorStruct& tensor, bool reads,
                               bool writes) {
  MemoryUse use{.name = name, .address = address, .reads = reads, .writes = writes};
  const std::uint64_t bytes = bytes_of(tensor.type);
  if (static_cast<std::int64_t>(span_bytes(tensor) / bytes) == count_of(tensor.sizes)) {
    use.run_bytes = span_bytes(tensor);
    return {use};
  }
  std::vector<MemoryUse> uses;
  use.run_bytes = bytes;
  use.runs = static_cast<std::uint64_t>(tensor.sizes.back());
  use.distance = static_cast<std::uint64_t>(tensor.strides.back()) * bytes;
  cudnnTensorStruct rows = tensor;
  rows.sizes.back() = 1;
  each_number(rows, [&](std::size_t, std::int64_t offset) {
    use.address = static_cast<const std::byte*>(address) + offset * static_cast<std::int64_t>(bytes);
    uses.push_back(use);
  });
  return uses;
}

std::vector<double> numbers_of(const void* memory, const cudnnTensorStruct& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(count_of(tensor.sizes)));
  with_type(tensor.type, [&]<typename T>(T*) {
    each_number(tensor, [&](std::size_t number, std::int64_t offset) {
      numbers[number] = wide(static_cast<const T*>(memory)[offset]);
    });
  });
  return numbers;
}

void store(const std::vector<double>& numbers, double alpha, double beta, void* memory,
           const cudnnTensorStruct& tensor) {
  with_type(tensor.type, [&]<typename T>(T*) {
    each_number(tensor, [&](std::size_t number, std::int64_t offset) {
      T& place = static_cast<T*>(memory)[offset];
      const double before = beta == 0 ? 0 : beta * wide(place);
      narrow(alpha * numbers[number] + before, place);
    });
  });
}

}  // namespace convladder::stand_in::cudnn

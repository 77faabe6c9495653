// Vectors whose type the program names when it runs: the forms of level 1 that end in Ex.
#include <algorithm>
#include <cmath>

#include "simulator/stand_in/libraries/cublas/factor.hpp"

using namespace convladder::stand_in;

namespace {

using convladder::stand_in::bytes_of;

struct TypedVector {
  const char* name;
  cudaDataType type;
  const void* at;
  std::int64_t step;

  MemoryUse use(std::int64_t n, Access access) const { return vector_use(name, at, n, step, bytes_of(type), access); }
  TypedMatrix as_row(LibraryTurn& turn, std::int64_t n) const {
    return {type, const_cast<void*>(turn.at(at)), 1, n, std::abs(step)};
  }
  std::vector<Wide> read(LibraryTurn& turn, std::int64_t n) const {
    std::vector<Wide> numbers = numbers_of<Wide>(as_row(turn, n));
    if (step < 0) std::reverse(numbers.begin(), numbers.end());
    return numbers;
  }
  void write(LibraryTurn& turn, std::vector<Wide> numbers) const {
    if (step < 0) std::reverse(numbers.begin(), numbers.end());
    put_numbers(as_row(turn, static_cast<std::int64_t>(numbers.size())), numbers);
  }
};

/// A number that the program wants on the host or on the device.
struct TypedResult {
  cudaDataType type;
  void* at;
  bool is_of_device;

  void add_use(std::vector<MemoryUse>& uses) const {
    if (is_of_device)
      uses.push_back({.name = "the result", .address = at, .run_bytes = bytes_of(type), .writes = true});
  }
  void put(LibraryTurn& turn, Wide value) const {
    put_numbers({type, is_of_device ? turn.at(at) : at, 1, 1, 1}, std::vector<Wide>{value});
  }
};

bool is_half(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }
cudaDataType real_type(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

/// Elements of half precision are computed in float, all others as they are, and other combinations are not there.
/// Throws Refused.
void require_types(bool holds) {
  if (!holds) throw Refused(CUBLAS_STATUS_NOT_SUPPORTED, "this combination of element types is not supported");
}
void require_computed(cudaDataType element, cudaDataType computed) {
  require_types(is_half(element) ? computed == CUDA_R_32F
                                 : computed == element && (element == CUDA_R_32F || element == CUDA_R_64F ||
                                                           element == CUDA_C_32F || element == CUDA_C_64F));
}

/// The work of a call with `pairs` of operations for each of n elements.
LibraryWork work_of(cudaDataType type, double pairs, std::int64_t n, std::vector<MemoryUse> uses) {
  LibraryWork work{.uses = std::move(uses)};
  const bool is_double = type == CUDA_R_64F || type == CUDA_C_64F;
  (is_double ? work.amount.fp64 : work.amount.fp32) =
      (is_complex_type(type) ? 8 : 2) * pairs * static_cast<double>(std::max<std::int64_t>(n, 0));
  work.amount.bytes = bytes_of(work.uses);
  return work;
}

cublasStatus_t axpy(const char* name, cublasHandle_t handle, std::int64_t n, const void* alpha, cudaDataType alpha_type,
                    TypedVector x, TypedVector y, cudaDataType computed) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_computed(x.type, computed);
    require_types(y.type == x.type && (alpha_type == computed || alpha_type == x.type));
    const Factor factor("alpha", alpha_type, alpha, is_of_device(context));
    if (n <= 0 || factor.is_zero()) return;
    LibraryWork work = work_of(x.type, 1, n, {x.use(n, Access::read), y.use(n, Access::both)});
    factor.add_use(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Wide by = factor.value(turn);
      const std::vector<Wide> from = x.read(turn, n);
      std::vector<Wide> to = y.read(turn, n);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += times(by, from[i]);
      y.write(turn, std::move(to));
    };
    enqueue(call, context, std::move(work));
  });
}

cublasStatus_t scal(const char* name, cublasHandle_t handle, std::int64_t n, const void* alpha, cudaDataType alpha_type,
                    TypedVector x, cudaDataType computed) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_computed(x.type, computed);
    require_types(alpha_type == computed || alpha_type == x.type);
    const Factor factor("alpha", alpha_type, alpha, is_of_device(context));
    if (n <= 0 || x.step <= 0) return;
    LibraryWork work = work_of(x.type, 1, n, {x.use(n, Access::both)});
    factor.add_use(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Wide by = factor.value(turn);
      std::vector<Wide> to = x.read(turn, n);
      for (Wide& one : to) one = times(by, one);
      x.write(turn, std::move(to));
    };
    enqueue(call, context, std::move(work));
  });
}

/// A number made of vectors. Without elements it is zero.
template <typename Of>
void enqueue_number(LibraryCall& call, cublasContext& context, std::int64_t n, std::vector<TypedVector> from,
                    const TypedResult& result, const Of& of) {
  require(result.at != nullptr, "the place for the result is null");
  const std::int64_t count = std::max<std::int64_t>(n, 0);
  std::vector<MemoryUse> uses;
  for (const TypedVector& one : from) uses.push_back(one.use(count, Access::read));
  LibraryWork work = work_of(from.front().type, 1, count, std::move(uses));
  result.add_use(work.uses);
  work.amount.steps = 2;
  work.compute = [=](LibraryTurn& turn) {
    std::vector<std::vector<Wide>> numbers;
    for (const TypedVector& one : from) numbers.push_back(count > 0 ? one.read(turn, count) : std::vector<Wide>());
    result.put(turn, of(numbers));
  };
  enqueue(call, context, std::move(work), !result.is_of_device);
}

cublasStatus_t dot(const char* name, cublasHandle_t handle, bool conjugates, std::int64_t n, TypedVector x,
                   TypedVector y, void* result, cudaDataType result_type, cudaDataType computed) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_computed(x.type, computed);
    require_types(y.type == x.type && (result_type == x.type || result_type == computed));
    enqueue_number(call, context, n, {x, y}, {result_type, result, is_of_device(context)},
                   [conjugates](const std::vector<std::vector<Wide>>& numbers) {
                     Wide sum;
                     for (std::size_t i = 0; i < numbers[0].size(); ++i) {
                       sum += times(conjugates ? std::conj(numbers[0][i]) : numbers[0][i], numbers[1][i]);
                     }
                     return sum;
                   });
  });
}

/// The length of a vector, or the sum of its elements' sizes.
cublasStatus_t size(const char* name, cublasHandle_t handle, bool is_length, std::int64_t n, TypedVector x,
                    void* result, cudaDataType result_type, cudaDataType computed) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    const bool is_real_of_complex = is_complex_type(x.type) && computed == real_type(x.type);
    require_computed(x.type, is_real_of_complex ? x.type : computed);
    require_types(result_type == real_type(x.type) || result_type == computed);
    enqueue_number(call, context, x.step > 0 ? n : 0, {x}, {result_type, result, is_of_device(context)},
                   [is_length](const std::vector<std::vector<Wide>>& numbers) {
                     long double sum = 0;
                     for (const Wide one : numbers[0]) {
                       const long double real = one.real();
                       const long double imaginary = one.imag();
                       sum += is_length ? real * real + imaginary * imaginary : std::abs(real) + std::abs(imaginary);
                     }
                     return Wide(static_cast<double>(is_length ? std::sqrt(sum) : sum));
                   });
  });
}

cublasStatus_t rot(const char* name, cublasHandle_t handle, std::int64_t n, TypedVector x, TypedVector y, const void* c,
                   const void* s, cudaDataType type, cudaDataType computed) {
  return answer(name, handle, [&](LibraryCall& call, cublasContext& context) {
    require_computed(x.type, computed);
    require_types(y.type == x.type && (type == x.type || type == real_type(computed) || type == computed));
    const Factor cosine("c", real_type(type), c, is_of_device(context));
    const Factor sine("s", type, s, is_of_device(context));
    if (n <= 0) return;
    LibraryWork work = work_of(x.type, 4, n, {x.use(n, Access::both), y.use(n, Access::both)});
    cosine.add_use(work.uses);
    sine.add_use(work.uses);
    work.compute = [=](LibraryTurn& turn) {
      const Wide by_c = cosine.value(turn);
      const Wide by_s = sine.value(turn);
      std::vector<Wide> a = x.read(turn, n);
      std::vector<Wide> b = y.read(turn, n);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Wide before = a[i];
        a[i] = times(by_c, before) + times(by_s, b[i]);
        b[i] = times(by_c, b[i]) - times(std::conj(by_s), before);
      }
      x.write(turn, std::move(a));
      y.write(turn, std::move(b));
    };
    enqueue(call, context, std::move(work));
  });
}

}  // namespace

extern "C" {

#define TYPED(Int, tail)                                                                                               \
  cublasStatus_t cublasAxpyEx##tail(cublasHandle_t handle, Int n, const void* alpha, cudaDataType alpha_type,          \
                                    const void* x, cudaDataType x_type, Int incx, void* y, cudaDataType y_type,        \
                                    Int incy, cudaDataType computed) {                                                 \
    return axpy("cublasAxpyEx" #tail, handle, n, alpha, alpha_type, {"x", x_type, x, incx}, {"y", y_type, y, incy},    \
                computed);                                                                                             \
  }                                                                                                                    \
  cublasStatus_t cublasScalEx##tail(cublasHandle_t handle, Int n, const void* alpha, cudaDataType alpha_type, void* x, \
                                    cudaDataType x_type, Int incx, cudaDataType computed) {                            \
    return scal("cublasScalEx" #tail, handle, n, alpha, alpha_type, {"x", x_type, x, incx}, computed);                 \
  }                                                                                                                    \
  cublasStatus_t cublasDotEx##tail(cublasHandle_t handle, Int n, const void* x, cudaDataType x_type, Int incx,         \
                                   const void* y, cudaDataType y_type, Int incy, void* result, cudaDataType type,      \
                                   cudaDataType computed) {                                                            \
    return dot("cublasDotEx" #tail, handle, false, n, {"x", x_type, x, incx}, {"y", y_type, y, incy}, result, type,    \
               computed);                                                                                              \
  }                                                                                                                    \
  cublasStatus_t cublasDotcEx##tail(cublasHandle_t handle, Int n, const void* x, cudaDataType x_type, Int incx,        \
                                    const void* y, cudaDataType y_type, Int incy, void* result, cudaDataType type,     \
                                    cudaDataType computed) {                                                           \
    return dot("cublasDotcEx" #tail, handle, true, n, {"x", x_type, x, incx}, {"y", y_type, y, incy}, result, type,    \
               computed);                                                                                              \
  }                                                                                                                    \
  cublasStatus_t cublasNrm2Ex##tail(cublasHandle_t handle, Int n, const void* x, cudaDataType x_type, Int incx,        \
                                    void* result, cudaDataType type, cudaDataType computed) {                          \
    return size("cublasNrm2Ex" #tail, handle, true, n, {"x", x_type, x, incx}, result, type, computed);                \
  }                                                                                                                    \
  cublasStatus_t cublasAsumEx##tail(cublasHandle_t handle, Int n, const void* x, cudaDataType x_type, Int incx,        \
                                    void* result, cudaDataType type, cudaDataType computed) {                          \
    return size("cublasAsumEx" #tail, handle, false, n, {"x", x_type, x, incx}, result, type, computed);               \
  }                                                                                                                    \
  cublasStatus_t cublasRotEx##tail(cublasHandle_t handle, Int n, void* x, cudaDataType x_type, Int incx, void* y,      \
                                   cudaDataType y_type, Int incy, const void* c, const void* s, cudaDataType type,     \
                                   cudaDataType computed) {                                                            \
    return rot("cublasRotEx" #tail, handle, n, {"x", x_type, x, incx}, {"y", y_type, y, incy}, c, s, type, computed);  \
  }
TYPED(int, )
TYPED(std::int64_t, _64)

}  // extern "C"

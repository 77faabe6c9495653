// The forms of cuBLAS's functions: letters of types, and sizes of 32 and of 64 bits.
#pragma once

#include <climits>
#include <complex>
#include <cstdint>
#include <string>

#include "simulator/stand_in/libraries/cublas/handle.hpp"
#include "simulator/stand_in/libraries/operands/api_numbers.hpp"
#include "simulator/stand_in/libraries/operands/numbers.hpp"
#include "simulator/stand_in/libraries/operands/operands.hpp"

// DEFINE(letter, type of the API, type of sizes, end of the name).
#define CUBLAS_BOTH_WIDTHS(DEFINE, ...) DEFINE(__VA_ARGS__, int, ) DEFINE(__VA_ARGS__, std::int64_t, _64)
#define CUBLAS_REAL(DEFINE) CUBLAS_BOTH_WIDTHS(DEFINE, S, float) CUBLAS_BOTH_WIDTHS(DEFINE, D, double)
#define CUBLAS_COMPLEX(DEFINE) CUBLAS_BOTH_WIDTHS(DEFINE, C, cuComplex) CUBLAS_BOTH_WIDTHS(DEFINE, Z, cuDoubleComplex)
#define CUBLAS_ALL(DEFINE) CUBLAS_REAL(DEFINE) CUBLAS_COMPLEX(DEFINE)
// For functions that have only one form.
#define CUBLAS_ALL_OF_INT(DEFINE) DEFINE(S, float) DEFINE(D, double) DEFINE(C, cuComplex) DEFINE(Z, cuDoubleComplex)

namespace convladder::stand_in {

inline bool is_of_device(const cublasContext& context) { return context.pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }

/// A factor that the program gives. Throws Refused where it is null.
template <typename T>
Scalar<T> scalar(const cublasContext& context, const char* name, const T* at) {
  require(at != nullptr, "a scalar is null");
  return {name, at, is_of_device(context)};
}

/// Puts a result where the program wants it, on the host or the device. Call `add_use` first.
template <typename T>
class Result {
 public:
  Result(const cublasContext& context, T* at) : at_(at), is_of_device_(stand_in::is_of_device(context)) {
    require(at != nullptr, "the place for the result is null");
  }
  bool is_of_device() const { return is_of_device_; }
  void add_use(std::vector<MemoryUse>& uses) const {
    if (is_of_device_) uses.push_back({.name = "the result", .address = at_, .run_bytes = sizeof(T), .writes = true});
  }
  void put(LibraryTurn& turn, T value) const { *(is_of_device_ ? turn.at(at_) : at_) = value; }

 private:
  T* at_;
  bool is_of_device_;
};

/// Enqueues work of the handle's stream.
inline void enqueue(LibraryCall& call, const cublasContext& context, LibraryWork work, bool host_waits = false) {
  enqueue(kCublas, call, std::move(work), context.stream, host_waits);
}

/// Adds arithmetic to the amount of work: `pairs` of multiplications and additions.
template <typename T>
void add_pairs(WorkAmount& amount, const cublasContext& context, double pairs, bool is_product = false) {
  const double operations = (is_complex<T> ? 8 : 2) * pairs;
  if (std::is_same_v<Real<T>, double>) {
    amount.fp64 += operations;
  } else if (is_product && (context.math_mode & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH) {
    amount.tensor_tf32 += operations;
  } else {
    amount.fp32 += operations;
  }
}

/// The bytes that all uses move.
inline double bytes_of(const std::vector<MemoryUse>& uses) {
  double bytes = 0;
  for (const MemoryUse& use : uses) {
    const double runs = static_cast<double>(use.runs);
    const double all =
        runs * static_cast<double>(use.run_bytes) + 0.5 * runs * (runs - 1) * static_cast<double>(use.growth);
    bytes += all * ((use.reads ? 1 : 0) + (use.writes ? 1 : 0));
  }
  return bytes;
}

/// A size for OpenBLAS, which counts in 32 bits. Throws Refused.
inline int small(std::int64_t size) {
  if (size > INT_MAX) throw Refused(CUBLAS_STATUS_NOT_SUPPORTED, "sizes of more than 2147483647 are not computed here");
  return static_cast<int>(size);
}

inline void require_operation(cublasOperation_t operation) {
  require(operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C, "no such operation");
}
inline void require_triangle(cublasFillMode_t part) {
  require(part == CUBLAS_FILL_MODE_LOWER || part == CUBLAS_FILL_MODE_UPPER, "no such part of a matrix");
}

}  // namespace convladder::stand_in

// cuBLAS's level 3.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "walk.hpp"

namespace {

cublasHandle_t handle;
constexpr int kM = 13;
constexpr int kN = 9;
constexpr int kK = 11;
constexpr int kLeading = 17;

using C = std::complex<float>;
using Z = std::complex<double>;

template <typename T>
struct Operand : OnDevice<T> {
  explicit Operand(int columns) : OnDevice<T>(static_cast<std::size_t>(kLeading * columns)) {}
  Matrix part(int rows, int columns) const { return matrix_of(this->host, rows, columns, kLeading); }
};

cublasFillMode_t part_of(bool is_lower) { return is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER; }
cublasOperation_t operation_of(int number) { return static_cast<cublasOperation_t>(number); }

/// The error in one triangle; the other one must be as it was.
template <typename T>
double triangle_error(const Operand<T>& c, const Matrix& wanted, bool is_lower, int size) {
  const std::vector<T> found = c.get();
  const Matrix off =
      sum(1, triangle(matrix_of(found, size, size, kLeading), is_lower, false), -1, triangle(wanted, is_lower, false));
  const Matrix other = sum(1, triangle(matrix_of(found, size, size, kLeading), !is_lower, true), -1,
                           triangle(c.part(size, size), !is_lower, true));
  double error = 0;
  for (const Wide one : off.numbers) error = std::max(error, std::abs(one) / 8);
  for (const Wide one : other.numbers) error = std::max(error, one == Wide{} ? 0 : 1.0);
  return error;
}

template <typename T, typename Int, typename F>
void gemm(const char* name, F function) {
  double error = 0;
  for (const int of_a : {0, 1, 2}) {
    for (const int of_b : {0, 1, 2}) {
      const Operand<T> a(of_a == 0 ? kK : kM);
      const Operand<T> b(of_b == 0 ? kN : kK);
      Operand<T> c(kN);
      const bool keeps = of_a != of_b;
      if (!keeps) {
        for (T& one : c.host) one = T(std::numeric_limits<Real<T>>::quiet_NaN());
        c.put();
      }
      const T alpha = some_number<T>();
      const T beta = keeps ? some_number<T>() : T{};
      EXPECT_OK(function(handle, operation_of(of_a), operation_of(of_b), static_cast<Int>(kM), kN, kK, api(&alpha),
                         api(a.at), kLeading, api(b.at), kLeading, api(&beta), api(c.at), kLeading));
      const Matrix product = operated(of_a == 0 ? a.part(kM, kK) : a.part(kK, kM), of_a) *
                             operated(of_b == 0 ? b.part(kK, kN) : b.part(kN, kK), of_b);
      std::vector<T> found = c.get();
      std::vector<T> before = c.host;
      if (!keeps) {  // NaN is not equal to itself
        for (std::vector<T>* all : {&found, &before}) {
          for (int column = 0; column < kN; ++column) {
            for (int row = kM; row < kLeading; ++row) (*all)[static_cast<std::size_t>(column * kLeading + row)] = T{};
          }
        }
      }
      const Matrix wanted = sum(Wide(alpha), product, Wide(beta), c.part(kM, kN));
      error = std::max(error, error_of(found, before, wanted, kLeading));
    }
  }
  say(name, error, tolerance<T>);
}

constexpr int kBatch = 3;

template <typename T, typename Int, typename F>
void gemm_strided(const char* name, F function) {
  const Operand<T> a(kBatch * kK);
  const Operand<T> b(kBatch * kN);
  const Operand<T> c(kBatch * kN);
  const T alpha = some_number<T>();
  const T beta = some_number<T>();
  EXPECT_OK(function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM), kN, kK, api(&alpha), api(a.at), kLeading,
                     kLeading * kK, api(b.at), kLeading, kLeading * kN, api(&beta), api(c.at), kLeading, kLeading * kN,
                     kBatch));
  const std::vector<T> found = c.get();
  double error = 0;
  for (int i = 0; i < kBatch; ++i) {
    const Matrix product =
        matrix_of(a.host, kM, kK, kLeading, i * kLeading * kK) * matrix_of(b.host, kK, kN, kLeading, i * kLeading * kN);
    const Matrix before = matrix_of(c.host, kM, kN, kLeading, i * kLeading * kN);
    const Matrix wanted = sum(Wide(alpha), product, Wide(beta), before);
    error = std::max(error, error_of(found, c.host, wanted, kLeading, i * kLeading * kN));
  }
  say(name, error, tolerance<T>);
}

/// Pointers to the parts of an operand, on the device.
template <typename T>
OnDevice<T*> pointers(T* at, std::int64_t distance) {
  std::vector<T*> all;
  for (int i = 0; i < kBatch; ++i) all.push_back(at + i * distance);
  return OnDevice<T*>(all);
}
template <typename T>
auto api_of_array(T** at) {
  return reinterpret_cast<typename ApiOf<T>::Type**>(at);
}

template <typename T, typename Int, typename F>
void gemm_batched(const char* name, F function) {
  const Operand<T> a(kBatch * kK);
  const Operand<T> b(kBatch * kN);
  const Operand<T> c(kBatch * kN);
  const OnDevice<T*> to_a = pointers(a.at, kLeading * kK);
  const OnDevice<T*> to_b = pointers(b.at, kLeading * kN);
  const OnDevice<T*> to_c = pointers(c.at, kLeading * kN);
  const T alpha = some_number<T>();
  const T beta{};
  EXPECT_OK(function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM), kN, kK, api(&alpha), api_of_array(to_a.at),
                     kLeading, api_of_array(to_b.at), kLeading, api(&beta), api_of_array(to_c.at), kLeading, kBatch));
  const std::vector<T> found = c.get();
  double error = 0;
  for (int i = 0; i < kBatch; ++i) {
    const Matrix product =
        matrix_of(a.host, kM, kK, kLeading, i * kLeading * kK) * matrix_of(b.host, kK, kN, kLeading, i * kLeading * kN);
    error =
        std::max(error, error_of(found, c.host, sum(Wide(alpha), product, 0, product), kLeading, i * kLeading * kN));
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void symm(const char* name, F function, bool is_hermitian) {
  double error = 0;
  for (const bool is_left : {true, false}) {
    for (const bool is_lower : {true, false}) {
      const int size = is_left ? kM : kN;
      const Operand<T> a(size);
      const Operand<T> b(kN);
      const Operand<T> c(kN);
      const T alpha = some_number<T>();
      const T beta = some_number<T>();
      EXPECT_OK(function(handle, is_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, part_of(is_lower),
                         static_cast<Int>(kM), kN, api(&alpha), api(a.at), kLeading, api(b.at), kLeading, api(&beta),
                         api(c.at), kLeading));
      const Matrix whole = symmetric(a.part(size, size), is_lower, is_hermitian);
      const Matrix product = is_left ? whole * b.part(kM, kN) : b.part(kM, kN) * whole;
      const Matrix wanted = sum(Wide(alpha), product, Wide(beta), c.part(kM, kN));
      error = std::max(error, error_of(c.get(), c.host, wanted, kLeading));
    }
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Alpha, typename Int, typename F>
void syrk(const char* name, F function, bool is_hermitian) {
  double error = 0;
  for (const int operation : {0, is_hermitian ? 2 : 1}) {
    for (const bool is_lower : {true, false}) {
      const Operand<T> a(operation == 0 ? kK : kN);
      const Operand<T> c(kN);
      const Alpha alpha = some_number<Alpha>();
      const Alpha beta = some_number<Alpha>();
      EXPECT_OK(function(handle, part_of(is_lower), operation_of(operation), static_cast<Int>(kN), kK, api(&alpha),
                         api(a.at), kLeading, api(&beta), api(c.at), kLeading));
      const Matrix used = operated(operation == 0 ? a.part(kN, kK) : a.part(kK, kN), operation);
      const Matrix before = symmetric(c.part(kN, kN), is_lower, is_hermitian);
      const Matrix wanted = sum(Wide(alpha), used * operated(used, is_hermitian ? 2 : 1), Wide(beta), before);
      error = std::max(error, triangle_error(c, wanted, is_lower, kN));
    }
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Beta, typename Int, typename F>
void syr2k(const char* name, F function, bool is_hermitian, bool is_once) {
  double error = 0;
  const int turned = is_hermitian ? 2 : 1;
  for (const int operation : {0, turned}) {
    for (const bool is_lower : {true, false}) {
      const Operand<T> a(operation == 0 ? kK : kN);
      const Operand<T> b(operation == 0 ? kK : kN);
      const Operand<T> c(kN);
      const T alpha = some_number<T>();
      const Beta beta = some_number<Beta>();
      EXPECT_OK(function(handle, part_of(is_lower), operation_of(operation), static_cast<Int>(kN), kK, api(&alpha),
                         api(a.at), kLeading, api(b.at), kLeading, api(&beta), api(c.at), kLeading));
      const Matrix of_a = operated(operation == 0 ? a.part(kN, kK) : a.part(kK, kN), operation);
      const Matrix of_b = operated(operation == 0 ? b.part(kN, kK) : b.part(kK, kN), operation);
      const Matrix before = symmetric(c.part(kN, kN), is_lower, is_hermitian);
      Matrix wanted = sum(Wide(alpha), of_a * operated(of_b, turned), Wide(beta), before);
      if (!is_once) {
        wanted = sum(conjugate_if(is_hermitian, Wide(alpha)), of_b * operated(of_a, turned), 1, wanted);
      } else if (is_hermitian) {
        for (int i = 0; i < kN; ++i) wanted(i, i) = wanted(i, i).real();
      }
      error = std::max(error, triangle_error(c, wanted, is_lower, kN));
    }
  }
  say(name, error, tolerance<T>);
}

/// A triangle that is well conditioned.
template <typename T>
void make_dominant(Operand<T>& a, int size) {
  for (T& one : a.host) one /= T{8};
  for (int i = 0; i < size; ++i) a.host[static_cast<std::size_t>(i * kLeading + i)] += T{2};
  a.put();
}

template <typename T, typename Int, typename F>
void trsm(const char* name, F function) {
  double error = 0;
  for (const bool is_left : {true, false}) {
    for (const bool is_lower : {true, false}) {
      for (const bool is_unit : {true, false}) {
        for (const int operation : {0, 1, 2}) {
          const int size = is_left ? kM : kN;
          Operand<T> a(size);
          make_dominant(a, size);
          const Operand<T> b(kN);
          const T alpha = some_number<T>();
          const auto side = is_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
          const auto diagonal = is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
          if constexpr (std::is_invocable_v<F, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                                            cublasDiagType_t, Int, Int, const typename ApiOf<T>::Type*,
                                            const typename ApiOf<T>::Type*, Int, typename ApiOf<T>::Type*, Int>) {
            EXPECT_OK(function(handle, side, part_of(is_lower), operation_of(operation), diagonal, kM, kN, api(&alpha),
                               api(a.at), kLeading, api(b.at), kLeading));
          } else {
            const OnDevice<T*> to_a(std::vector<T*>{a.at});
            const OnDevice<T*> to_b(std::vector<T*>{b.at});
            EXPECT_OK(function(handle, side, part_of(is_lower), operation_of(operation), diagonal, kM, kN, api(&alpha),
                               api_of_array(to_a.at), kLeading, api_of_array(to_b.at), kLeading, 1));
          }
          const Matrix used = operated(triangle(a.part(size, size), is_lower, is_unit), operation);
          const Matrix solved = matrix_of(b.get(), kM, kN, kLeading);
          const Matrix product = is_left ? used * solved : solved * used;
          const Matrix off = sum(1, product, -Wide(alpha), b.part(kM, kN));
          for (const Wide one : off.numbers) error = std::max(error, std::abs(one) / 8);
        }
      }
    }
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void trmm(const char* name, F function) {
  double error = 0;
  for (const bool is_left : {true, false}) {
    for (const bool is_lower : {true, false}) {
      for (const int operation : {0, 1, 2}) {
        const int size = is_left ? kM : kN;
        const Operand<T> a(size);
        const Operand<T> b(kN);
        const Operand<T> c(kN);
        const bool is_unit = operation == 1;
        const T alpha = some_number<T>();
        EXPECT_OK(function(handle, is_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, part_of(is_lower),
                           operation_of(operation), is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT,
                           static_cast<Int>(kM), kN, api(&alpha), api(a.at), kLeading, api(b.at), kLeading, api(c.at),
                           kLeading));
        const Matrix used = operated(triangle(a.part(size, size), is_lower, is_unit), operation);
        const Matrix product = is_left ? used * b.part(kM, kN) : b.part(kM, kN) * used;
        error = std::max(error, error_of(c.get(), c.host, sum(Wide(alpha), product, 0, product), kLeading));
      }
    }
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void geam(const char* name, F function) {
  double error = 0;
  for (const int of_a : {0, 1, 2}) {
    const int of_b = (of_a + 1) % 3;
    const Operand<T> a(of_a == 0 ? kN : kM);
    const Operand<T> b(of_b == 0 ? kN : kM);
    const Operand<T> c(kN);
    const T alpha = some_number<T>();
    const T beta = some_number<T>();
    EXPECT_OK(function(handle, operation_of(of_a), operation_of(of_b), static_cast<Int>(kM), kN, api(&alpha), api(a.at),
                       kLeading, api(&beta), api(b.at), kLeading, api(c.at), kLeading));
    const Matrix wanted = sum(Wide(alpha), operated(of_a == 0 ? a.part(kM, kN) : a.part(kN, kM), of_a), Wide(beta),
                              operated(of_b == 0 ? b.part(kM, kN) : b.part(kN, kM), of_b));
    error = std::max(error, error_of(c.get(), c.host, wanted, kLeading));
  }
  say(name, error, tolerance<T>);
}

template <typename T, typename Int, typename F>
void dgmm(const char* name, F function) {
  double error = 0;
  for (const bool is_left : {true, false}) {
    const Operand<T> a(kN);
    const OnDevice<T> x(std::size_t{2 * kLeading});
    const Operand<T> c(kN);
    EXPECT_OK(function(handle, is_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, static_cast<Int>(kM), kN, api(a.at),
                       kLeading, api(x.at), 2, api(c.at), kLeading));
    Matrix wanted = a.part(kM, kN);
    for (int column = 0; column < kN; ++column) {
      for (int row = 0; row < kM; ++row) {
        wanted(row, column) *= Wide(x.host[static_cast<std::size_t>(2 * (is_left ? row : column))]);
      }
    }
    error = std::max(error, error_of(c.get(), c.host, wanted, kLeading));
  }
  say(name, error, tolerance<T>);
}

// Batches of systems of equations.
Matrix one_of(int size) {
  Matrix identity(size, size);
  for (int i = 0; i < size; ++i) identity(i, i) = 1;
  return identity;
}

double difference(const Matrix& a, const Matrix& b) {
  double error = 0;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    const double off = std::abs(a.numbers[i] - b.numbers[i]);
    error = std::isnan(off) ? 1e9 : std::max(error, off);
  }
  return error;
}

template <typename T, typename Factorize, typename Solve, typename Invert, typename Whole, typename Qr>
void systems(const std::string& letter, Factorize factorize, Solve solve, Invert invert, Whole whole, Qr qr) {
  const double allowed = 20 * tolerance<T>;
  double solved = 0;
  double inverted = 0;
  for (const bool has_pivots : {true, false}) {
    Operand<T> a(kBatch * kM);
    for (int i = 0; i < kBatch; ++i) {
      for (int row = 0; row < kM; ++row) a.host[static_cast<std::size_t>((i * kM + row) * kLeading + row)] += T{8};
    }
    a.put();
    const Operand<T> b(kBatch * kN);
    const Operand<T> c(kBatch * kM);
    const OnDevice<T*> to_a = pointers(a.at, kLeading * kM);
    const OnDevice<T*> to_b = pointers(b.at, kLeading * kN);
    const OnDevice<T*> to_c = pointers(c.at, kLeading * kM);
    const OnDevice<int> pivots(std::vector<int>(std::size_t{kBatch * kM}));
    const OnDevice<int> infos(std::vector<int>(std::size_t{kBatch}, -1));
    int* const rows = has_pivots ? pivots.at : nullptr;
    int info = -1;
    EXPECT_OK(factorize(handle, kM, api_of_array(to_a.at), kLeading, rows, infos.at, kBatch));
    EXPECT_OK(solve(handle, CUBLAS_OP_N, kM, kN, api_of_array(to_a.at), kLeading, rows, api_of_array(to_b.at), kLeading,
                    &info, kBatch));
    EXPECT_OK(
        invert(handle, kM, api_of_array(to_a.at), kLeading, rows, api_of_array(to_c.at), kLeading, infos.at, kBatch));
    EXPECT(info == 0 && infos.get() == std::vector<int>(std::size_t{kBatch}));
    const std::vector<T> found_b = b.get();
    const std::vector<T> found_c = c.get();
    for (int i = 0; i < kBatch; ++i) {
      const Matrix used = matrix_of(a.host, kM, kM, kLeading, i * kLeading * kM);
      solved = std::max(solved, difference(used * matrix_of(found_b, kM, kN, kLeading, i * kLeading * kN),
                                           matrix_of(b.host, kM, kN, kLeading, i * kLeading * kN)));
      inverted =
          std::max(inverted, difference(used * matrix_of(found_c, kM, kM, kLeading, i * kLeading * kM), one_of(kM)));
    }
    a.put();
    EXPECT_OK(whole(handle, kM, api_of_array(to_a.at), kLeading, api_of_array(to_c.at), kLeading, infos.at, kBatch));
    EXPECT(difference(matrix_of(a.get(), kM, kM, kLeading), a.part(kM, kM)) == 0);
    const Matrix product = a.part(kM, kM) * matrix_of(c.get(), kM, kM, kLeading);
    if (has_pivots) say("cublas" + letter + "matinvBatched", difference(product, one_of(kM)), allowed);
    const Operand<T> tau(kBatch * kN);
    const OnDevice<T*> to_tau = pointers(tau.at, kLeading * kN);
    EXPECT_OK(qr(handle, kM, kN, api_of_array(to_a.at), kLeading, api_of_array(to_tau.at), &info, kBatch));
    // A^H A = R^H R.
    Matrix upper(kN, kN);
    const Matrix factors = matrix_of(a.get(), kM, kN, kLeading);
    for (int column = 0; column < kN; ++column) {
      for (int row = 0; row <= column; ++row) upper(row, column) = factors(row, column);
    }
    const Matrix before = a.part(kM, kN);
    const double off = difference(operated(upper, 2) * upper, operated(before, 2) * before);
    if (has_pivots) say("cublas" + letter + "geqrfBatched", off / 64, allowed);
  }
  say("cublas" + letter + "getrfBatched", solved, allowed);
  say("cublas" + letter + "getrsBatched", solved, allowed);
  say("cublas" + letter + "getriBatched", inverted, allowed);
}

// Products of other element types.
template <typename T>
double number_of(T value) {
  return static_cast<double>(static_cast<float>(value));
}
template <typename T>
T made(double value) {
  return T(static_cast<float>(value));
}

/// What the calls of a product with types have in common: made[i] of types In and Out, held against float64.
template <typename In, typename Out, typename Scale, typename Call>
double typed_product(int batch, double step, double allowed, const Call& call) {
  std::vector<In> of_a(static_cast<std::size_t>(batch * kLeading * kK));
  std::vector<In> of_b(static_cast<std::size_t>(batch * kLeading * kN));
  std::vector<Out> of_c(static_cast<std::size_t>(batch * kLeading * kN));
  for (In& one : of_a) one = made<In>(random_number() * step);
  for (In& one : of_b) one = made<In>(random_number() * step);
  for (Out& one : of_c) one = made<Out>(random_number() * step);
  const OnDevice<In> a(of_a);
  const OnDevice<In> b(of_b);
  const OnDevice<Out> c(of_c);
  const Scale alpha = made<Scale>(2);
  const Scale beta = made<Scale>(3);
  EXPECT_OK(call(&alpha, a.at, b.at, &beta, c.at));
  const std::vector<Out> found = c.get();
  double error = 0;
  for (int i = 0; i < batch; ++i) {
    for (int column = 0; column < kN; ++column) {
      for (int row = 0; row < kM; ++row) {
        double wanted = 0;
        for (int k = 0; k < kK; ++k) {
          wanted += number_of(of_a[static_cast<std::size_t>((i * kK + k) * kLeading + row)]) *
                    number_of(of_b[static_cast<std::size_t>((i * kN + column) * kLeading + k)]);
        }
        const auto at = static_cast<std::size_t>((i * kN + column) * kLeading + row);
        wanted = 2 * wanted + 3 * number_of(of_c[at]);
        const double off = std::abs(number_of(found[at]) - wanted) / std::max(1.0, std::abs(wanted));
        error = std::isnan(off) ? 1 : std::max(error, off);
      }
    }
  }
  return error / allowed;
}

constexpr double kOfHalf = 1.0 / 1024;
constexpr double kOfBfloat = 1.0 / 128;
constexpr double kOfFloat = 1e-5;

template <typename Int, typename F>
void gemm_ex(const char* name, F function) {
  const auto with = [&](cudaDataType in, cudaDataType out, cublasComputeType_t compute) {
    return [=](const void* alpha, const void* a, const void* b, const void* beta, void* c) {
      return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM), kN, kK, alpha, a, in, kLeading, b, in,
                      kLeading, beta, c, out, kLeading, compute, CUBLAS_GEMM_DEFAULT);
    };
  };
  double error = 0;
  const auto add = [&error](double one) { error = std::max(error, one); };
  add(typed_product<__half, __half, float>(1, 1, kOfHalf, with(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F)));
  // Emulated by narrower numbers on a GPU (78: float by bfloat16, 79: double by fixed point); older headers lack names.
  add(typed_product<float, float, float>(1, 1, kOfFloat,
                                         with(CUDA_R_32F, CUDA_R_32F, static_cast<cublasComputeType_t>(78))));
  add(typed_product<double, double, double>(1, 1, kOfFloat,
                                            with(CUDA_R_64F, CUDA_R_64F, static_cast<cublasComputeType_t>(79))));
  add(typed_product<__half, __half, __half>(1, 1, kOfHalf, with(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F)));
  add(typed_product<__half, float, float>(1, 1, kOfFloat, with(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F)));
  add(typed_product<__nv_bfloat16, __nv_bfloat16, float>(1, 1, kOfBfloat,
                                                         with(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F)));
  add(typed_product<__nv_bfloat16, float, float>(1, 1, kOfFloat, with(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F)));
  add(typed_product<float, float, float>(1, 1, kOfFloat, with(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32)));
  add(typed_product<double, double, double>(1, 1, 1e-6, with(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F)));
  add(typed_product<std::int8_t, std::int32_t, std::int32_t>(1, 100, 1e-9,
                                                             with(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I)));
  add(typed_product<std::int8_t, float, float>(1, 100, kOfFloat, with(CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F)));
  say(name, error, 1);
}

template <typename Int, typename F>
void strided_ex(const char* name, F function) {
  say(name,
      typed_product<__half, __half, float>(
          kBatch, 1, kOfHalf,
          [&](auto alpha, auto a, auto b, auto beta, auto c) {
            return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM), kN, kK, alpha, a, CUDA_R_16F,
                            kLeading, kLeading * kK, b, CUDA_R_16F, kLeading, kLeading * kN, beta, c, CUDA_R_16F,
                            kLeading, kLeading * kN, kBatch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
          }),
      1);
}

template <typename Int, typename F>
void batched_ex(const char* name, F function) {
  say(name,
      typed_product<__half, __half, float>(
          kBatch, 1, kOfHalf,
          [&](auto alpha, auto a, auto b, auto beta, auto c) {
            const OnDevice<__half*> to_a = pointers(a, kLeading * kK);
            const OnDevice<__half*> to_b = pointers(b, kLeading * kN);
            const OnDevice<__half*> to_c = pointers(c, kLeading * kN);
            return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM), kN, kK, alpha,
                            reinterpret_cast<void**>(to_a.at), CUDA_R_16F, kLeading, reinterpret_cast<void**>(to_b.at),
                            CUDA_R_16F, kLeading, beta, reinterpret_cast<void**>(to_c.at), CUDA_R_16F, kLeading, kBatch,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
          }),
      1);
}

/// Two groups, of one product and of the others.
template <typename T, typename Int, typename F>
void grouped(const char* name, F function, double allowed) {
  const std::vector<cublasOperation_t> plain(2, CUBLAS_OP_N);
  const std::vector<Int> m(2, kM), n(2, kN), k(2, kK), leading(2, kLeading), sizes{1, kBatch - 1};
  say(name,
      typed_product<T, T, T>(kBatch, 1, allowed,
                             [&](auto alpha, auto a, auto b, auto beta, auto c) {
                               const OnDevice<T*> to_a = pointers(a, kLeading * kK);
                               const OnDevice<T*> to_b = pointers(b, kLeading * kN);
                               const OnDevice<T*> to_c = pointers(c, kLeading * kN);
                               const T alphas[2] = {*alpha, *alpha};
                               const T betas[2] = {*beta, *beta};
                               return function(handle, plain.data(), plain.data(), m.data(), n.data(), k.data(), alphas,
                                               to_a.at, leading.data(), to_b.at, leading.data(), betas, to_c.at,
                                               leading.data(), Int{2}, sizes.data());
                             }),
      1);
}
template <typename Int, typename F>
void grouped_ex(const char* name, F function) {
  grouped<float, Int>(
      name,
      [&](auto h, auto of_a, auto of_b, auto m, auto n, auto k, auto alpha, auto a, auto lda, auto b, auto ldb,
          auto beta, auto c, auto ldc, auto count, auto sizes) {
        return function(h, of_a, of_b, m, n, k, alpha, reinterpret_cast<void**>(a), CUDA_R_32F, lda,
                        reinterpret_cast<void**>(b), CUDA_R_32F, ldb, beta, reinterpret_cast<void**>(c), CUDA_R_32F,
                        ldc, count, sizes, CUBLAS_COMPUTE_32F);
      },
      kOfFloat);
}

template <typename Int, typename F>
void sgemm_ex(const char* name, F function) {
  say(name,
      typed_product<__half, float, float>(1, 1, kOfFloat,
                                          [&](auto alpha, auto a, auto b, auto beta, auto c) {
                                            return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM), kN,
                                                            kK, alpha, a, CUDA_R_16F, kLeading, b, CUDA_R_16F, kLeading,
                                                            beta, c, CUDA_R_32F, kLeading);
                                          }),
      1);
}

template <typename Int, typename F>
void hgemm(const char* name, F function) {
  say(name,
      typed_product<__half, __half, __half>(1, 1, kOfHalf,
                                            [&](auto alpha, auto a, auto b, auto beta, auto c) {
                                              return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM),
                                                              kN, kK, alpha, a, kLeading, b, kLeading, beta, c,
                                                              kLeading);
                                            }),
      1);
}
template <typename Int, typename F>
void hgemm_strided(const char* name, F function) {
  say(name,
      typed_product<__half, __half, __half>(kBatch, 1, kOfHalf,
                                            [&](auto alpha, auto a, auto b, auto beta, auto c) {
                                              return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM),
                                                              kN, kK, alpha, a, kLeading, kLeading * kK, b, kLeading,
                                                              kLeading * kN, beta, c, kLeading, kLeading * kN, kBatch);
                                            }),
      1);
}
template <typename Int, typename F>
void hgemm_batched(const char* name, F function) {
  say(name,
      typed_product<__half, __half, __half>(kBatch, 1, kOfHalf,
                                            [&](auto alpha, auto a, auto b, auto beta, auto c) {
                                              const OnDevice<__half*> to_a = pointers(a, kLeading * kK);
                                              const OnDevice<__half*> to_b = pointers(b, kLeading * kN);
                                              const OnDevice<__half*> to_c = pointers(c, kLeading * kN);
                                              return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<Int>(kM),
                                                              kN, kK, alpha, to_a.at, kLeading, to_b.at, kLeading, beta,
                                                              to_c.at, kLeading, kBatch);
                                            }),
      1);
}

}  // namespace

// A function in both widths. The macros of the headers would put versions into the names.
#define VERSIONED(test, name, ...)          \
  test<__VA_ARGS__, int>(#name, name##_v2); \
  test<__VA_ARGS__, std::int64_t>(#name "_64", name##_v2_64);
#define VERSIONED_WITH(test, name, more, ...)     \
  test<__VA_ARGS__, int>(#name, name##_v2, more); \
  test<__VA_ARGS__, std::int64_t>(#name "_64", name##_v2_64, more);
#define PLAIN(test, name, ...)         \
  test<__VA_ARGS__, int>(#name, name); \
  test<__VA_ARGS__, std::int64_t>(#name "_64", name##_64);
#define UNTYPED(test, name) \
  test<int>(#name, name);   \
  test<std::int64_t>(#name "_64", name##_64);

void walk_matrices() {
  EXPECT_OK(cublasCreate(&handle));
#define LETTER(L, T)                                               \
  PLAIN(geam, cublas##L##geam, T)                                  \
  PLAIN(dgmm, cublas##L##dgmm, T)                                  \
  VERSIONED(trmm, cublas##L##trmm, T)                              \
  VERSIONED(trsm, cublas##L##trsm, T)                              \
  trsm<T, int>("cublas" #L "trsmBatched", cublas##L##trsmBatched); \
  trsm<T, std::int64_t>("cublas" #L "trsmBatched_64", cublas##L##trsmBatched_64);
  LETTER(S, float)
  LETTER(D, double)
  LETTER(C, C)
  LETTER(Z, Z)
#define SYSTEMS(L, T)                                                                                                 \
  systems<T>(#L, cublas##L##getrfBatched, cublas##L##getrsBatched, cublas##L##getriBatched, cublas##L##matinvBatched, \
             cublas##L##geqrfBatched);
  SYSTEMS(S, float)
  SYSTEMS(D, double)
  SYSTEMS(C, C)
  SYSTEMS(Z, Z)
  VERSIONED_WITH(symm, cublasSsymm, false, float)
  VERSIONED_WITH(symm, cublasDsymm, false, double)
  VERSIONED_WITH(symm, cublasCsymm, false, C)
  VERSIONED_WITH(symm, cublasZsymm, false, Z)
  VERSIONED_WITH(symm, cublasChemm, true, C)
  VERSIONED_WITH(symm, cublasZhemm, true, Z)
  VERSIONED_WITH(syrk, cublasSsyrk, false, float, float)
  VERSIONED_WITH(syrk, cublasDsyrk, false, double, double)
  VERSIONED_WITH(syrk, cublasCsyrk, false, C, C)
  VERSIONED_WITH(syrk, cublasZsyrk, false, Z, Z)
  VERSIONED_WITH(syrk, cublasCherk, true, C, float)
  VERSIONED_WITH(syrk, cublasZherk, true, Z, double)
#define SYRK_EX(name, Alpha, is_hermitian, Int)                                                                      \
  syrk<C, Alpha, Int>(                                                                                               \
      #name,                                                                                                         \
      [](auto h, auto uplo, auto trans, auto n, auto k, auto alpha, auto a, auto lda, auto beta, auto c, auto ldc) { \
        return name(h, uplo, trans, n, k, alpha, a, CUDA_C_32F, lda, beta, c, CUDA_C_32F, ldc);                      \
      },                                                                                                             \
      is_hermitian);
  SYRK_EX(cublasCsyrkEx, C, false, int)
  SYRK_EX(cublasCsyrkEx_64, C, false, std::int64_t)
  SYRK_EX(cublasCsyrk3mEx, C, false, int)
  SYRK_EX(cublasCsyrk3mEx_64, C, false, std::int64_t)
  SYRK_EX(cublasCherkEx, float, true, int)
  SYRK_EX(cublasCherkEx_64, float, true, std::int64_t)
  SYRK_EX(cublasCherk3mEx, float, true, int)
  SYRK_EX(cublasCherk3mEx_64, float, true, std::int64_t)
#define SYR2K(L, is_hermitian, T, Beta)                                                        \
  syr2k<T, Beta, int>("cublas" #L "2k", cublas##L##2k_v2, is_hermitian, false);                \
  syr2k<T, Beta, std::int64_t>("cublas" #L "2k_64", cublas##L##2k_v2_64, is_hermitian, false); \
  syr2k<T, Beta, int>("cublas" #L "kx", cublas##L##kx, is_hermitian, true);                    \
  syr2k<T, Beta, std::int64_t>("cublas" #L "kx_64", cublas##L##kx_64, is_hermitian, true);
  SYR2K(Ssyr, false, float, float)
  SYR2K(Dsyr, false, double, double)
  SYR2K(Csyr, false, C, C)
  SYR2K(Zsyr, false, Z, Z)
  SYR2K(Cher, true, C, float)
  SYR2K(Zher, true, Z, double)
  EXPECT_OK(cublasDestroy(handle));
}

void walk_products() {
  EXPECT_OK(cublasCreate(&handle));
#define PRODUCT(L, T)                                   \
  VERSIONED(gemm, cublas##L##gemm, T)                   \
  PLAIN(gemm_strided, cublas##L##gemmStridedBatched, T) \
  PLAIN(gemm_batched, cublas##L##gemmBatched, T)
  PRODUCT(S, float)
  PRODUCT(D, double)
  PRODUCT(C, C)
  PRODUCT(Z, Z)
  PLAIN(gemm, cublasCgemm3m, C)
  PLAIN(gemm, cublasZgemm3m, Z)
  PLAIN(gemm_strided, cublasCgemm3mStridedBatched, C)
  PLAIN(gemm_batched, cublasCgemm3mBatched, C)
  UNTYPED(hgemm, cublasHgemm)
  UNTYPED(hgemm_strided, cublasHgemmStridedBatched)
  UNTYPED(hgemm_batched, cublasHgemmBatched)
  gemm_ex<int>("cublasGemmEx", [](auto... all) { return cublasGemmEx(all...); });
  gemm_ex<std::int64_t>("cublasGemmEx_64", [](auto... all) { return cublasGemmEx_64(all...); });
  strided_ex<int>("cublasGemmStridedBatchedEx", [](auto... all) { return cublasGemmStridedBatchedEx(all...); });
  strided_ex<std::int64_t>("cublasGemmStridedBatchedEx_64",
                           [](auto... all) { return cublasGemmStridedBatchedEx_64(all...); });
  batched_ex<int>("cublasGemmBatchedEx", [](auto... all) { return cublasGemmBatchedEx(all...); });
  batched_ex<std::int64_t>("cublasGemmBatchedEx_64", [](auto... all) { return cublasGemmBatchedEx_64(all...); });
  UNTYPED(sgemm_ex, cublasSgemmEx)
  grouped<float, int>("cublasSgemmGroupedBatched", cublasSgemmGroupedBatched, kOfFloat);
  grouped<float, std::int64_t>("cublasSgemmGroupedBatched_64", cublasSgemmGroupedBatched_64, kOfFloat);
  grouped<double, int>("cublasDgemmGroupedBatched", cublasDgemmGroupedBatched, kOfFloat);
  grouped<double, std::int64_t>("cublasDgemmGroupedBatched_64", cublasDgemmGroupedBatched_64, kOfFloat);
  grouped_ex<int>("cublasGemmGroupedBatchedEx", cublasGemmGroupedBatchedEx);
  grouped_ex<std::int64_t>("cublasGemmGroupedBatchedEx_64", cublasGemmGroupedBatchedEx_64);
  EXPECT_OK(cublasDestroy(handle));
}

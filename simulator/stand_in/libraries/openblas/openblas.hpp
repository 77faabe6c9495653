// The functions of OpenBLAS that the stand-ins use, under names of ours: a program may have an OpenBLAS of its own.
// CMake reads the names from here.
#pragma once

#include <complex>
#include <type_traits>

#include "simulator/stand_in/libraries/operands/numbers.hpp"

#define OPENBLAS(name) convladder_openblas_##name

extern "C" {

/// The name of its kernels.
const char* convladder_openblas_core();

void OPENBLAS(cblas_sgemm)(int order, int of_a, int of_b, int m, int n, int k, float alpha, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c, int ldc);
void OPENBLAS(cblas_ssymm)(int order, int side, int part, int m, int n, float alpha, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c, int ldc);
void OPENBLAS(cblas_ssyrk)(int order, int part, int of_a, int n, int k, float alpha, const float* a, int lda,
                           float beta, float* c, int ldc);
void OPENBLAS(cblas_ssyr2k)(int order, int part, int of_a, int n, int k, float alpha, const float* a, int lda,
                            const float* b, int ldb, float beta, float* c, int ldc);
void OPENBLAS(cblas_strmm)(int order, int side, int part, int of_a, int diagonal, int m, int n, float alpha,
                           const float* a, int lda, float* b, int ldb);
void OPENBLAS(cblas_strsm)(int order, int side, int part, int of_a, int diagonal, int m, int n, float alpha,
                           const float* a, int lda, float* b, int ldb);
void OPENBLAS(cblas_dgemm)(int order, int of_a, int of_b, int m, int n, int k, double alpha, const double* a, int lda,
                           const double* b, int ldb, double beta, double* c, int ldc);
void OPENBLAS(cblas_dsymm)(int order, int side, int part, int m, int n, double alpha, const double* a, int lda,
                           const double* b, int ldb, double beta, double* c, int ldc);
void OPENBLAS(cblas_dsyrk)(int order, int part, int of_a, int n, int k, double alpha, const double* a, int lda,
                           double beta, double* c, int ldc);
void OPENBLAS(cblas_dsyr2k)(int order, int part, int of_a, int n, int k, double alpha, const double* a, int lda,
                            const double* b, int ldb, double beta, double* c, int ldc);
void OPENBLAS(cblas_dtrmm)(int order, int side, int part, int of_a, int diagonal, int m, int n, double alpha,
                           const double* a, int lda, double* b, int ldb);
void OPENBLAS(cblas_dtrsm)(int order, int side, int part, int of_a, int diagonal, int m, int n, double alpha,
                           const double* a, int lda, double* b, int ldb);
void OPENBLAS(cblas_cgemm)(int order, int of_a, int of_b, int m, int n, int k, const void* alpha, const void* a,
                           int lda, const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_csymm)(int order, int side, int part, int m, int n, const void* alpha, const void* a, int lda,
                           const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_csyrk)(int order, int part, int of_a, int n, int k, const void* alpha, const void* a, int lda,
                           const void* beta, void* c, int ldc);
void OPENBLAS(cblas_csyr2k)(int order, int part, int of_a, int n, int k, const void* alpha, const void* a, int lda,
                            const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_ctrmm)(int order, int side, int part, int of_a, int diagonal, int m, int n, const void* alpha,
                           const void* a, int lda, void* b, int ldb);
void OPENBLAS(cblas_ctrsm)(int order, int side, int part, int of_a, int diagonal, int m, int n, const void* alpha,
                           const void* a, int lda, void* b, int ldb);
void OPENBLAS(cblas_zgemm)(int order, int of_a, int of_b, int m, int n, int k, const void* alpha, const void* a,
                           int lda, const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_zsymm)(int order, int side, int part, int m, int n, const void* alpha, const void* a, int lda,
                           const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_zsyrk)(int order, int part, int of_a, int n, int k, const void* alpha, const void* a, int lda,
                           const void* beta, void* c, int ldc);
void OPENBLAS(cblas_zsyr2k)(int order, int part, int of_a, int n, int k, const void* alpha, const void* a, int lda,
                            const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_ztrmm)(int order, int side, int part, int of_a, int diagonal, int m, int n, const void* alpha,
                           const void* a, int lda, void* b, int ldb);
void OPENBLAS(cblas_ztrsm)(int order, int side, int part, int of_a, int diagonal, int m, int n, const void* alpha,
                           const void* a, int lda, void* b, int ldb);
void OPENBLAS(cblas_chemm)(int order, int side, int part, int m, int n, const void* alpha, const void* a, int lda,
                           const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_cherk)(int order, int part, int of_a, int n, int k, float alpha, const void* a, int lda, float beta,
                           void* c, int ldc);
void OPENBLAS(cblas_cher2k)(int order, int part, int of_a, int n, int k, const void* alpha, const void* a, int lda,
                            const void* b, int ldb, float beta, void* c, int ldc);
void OPENBLAS(cblas_zhemm)(int order, int side, int part, int m, int n, const void* alpha, const void* a, int lda,
                           const void* b, int ldb, const void* beta, void* c, int ldc);
void OPENBLAS(cblas_zherk)(int order, int part, int of_a, int n, int k, double alpha, const void* a, int lda,
                           double beta, void* c, int ldc);
void OPENBLAS(cblas_zher2k)(int order, int part, int of_a, int n, int k, const void* alpha, const void* a, int lda,
                            const void* b, int ldb, double beta, void* c, int ldc);

}  // extern "C"

namespace convladder::stand_in {

// The numbers of cblas.h.
inline constexpr int kColumnMajor = 102;
inline constexpr int kPlain = 111;
inline constexpr int kTransposed = 112;
inline constexpr int kConjugateTransposed = 113;
inline constexpr int kUpper = 121;
inline constexpr int kLower = 122;
inline constexpr int kNonUnit = 131;
inline constexpr int kUnit = 132;
inline constexpr int kLeft = 141;
inline constexpr int kRight = 142;

/// The one of four functions that is for numbers of type T.
template <typename T, typename S, typename D, typename C, typename Z>
constexpr auto of_type(S of_float, D of_double, C of_complex_float, Z of_complex_double) {
  if constexpr (std::is_same_v<T, float>) {
    return of_float;
  } else if constexpr (std::is_same_v<T, double>) {
    return of_double;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return of_complex_float;
  } else {
    return of_complex_double;
  }
}

/// A factor as these functions take it: a real number, or the address of a complex one.
template <typename T>
auto factor(const T& value) {
  if constexpr (is_complex<T>) {
    return static_cast<const void*>(&value);
  } else {
    return value;
  }
}

// The functions for all types of numbers.

/// The type of an argument from which T is not deduced.
template <typename T>
using Given = std::type_identity_t<T>;

template <typename T>
void gemm(int of_a, int of_b, int m, int n, int k, Given<T> alpha, const T* a, int lda, const T* b, int ldb,
          Given<T> beta, T* c, int ldc) {
  of_type<T>(OPENBLAS(cblas_sgemm), OPENBLAS(cblas_dgemm), OPENBLAS(cblas_cgemm), OPENBLAS(cblas_zgemm))(
      kColumnMajor, of_a, of_b, m, n, k, factor(alpha), a, lda, b, ldb, factor(beta), c, ldc);
}
template <typename T>
void symm(int side, int part, int m, int n, Given<T> alpha, const T* a, int lda, const T* b, int ldb, Given<T> beta,
          T* c, int ldc) {
  of_type<T>(OPENBLAS(cblas_ssymm), OPENBLAS(cblas_dsymm), OPENBLAS(cblas_csymm), OPENBLAS(cblas_zsymm))(
      kColumnMajor, side, part, m, n, factor(alpha), a, lda, b, ldb, factor(beta), c, ldc);
}
template <typename T>
void syrk(int part, int of_a, int n, int k, Given<T> alpha, const T* a, int lda, Given<T> beta, T* c, int ldc) {
  of_type<T>(OPENBLAS(cblas_ssyrk), OPENBLAS(cblas_dsyrk), OPENBLAS(cblas_csyrk), OPENBLAS(cblas_zsyrk))(
      kColumnMajor, part, of_a, n, k, factor(alpha), a, lda, factor(beta), c, ldc);
}
template <typename T>
void syr2k(int part, int of_a, int n, int k, Given<T> alpha, const T* a, int lda, const T* b, int ldb, Given<T> beta,
           T* c, int ldc) {
  of_type<T>(OPENBLAS(cblas_ssyr2k), OPENBLAS(cblas_dsyr2k), OPENBLAS(cblas_csyr2k), OPENBLAS(cblas_zsyr2k))(
      kColumnMajor, part, of_a, n, k, factor(alpha), a, lda, b, ldb, factor(beta), c, ldc);
}
template <typename T>
void trmm(int side, int part, int of_a, int diagonal, int m, int n, Given<T> alpha, const T* a, int lda, T* b,
          int ldb) {
  of_type<T>(OPENBLAS(cblas_strmm), OPENBLAS(cblas_dtrmm), OPENBLAS(cblas_ctrmm), OPENBLAS(cblas_ztrmm))(
      kColumnMajor, side, part, of_a, diagonal, m, n, factor(alpha), a, lda, b, ldb);
}
template <typename T>
void trsm(int side, int part, int of_a, int diagonal, int m, int n, Given<T> alpha, const T* a, int lda, T* b,
          int ldb) {
  of_type<T>(OPENBLAS(cblas_strsm), OPENBLAS(cblas_dtrsm), OPENBLAS(cblas_ctrsm), OPENBLAS(cblas_ztrsm))(
      kColumnMajor, side, part, of_a, diagonal, m, n, factor(alpha), a, lda, b, ldb);
}

// The functions for complex numbers alone.

/// The one of two functions that is for complex numbers of type T.
template <typename T, typename C, typename Z>
constexpr auto of_complex(C of_float, Z of_double) {
  return of_type<T>(nullptr, nullptr, of_float, of_double);
}

template <typename T>
void hemm(int side, int part, int m, int n, Given<T> alpha, const T* a, int lda, const T* b, int ldb, Given<T> beta,
          T* c, int ldc) {
  of_complex<T>(OPENBLAS(cblas_chemm), OPENBLAS(cblas_zhemm))(kColumnMajor, side, part, m, n, factor(alpha), a, lda, b,
                                                              ldb, factor(beta), c, ldc);
}
template <typename T>
void herk(int part, int of_a, int n, int k, Real<T> alpha, const T* a, int lda, Real<T> beta, T* c, int ldc) {
  of_complex<T>(OPENBLAS(cblas_cherk), OPENBLAS(cblas_zherk))(kColumnMajor, part, of_a, n, k, alpha, a, lda, beta, c,
                                                              ldc);
}
template <typename T>
void her2k(int part, int of_a, int n, int k, Given<T> alpha, const T* a, int lda, const T* b, int ldb, Real<T> beta,
           T* c, int ldc) {
  of_complex<T>(OPENBLAS(cblas_cher2k), OPENBLAS(cblas_zher2k))(kColumnMajor, part, of_a, n, k, factor(alpha), a, lda,
                                                                b, ldb, beta, c, ldc);
}

}  // namespace convladder::stand_in

// The functions of LAPACK that the stand-ins use, for all types of numbers: those in OpenBLAS, under names of ours.
// Each returns LAPACK's `info`. CMake reads the names from here.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <vector>

#include "simulator/stand_in/libraries/openblas/openblas.hpp"

extern "C" {

void OPENBLAS(spotrf_)(const char* part, const int* n, float* a, const int* lda, int* info, std::size_t);
void OPENBLAS(spotri_)(const char* part, const int* n, float* a, const int* lda, int* info, std::size_t);
void OPENBLAS(spotrs_)(const char* part, const int* n, const int* count, const float* a, const int* lda, float* b,
                       const int* ldb, int* info, std::size_t);
void OPENBLAS(sgetrf_)(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info);
void OPENBLAS(sgetrs_)(const char* how, const int* n, const int* count, const float* a, const int* lda,
                       const int* pivots, float* b, const int* ldb, int* info, std::size_t);
void OPENBLAS(sgetri_)(const int* n, float* a, const int* lda, const int* pivots, float* work, const int* size,
                       int* info);
void OPENBLAS(sgeqrf_)(const int* m, const int* n, float* a, const int* lda, float* tau, float* work, const int* size,
                       int* info);
void OPENBLAS(sorgqr_)(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau,
                       float* work, const int* size, int* info);
void OPENBLAS(sormqr_)(const char* side, const char* how, const int* m, const int* n, const int* k, const float* a,
                       const int* lda, const float* tau, float* c, const int* ldc, float* work, const int* size,
                       int* info, std::size_t, std::size_t);
void OPENBLAS(sgesvd_)(const char* of_u, const char* of_v, const int* m, const int* n, float* a, const int* lda,
                       float* s, float* u, const int* ldu, float* v, const int* ldv, float* work, const int* size,
                       int* info, std::size_t, std::size_t);
void OPENBLAS(ssyevd_)(const char* job, const char* part, const int* n, float* a, const int* lda, float* w, float* work,
                       const int* size, int* whole_work, const int* whole_size, int* info, std::size_t, std::size_t);
void OPENBLAS(ssygvd_)(const int* kind, const char* job, const char* part, const int* n, float* a, const int* lda,
                       float* b, const int* ldb, float* w, float* work, const int* size, int* whole_work,
                       const int* whole_size, int* info, std::size_t, std::size_t);
void OPENBLAS(dpotrf_)(const char* part, const int* n, double* a, const int* lda, int* info, std::size_t);
void OPENBLAS(dpotri_)(const char* part, const int* n, double* a, const int* lda, int* info, std::size_t);
void OPENBLAS(dpotrs_)(const char* part, const int* n, const int* count, const double* a, const int* lda, double* b,
                       const int* ldb, int* info, std::size_t);
void OPENBLAS(dgetrf_)(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
void OPENBLAS(dgetrs_)(const char* how, const int* n, const int* count, const double* a, const int* lda,
                       const int* pivots, double* b, const int* ldb, int* info, std::size_t);
void OPENBLAS(dgetri_)(const int* n, double* a, const int* lda, const int* pivots, double* work, const int* size,
                       int* info);
void OPENBLAS(dgeqrf_)(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
                       const int* size, int* info);
void OPENBLAS(dorgqr_)(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
                       double* work, const int* size, int* info);
void OPENBLAS(dormqr_)(const char* side, const char* how, const int* m, const int* n, const int* k, const double* a,
                       const int* lda, const double* tau, double* c, const int* ldc, double* work, const int* size,
                       int* info, std::size_t, std::size_t);
void OPENBLAS(dgesvd_)(const char* of_u, const char* of_v, const int* m, const int* n, double* a, const int* lda,
                       double* s, double* u, const int* ldu, double* v, const int* ldv, double* work, const int* size,
                       int* info, std::size_t, std::size_t);
void OPENBLAS(dsyevd_)(const char* job, const char* part, const int* n, double* a, const int* lda, double* w,
                       double* work, const int* size, int* whole_work, const int* whole_size, int* info, std::size_t,
                       std::size_t);
void OPENBLAS(dsygvd_)(const int* kind, const char* job, const char* part, const int* n, double* a, const int* lda,
                       double* b, const int* ldb, double* w, double* work, const int* size, int* whole_work,
                       const int* whole_size, int* info, std::size_t, std::size_t);
void OPENBLAS(cpotrf_)(const char* part, const int* n, std::complex<float>* a, const int* lda, int* info, std::size_t);
void OPENBLAS(cpotri_)(const char* part, const int* n, std::complex<float>* a, const int* lda, int* info, std::size_t);
void OPENBLAS(cpotrs_)(const char* part, const int* n, const int* count, const std::complex<float>* a, const int* lda,
                       std::complex<float>* b, const int* ldb, int* info, std::size_t);
void OPENBLAS(cgetrf_)(const int* m, const int* n, std::complex<float>* a, const int* lda, int* pivots, int* info);
void OPENBLAS(cgetrs_)(const char* how, const int* n, const int* count, const std::complex<float>* a, const int* lda,
                       const int* pivots, std::complex<float>* b, const int* ldb, int* info, std::size_t);
void OPENBLAS(cgetri_)(const int* n, std::complex<float>* a, const int* lda, const int* pivots,
                       std::complex<float>* work, const int* size, int* info);
void OPENBLAS(cgeqrf_)(const int* m, const int* n, std::complex<float>* a, const int* lda, std::complex<float>* tau,
                       std::complex<float>* work, const int* size, int* info);
void OPENBLAS(cungqr_)(const int* m, const int* n, const int* k, std::complex<float>* a, const int* lda,
                       const std::complex<float>* tau, std::complex<float>* work, const int* size, int* info);
void OPENBLAS(cunmqr_)(const char* side, const char* how, const int* m, const int* n, const int* k,
                       const std::complex<float>* a, const int* lda, const std::complex<float>* tau,
                       std::complex<float>* c, const int* ldc, std::complex<float>* work, const int* size, int* info,
                       std::size_t, std::size_t);
void OPENBLAS(cgesvd_)(const char* of_u, const char* of_v, const int* m, const int* n, std::complex<float>* a,
                       const int* lda, float* s, std::complex<float>* u, const int* ldu, std::complex<float>* v,
                       const int* ldv, std::complex<float>* work, const int* size, float* real_work, int* info,
                       std::size_t, std::size_t);
void OPENBLAS(cheevd_)(const char* job, const char* part, const int* n, std::complex<float>* a, const int* lda,
                       float* w, std::complex<float>* work, const int* size, float* real_work, const int* real_size,
                       int* whole_work, const int* whole_size, int* info, std::size_t, std::size_t);
void OPENBLAS(chegvd_)(const int* kind, const char* job, const char* part, const int* n, std::complex<float>* a,
                       const int* lda, std::complex<float>* b, const int* ldb, float* w, std::complex<float>* work,
                       const int* size, float* real_work, const int* real_size, int* whole_work, const int* whole_size,
                       int* info, std::size_t, std::size_t);
void OPENBLAS(zpotrf_)(const char* part, const int* n, std::complex<double>* a, const int* lda, int* info, std::size_t);
void OPENBLAS(zpotri_)(const char* part, const int* n, std::complex<double>* a, const int* lda, int* info, std::size_t);
void OPENBLAS(zpotrs_)(const char* part, const int* n, const int* count, const std::complex<double>* a, const int* lda,
                       std::complex<double>* b, const int* ldb, int* info, std::size_t);
void OPENBLAS(zgetrf_)(const int* m, const int* n, std::complex<double>* a, const int* lda, int* pivots, int* info);
void OPENBLAS(zgetrs_)(const char* how, const int* n, const int* count, const std::complex<double>* a, const int* lda,
                       const int* pivots, std::complex<double>* b, const int* ldb, int* info, std::size_t);
void OPENBLAS(zgetri_)(const int* n, std::complex<double>* a, const int* lda, const int* pivots,
                       std::complex<double>* work, const int* size, int* info);
void OPENBLAS(zgeqrf_)(const int* m, const int* n, std::complex<double>* a, const int* lda, std::complex<double>* tau,
                       std::complex<double>* work, const int* size, int* info);
void OPENBLAS(zungqr_)(const int* m, const int* n, const int* k, std::complex<double>* a, const int* lda,
                       const std::complex<double>* tau, std::complex<double>* work, const int* size, int* info);
void OPENBLAS(zunmqr_)(const char* side, const char* how, const int* m, const int* n, const int* k,
                       const std::complex<double>* a, const int* lda, const std::complex<double>* tau,
                       std::complex<double>* c, const int* ldc, std::complex<double>* work, const int* size, int* info,
                       std::size_t, std::size_t);
void OPENBLAS(zgesvd_)(const char* of_u, const char* of_v, const int* m, const int* n, std::complex<double>* a,
                       const int* lda, double* s, std::complex<double>* u, const int* ldu, std::complex<double>* v,
                       const int* ldv, std::complex<double>* work, const int* size, double* real_work, int* info,
                       std::size_t, std::size_t);
void OPENBLAS(zheevd_)(const char* job, const char* part, const int* n, std::complex<double>* a, const int* lda,
                       double* w, std::complex<double>* work, const int* size, double* real_work, const int* real_size,
                       int* whole_work, const int* whole_size, int* info, std::size_t, std::size_t);
void OPENBLAS(zhegvd_)(const int* kind, const char* job, const char* part, const int* n, std::complex<double>* a,
                       const int* lda, std::complex<double>* b, const int* ldb, double* w, std::complex<double>* work,
                       const int* size, double* real_work, const int* real_size, int* whole_work, const int* whole_size,
                       int* info, std::size_t, std::size_t);

}  // extern "C"

namespace convladder::stand_in::lapack {

/// Calls `run(work, size, info)` twice: first for the size that it wants, of which it writes the first number.
template <typename T, typename Run>
int with_work(const Run& run) {
  int info = 0;
  T wanted{};
  int size = -1;
  run(&wanted, &size, &info);
  if (info != 0) return info;
  size = std::max(1, static_cast<int>(std::real(wanted)));
  std::vector<T> work(static_cast<std::size_t>(size));
  run(work.data(), &size, &info);
  return info;
}

/// Calls `run` with the arguments of an eigenvalue function of n rows from its work on, as large as it may want.
template <typename T, typename Run>
int with_eigenvalue_work(int n, const Run& run) {
  int info = 0;
  const auto rows = static_cast<std::size_t>(n);
  constexpr std::size_t kBlock = 64;
  constexpr std::size_t kLengthOfName = 1;  // Fortran passes those of both letters
  std::vector<int> whole_work(3 + 5 * rows);
  const int whole_size = static_cast<int>(whole_work.size());
  if constexpr (is_complex<T>) {
    std::vector<T> work(1 + (2 + kBlock) * rows + rows * rows);
    std::vector<Real<T>> real_work(1 + 5 * rows + 2 * rows * rows);
    const int size = static_cast<int>(work.size());
    const int real_size = static_cast<int>(real_work.size());
    run(work.data(), &size, real_work.data(), &real_size, whole_work.data(), &whole_size, &info, kLengthOfName,
        kLengthOfName);
  } else {
    std::vector<T> work(1 + (6 + kBlock) * rows + 2 * rows * rows);
    const int size = static_cast<int>(work.size());
    run(work.data(), &size, whole_work.data(), &whole_size, &info, kLengthOfName, kLengthOfName);
  }
  return info;
}

template <typename T>
int potrf(char part, int n, T* a, int lda) {
  int info = 0;
  of_type<T>(OPENBLAS(spotrf_), OPENBLAS(dpotrf_), OPENBLAS(cpotrf_), OPENBLAS(zpotrf_))(&part, &n, a, &lda, &info, 1);
  return info;
}
template <typename T>
int potri(char part, int n, T* a, int lda) {
  int info = 0;
  of_type<T>(OPENBLAS(spotri_), OPENBLAS(dpotri_), OPENBLAS(cpotri_), OPENBLAS(zpotri_))(&part, &n, a, &lda, &info, 1);
  return info;
}
template <typename T>
int potrs(char part, int n, int count, const T* a, int lda, T* b, int ldb) {
  int info = 0;
  of_type<T>(OPENBLAS(spotrs_), OPENBLAS(dpotrs_), OPENBLAS(cpotrs_), OPENBLAS(zpotrs_))(&part, &n, &count, a, &lda, b,
                                                                                         &ldb, &info, 1);
  return info;
}
template <typename T>
int getrf(int m, int n, T* a, int lda, int* pivots) {
  int info = 0;
  of_type<T>(OPENBLAS(sgetrf_), OPENBLAS(dgetrf_), OPENBLAS(cgetrf_), OPENBLAS(zgetrf_))(&m, &n, a, &lda, pivots,
                                                                                         &info);
  return info;
}
template <typename T>
int getrs(char how, int n, int count, const T* a, int lda, const int* pivots, T* b, int ldb) {
  int info = 0;
  of_type<T>(OPENBLAS(sgetrs_), OPENBLAS(dgetrs_), OPENBLAS(cgetrs_), OPENBLAS(zgetrs_))(&how, &n, &count, a, &lda,
                                                                                         pivots, b, &ldb, &info, 1);
  return info;
}
template <typename T>
int getri(int n, T* a, int lda, const int* pivots) {
  return with_work<T>([&](T* work, const int* size, int* info) {
    of_type<T>(OPENBLAS(sgetri_), OPENBLAS(dgetri_), OPENBLAS(cgetri_), OPENBLAS(zgetri_))(&n, a, &lda, pivots, work,
                                                                                           size, info);
  });
}
template <typename T>
int geqrf(int m, int n, T* a, int lda, T* tau) {
  return with_work<T>([&](T* work, const int* size, int* info) {
    of_type<T>(OPENBLAS(sgeqrf_), OPENBLAS(dgeqrf_), OPENBLAS(cgeqrf_), OPENBLAS(zgeqrf_))(&m, &n, a, &lda, tau, work,
                                                                                           size, info);
  });
}
template <typename T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  return with_work<T>([&](T* work, const int* size, int* info) {
    of_type<T>(OPENBLAS(sorgqr_), OPENBLAS(dorgqr_), OPENBLAS(cungqr_), OPENBLAS(zungqr_))(&m, &n, &k, a, &lda, tau,
                                                                                           work, size, info);
  });
}
template <typename T>
int ormqr(char side, char how, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc) {
  return with_work<T>([&](T* work, const int* size, int* info) {
    of_type<T>(OPENBLAS(sormqr_), OPENBLAS(dormqr_), OPENBLAS(cunmqr_), OPENBLAS(zunmqr_))(
        &side, &how, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info, 1, 1);
  });
}
template <typename T>
int gesvd(char of_u, char of_v, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv) {
  const auto function = of_type<T>(OPENBLAS(sgesvd_), OPENBLAS(dgesvd_), OPENBLAS(cgesvd_), OPENBLAS(zgesvd_));
  return with_work<T>([&](T* work, const int* size, int* info) {
    if constexpr (is_complex<T>) {
      std::vector<Real<T>> real_work(5 * static_cast<std::size_t>(std::max(1, std::min(m, n))));
      function(&of_u, &of_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, work, size, real_work.data(), info, 1, 1);
    } else {
      function(&of_u, &of_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, work, size, info, 1, 1);
    }
  });
}
template <typename T>
int syevd(char job, char part, int n, T* a, int lda, Real<T>* w) {
  return with_eigenvalue_work<T>(n, [&](auto... rest) {
    of_type<T>(OPENBLAS(ssyevd_), OPENBLAS(dsyevd_), OPENBLAS(cheevd_), OPENBLAS(zheevd_))(&job, &part, &n, a, &lda, w,
                                                                                           rest...);
  });
}
template <typename T>
int sygvd(int kind, char job, char part, int n, T* a, int lda, T* b, int ldb, Real<T>* w) {
  return with_eigenvalue_work<T>(n, [&](auto... rest) {
    of_type<T>(OPENBLAS(ssygvd_), OPENBLAS(dsygvd_), OPENBLAS(chegvd_), OPENBLAS(zhegvd_))(&kind, &job, &part, &n, a,
                                                                                           &lda, b, &ldb, w, rest...);
  });
}

}  // namespace convladder::stand_in::lapack

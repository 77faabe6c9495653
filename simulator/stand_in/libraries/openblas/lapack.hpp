// The functions of LAPACK that the stand-ins use, by the type of their numbers: those in OpenBLAS, under names of ours.
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

inline int potrf(char part, int n, float* a, int lda) {
  int info = 0;
  OPENBLAS(spotrf_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potri(char part, int n, float* a, int lda) {
  int info = 0;
  OPENBLAS(spotri_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potrs(char part, int n, int count, const float* a, int lda, float* b, int ldb) {
  int info = 0;
  OPENBLAS(spotrs_)(&part, &n, &count, a, &lda, b, &ldb, &info, 1);
  return info;
}
inline int getrf(int m, int n, float* a, int lda, int* pivots) {
  int info = 0;
  OPENBLAS(sgetrf_)(&m, &n, a, &lda, pivots, &info);
  return info;
}
inline int getrs(char how, int n, int count, const float* a, int lda, const int* pivots, float* b, int ldb) {
  int info = 0;
  OPENBLAS(sgetrs_)(&how, &n, &count, a, &lda, pivots, b, &ldb, &info, 1);
  return info;
}
inline int getri(int n, float* a, int lda, const int* pivots) {
  return with_work<float>([&](float* work, const int* size, int* info) {
    OPENBLAS(sgetri_)(&n, a, &lda, pivots, work, size, info);
  });
}
inline int geqrf(int m, int n, float* a, int lda, float* tau) {
  return with_work<float>([&](float* work, const int* size, int* info) {
    OPENBLAS(sgeqrf_)(&m, &n, a, &lda, tau, work, size, info);
  });
}
inline int orgqr(int m, int n, int k, float* a, int lda, const float* tau) {
  return with_work<float>([&](float* work, const int* size, int* info) {
    OPENBLAS(sorgqr_)(&m, &n, &k, a, &lda, tau, work, size, info);
  });
}
inline int ormqr(char side, char how, int m, int n, int k, const float* a, int lda, const float* tau, float* c,
                 int ldc) {
  return with_work<float>([&](float* work, const int* size, int* info) {
    OPENBLAS(sormqr_)(&side, &how, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info, 1, 1);
  });
}
inline int gesvd(char of_u, char of_v, int m, int n, float* a, int lda, float* s, float* u, int ldu, float* v,
                 int ldv) {
  return with_work<float>([&](float* work, const int* size, int* info) {
    OPENBLAS(sgesvd_)(&of_u, &of_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, work, size, info, 1, 1);
  });
}
inline int syevd(char job, char part, int n, float* a, int lda, float* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> work(1 + 6 * static_cast<std::size_t>(n) + 2 * n_squared + 64 * static_cast<std::size_t>(n));
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(ssyevd_)(&job, &part, &n, a, &lda, w, work.data(), &size, whole_work.data(), &whole_size, &info, 1, 1);
  return info;
}
inline int sygvd(int kind, char job, char part, int n, float* a, int lda, float* b, int ldb, float* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> work(1 + 6 * static_cast<std::size_t>(n) + 2 * n_squared + 64 * static_cast<std::size_t>(n));
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(ssygvd_)
  (&kind, &job, &part, &n, a, &lda, b, &ldb, w, work.data(), &size, whole_work.data(), &whole_size, &info, 1, 1);
  return info;
}

inline int potrf(char part, int n, double* a, int lda) {
  int info = 0;
  OPENBLAS(dpotrf_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potri(char part, int n, double* a, int lda) {
  int info = 0;
  OPENBLAS(dpotri_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potrs(char part, int n, int count, const double* a, int lda, double* b, int ldb) {
  int info = 0;
  OPENBLAS(dpotrs_)(&part, &n, &count, a, &lda, b, &ldb, &info, 1);
  return info;
}
inline int getrf(int m, int n, double* a, int lda, int* pivots) {
  int info = 0;
  OPENBLAS(dgetrf_)(&m, &n, a, &lda, pivots, &info);
  return info;
}
inline int getrs(char how, int n, int count, const double* a, int lda, const int* pivots, double* b, int ldb) {
  int info = 0;
  OPENBLAS(dgetrs_)(&how, &n, &count, a, &lda, pivots, b, &ldb, &info, 1);
  return info;
}
inline int getri(int n, double* a, int lda, const int* pivots) {
  return with_work<double>([&](double* work, const int* size, int* info) {
    OPENBLAS(dgetri_)(&n, a, &lda, pivots, work, size, info);
  });
}
inline int geqrf(int m, int n, double* a, int lda, double* tau) {
  return with_work<double>([&](double* work, const int* size, int* info) {
    OPENBLAS(dgeqrf_)(&m, &n, a, &lda, tau, work, size, info);
  });
}
inline int orgqr(int m, int n, int k, double* a, int lda, const double* tau) {
  return with_work<double>([&](double* work, const int* size, int* info) {
    OPENBLAS(dorgqr_)(&m, &n, &k, a, &lda, tau, work, size, info);
  });
}
inline int ormqr(char side, char how, int m, int n, int k, const double* a, int lda, const double* tau, double* c,
                 int ldc) {
  return with_work<double>([&](double* work, const int* size, int* info) {
    OPENBLAS(dormqr_)(&side, &how, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info, 1, 1);
  });
}
inline int gesvd(char of_u, char of_v, int m, int n, double* a, int lda, double* s, double* u, int ldu, double* v,
                 int ldv) {
  return with_work<double>([&](double* work, const int* size, int* info) {
    OPENBLAS(dgesvd_)(&of_u, &of_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, work, size, info, 1, 1);
  });
}
inline int syevd(char job, char part, int n, double* a, int lda, double* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<double> work(1 + 6 * static_cast<std::size_t>(n) + 2 * n_squared + 64 * static_cast<std::size_t>(n));
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(dsyevd_)(&job, &part, &n, a, &lda, w, work.data(), &size, whole_work.data(), &whole_size, &info, 1, 1);
  return info;
}
inline int sygvd(int kind, char job, char part, int n, double* a, int lda, double* b, int ldb, double* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<double> work(1 + 6 * static_cast<std::size_t>(n) + 2 * n_squared + 64 * static_cast<std::size_t>(n));
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(dsygvd_)
  (&kind, &job, &part, &n, a, &lda, b, &ldb, w, work.data(), &size, whole_work.data(), &whole_size, &info, 1, 1);
  return info;
}

inline int potrf(char part, int n, std::complex<float>* a, int lda) {
  int info = 0;
  OPENBLAS(cpotrf_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potri(char part, int n, std::complex<float>* a, int lda) {
  int info = 0;
  OPENBLAS(cpotri_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potrs(char part, int n, int count, const std::complex<float>* a, int lda, std::complex<float>* b, int ldb) {
  int info = 0;
  OPENBLAS(cpotrs_)(&part, &n, &count, a, &lda, b, &ldb, &info, 1);
  return info;
}
inline int getrf(int m, int n, std::complex<float>* a, int lda, int* pivots) {
  int info = 0;
  OPENBLAS(cgetrf_)(&m, &n, a, &lda, pivots, &info);
  return info;
}
inline int getrs(char how, int n, int count, const std::complex<float>* a, int lda, const int* pivots,
                 std::complex<float>* b, int ldb) {
  int info = 0;
  OPENBLAS(cgetrs_)(&how, &n, &count, a, &lda, pivots, b, &ldb, &info, 1);
  return info;
}
inline int getri(int n, std::complex<float>* a, int lda, const int* pivots) {
  return with_work<std::complex<float>>([&](std::complex<float>* work, const int* size, int* info) {
    OPENBLAS(cgetri_)(&n, a, &lda, pivots, work, size, info);
  });
}
inline int geqrf(int m, int n, std::complex<float>* a, int lda, std::complex<float>* tau) {
  return with_work<std::complex<float>>([&](std::complex<float>* work, const int* size, int* info) {
    OPENBLAS(cgeqrf_)(&m, &n, a, &lda, tau, work, size, info);
  });
}
inline int orgqr(int m, int n, int k, std::complex<float>* a, int lda, const std::complex<float>* tau) {
  return with_work<std::complex<float>>([&](std::complex<float>* work, const int* size, int* info) {
    OPENBLAS(cungqr_)(&m, &n, &k, a, &lda, tau, work, size, info);
  });
}
inline int ormqr(char side, char how, int m, int n, int k, const std::complex<float>* a, int lda,
                 const std::complex<float>* tau, std::complex<float>* c, int ldc) {
  return with_work<std::complex<float>>([&](std::complex<float>* work, const int* size, int* info) {
    OPENBLAS(cunmqr_)(&side, &how, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info, 1, 1);
  });
}
inline int gesvd(char of_u, char of_v, int m, int n, std::complex<float>* a, int lda, float* s, std::complex<float>* u,
                 int ldu, std::complex<float>* v, int ldv) {
  std::vector<float> real_work(5 * static_cast<std::size_t>(std::max(1, std::min(m, n))));
  return with_work<std::complex<float>>([&](std::complex<float>* work, const int* size, int* info) {
    OPENBLAS(cgesvd_)(&of_u, &of_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, work, size, real_work.data(), info, 1, 1);
  });
}
inline int syevd(char job, char part, int n, std::complex<float>* a, int lda, float* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<std::complex<float>> work(1 + 2 * static_cast<std::size_t>(n) + n_squared +
                                        64 * static_cast<std::size_t>(n));
  std::vector<float> real_work(1 + 5 * static_cast<std::size_t>(n) + 2 * n_squared);
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int real_size = static_cast<int>(real_work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(cheevd_)
  (&job, &part, &n, a, &lda, w, work.data(), &size, real_work.data(), &real_size, whole_work.data(), &whole_size, &info,
   1, 1);
  return info;
}
inline int sygvd(int kind, char job, char part, int n, std::complex<float>* a, int lda, std::complex<float>* b, int ldb,
                 float* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<std::complex<float>> work(1 + 2 * static_cast<std::size_t>(n) + n_squared +
                                        64 * static_cast<std::size_t>(n));
  std::vector<float> real_work(1 + 5 * static_cast<std::size_t>(n) + 2 * n_squared);
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int real_size = static_cast<int>(real_work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(chegvd_)
  (&kind, &job, &part, &n, a, &lda, b, &ldb, w, work.data(), &size, real_work.data(), &real_size, whole_work.data(),
   &whole_size, &info, 1, 1);
  return info;
}

inline int potrf(char part, int n, std::complex<double>* a, int lda) {
  int info = 0;
  OPENBLAS(zpotrf_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potri(char part, int n, std::complex<double>* a, int lda) {
  int info = 0;
  OPENBLAS(zpotri_)(&part, &n, a, &lda, &info, 1);
  return info;
}
inline int potrs(char part, int n, int count, const std::complex<double>* a, int lda, std::complex<double>* b,
                 int ldb) {
  int info = 0;
  OPENBLAS(zpotrs_)(&part, &n, &count, a, &lda, b, &ldb, &info, 1);
  return info;
}
inline int getrf(int m, int n, std::complex<double>* a, int lda, int* pivots) {
  int info = 0;
  OPENBLAS(zgetrf_)(&m, &n, a, &lda, pivots, &info);
  return info;
}
inline int getrs(char how, int n, int count, const std::complex<double>* a, int lda, const int* pivots,
                 std::complex<double>* b, int ldb) {
  int info = 0;
  OPENBLAS(zgetrs_)(&how, &n, &count, a, &lda, pivots, b, &ldb, &info, 1);
  return info;
}
inline int getri(int n, std::complex<double>* a, int lda, const int* pivots) {
  return with_work<std::complex<double>>([&](std::complex<double>* work, const int* size, int* info) {
    OPENBLAS(zgetri_)(&n, a, &lda, pivots, work, size, info);
  });
}
inline int geqrf(int m, int n, std::complex<double>* a, int lda, std::complex<double>* tau) {
  return with_work<std::complex<double>>([&](std::complex<double>* work, const int* size, int* info) {
    OPENBLAS(zgeqrf_)(&m, &n, a, &lda, tau, work, size, info);
  });
}
inline int orgqr(int m, int n, int k, std::complex<double>* a, int lda, const std::complex<double>* tau) {
  return with_work<std::complex<double>>([&](std::complex<double>* work, const int* size, int* info) {
    OPENBLAS(zungqr_)(&m, &n, &k, a, &lda, tau, work, size, info);
  });
}
inline int ormqr(char side, char how, int m, int n, int k, const std::complex<double>* a, int lda,
                 const std::complex<double>* tau, std::complex<double>* c, int ldc) {
  return with_work<std::complex<double>>([&](std::complex<double>* work, const int* size, int* info) {
    OPENBLAS(zunmqr_)(&side, &how, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info, 1, 1);
  });
}
inline int gesvd(char of_u, char of_v, int m, int n, std::complex<double>* a, int lda, double* s,
                 std::complex<double>* u, int ldu, std::complex<double>* v, int ldv) {
  std::vector<double> real_work(5 * static_cast<std::size_t>(std::max(1, std::min(m, n))));
  return with_work<std::complex<double>>([&](std::complex<double>* work, const int* size, int* info) {
    OPENBLAS(zgesvd_)(&of_u, &of_v, &m, &n, a, &lda, s, u, &ldu, v, &ldv, work, size, real_work.data(), info, 1, 1);
  });
}
inline int syevd(char job, char part, int n, std::complex<double>* a, int lda, double* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<std::complex<double>> work(1 + 2 * static_cast<std::size_t>(n) + n_squared +
                                         64 * static_cast<std::size_t>(n));
  std::vector<double> real_work(1 + 5 * static_cast<std::size_t>(n) + 2 * n_squared);
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int real_size = static_cast<int>(real_work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(zheevd_)
  (&job, &part, &n, a, &lda, w, work.data(), &size, real_work.data(), &real_size, whole_work.data(), &whole_size, &info,
   1, 1);
  return info;
}
inline int sygvd(int kind, char job, char part, int n, std::complex<double>* a, int lda, std::complex<double>* b,
                 int ldb, double* w) {
  int info = 0;
  const auto n_squared = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<std::complex<double>> work(1 + 2 * static_cast<std::size_t>(n) + n_squared +
                                         64 * static_cast<std::size_t>(n));
  std::vector<double> real_work(1 + 5 * static_cast<std::size_t>(n) + 2 * n_squared);
  std::vector<int> whole_work(3 + 5 * static_cast<std::size_t>(n));
  const int size = static_cast<int>(work.size());
  const int real_size = static_cast<int>(real_work.size());
  const int whole_size = static_cast<int>(whole_work.size());
  OPENBLAS(zhegvd_)
  (&kind, &job, &part, &n, a, &lda, b, &ldb, w, work.data(), &size, real_work.data(), &real_size, whole_work.data(),
   &whole_size, &info, 1, 1);
  return info;
}

}  // namespace convladder::stand_in::lapack

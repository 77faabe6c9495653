// cuSOLVER's functions that have the type of their numbers in their names: cusolverDnSpotrf.
#include "simulator/stand_in/libraries/cusolver/factorizations.hpp"

using namespace convladder::stand_in;
using namespace convladder::stand_in::cusolver;

extern "C" {

#define NAME(function) "cusolverDn" #function

#define CHOLESKY_AND_LU(L, C)                                                                                          \
  cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int n, C*, int,        \
                                                   int* size) {                                                        \
    return tell_size(NAME(L##potrf_bufferSize), handle, size, n);                                                      \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, C* A, int lda,        \
                                        C* work, int lwork, int* info) {                                               \
    return answer(NAME(L##potrf), handle, [&](LibraryCall& call, cusolverDnContext& context) {                         \
      potrf(call, context, uplo, n, as_numbers(A), lda, around(info, work, lwork, n));                                 \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int n, C*, int,        \
                                                   int* size) {                                                        \
    return tell_size(NAME(L##potri_bufferSize), handle, size, n);                                                      \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, C* A, int lda,        \
                                        C* work, int lwork, int* info) {                                               \
    return answer(NAME(L##potri), handle, [&](LibraryCall& call, cusolverDnContext& context) {                         \
      potri(call, context, uplo, n, as_numbers(A), lda, around(info, work, lwork, n));                                 \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, const C* A, \
                                        int lda, C* B, int ldb, int* info) {                                           \
    return answer(NAME(L##potrs), handle, [&](LibraryCall& call, cusolverDnContext& context) {                         \
      potrs(call, context, uplo, n, nrhs, as_numbers(A), lda, as_numbers(B), ldb, {.info = info});                     \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, C* A[],        \
                                               int lda, int* infos, int batch) {                                       \
    return answer(NAME(L##potrfBatched), handle, [&](LibraryCall& call, cusolverDnContext& context) {                  \
      potrf_batched(call, context, uplo, n, reinterpret_cast<NumberOf<C>::Type**>(A), lda, infos, batch);              \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,      \
                                               C* A[], int lda, C* B[], int ldb, int* info, int batch) {               \
    return answer(NAME(L##potrsBatched), handle, [&](LibraryCall& call, cusolverDnContext& context) {                  \
      potrs_batched(call, context, uplo, n, nrhs, reinterpret_cast<NumberOf<C>::Type**>(A), lda,                       \
                    reinterpret_cast<NumberOf<C>::Type**>(B), ldb, info, batch);                                       \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t handle, int, int n, C*, int, int* size) {        \
    return tell_size(NAME(L##getrf_bufferSize), handle, size, n);                                                      \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, C* A, int lda, C* work, int* pivots,  \
                                        int* info) {                                                                   \
    return answer(NAME(L##getrf), handle, [&](LibraryCall& call, cusolverDnContext& context) {                         \
      getrf(call, context, m, n, as_numbers(A), lda, pivots, around(info, work, INT_MAX, n));                          \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs,           \
                                        const C* A, int lda, const int* pivots, C* B, int ldb, int* info) {            \
    return answer(NAME(L##getrs), handle, [&](LibraryCall& call, cusolverDnContext& context) {                         \
      getrs(call, context, trans, n, nrhs, as_numbers(A), lda, pivots, as_numbers(B), ldb, {.info = info});            \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t handle, int, int n, C*, int, int* size) {        \
    return tell_size(NAME(L##geqrf_bufferSize), handle, size, n);                                                      \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, C* A, int lda, C* tau, C* work,       \
                                        int lwork, int* info) {                                                        \
    return answer(NAME(L##geqrf), handle, [&](LibraryCall& call, cusolverDnContext& context) {                         \
      geqrf(call, context, m, n, as_numbers(A), lda, as_numbers(tau), around(info, work, lwork, n));                   \
    });                                                                                                                \
  }
CHOLESKY_AND_LU(S, float)
CHOLESKY_AND_LU(D, double)
CHOLESKY_AND_LU(C, cuComplex)
CHOLESKY_AND_LU(Z, cuDoubleComplex)

#define QR_FACTOR(G, M, C)                                                                                             \
  cusolverStatus_t cusolverDn##G##_bufferSize(cusolverDnHandle_t handle, int, int n, int, const C*, int, const C*,     \
                                              int* size) {                                                             \
    return tell_size(NAME(G##_bufferSize), handle, size, n);                                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##G(cusolverDnHandle_t handle, int m, int n, int k, C* A, int lda, const C* tau, C* work, \
                                 int lwork, int* info) {                                                               \
    return answer(NAME(G), handle, [&](LibraryCall& call, cusolverDnContext& context) {                                \
      orgqr(call, context, m, n, k, as_numbers(A), lda, as_numbers(tau), around(info, work, lwork, n));                \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##M##_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t,     \
                                              int m, int n, int, const C*, int, const C*, const C*, int, int* size) {  \
    return tell_size(NAME(M##_bufferSize), handle, size, side == CUBLAS_SIDE_LEFT ? n : m);                            \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##M(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m,     \
                                 int n, int k, const C* A, int lda, const C* tau, C* c, int ldc, C* work, int lwork,   \
                                 int* info) {                                                                          \
    return answer(NAME(M), handle, [&](LibraryCall& call, cusolverDnContext& context) {                                \
      ormqr(call, context, side, trans, m, n, k, as_numbers(A), lda, as_numbers(tau), as_numbers(c), ldc,              \
            around(info, work, lwork, side == CUBLAS_SIDE_LEFT ? n : m));                                              \
    });                                                                                                                \
  }
QR_FACTOR(Sorgqr, Sormqr, float)
QR_FACTOR(Dorgqr, Dormqr, double)
QR_FACTOR(Cungqr, Cunmqr, cuComplex)
QR_FACTOR(Zungqr, Zunmqr, cuDoubleComplex)

#define SINGULAR_VALUES(L, C, R)                                                                                      \
  cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t handle, int, int n, int* size) {                \
    return tell_size(NAME(L##gesvd_bufferSize), handle, size, n);                                                     \
  }                                                                                                                   \
  cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, \
                                        C* A, int lda, R* S, C* U, int ldu, C* VT, int ldvt, C* work, int lwork, R*,  \
                                        int* info) {                                                                  \
    return answer(NAME(L##gesvd), handle, [&](LibraryCall& call, cusolverDnContext& context) {                        \
      require(m >= n, "there are fewer rows than columns");                                                           \
      gesvd<NumberOf<C>::Type>(call, context,                                                                         \
                               {m, n, as_numbers(A), lda, S, static_cast<char>(jobu), as_numbers(U), ldu,             \
                                static_cast<char>(jobvt), as_numbers(VT), ldvt},                                      \
                               around(info, work, lwork, n));                                                         \
    });                                                                                                               \
  }                                                                                                                   \
  cusolverStatus_t cusolverDn##L##gesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t, int, int, int n,    \
                                                    const C*, int, const R*, const C*, int, const C*, int, int* size, \
                                                    gesvdjInfo_t) {                                                   \
    return tell_size(NAME(L##gesvdj_bufferSize), handle, size, n);                                                    \
  }                                                                                                                   \
  cusolverStatus_t cusolverDn##L##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n,   \
                                         C* A, int lda, R* S, C* U, int ldu, C* V, int ldv, C* work, int lwork,       \
                                         int* info, gesvdjInfo_t) {                                                   \
    return answer(NAME(L##gesvdj), handle, [&](LibraryCall& call, cusolverDnContext& context) {                       \
      const char job = jobz == CUSOLVER_EIG_MODE_NOVECTOR ? 'N' : econ != 0 ? 'S' : 'A';                              \
      gesvd<NumberOf<C>::Type>(call, context,                                                                         \
                               {m, n, as_numbers(A), lda, S, job, as_numbers(U), ldu, job, as_numbers(V), ldv, true}, \
                               around(info, work, lwork, n));                                                         \
    });                                                                                                               \
  }
SINGULAR_VALUES(S, float, float)
SINGULAR_VALUES(D, double, double)
SINGULAR_VALUES(C, cuComplex, float)
SINGULAR_VALUES(Z, cuDoubleComplex, double)

#define EIGENVALUES(L, C, R)                                                                                           \
  cusolverStatus_t cusolverDn##L##evd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t,       \
                                                 int n, const C*, int, const R*, int* size) {                          \
    return tell_size(NAME(L##evd_bufferSize), handle, size, n);                                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##evd(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, \
                                      C* A, int lda, R* W, C* work, int lwork, int* info) {                            \
    return answer(NAME(L##evd), handle, [&](LibraryCall& call, cusolverDnContext& context) {                           \
      syevd(call, context, jobz, uplo, n, as_numbers(A), lda, W, around(info, work, lwork, n));                        \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##evj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t,       \
                                                 int n, const C*, int, const R*, int* size, syevjInfo_t) {             \
    return tell_size(NAME(L##evj_bufferSize), handle, size, n);                                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##evj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, \
                                      C* A, int lda, R* W, C* work, int lwork, int* info, syevjInfo_t) {               \
    return answer(NAME(L##evj), handle, [&](LibraryCall& call, cusolverDnContext& context) {                           \
      syevd(call, context, jobz, uplo, n, as_numbers(A), lda, W, around(info, work, lwork, n));                        \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##gvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t, cusolverEigMode_t,      \
                                                 cublasFillMode_t, int n, const C*, int, const C*, int, const R*,      \
                                                 int* size) {                                                          \
    return tell_size(NAME(L##gvd_bufferSize), handle, size, n);                                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##gvd(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,      \
                                      cublasFillMode_t uplo, int n, C* A, int lda, C* B, int ldb, R* W, C* work,       \
                                      int lwork, int* info) {                                                          \
    return answer(NAME(L##gvd), handle, [&](LibraryCall& call, cusolverDnContext& context) {                           \
      sygvd(call, context, itype, jobz, uplo, n, as_numbers(A), lda, as_numbers(B), ldb, W,                            \
            around(info, work, lwork, n));                                                                             \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##gvj_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t, cusolverEigMode_t,      \
                                                 cublasFillMode_t, int n, const C*, int, const C*, int, const R*,      \
                                                 int* size, syevjInfo_t) {                                             \
    return tell_size(NAME(L##gvj_bufferSize), handle, size, n);                                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##L##gvj(cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,      \
                                      cublasFillMode_t uplo, int n, C* A, int lda, C* B, int ldb, R* W, C* work,       \
                                      int lwork, int* info, syevjInfo_t) {                                             \
    return answer(NAME(L##gvj), handle, [&](LibraryCall& call, cusolverDnContext& context) {                           \
      sygvd(call, context, itype, jobz, uplo, n, as_numbers(A), lda, as_numbers(B), ldb, W,                            \
            around(info, work, lwork, n));                                                                             \
    });                                                                                                                \
  }
EIGENVALUES(Ssy, float, float)
EIGENVALUES(Dsy, double, double)
EIGENVALUES(Che, cuComplex, float)
EIGENVALUES(Zhe, cuDoubleComplex, double)

}  // extern "C"

// The functions of OpenBLAS that the stand-ins use, under names of ours: a program may have an OpenBLAS of its own.
// CMake reads the names from here.
#pragma once

#include <complex>

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

// The functions by the type of their numbers.

inline void gemm(int of_a, int of_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  OPENBLAS(cblas_sgemm)(kColumnMajor, of_a, of_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void symm(int side, int part, int m, int n, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  OPENBLAS(cblas_ssymm)(kColumnMajor, side, part, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void syrk(int part, int of_a, int n, int k, float alpha, const float* a, int lda, float beta, float* c,
                 int ldc) {
  OPENBLAS(cblas_ssyrk)(kColumnMajor, part, of_a, n, k, alpha, a, lda, beta, c, ldc);
}
inline void syr2k(int part, int of_a, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                  float beta, float* c, int ldc) {
  OPENBLAS(cblas_ssyr2k)(kColumnMajor, part, of_a, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void trmm(int side, int part, int of_a, int diagonal, int m, int n, float alpha, const float* a, int lda,
                 float* b, int ldb) {
  OPENBLAS(cblas_strmm)(kColumnMajor, side, part, of_a, diagonal, m, n, alpha, a, lda, b, ldb);
}
inline void trsm(int side, int part, int of_a, int diagonal, int m, int n, float alpha, const float* a, int lda,
                 float* b, int ldb) {
  OPENBLAS(cblas_strsm)(kColumnMajor, side, part, of_a, diagonal, m, n, alpha, a, lda, b, ldb);
}

inline void gemm(int of_a, int of_b, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                 int ldb, double beta, double* c, int ldc) {
  OPENBLAS(cblas_dgemm)(kColumnMajor, of_a, of_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void symm(int side, int part, int m, int n, double alpha, const double* a, int lda, const double* b, int ldb,
                 double beta, double* c, int ldc) {
  OPENBLAS(cblas_dsymm)(kColumnMajor, side, part, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void syrk(int part, int of_a, int n, int k, double alpha, const double* a, int lda, double beta, double* c,
                 int ldc) {
  OPENBLAS(cblas_dsyrk)(kColumnMajor, part, of_a, n, k, alpha, a, lda, beta, c, ldc);
}
inline void syr2k(int part, int of_a, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
                  double beta, double* c, int ldc) {
  OPENBLAS(cblas_dsyr2k)(kColumnMajor, part, of_a, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void trmm(int side, int part, int of_a, int diagonal, int m, int n, double alpha, const double* a, int lda,
                 double* b, int ldb) {
  OPENBLAS(cblas_dtrmm)(kColumnMajor, side, part, of_a, diagonal, m, n, alpha, a, lda, b, ldb);
}
inline void trsm(int side, int part, int of_a, int diagonal, int m, int n, double alpha, const double* a, int lda,
                 double* b, int ldb) {
  OPENBLAS(cblas_dtrsm)(kColumnMajor, side, part, of_a, diagonal, m, n, alpha, a, lda, b, ldb);
}

inline void gemm(int of_a, int of_b, int m, int n, int k, std::complex<float> alpha, const std::complex<float>* a,
                 int lda, const std::complex<float>* b, int ldb, std::complex<float> beta, std::complex<float>* c,
                 int ldc) {
  OPENBLAS(cblas_cgemm)(kColumnMajor, of_a, of_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void symm(int side, int part, int m, int n, std::complex<float> alpha, const std::complex<float>* a, int lda,
                 const std::complex<float>* b, int ldb, std::complex<float> beta, std::complex<float>* c, int ldc) {
  OPENBLAS(cblas_csymm)(kColumnMajor, side, part, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void syrk(int part, int of_a, int n, int k, std::complex<float> alpha, const std::complex<float>* a, int lda,
                 std::complex<float> beta, std::complex<float>* c, int ldc) {
  OPENBLAS(cblas_csyrk)(kColumnMajor, part, of_a, n, k, &alpha, a, lda, &beta, c, ldc);
}
inline void syr2k(int part, int of_a, int n, int k, std::complex<float> alpha, const std::complex<float>* a, int lda,
                  const std::complex<float>* b, int ldb, std::complex<float> beta, std::complex<float>* c, int ldc) {
  OPENBLAS(cblas_csyr2k)(kColumnMajor, part, of_a, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void trmm(int side, int part, int of_a, int diagonal, int m, int n, std::complex<float> alpha,
                 const std::complex<float>* a, int lda, std::complex<float>* b, int ldb) {
  OPENBLAS(cblas_ctrmm)(kColumnMajor, side, part, of_a, diagonal, m, n, &alpha, a, lda, b, ldb);
}
inline void trsm(int side, int part, int of_a, int diagonal, int m, int n, std::complex<float> alpha,
                 const std::complex<float>* a, int lda, std::complex<float>* b, int ldb) {
  OPENBLAS(cblas_ctrsm)(kColumnMajor, side, part, of_a, diagonal, m, n, &alpha, a, lda, b, ldb);
}
inline void hemm(int side, int part, int m, int n, std::complex<float> alpha, const std::complex<float>* a, int lda,
                 const std::complex<float>* b, int ldb, std::complex<float> beta, std::complex<float>* c, int ldc) {
  OPENBLAS(cblas_chemm)(kColumnMajor, side, part, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void herk(int part, int of_a, int n, int k, float alpha, const std::complex<float>* a, int lda, float beta,
                 std::complex<float>* c, int ldc) {
  OPENBLAS(cblas_cherk)(kColumnMajor, part, of_a, n, k, alpha, a, lda, beta, c, ldc);
}
inline void her2k(int part, int of_a, int n, int k, std::complex<float> alpha, const std::complex<float>* a, int lda,
                  const std::complex<float>* b, int ldb, float beta, std::complex<float>* c, int ldc) {
  OPENBLAS(cblas_cher2k)(kColumnMajor, part, of_a, n, k, &alpha, a, lda, b, ldb, beta, c, ldc);
}

inline void gemm(int of_a, int of_b, int m, int n, int k, std::complex<double> alpha, const std::complex<double>* a,
                 int lda, const std::complex<double>* b, int ldb, std::complex<double> beta, std::complex<double>* c,
                 int ldc) {
  OPENBLAS(cblas_zgemm)(kColumnMajor, of_a, of_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void symm(int side, int part, int m, int n, std::complex<double> alpha, const std::complex<double>* a, int lda,
                 const std::complex<double>* b, int ldb, std::complex<double> beta, std::complex<double>* c, int ldc) {
  OPENBLAS(cblas_zsymm)(kColumnMajor, side, part, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void syrk(int part, int of_a, int n, int k, std::complex<double> alpha, const std::complex<double>* a, int lda,
                 std::complex<double> beta, std::complex<double>* c, int ldc) {
  OPENBLAS(cblas_zsyrk)(kColumnMajor, part, of_a, n, k, &alpha, a, lda, &beta, c, ldc);
}
inline void syr2k(int part, int of_a, int n, int k, std::complex<double> alpha, const std::complex<double>* a, int lda,
                  const std::complex<double>* b, int ldb, std::complex<double> beta, std::complex<double>* c, int ldc) {
  OPENBLAS(cblas_zsyr2k)(kColumnMajor, part, of_a, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void trmm(int side, int part, int of_a, int diagonal, int m, int n, std::complex<double> alpha,
                 const std::complex<double>* a, int lda, std::complex<double>* b, int ldb) {
  OPENBLAS(cblas_ztrmm)(kColumnMajor, side, part, of_a, diagonal, m, n, &alpha, a, lda, b, ldb);
}
inline void trsm(int side, int part, int of_a, int diagonal, int m, int n, std::complex<double> alpha,
                 const std::complex<double>* a, int lda, std::complex<double>* b, int ldb) {
  OPENBLAS(cblas_ztrsm)(kColumnMajor, side, part, of_a, diagonal, m, n, &alpha, a, lda, b, ldb);
}
inline void hemm(int side, int part, int m, int n, std::complex<double> alpha, const std::complex<double>* a, int lda,
                 const std::complex<double>* b, int ldb, std::complex<double> beta, std::complex<double>* c, int ldc) {
  OPENBLAS(cblas_zhemm)(kColumnMajor, side, part, m, n, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
inline void herk(int part, int of_a, int n, int k, double alpha, const std::complex<double>* a, int lda, double beta,
                 std::complex<double>* c, int ldc) {
  OPENBLAS(cblas_zherk)(kColumnMajor, part, of_a, n, k, alpha, a, lda, beta, c, ldc);
}
inline void her2k(int part, int of_a, int n, int k, std::complex<double> alpha, const std::complex<double>* a, int lda,
                  const std::complex<double>* b, int ldb, double beta, std::complex<double>* c, int ldc) {
  OPENBLAS(cblas_zher2k)(kColumnMajor, part, of_a, n, k, &alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace convladder::stand_in

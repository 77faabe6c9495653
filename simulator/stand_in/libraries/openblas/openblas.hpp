// The functions of OpenBLAS that the stand-ins use, under names of ours: a program may have an OpenBLAS of its own.
// CMake reads the names from here.
#pragma once

#define OPENBLAS(name) convladder_openblas_##name

namespace convladder::stand_in {

// The numbers of cblas.h.
inline constexpr int kColumnMajor = 102;
inline constexpr int kPlain = 111;
inline constexpr int kTransposed = 112;
inline constexpr int kConjugateTransposed = 113;

}  // namespace convladder::stand_in

extern "C" {

void OPENBLAS(cblas_sgemm)(int order, int of_a, int of_b, int m, int n, int k, float alpha, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c, int ldc);

}  // extern "C"

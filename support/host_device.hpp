// Functions that are compiled for the host and, by nvcc and clang, also for a GPU: with the same bits from both.
#pragma once

#if defined(__CUDACC__) || defined(__CUDA__)
#define CONVLADDER_HOST_DEVICE __host__ __device__
#else
#define CONVLADDER_HOST_DEVICE
#endif

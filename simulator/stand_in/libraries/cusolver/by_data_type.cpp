// cuSOLVER's functions that are told the type of their numbers, with sizes of 64 bits: cusolverDnXpotrf.
#include "simulator/stand_in/libraries/cusolver/factorizations.hpp"

using namespace convladder::stand_in;
using namespace convladder::stand_in::cusolver;

namespace {

/// Calls `work` with a number of the type. Throws Refused for types that are not taken.
template <typename Work>
void with_type(cudaDataType type, cudaDataType other, const Work& work) {
  require(type == other, "the types differ");
  switch (type) {
    case CUDA_R_32F:
      return work(float{});
    case CUDA_R_64F:
      return work(double{});
    case CUDA_C_32F:
      return work(std::complex<float>{});
    case CUDA_C_64F:
      return work(std::complex<double>{});
    default:
      throw Refused(CUSOLVER_STATUS_NOT_SUPPORTED, "numbers of this type are not computed here");
  }
}

cusolverStatus_t tell_bytes(const char* name, cusolverDnHandle_t handle, std::size_t* on_device, std::size_t* on_host,
                            std::int64_t columns, cudaDataType type) {
  return answer(name, handle, [&](LibraryCall&, cusolverDnContext&) {
    require(on_device != nullptr && on_host != nullptr, "the place for a size is null");
    require(columns >= 0, "a size is negative");
    with_type(type, type,
              [&](auto number) { *on_device = static_cast<std::size_t>(work_count(columns)) * sizeof number; });
    *on_host = 0;
  });
}

template <typename T>
Around around_bytes(int* info, void* work, std::size_t bytes, std::int64_t columns) {
  return {info, work, static_cast<std::int64_t>(bytes), work_count(columns) * static_cast<std::int64_t>(sizeof(T))};
}

}  // namespace

extern "C" {

#define WORK void *device_work, std::size_t device_bytes, void *, std::size_t, int *info

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t,
                                             std::int64_t n, cudaDataType type, const void*, std::int64_t, cudaDataType,
                                             std::size_t* on_device, std::size_t* on_host) {
  return tell_bytes("cusolverDnXpotrf_bufferSize", handle, on_device, on_host, n, type);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, std::int64_t n,
                                  cudaDataType type, void* A, std::int64_t lda, cudaDataType compute, WORK) {
  return answer("cusolverDnXpotrf", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    with_type(type, compute, [&](auto number) {
      using T = decltype(number);
      potrf(call, context, uplo, n, static_cast<T*>(A), lda, around_bytes<T>(info, device_work, device_bytes, n));
    });
  });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t uplo, std::int64_t n,
                                  std::int64_t nrhs, cudaDataType type, const void* A, std::int64_t lda,
                                  cudaDataType type_b, void* B, std::int64_t ldb, int* info) {
  return answer("cusolverDnXpotrs", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    with_type(type, type_b, [&](auto number) {
      using T = decltype(number);
      potrs(call, context, uplo, n, nrhs, static_cast<const T*>(A), lda, static_cast<T*>(B), ldb, {.info = info});
    });
  });
}
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, std::int64_t,
                                             std::int64_t n, cudaDataType type, const void*, std::int64_t, cudaDataType,
                                             std::size_t* on_device, std::size_t* on_host) {
  return tell_bytes("cusolverDnXgetrf_bufferSize", handle, on_device, on_host, n, type);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, std::int64_t m, std::int64_t n,
                                  cudaDataType type, void* A, std::int64_t lda, std::int64_t* pivots,
                                  cudaDataType compute, WORK) {
  return answer("cusolverDnXgetrf", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    with_type(type, compute, [&](auto number) {
      using T = decltype(number);
      getrf(call, context, m, n, static_cast<T*>(A), lda, pivots, around_bytes<T>(info, device_work, device_bytes, n));
    });
  });
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t trans,
                                  std::int64_t n, std::int64_t nrhs, cudaDataType type, const void* A, std::int64_t lda,
                                  const std::int64_t* pivots, cudaDataType type_b, void* B, std::int64_t ldb,
                                  int* info) {
  return answer("cusolverDnXgetrs", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    with_type(type, type_b, [&](auto number) {
      using T = decltype(number);
      getrs(call, context, trans, n, nrhs, static_cast<const T*>(A), lda, pivots, static_cast<T*>(B), ldb,
            {.info = info});
    });
  });
}
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, std::int64_t,
                                             std::int64_t n, cudaDataType type, const void*, std::int64_t, cudaDataType,
                                             const void*, cudaDataType, std::size_t* on_device, std::size_t* on_host) {
  return tell_bytes("cusolverDnXgeqrf_bufferSize", handle, on_device, on_host, n, type);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, std::int64_t m, std::int64_t n,
                                  cudaDataType type, void* A, std::int64_t lda, cudaDataType type_tau, void* tau,
                                  cudaDataType, WORK) {
  return answer("cusolverDnXgeqrf", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    with_type(type, type_tau, [&](auto number) {
      using T = decltype(number);
      geqrf(call, context, m, n, static_cast<T*>(A), lda, static_cast<T*>(tau),
            around_bytes<T>(info, device_work, device_bytes, n));
    });
  });
}
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, std::int64_t n, cudaDataType type, const void*,
                                             std::int64_t, cudaDataType, const void*, cudaDataType,
                                             std::size_t* on_device, std::size_t* on_host) {
  return tell_bytes("cusolverDnXsyevd_bufferSize", handle, on_device, on_host, n, type);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, std::int64_t n, cudaDataType type, void* A, std::int64_t lda,
                                  cudaDataType, void* W, cudaDataType compute, WORK) {
  return answer("cusolverDnXsyevd", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    with_type(type, compute, [&](auto number) {
      using T = decltype(number);
      syevd(call, context, jobz, uplo, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(W),
            around_bytes<T>(info, device_work, device_bytes, n));
    });
  });
}
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, signed char, signed char,
                                             std::int64_t, std::int64_t n, cudaDataType type, const void*, std::int64_t,
                                             cudaDataType, const void*, cudaDataType, const void*, std::int64_t,
                                             cudaDataType, const void*, std::int64_t, cudaDataType,
                                             std::size_t* on_device, std::size_t* on_host) {
  return tell_bytes("cusolverDnXgesvd_bufferSize", handle, on_device, on_host, n, type);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu, signed char jobvt,
                                  std::int64_t m, std::int64_t n, cudaDataType type, void* A, std::int64_t lda,
                                  cudaDataType, void* S, cudaDataType, void* U, std::int64_t ldu, cudaDataType,
                                  void* VT, std::int64_t ldvt, cudaDataType compute, WORK) {
  return answer("cusolverDnXgesvd", handle, [&](LibraryCall& call, cusolverDnContext& context) {
    require(m >= n, "there are fewer rows than columns");
    with_type(type, compute, [&](auto number) {
      using T = decltype(number);
      gesvd<T>(call, context,
               {m, n, static_cast<T*>(A), lda, static_cast<Real<T>*>(S), static_cast<char>(jobu), static_cast<T*>(U),
                ldu, static_cast<char>(jobvt), static_cast<T*>(VT), ldvt},
               around_bytes<T>(info, device_work, device_bytes, n));
    });
  });
}

}  // extern "C"

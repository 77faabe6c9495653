// The numbers that the stand-in answers with are those of both APIs' headers.
#include "simulator/stand_in/status.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace convladder::stand_in {
namespace {

template <int kStatus, int kRuntime, int kDriver = kRuntime>
constexpr bool kSame = kStatus == kRuntime&& kStatus == kDriver;

static_assert(kSame<kSuccess, cudaSuccess, CUDA_SUCCESS>);
static_assert(kSame<kInvalidValue, cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE>);
static_assert(kSame<kOutOfMemory, cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY>);
static_assert(kSame<kNotInitialized, cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED>);
static_assert(kSame<kDeinitialized, cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED>);
static_assert(kSame<kInvalidConfiguration, cudaErrorInvalidConfiguration>);
static_assert(kSame<kInvalidPitchValue, cudaErrorInvalidPitchValue>);
static_assert(kSame<kInvalidSymbol, cudaErrorInvalidSymbol>);
static_assert(kSame<kInvalidCopyDirection, cudaErrorInvalidMemcpyDirection>);
static_assert(kSame<kInsufficientDriver, cudaErrorInsufficientDriver>);
static_assert(kSame<kDeviceUnavailable, cudaErrorDevicesUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE>);
static_assert(kSame<kInvalidDeviceFunction, cudaErrorInvalidDeviceFunction>);
static_assert(kSame<kNoDevice, cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE>);
static_assert(kSame<kInvalidDevice, cudaErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE>);
static_assert(kSame<kInvalidImage, cudaErrorInvalidKernelImage, CUDA_ERROR_INVALID_IMAGE>);
static_assert(kSame<kInvalidContext, cudaErrorDeviceUninitialized, CUDA_ERROR_INVALID_CONTEXT>);
static_assert(kSame<kNoKernelImage, cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU>);
static_assert(kSame<kInvalidPtx, cudaErrorInvalidPtx, CUDA_ERROR_INVALID_PTX>);
static_assert(kSame<kFileNotFound, cudaErrorFileNotFound, CUDA_ERROR_FILE_NOT_FOUND>);
static_assert(kSame<kInvalidHandle, cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE>);
static_assert(kSame<kIllegalState, cudaErrorIllegalState, CUDA_ERROR_ILLEGAL_STATE>);
static_assert(kSame<kSymbolNotFound, cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND>);
static_assert(kSame<kNotReady, cudaErrorNotReady, CUDA_ERROR_NOT_READY>);
static_assert(kSame<kIllegalAddress, cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS>);
static_assert(kSame<kLaunchOutOfResources, cudaErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES>);
static_assert(kSame<kLaunchTimeout, cudaErrorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT>);
static_assert(kSame<kContextIsDestroyed, cudaErrorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED>);
static_assert(kSame<kAssert, cudaErrorAssert, CUDA_ERROR_ASSERT>);
static_assert(
    kSame<kAlreadyRegistered, cudaErrorHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED>);
static_assert(kSame<kNotRegistered, cudaErrorHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED>);
static_assert(kSame<kMisalignedAddress, cudaErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS>);
static_assert(kSame<kLaunchFailure, cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED>);
static_assert(
    kSame<kCooperativeLaunchTooLarge, cudaErrorCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE>);
static_assert(kSame<kNotPermitted, cudaErrorNotPermitted, CUDA_ERROR_NOT_PERMITTED>);
static_assert(kSame<kNotSupported, cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED>);
static_assert(
    kSame<kStreamCaptureUnsupported, cudaErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED>);
static_assert(
    kSame<kStreamCaptureInvalidated, cudaErrorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED>);
static_assert(kSame<kStreamCaptureImplicit, cudaErrorStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT>);
static_assert(kSame<kUnknown, cudaErrorUnknown, CUDA_ERROR_UNKNOWN>);

TEST(Status, StaysWhereAKernelHasFailed) {
  EXPECT_TRUE(is_sticky(kIllegalAddress));
  EXPECT_TRUE(is_sticky(kAssert));
  EXPECT_FALSE(is_sticky(kOutOfMemory));
  EXPECT_FALSE(is_sticky(kCooperativeLaunchTooLarge));
}

}  // namespace
}  // namespace convladder::stand_in

#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {

bool is_sticky(Status status) {
  switch (status) {
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kMisalignedAddress:
    case kLaunchFailure:
      return true;
    default:
      return false;
  }
}

std::string_view status_name(int status) {
  switch (status) {
    case kSuccess:
      return "cudaSuccess";
    case kInvalidValue:
      return "cudaErrorInvalidValue";
    case kOutOfMemory:
      return "cudaErrorMemoryAllocation";
    case kNotInitialized:
      return "cudaErrorInitializationError";
    case kDeinitialized:
      return "cudaErrorCudartUnloading";
    case kInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case kInvalidPitchValue:
      return "cudaErrorInvalidPitchValue";
    case kInvalidSymbol:
      return "cudaErrorInvalidSymbol";
    case kInvalidCopyDirection:
      return "cudaErrorInvalidMemcpyDirection";
    case kInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case kNoDevice:
      return "cudaErrorNoDevice";
    case kInvalidDevice:
      return "cudaErrorInvalidDevice";
    case kDeviceUnavailable:
      return "cudaErrorDevicesUnavailable";
    case kInvalidDeviceFunction:
      return "cudaErrorInvalidDeviceFunction";
    case kInvalidImage:
      return "cudaErrorInvalidKernelImage";
    case kInvalidContext:
      return "cudaErrorDeviceUninitialized";
    case kNoKernelImage:
      return "cudaErrorNoKernelImageForDevice";
    case kInvalidPtx:
      return "cudaErrorInvalidPtx";
    case kAlreadyRegistered:
      return "cudaErrorHostMemoryAlreadyRegistered";
    case kNotRegistered:
      return "cudaErrorHostMemoryNotRegistered";
    case kFileNotFound:
      return "cudaErrorFileNotFound";
    case kInvalidHandle:
      return "cudaErrorInvalidResourceHandle";
    case kIllegalState:
      return "cudaErrorIllegalState";
    case kSymbolNotFound:
      return "cudaErrorSymbolNotFound";
    case kNotReady:
      return "cudaErrorNotReady";
    case kIllegalAddress:
      return "cudaErrorIllegalAddress";
    case kLaunchOutOfResources:
      return "cudaErrorLaunchOutOfResources";
    case kLaunchTimeout:
      return "cudaErrorLaunchTimeout";
    case kPeerAccessAlreadyEnabled:
      return "cudaErrorPeerAccessAlreadyEnabled";
    case kPeerAccessNotEnabled:
      return "cudaErrorPeerAccessNotEnabled";
    case kAssert:
      return "cudaErrorAssert";
    case kMisalignedAddress:
      return "cudaErrorMisalignedAddress";
    case kLaunchFailure:
      return "cudaErrorLaunchFailure";
    case kCooperativeLaunchTooLarge:
      return "cudaErrorCooperativeLaunchTooLarge";
    case kNotPermitted:
      return "cudaErrorNotPermitted";
    case kNotSupported:
      return "cudaErrorNotSupported";
    case kStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case kStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case kStreamCaptureImplicit:
      return "cudaErrorStreamCaptureImplicit";
    case kInvalidClusterSize:
      return "cudaErrorInvalidClusterSize";
    case kUnknown:
      return "cudaErrorUnknown";
    default:
      return "";
  }
}

}  // namespace convladder::stand_in

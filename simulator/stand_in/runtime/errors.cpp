// Names and texts of errors, and the answer to calls that are not supported.
#include <algorithm>
#include <array>

#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

struct ErrorText {
  cudaError_t status;
  const char* name;
  const char* text;
};

constexpr std::array kErrors = {
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    ErrorText{cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "cudart unloading"},
    ErrorText{cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled", "profiler disabled"},
    ErrorText{cudaErrorProfilerNotInitialized, "cudaErrorProfilerNotInitialized", "profiler not initialized"},
    ErrorText{cudaErrorProfilerAlreadyStarted, "cudaErrorProfilerAlreadyStarted", "profiler already started"},
    ErrorText{cudaErrorProfilerAlreadyStopped, "cudaErrorProfilerAlreadyStopped", "profiler already stopped"},
    ErrorText{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    ErrorText{cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    ErrorText{cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    ErrorText{cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    ErrorText{cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    ErrorText{cudaErrorInvalidTexture, "cudaErrorInvalidTexture", "invalid texture"},
    ErrorText{cudaErrorInvalidTextureBinding, "cudaErrorInvalidTextureBinding", "invalid texture binding"},
    ErrorText{cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    ErrorText{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    ErrorText{cudaErrorAddressOfConstant, "cudaErrorAddressOfConstant", "address of constant"},
    ErrorText{cudaErrorTextureFetchFailed, "cudaErrorTextureFetchFailed", "texture fetch failed"},
    ErrorText{cudaErrorTextureNotBound, "cudaErrorTextureNotBound", "texture not bound"},
    ErrorText{cudaErrorSynchronizationError, "cudaErrorSynchronizationError", "synchronization error"},
    ErrorText{cudaErrorInvalidFilterSetting, "cudaErrorInvalidFilterSetting", "invalid filter setting"},
    ErrorText{cudaErrorInvalidNormSetting, "cudaErrorInvalidNormSetting", "invalid norm setting"},
    ErrorText{cudaErrorMixedDeviceExecution, "cudaErrorMixedDeviceExecution", "mixed device execution"},
    ErrorText{cudaErrorNotYetImplemented, "cudaErrorNotYetImplemented", "not yet implemented"},
    ErrorText{cudaErrorMemoryValueTooLarge, "cudaErrorMemoryValueTooLarge", "memory value too large"},
    ErrorText{cudaErrorStubLibrary, "cudaErrorStubLibrary", "stub library"},
    ErrorText{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
              "CUDA driver version is insufficient for CUDA runtime version"},
    ErrorText{cudaErrorCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver", "call requires newer driver"},
    ErrorText{cudaErrorInvalidSurface, "cudaErrorInvalidSurface", "invalid surface"},
    ErrorText{cudaErrorDuplicateVariableName, "cudaErrorDuplicateVariableName", "duplicate variable name"},
    ErrorText{cudaErrorDuplicateTextureName, "cudaErrorDuplicateTextureName", "duplicate texture name"},
    ErrorText{cudaErrorDuplicateSurfaceName, "cudaErrorDuplicateSurfaceName", "duplicate surface name"},
    ErrorText{cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
              "CUDA-capable device(s) is/are busy or unavailable"},
    ErrorText{cudaErrorIncompatibleDriverContext, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
    ErrorText{cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "missing configuration"},
    ErrorText{cudaErrorPriorLaunchFailure, "cudaErrorPriorLaunchFailure", "prior launch failure"},
    ErrorText{cudaErrorLaunchMaxDepthExceeded, "cudaErrorLaunchMaxDepthExceeded", "launch max depth exceeded"},
    ErrorText{cudaErrorLaunchFileScopedTex, "cudaErrorLaunchFileScopedTex", "launch file scoped tex"},
    ErrorText{cudaErrorLaunchFileScopedSurf, "cudaErrorLaunchFileScopedSurf", "launch file scoped surf"},
    ErrorText{cudaErrorSyncDepthExceeded, "cudaErrorSyncDepthExceeded", "sync depth exceeded"},
    ErrorText{cudaErrorLaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
              "launch pending count exceeded"},
    ErrorText{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorDeviceNotLicensed, "cudaErrorDeviceNotLicensed", "device not licensed"},
    ErrorText{cudaErrorSoftwareValidityNotEstablished, "cudaErrorSoftwareValidityNotEstablished",
              "software validity not established"},
    ErrorText{cudaErrorStartupFailure, "cudaErrorStartupFailure", "startup failure"},
    ErrorText{cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "invalid kernel image"},
    ErrorText{cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "device uninitialized"},
    ErrorText{cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed", "map buffer object failed"},
    ErrorText{cudaErrorUnmapBufferObjectFailed, "cudaErrorUnmapBufferObjectFailed", "unmap buffer object failed"},
    ErrorText{cudaErrorArrayIsMapped, "cudaErrorArrayIsMapped", "array is mapped"},
    ErrorText{cudaErrorAlreadyMapped, "cudaErrorAlreadyMapped", "already mapped"},
    ErrorText{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
              "no kernel image is available for execution on the device"},
    ErrorText{cudaErrorAlreadyAcquired, "cudaErrorAlreadyAcquired", "already acquired"},
    ErrorText{cudaErrorNotMapped, "cudaErrorNotMapped", "not mapped"},
    ErrorText{cudaErrorNotMappedAsArray, "cudaErrorNotMappedAsArray", "not mapped as array"},
    ErrorText{cudaErrorNotMappedAsPointer, "cudaErrorNotMappedAsPointer", "not mapped as pointer"},
    ErrorText{cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "ECC uncorrectable"},
    ErrorText{cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit", "unsupported limit"},
    ErrorText{cudaErrorDeviceAlreadyInUse, "cudaErrorDeviceAlreadyInUse", "device already in use"},
    ErrorText{cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported", "peer access unsupported"},
    ErrorText{cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    ErrorText{cudaErrorInvalidGraphicsContext, "cudaErrorInvalidGraphicsContext", "invalid graphics context"},
    ErrorText{cudaErrorNvlinkUncorrectable, "cudaErrorNvlinkUncorrectable", "nvlink uncorrectable"},
    ErrorText{cudaErrorJitCompilerNotFound, "cudaErrorJitCompilerNotFound", "jit compiler not found"},
    ErrorText{cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion", "unsupported ptx version"},
    ErrorText{cudaErrorJitCompilationDisabled, "cudaErrorJitCompilationDisabled", "jit compilation disabled"},
    ErrorText{cudaErrorUnsupportedExecAffinity, "cudaErrorUnsupportedExecAffinity", "unsupported exec affinity"},
    ErrorText{cudaErrorUnsupportedDevSideSync, "cudaErrorUnsupportedDevSideSync", "unsupported dev side sync"},
    ErrorText{cudaErrorContained, "cudaErrorContained", "contained"},
    ErrorText{cudaErrorInvalidSource, "cudaErrorInvalidSource", "invalid source"},
    ErrorText{cudaErrorFileNotFound, "cudaErrorFileNotFound", "file not found"},
    ErrorText{cudaErrorSharedObjectSymbolNotFound, "cudaErrorSharedObjectSymbolNotFound",
              "shared object symbol not found"},
    ErrorText{cudaErrorSharedObjectInitFailed, "cudaErrorSharedObjectInitFailed", "shared object init failed"},
    ErrorText{cudaErrorOperatingSystem, "cudaErrorOperatingSystem", "operating system"},
    ErrorText{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    ErrorText{cudaErrorIllegalState, "cudaErrorIllegalState", "illegal state"},
    ErrorText{cudaErrorLossyQuery, "cudaErrorLossyQuery", "lossy query"},
    ErrorText{cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "symbol not found"},
    ErrorText{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorText{cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    ErrorText{cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
              "too many resources requested for launch"},
    ErrorText{cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    ErrorText{cudaErrorLaunchIncompatibleTexturing, "cudaErrorLaunchIncompatibleTexturing",
              "launch incompatible texturing"},
    ErrorText{cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access already enabled"},
    ErrorText{cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access not enabled"},
    ErrorText{cudaErrorSetOnActiveProcess, "cudaErrorSetOnActiveProcess", "set on active process"},
    ErrorText{cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    ErrorText{cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    ErrorText{cudaErrorTooManyPeers, "cudaErrorTooManyPeers", "too many peers"},
    ErrorText{cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
              "host memory already registered"},
    ErrorText{cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "host memory not registered"},
    ErrorText{cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    ErrorText{cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction", "illegal instruction"},
    ErrorText{cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    ErrorText{cudaErrorInvalidAddressSpace, "cudaErrorInvalidAddressSpace", "invalid address space"},
    ErrorText{cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid pc"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
              "too many blocks in cooperative launch"},
    ErrorText{cudaErrorTensorMemoryLeak, "cudaErrorTensorMemoryLeak", "tensor memory leak"},
    ErrorText{cudaErrorNotPermitted, "cudaErrorNotPermitted", "not permitted"},
    ErrorText{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    ErrorText{cudaErrorSystemNotReady, "cudaErrorSystemNotReady", "system not ready"},
    ErrorText{cudaErrorSystemDriverMismatch, "cudaErrorSystemDriverMismatch", "system driver mismatch"},
    ErrorText{cudaErrorCompatNotSupportedOnDevice, "cudaErrorCompatNotSupportedOnDevice",
              "compat not supported on device"},
    ErrorText{cudaErrorMpsConnectionFailed, "cudaErrorMpsConnectionFailed", "mps connection failed"},
    ErrorText{cudaErrorMpsRpcFailure, "cudaErrorMpsRpcFailure", "mps rpc failure"},
    ErrorText{cudaErrorMpsServerNotReady, "cudaErrorMpsServerNotReady", "mps server not ready"},
    ErrorText{cudaErrorMpsMaxClientsReached, "cudaErrorMpsMaxClientsReached", "mps max clients reached"},
    ErrorText{cudaErrorMpsMaxConnectionsReached, "cudaErrorMpsMaxConnectionsReached", "mps max connections reached"},
    ErrorText{cudaErrorMpsClientTerminated, "cudaErrorMpsClientTerminated", "mps client terminated"},
    ErrorText{cudaErrorCdpNotSupported, "cudaErrorCdpNotSupported", "cdp not supported"},
    ErrorText{cudaErrorCdpVersionMismatch, "cudaErrorCdpVersionMismatch", "cdp version mismatch"},
    ErrorText{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "stream capture unsupported"},
    ErrorText{cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "stream capture invalidated"},
    ErrorText{cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge", "stream capture merge"},
    ErrorText{cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "stream capture unmatched"},
    ErrorText{cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "stream capture unjoined"},
    ErrorText{cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "stream capture isolation"},
    ErrorText{cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit", "stream capture implicit"},
    ErrorText{cudaErrorCapturedEvent, "cudaErrorCapturedEvent", "captured event"},
    ErrorText{cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread", "stream capture wrong thread"},
    ErrorText{cudaErrorTimeout, "cudaErrorTimeout", "timeout"},
    ErrorText{cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure", "graph exec update failure"},
    ErrorText{cudaErrorExternalDevice, "cudaErrorExternalDevice", "external device"},
    ErrorText{cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "invalid cluster size"},
    ErrorText{cudaErrorFunctionNotLoaded, "cudaErrorFunctionNotLoaded", "function not loaded"},
    ErrorText{cudaErrorInvalidResourceType, "cudaErrorInvalidResourceType", "invalid resource type"},
    ErrorText{cudaErrorInvalidResourceConfiguration, "cudaErrorInvalidResourceConfiguration",
              "invalid resource configuration"},
    ErrorText{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    ErrorText{cudaErrorApiFailureBase, "cudaErrorApiFailureBase", "api failure base"},
};

const ErrorText* find(cudaError_t status) {
  const auto found = std::ranges::find(kErrors, status, &ErrorText::status);
  return found == kErrors.end() ? nullptr : &*found;
}

/// The machine does not call the runtime, but kernels may ask it for these.
[[maybe_unused]] const bool machine_knows_texts = [] {
  Machine::name_of_error = [](int status) { return cudaGetErrorName(static_cast<cudaError_t>(status)); };
  Machine::text_of_error = [](int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); };
  return true;
}();

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t status) {
  const ErrorText* const found = find(status);
  return found == nullptr ? "unrecognized error code" : found->name;
}

const char* cudaGetErrorString(cudaError_t status) {
  const ErrorText* const found = find(status);
  return found == nullptr ? "unrecognized error code" : found->text;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetLastError() {
  const cudaError_t status = last_error;
  last_error = is_sticky(static_cast<Status>(status)) ? status : cudaSuccess;
  return status;
}

/// Answers unsupported calls, for code that does not know their parameters; the report names the call.
int convladder_stand_in_refuse(const char* name) noexcept {
  return answer(name, [name](Machine& machine) {
    machine.report.not_supported(asked_by == nullptr ? name : asked_by);
    throw Failure(kNotSupported);
  });
}

}  // extern "C"

// The statuses of calls. Since CUDA 10.1 the runtime and the driver use the same numbers for the same errors.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace convladder::stand_in {

/// The numbers that this stand-in returns, from `cudaError_t` and `CUresult`; the tests compare them.
enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidCopyDirection = 21,
  kInsufficientDriver = 35,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kDeviceUnavailable = 46,
  kInvalidDeviceFunction = 98,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoKernelImage = 209,
  kInvalidPtx = 218,
  kContextIsDestroyed = 709,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kAssert = 710,
  kMisalignedAddress = 716,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kGraphUpdateFailure = 910,
  kInvalidClusterSize = 912,
  kUnknown = 999
};

/// Ends a call with this status. The text is for the report; empty where the status says everything.
struct Failure : std::runtime_error {
  explicit Failure(Status code, const std::string& text = "") : std::runtime_error(text), status(code) {}
  Status status;
};

/// A failure that the report does not list: it is listed already, or is the answer to a question, as whether the driver
/// knows what only newer ones do.
struct Unlisted : Failure {
  using Failure::Failure;
};

/// Whether no later call of this process can succeed: its context is lost, as on a GPU.
bool is_sticky(Status status);

/// The name of a status, "cudaErrorInvalidValue"; empty for another number.
std::string_view status_name(int status);

/// The text of a status, as cudaGetErrorString gives it; empty for another number. Both end in a zero byte.
std::string_view status_text(int status);

}  // namespace convladder::stand_in

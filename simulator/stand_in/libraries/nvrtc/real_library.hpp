// NVIDIA's NVRTC, where this machine has one: it compiles, without a GPU.
#pragma once

#include <nvrtc.h>

namespace convladder::stand_in::nvrtc {

/// Its functions; null where its version has none of that name.
struct RealLibrary {
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) architecture_count = nullptr;
  decltype(&nvrtcGetSupportedArchs) architectures = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
  decltype(&nvrtcGetCUBINSize) machine_code_size = nullptr;
  decltype(&nvrtcGetCUBIN) machine_code = nullptr;
  decltype(&nvrtcGetLTOIRSize) intermediate_size = nullptr;
  decltype(&nvrtcGetLTOIR) intermediate = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcAddNameExpression) add_name = nullptr;
  decltype(&nvrtcGetLoweredName) lowered_name = nullptr;
};

/// The library (open_real_library); null where there is none, or one that lacks what is needed.
const RealLibrary* real_library();

}  // namespace convladder::stand_in::nvrtc

#include "simulator/stand_in/libraries/nvrtc/real_library.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "simulator/stand_in/libraries/toolkits/toolkits.hpp"

namespace convladder::stand_in::nvrtc {

const RealLibrary* real_library() {
  static const RealLibrary* const kLibrary = []() -> const RealLibrary* {
    void* const handle = open_real_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"});
    if (handle == nullptr) return nullptr;
    auto* const library = new RealLibrary;
    const auto load = [handle](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    };
    load(library->version, "nvrtcVersion");
    load(library->error_string, "nvrtcGetErrorString");
    load(library->architecture_count, "nvrtcGetNumSupportedArchs");
    load(library->architectures, "nvrtcGetSupportedArchs");
    load(library->create, "nvrtcCreateProgram");
    load(library->destroy, "nvrtcDestroyProgram");
    load(library->compile, "nvrtcCompileProgram");
    load(library->ptx_size, "nvrtcGetPTXSize");
    load(library->ptx, "nvrtcGetPTX");
    load(library->machine_code_size, "nvrtcGetCUBINSize");
    load(library->machine_code, "nvrtcGetCUBIN");
    load(library->intermediate_size, "nvrtcGetLTOIRSize");
    load(library->intermediate, "nvrtcGetLTOIR");
    load(library->log_size, "nvrtcGetProgramLogSize");
    load(library->log, "nvrtcGetProgramLog");
    load(library->add_name, "nvrtcAddNameExpression");
    load(library->lowered_name, "nvrtcGetLoweredName");
    const bool is_whole = library->create != nullptr && library->compile != nullptr && library->ptx != nullptr &&
                          library->ptx_size != nullptr && library->destroy != nullptr && library->log != nullptr &&
                          library->log_size != nullptr;
    return is_whole ? library : nullptr;
  }();
  return kLibrary;
}

}  // namespace convladder::stand_in::nvrtc

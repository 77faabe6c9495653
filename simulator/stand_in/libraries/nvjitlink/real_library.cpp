#include "simulator/stand_in/libraries/nvjitlink/real_library.hpp"

#include <dlfcn.h>
#include <nvJitLink.h>

#include <cstdint>
#include <type_traits>

#include "simulator/stand_in/libraries/toolkits/toolkits.hpp"

namespace convladder::stand_in::nvjitlink {
namespace {

/// Its functions, which each version has by these names as well.
struct RealLibrary {
  nvJitLinkResult (*version)(unsigned*, unsigned*) = nullptr;
  nvJitLinkResult (*create)(nvJitLinkHandle*, std::uint32_t, const char**) = nullptr;
  nvJitLinkResult (*destroy)(nvJitLinkHandle*) = nullptr;
  nvJitLinkResult (*add_data)(nvJitLinkHandle, nvJitLinkInputType, const void*, std::size_t, const char*) = nullptr;
  nvJitLinkResult (*complete)(nvJitLinkHandle) = nullptr;
  nvJitLinkResult (*ptx_size)(nvJitLinkHandle, std::size_t*) = nullptr;
  nvJitLinkResult (*ptx)(nvJitLinkHandle, char*) = nullptr;
  nvJitLinkResult (*errors_size)(nvJitLinkHandle, std::size_t*) = nullptr;
  nvJitLinkResult (*errors)(nvJitLinkHandle, char*) = nullptr;
};

const RealLibrary* real_library() {
  static const RealLibrary* const kLibrary = []() -> const RealLibrary* {
    void* const handle = open_real_library({"libnvJitLink.so.13", "libnvJitLink.so.12"});
    if (handle == nullptr) return nullptr;
    auto* const library = new RealLibrary;
    bool is_whole = true;
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      is_whole = is_whole && function != nullptr;
    };
    load(library->version, "nvJitLinkVersion");
    load(library->create, "nvJitLinkCreate");
    load(library->destroy, "nvJitLinkDestroy");
    load(library->add_data, "nvJitLinkAddData");
    load(library->complete, "nvJitLinkComplete");
    load(library->ptx_size, "nvJitLinkGetLinkedPtxSize");
    load(library->ptx, "nvJitLinkGetLinkedPtx");
    load(library->errors_size, "nvJitLinkGetErrorLogSize");
    load(library->errors, "nvJitLinkGetErrorLog");
    return is_whole ? library : nullptr;
  }();
  return kLibrary;
}

/// A text of the library, which counts the zero behind it.
template <typename Size, typename Get>
std::string text_of(nvJitLinkHandle handle, const Size& size, const Get& get) {
  std::size_t bytes = 0;
  if (size(handle, &bytes) != NVJITLINK_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(handle, text.data()) != NVJITLINK_SUCCESS) return {};
  text.resize(text.find('\0') == std::string::npos ? bytes : text.find('\0'));
  return text;
}

}  // namespace

Compiled compile(const std::vector<std::string>& options, const std::vector<std::string>& intermediates) {
  const RealLibrary* const real = real_library();
  if (real == nullptr) {
    return {false,
            "LTO-IR needs libnvJitLink, which this machine lacks: a CUDA toolkit, or the Python package "
            "nvidia-nvjitlink"};
  }
  std::vector<const char*> words = {"-lto", "-ptx"};
  for (const std::string& option : options) {
    if (option != "-lto" && option != "-ptx") words.push_back(option.c_str());
  }
  nvJitLinkHandle handle = nullptr;
  nvJitLinkResult status = real->create(&handle, static_cast<std::uint32_t>(words.size()), words.data());
  if (status != NVJITLINK_SUCCESS) return {false, "nvJitLink takes none of these options for LTO-IR"};
  for (const std::string& one : intermediates) {
    if (status == NVJITLINK_SUCCESS)
      status = real->add_data(handle, NVJITLINK_INPUT_LTOIR, one.data(), one.size(), "input");
  }
  if (status == NVJITLINK_SUCCESS) status = real->complete(handle);
  Compiled compiled;
  if (status == NVJITLINK_SUCCESS) compiled.text = text_of(handle, real->ptx_size, real->ptx);
  compiled.succeeded = !compiled.text.empty();
  if (!compiled.succeeded) compiled.text = text_of(handle, real->errors_size, real->errors);
  real->destroy(&handle);
  if (compiled.text.empty()) compiled.text = "nvJitLink made no PTX of the LTO-IR, and does not say why";
  return compiled;
}

void version(unsigned& major, unsigned& minor) {
  const RealLibrary* const real = real_library();
  if (real != nullptr && real->version(&major, &minor) == NVJITLINK_SUCCESS) return;
  major = 13;
  minor = 0;
}

}  // namespace convladder::stand_in::nvjitlink

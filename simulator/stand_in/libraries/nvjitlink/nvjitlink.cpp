// nvJitLink for a device that reads PTX: several PTX texts become one. Where a program asks for machine code it gets
// the PTX, which this stand-in's cuModuleLoadData takes. LTO-IR is compiled to PTX by the real library.
#define NVJITLINK_NO_INLINE  // its header would define functions of the names that are defined here

#include <nvJitLink.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "simulator/stand_in/libraries/answer.hpp"
#include "simulator/stand_in/libraries/living_objects.hpp"
#include "simulator/stand_in/libraries/nvjitlink/real_library.hpp"

/// The program's handle points to it.
struct nvJitLink {
  std::vector<std::string> options;
  std::vector<std::string> texts;          ///< PTX
  std::vector<std::string> intermediates;  ///< LTO-IR
  std::string linked;
  std::string errors;
  bool is_complete = false;
};

namespace convladder::stand_in {
namespace {

const char* nvjitlink_status_name(int status) {
  switch (status) {
    case NVJITLINK_SUCCESS:
      return "NVJITLINK_SUCCESS";
    case NVJITLINK_ERROR_UNRECOGNIZED_OPTION:
      return "NVJITLINK_ERROR_UNRECOGNIZED_OPTION";
    case NVJITLINK_ERROR_MISSING_ARCH:
      return "NVJITLINK_ERROR_MISSING_ARCH";
    case NVJITLINK_ERROR_INVALID_INPUT:
      return "NVJITLINK_ERROR_INVALID_INPUT";
    case NVJITLINK_ERROR_PTX_COMPILE:
      return "NVJITLINK_ERROR_PTX_COMPILE";
    case NVJITLINK_ERROR_NVVM_COMPILE:
      return "NVJITLINK_ERROR_NVVM_COMPILE";
    case NVJITLINK_ERROR_INTERNAL:
      return "NVJITLINK_ERROR_INTERNAL";
    default:
      return "NVJITLINK_ERROR unknown";
  }
}

const LibraryInfo kNvJitLink = {.name = "nvJitLink",
                                .status_name = nvjitlink_status_name,
                                .not_supported = NVJITLINK_ERROR_INTERNAL,
                                .failed = NVJITLINK_ERROR_INTERNAL,
                                .needs_context = false};

nvJitLink& link_at(nvJitLinkHandle handle) {
  if (!living_objects().has(handle)) throw Refused(NVJITLINK_ERROR_INVALID_INPUT, "the handle is none of nvJitLink's");
  return *handle;
}

nvJitLink& complete_link_at(nvJitLinkHandle handle) {
  nvJitLink& link = link_at(handle);
  if (!link.is_complete) throw Refused(NVJITLINK_ERROR_INVALID_INPUT, "nothing has been linked");
  return link;
}

void require_given(const void* argument) {
  if (argument == nullptr) throw Refused(NVJITLINK_ERROR_INVALID_INPUT, "an argument is NULL");
}

/// The program asks for a failed link's errors, as well.
[[noreturn]] void fail(nvJitLink& link, nvJitLinkResult status, const std::string& why) {
  link.errors += why + "\n";
  throw Refused(status, why);
}

void add(LibraryCall& call, nvJitLink& link, nvJitLinkInputType type, std::string bytes) {
  constexpr std::string_view kIntermediate = "\x7fNC\xed";  // NVVM's container
  switch (type) {
    case NVJITLINK_INPUT_CUBIN:
    case NVJITLINK_INPUT_PTX:
    case NVJITLINK_INPUT_LTOIR:
    case NVJITLINK_INPUT_FATBIN:
    case NVJITLINK_INPUT_ANY:
      break;
    default:
      fail(link, NVJITLINK_ERROR_INVALID_INPUT,
           "host objects, libraries and index files cannot be linked here; PTX, fat binaries with PTX and LTO-IR can");
  }
  if (type == NVJITLINK_INPUT_LTOIR || std::string_view(bytes).starts_with(kIntermediate)) {
    link.intermediates.push_back(std::move(bytes));
    return;
  }
  // Whatever its type is said to be: what a program has as machine code may be PTX, as from this stand-in's NVRTC.
  std::optional<std::string> text = call.ptx_of(std::as_bytes(std::span(bytes)));
  if (!text) fail(link, NVJITLINK_ERROR_INVALID_INPUT, call.why());
  link.texts.push_back(std::move(*text));
}

void complete(LibraryCall& call, nvJitLink& link) {
  std::vector<std::string> texts = link.texts;
  if (!link.intermediates.empty()) {
    nvjitlink::Compiled compiled = nvjitlink::compile(link.options, link.intermediates);
    if (!compiled.succeeded) fail(link, NVJITLINK_ERROR_NVVM_COMPILE, compiled.text);
    texts.insert(texts.begin(), std::move(compiled.text));
  }
  if (texts.empty()) fail(link, NVJITLINK_ERROR_INVALID_INPUT, "nothing to link");
  std::optional<std::string> linked = call.linked_ptx(texts);
  if (!linked) fail(link, NVJITLINK_ERROR_PTX_COMPILE, call.why());
  link.linked = std::move(*linked);
  link.is_complete = true;
}

void give(const std::string& text, void* to) {
  require_given(to);
  std::memcpy(to, text.c_str(), text.size() + 1);
}
void give_size(const std::string& text, std::size_t* to) {
  require_given(to);
  *to = text.size() + 1;
}

template <typename Work>
nvJitLinkResult answer(const char* name, const Work& work) noexcept {
  return answer_call<nvJitLinkResult>(kNvJitLink, name, work);
}

}  // namespace

int refuse_nvjitlink_call(const char* function) noexcept { return library_machine().refuse(kNvJitLink, function); }

}  // namespace convladder::stand_in

using namespace convladder::stand_in;

// Each has one more name for each version of the library: "__nvJitLinkCreate_13_0" (CMakeLists.txt).
extern "C" {

nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, std::uint32_t count, const char** options) {
  return answer("nvJitLinkCreate", [&](LibraryCall&) {
    require_given(handle);
    if (count > 0) require_given(options);
    auto made = std::make_unique<nvJitLink>();
    made->options.assign(options, options + count);
    const bool has_architecture =
        std::ranges::any_of(made->options, [](const std::string& one) { return one.starts_with("-arch"); });
    if (!has_architecture) throw Refused(NVJITLINK_ERROR_MISSING_ARCH);
    *handle = living_objects().add(made.release());
  });
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  return answer("nvJitLinkDestroy", [&](LibraryCall&) {
    require_given(handle);
    if (!living_objects().remove(*handle)) throw Refused(NVJITLINK_ERROR_INVALID_INPUT);
    delete *handle;
    *handle = nullptr;
  });
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data, std::size_t bytes,
                                 const char* /*name*/) {
  return answer("nvJitLinkAddData", [&](LibraryCall& call) {
    nvJitLink& link = link_at(handle);
    require_given(data);
    add(call, link, type, std::string(static_cast<const char*>(data), bytes));
  });
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path) {
  return answer("nvJitLinkAddFile", [&](LibraryCall& call) {
    nvJitLink& link = link_at(handle);
    require_given(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(link, NVJITLINK_ERROR_INVALID_INPUT, std::string(path) + " cannot be opened");
    add(call, link, type, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  });
}

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  return answer("nvJitLinkComplete", [&](LibraryCall& call) { complete(call, link_at(handle)); });
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, std::size_t* size) {
  return answer("nvJitLinkGetLinkedCubinSize", [&](LibraryCall&) { give_size(complete_link_at(handle).linked, size); });
}
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* image) {
  return answer("nvJitLinkGetLinkedCubin", [&](LibraryCall&) { give(complete_link_at(handle).linked, image); });
}
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, std::size_t* size) {
  return answer("nvJitLinkGetLinkedPtxSize", [&](LibraryCall&) { give_size(complete_link_at(handle).linked, size); });
}
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  return answer("nvJitLinkGetLinkedPtx", [&](LibraryCall&) { give(complete_link_at(handle).linked, ptx); });
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, std::size_t* size) {
  return answer("nvJitLinkGetErrorLogSize", [&](LibraryCall&) { give_size(link_at(handle).errors, size); });
}
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  return answer("nvJitLinkGetErrorLog", [&](LibraryCall&) { give(link_at(handle).errors, log); });
}
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, std::size_t* size) {
  return answer("nvJitLinkGetInfoLogSize", [&](LibraryCall&) {
    link_at(handle);
    give_size("", size);
  });
}
nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  return answer("nvJitLinkGetInfoLog", [&](LibraryCall&) {
    link_at(handle);
    give("", log);
  });
}

nvJitLinkResult nvJitLinkVersion(unsigned* major, unsigned* minor) {
  return answer("nvJitLinkVersion", [&](LibraryCall&) {
    require_given(major);
    require_given(minor);
    nvjitlink::version(*major, *minor);
  });
}

}  // extern "C"

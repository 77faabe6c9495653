// Linking: several PTX texts become one module. The result is PTX as well, which programs pass on to where modules are
// loaded without looking at it.
#include <map>
#include <memory>

#include "simulator/stand_in/driver/jit_options.hpp"
#include "simulator/stand_in/modules/images.hpp"

using namespace convladder::stand_in;

namespace {

struct Link {
  JitLogs logs;
  std::vector<std::string> texts;
  std::string linked;  ///< the result, once it is complete
};

std::map<CUlinkState, std::unique_ptr<Link>>& links() {
  static auto* const all = new std::map<CUlinkState, std::unique_ptr<Link>>;
  return *all;
}

Link& link_at(CUlinkState state) {
  const auto found = links().find(state);
  require(found != links().end(), kInvalidHandle);
  return *found->second;
}

/// Adds PTX or a fat binary, given by `text()`, to the link.
template <typename Text>
CUresult add(const char* name, CUlinkState state, CUjitInputType type, const Text& text) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    Link& link = link_at(state);
    require(type >= 0 && type < CU_JIT_NUM_INPUT_TYPES);
    if (type == CU_JIT_INPUT_CUBIN) throw Failure(kNoKernelImage, "machine code cannot be linked here, PTX can");
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
      machine.report.not_supported(std::string(name) + " of objects, libraries and NVVM");
      throw Failure(kNotSupported);
    }
    link.texts.push_back(with_logs(link.logs, [&] { return text(machine.architecture()); }));
  });
}

}  // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return answer_driver("cuLinkCreate", Needs::context, [&](Machine&) {
    require(state != nullptr);
    auto made = std::make_unique<Link>();
    made->logs = JitLogs(count, options, values);
    *state = reinterpret_cast<CUlinkState>(made.get());
    links()[*state] = std::move(made);
  });
}
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return cuLinkCreate_v2(count, options, values, state);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes, const char* /*name*/,
                          unsigned /*count*/, CUjit_option* /*options*/, void** /*values*/) {
  return add("cuLinkAddData", state, type, [&](int architecture) {
    require(data != nullptr && bytes > 0);
    return ptx_of_bytes({static_cast<const std::byte*>(data), bytes}, architecture);
  });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes, const char* name,
                       unsigned count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(state, type, data, bytes, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned /*count*/,
                          CUjit_option* /*options*/, void** /*values*/) {
  return add("cuLinkAddFile", state, type, [&](int architecture) { return ptx_of_file(path, architecture); });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
                       void** values) {
  return cuLinkAddFile_v2(state, type, path, count, options, values);
}

CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  return answer_driver("cuLinkComplete", Needs::context, [&](Machine&) {
    Link& link = link_at(state);
    require(image != nullptr);
    with_logs(link.logs, [&] { link.linked = linked_ptx(link.texts); });
    *image = link.linked.data();
    if (bytes != nullptr) *bytes = link.linked.size() + 1;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return answer_driver("cuLinkDestroy", Needs::nothing,
                       [&](Machine&) { require(links().erase(state) == 1, kInvalidHandle); });
}

}  // extern "C"

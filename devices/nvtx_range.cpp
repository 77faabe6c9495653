#include "devices/nvtx_range.hpp"

#if CONVLADDER_HAS_NVTX

#include <nvtx3/nvToolsExt.h>

namespace convladder {
namespace {

/// Never destroyed: ranges may still end while statics are torn down.
nvtxDomainHandle_t domain() {
  static nvtxDomainHandle_t handle = nvtxDomainCreateA("convladder");
  return handle;
}

}  // namespace

NvtxRange::NvtxRange(const std::string& message) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message.c_str();  // the profiler copies it
  nvtxDomainRangePushEx(domain(), &attributes);
}

NvtxRange::~NvtxRange() { nvtxDomainRangePop(domain()); }

}  // namespace convladder

#else

namespace convladder {

NvtxRange::NvtxRange(const std::string& /*message*/) {}
NvtxRange::~NvtxRange() = default;

}  // namespace convladder

#endif

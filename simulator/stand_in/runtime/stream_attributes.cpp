// Attributes of streams, which are kept and change nothing but a stream's priority. No part of the L2 can be set aside.
#include <cstring>

#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

using Attributes = std::map<int, std::array<std::byte, 64>>;
static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(Attributes::mapped_type));

void require_valid(const Machine& machine, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value) {
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow: {
      const cudaAccessPolicyWindow& window = value.accessPolicyWindow;
      const std::optional<int> most = device_attribute(machine.gpu(), cudaDevAttrMaxAccessPolicyWindowSize);
      require(window.num_bytes <= static_cast<std::size_t>(most.value_or(0)));
      require(window.hitRatio >= 0 && window.hitRatio <= 1 && window.missProp != cudaAccessPropertyPersisting);
      break;
    }
    case cudaLaunchAttributeSynchronizationPolicy:
      require(value.syncPolicy >= cudaSyncPolicyAuto && value.syncPolicy <= cudaSyncPolicyBlockingSync);
      break;
    case cudaLaunchAttributeMemSyncDomain:
      require(value.memSyncDomain >= cudaLaunchMemSyncDomainDefault &&
              value.memSyncDomain <= cudaLaunchMemSyncDomainRemote);
      break;
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
      break;
    default:
      throw Failure(kInvalidValue);
  }
}

/// The value of an attribute that was not set.
cudaLaunchAttributeValue first_value(cudaLaunchAttributeID attribute, const Stream* stream) {
  cudaLaunchAttributeValue value = {};
  if (attribute == cudaLaunchAttributeSynchronizationPolicy) value.syncPolicy = cudaSyncPolicyAuto;
  if (attribute == cudaLaunchAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
  if (attribute == cudaLaunchAttributePriority && stream != nullptr) value.priority = stream->priority;
  return value;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return answer("cudaStreamSetAttribute", [&](Machine& machine) {
    Attributes& attributes = machine.stream_attributes(stream);
    require(value != nullptr);
    require_valid(machine, attribute, *value);
    if (Stream* const found = machine.find_stream(stream); attribute == cudaLaunchAttributePriority) {
      require(found != nullptr);
      found->priority = std::min(0, std::max(value->priority, -5));
    } else {
      std::memcpy(attributes[attribute].data(), value, sizeof *value);
    }
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return answer("cudaStreamGetAttribute", [&](Machine& machine) {
    const Attributes& attributes = machine.stream_attributes(stream);
    require(value != nullptr);
    const cudaLaunchAttributeValue first = first_value(attribute, machine.find_stream(stream));
    require_valid(machine, attribute, first);
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) {
      *value = first;
    } else {
      std::memcpy(value, found->second.data(), sizeof *value);
    }
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return answer("cudaStreamCopyAttributes", [&](Machine& machine) {
    const Attributes copied = machine.stream_attributes(from);
    machine.stream_attributes(to) = copied;
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return answer("cudaCtxResetPersistingL2Cache", [](Machine&) {});
}

}  // extern "C"

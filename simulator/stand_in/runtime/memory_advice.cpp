// Advice about managed memory, which is kept for queries and changes nothing.
#include <algorithm>

#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

struct Advice {
  bool is_read_mostly = false;
  cudaMemLocation preferred = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId};
  cudaMemLocation prefetched = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId};
  bool device_accesses = false;
  bool host_accesses = false;
};

/// The advice for a range of managed memory, or a managed variable. Throws Failure for any other. The machine's lock is
/// held.
Advice& advice_of(Machine& machine, const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const convladder::simulated::Allocation* const allocation = machine.allocation_at(address);
  require(allocation != nullptr &&
          at - convladder::simulated::kVisibleWindow <
              convladder::simulated::kGlobalWindowBytes - convladder::simulated::kDeviceWindowBytes);
  const Memory* const memory = machine.memory_at(address);
  require(memory == nullptr || memory->kind == MemoryKind::managed);
  require(bytes > 0 && bytes <= allocation->end - at);
  // Never destroyed, like the machine: programs call until their very end.
  static auto& all = *new std::map<std::pair<std::uint64_t, std::string>, Advice>;
  return all[{allocation->begin, allocation->label}];
}

bool is_device(const cudaMemLocation& location) { return location.type == cudaMemLocationTypeDevice; }

void require_place(const cudaMemLocation& location) {
  require(location.type >= cudaMemLocationTypeDevice && location.type <= cudaMemLocationTypeHostNumaCurrent);
  if (is_device(location)) require_device(location.id);
}

/// The number of a location, as devices were numbered before CUDA 13.
int number_of(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeHost) return cudaCpuDeviceId;
  return is_device(location) ? location.id : cudaInvalidDeviceId;
}

void give_attribute(void* data, std::size_t bytes, cudaMemRangeAttribute attribute, const Advice& advice) {
  require(data != nullptr);
  auto* const numbers = static_cast<int*>(data);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    require(bytes > 0 && bytes % sizeof(int) == 0);
    std::fill_n(numbers, bytes / sizeof(int), cudaInvalidDeviceId);
    const std::size_t room = bytes / sizeof(int);
    std::size_t count = 0;
    if (advice.device_accesses) numbers[count++] = 0;
    if (advice.host_accesses && count < room) numbers[count] = cudaCpuDeviceId;
    return;
  }
  require(bytes == sizeof(int));
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      *numbers = advice.is_read_mostly ? 1 : 0;
      break;
    case cudaMemRangeAttributePreferredLocation:
      *numbers = number_of(advice.preferred);
      break;
    case cudaMemRangeAttributeLastPrefetchLocation:
      *numbers = number_of(advice.prefetched);
      break;
    case cudaMemRangeAttributePreferredLocationType:
      *numbers = advice.preferred.type;
      break;
    case cudaMemRangeAttributePreferredLocationId:
      *numbers = advice.preferred.id;
      break;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      *numbers = advice.prefetched.type;
      break;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      *numbers = advice.prefetched.id;
      break;
    default:
      throw Failure(kInvalidValue);
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMemAdvise(const void* address, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return answer("cudaMemAdvise", [&](Machine& machine) {
    Advice& known = advice_of(machine, address, bytes);
    const bool is_about_place = advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
                                advice == cudaMemAdviseUnsetAccessedBy;
    if (is_about_place) require_place(location);
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        known.is_read_mostly = advice == cudaMemAdviseSetReadMostly;
        break;
      case cudaMemAdviseSetPreferredLocation:
        known.preferred = location;
        break;
      case cudaMemAdviseUnsetPreferredLocation:
        known.preferred = Advice().preferred;
        break;
      case cudaMemAdviseSetAccessedBy:
      case cudaMemAdviseUnsetAccessedBy:
        (is_device(location) ? known.device_accesses : known.host_accesses) = advice == cudaMemAdviseSetAccessedBy;
        break;
      default:
        throw Failure(kInvalidValue);
    }
  });
}

cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  return answer("cudaMemPrefetchAsync", [&](Machine& machine) {
    static_cast<void>(machine.stream_number(stream));
    Advice& known = advice_of(machine, address, bytes);
    require(flags == 0);
    require_place(location);
    known.prefetched = location;
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t bytes, cudaMemRangeAttribute attribute,
                                     const void* address, std::size_t count) {
  return answer("cudaMemRangeGetAttribute",
                [&](Machine& machine) { give_attribute(data, bytes, attribute, advice_of(machine, address, count)); });
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* bytes, cudaMemRangeAttribute* attributes,
                                      std::size_t number, const void* address, std::size_t count) {
  return answer("cudaMemRangeGetAttributes", [&](Machine& machine) {
    require(data != nullptr && bytes != nullptr && attributes != nullptr && number > 0);
    const Advice& known = advice_of(machine, address, count);
    for (std::size_t i = 0; i < number; ++i) give_attribute(data[i], bytes[i], attributes[i], known);
  });
}

}  // extern "C"

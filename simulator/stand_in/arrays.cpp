#include "simulator/stand_in/arrays.hpp"

#include <algorithm>

#include "devices/device_error.hpp"
#include "simulator/stand_in/graph.hpp"

namespace convladder::stand_in {

Rectangle Array::box(std::uint64_t x, std::uint64_t y, std::uint64_t z, const Size3& size) const {
  const auto fits = [](std::uint64_t from, std::uint64_t count, std::uint64_t all) {
    return from <= all && count <= all - from;
  };
  if (!fits(x, size.width, resource.width * texel_bytes()) || !fits(y, size.height, resource.height) ||
      !fits(z, size.depth, resource.depth)) {
    throw Failure(kInvalidValue);
  }
  const std::uint64_t at = resource.address + x + y * resource.row_pitch + z * resource.slice_pitch;
  return {reinterpret_cast<void*>(at),  // NOLINT(performance-no-int-to-ptr): addresses are numbers
          resource.row_pitch, resource.slice_pitch};
}

Array* Arrays::add(Machine& machine, simulated::Geometry geometry, simulated::TexelFormat format,
                   const std::uint64_t (&extent)[3], unsigned flags, const char* call) {
  auto made = std::make_unique<Array>();
  made->flags = flags;
  std::copy(std::begin(extent), std::end(extent), std::begin(made->asked));
  const auto at_least_one = [](std::uint64_t size) { return std::max<std::uint64_t>(size, 1); };
  try {
    made->resource =
        simulated::array_resource(geometry, format, extent[0], at_least_one(extent[1]), at_least_one(extent[2]));
  } catch (const DeviceError& error) {
    throw Failure(kInvalidValue, error.what());
  }
  machine.graphs().do_unsafe();
  void* const memory = machine.allocate(MemoryKind::device, simulated::resource_bytes(made->resource), flags, call);
  made->resource.address = reinterpret_cast<std::uint64_t>(memory);
  Array* const handle = made.get();
  arrays_[handle] = std::move(made);
  return handle;
}

Array& Arrays::at(const void* handle) const {
  const auto found = arrays_.find(handle);
  if (found == arrays_.end()) throw Failure(kInvalidHandle);
  return *found->second;
}

void Arrays::remove(Machine& machine, const void* handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses are numbers
  machine.free(reinterpret_cast<void*>(at(handle).resource.address), false, "cudaFreeArray");
  arrays_.erase(handle);
}

}  // namespace convladder::stand_in

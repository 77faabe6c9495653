// Functions of the driver API by name and version, as programs ask for them at run time.
#pragma once

#include <string_view>

namespace convladder::stand_in {

struct EntryPoint {
  void* address = nullptr;  ///< nullptr if there is no function
  bool is_known = false;    ///< whether there is one of a later version
};

/// The newest form of the function that existed in that version (12080 for CUDA 12.8). `name` has no suffix: the
/// meaning of cuMemAlloc depends on the version.
EntryPoint driver_entry_point(std::string_view name, int version);

}  // namespace convladder::stand_in

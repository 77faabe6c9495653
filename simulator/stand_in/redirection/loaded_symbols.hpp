// Functions of libraries that the dynamic linker has loaded, by name.
#pragma once

#include <link.h>

#include <string_view>

namespace convladder::stand_in {

/// The address of a function that a loaded object defines, by the hash table that dynamic linking uses; nullptr if it
/// has none of that name. Works before the object is relocated as well.
const void* find_function(const link_map& object, std::string_view name);

}  // namespace convladder::stand_in

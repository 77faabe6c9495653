// Code that nothing in its own process can change any more.
#pragma once

#include <string>

namespace convladder {

/// Seals all memory that is mapped as executable now (mseal, Linux 6.10): it cannot be made writable, unmapped or
/// mapped over, so a library that is loaded later cannot patch the clock's code, or ours. Libraries that are loaded now
/// cannot be unloaded. Data stays as it was, including pointers to functions. Returns why not, empty if all of it is
/// sealed.
std::string seal_code();

}  // namespace convladder

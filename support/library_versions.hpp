// The libraries that a run uses or would use, for the record: whether they were found, which version, and where. Each
// library's own file registers it.
#pragma once

#include <string>
#include <vector>

namespace convladder {

struct LibraryVersion {
  std::string name;
  std::string version;  ///< where it is loaded at run time and cannot be, why not
  std::string file;     ///< where it was loaded from; empty where it was not, or is part of the program
};

/// By name.
std::vector<LibraryVersion> library_versions();

/// A static object of this type in a library variant's source file adds its library.
struct LibraryVersionRegistration {
  explicit LibraryVersionRegistration(LibraryVersion (*version)());
};

}  // namespace convladder

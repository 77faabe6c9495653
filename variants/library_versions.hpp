// The versions of the libraries that stand beside the ladder, for the record. Each library's file registers its own.
#pragma once

#include <string>
#include <vector>

namespace convladder {

struct LibraryVersion {
  std::string name;
  std::string version;  ///< where it is loaded at run time and cannot be, why not
};

/// By name.
std::vector<LibraryVersion> library_versions();

/// A static object of this type in a library variant's source file adds its library.
struct LibraryVersionRegistration {
  explicit LibraryVersionRegistration(LibraryVersion (*version)());
};

}  // namespace convladder

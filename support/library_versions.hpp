// The libraries that a run uses or would use, for the record: whether they were found, their versions, and their files.
// Each library's own file registers it.
#pragma once

#include <string>
#include <vector>

namespace convladder {

struct LibraryVersion {
  std::string name;
  std::string version;  ///< the reason, if it is to be loaded at run time and cannot be
  std::string file;     ///< where it was loaded from; empty if it was not loaded or is part of the program
};

/// All libraries, by name.
std::vector<LibraryVersion> library_versions();

/// A static object of this type in a library variant's source file adds its library.
struct LibraryVersionRegistration {
  explicit LibraryVersionRegistration(LibraryVersion (*version)());
};

}  // namespace convladder

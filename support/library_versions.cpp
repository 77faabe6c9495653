#include "support/library_versions.hpp"

#include <algorithm>

namespace convladder {
namespace {

std::vector<LibraryVersion (*)()>& registered() {
  static std::vector<LibraryVersion (*)()> functions;
  return functions;
}

}  // namespace

std::vector<LibraryVersion> library_versions() {
  std::vector<LibraryVersion> versions;
  for (const auto& version : registered()) versions.push_back(version());
  std::ranges::sort(versions, {}, &LibraryVersion::name);
  return versions;
}

LibraryVersionRegistration::LibraryVersionRegistration(LibraryVersion (*version)()) { registered().push_back(version); }

}  // namespace convladder

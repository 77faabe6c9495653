#include "support/dynamic_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace convladder {

DynamicLibrary::DynamicLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      missing_.clear();
      return;
    }
    const char* error = dlerror();
    if (missing_.empty())
      missing_ = fmt::format("{} not found ({})", name, error == nullptr ? "no reason given" : error);
  }
}

void* DynamicLibrary::symbol(const char* name) {
  if (handle_ == nullptr) return nullptr;
  void* const found = dlsym(handle_, name);
  if (found == nullptr && missing_.empty()) missing_ = fmt::format("{} has no {}", name_, name);
  return found;
}

}  // namespace convladder

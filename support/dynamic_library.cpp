#include "support/dynamic_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

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

std::string DynamicLibrary::file() const {
  const link_map* loaded = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &loaded) != 0) return {};
  return loaded->l_name;
}

void* DynamicLibrary::symbol(const char* name) {
  if (handle_ == nullptr) return nullptr;
  void* const found = dlsym(handle_, name);
  if (found == nullptr && missing_.empty()) missing_ = fmt::format("{} has no {}", name_, name);
  return found;
}

std::string library_with(const char* function) {
  Dl_info found{};
  void* const address = dlsym(RTLD_DEFAULT, function);
  if (address == nullptr || dladdr(address, &found) == 0 || found.dli_fname == nullptr) return {};
  Dl_info own{};
  const bool is_own =
      dladdr(reinterpret_cast<const void*>(&library_with), &own) != 0 && own.dli_fbase == found.dli_fbase;
  return is_own ? std::string() : found.dli_fname;
}

}  // namespace convladder

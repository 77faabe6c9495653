#include "devices/kernel_resources.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "devices/kernel_launch.hpp"
#include "support/function_name.hpp"

namespace convladder {
namespace {

using MangledName = std::string (*)(const void* kernel_or_variable);
using ResourcesOf = std::vector<KernelResources> (*)(const std::string& mangled_name);

// Function-local statics: registrars run before main in no particular order of files.
MangledName& registered_names() {
  static MangledName names = nullptr;
  return names;
}

ResourcesOf& registered_resources() {
  static ResourcesOf resources = nullptr;
  return resources;
}

}  // namespace

KernelNamesRegistration::KernelNamesRegistration(MangledName mangled_name) { registered_names() = mangled_name; }

KernelResourcesRegistration::KernelResourcesRegistration(ResourcesOf resources_of) {
  registered_resources() = resources_of;
}

std::string kernel_mangled_name(const void* kernel) {
  return registered_names() == nullptr ? std::string() : registered_names()(kernel);
}

std::string variable_mangled_name(const void* variable) { return kernel_mangled_name(variable); }

std::vector<KernelResources> kernel_resources(const void* kernel) {
  const std::string name = kernel_mangled_name(kernel);
  if (name.empty() || registered_resources() == nullptr) return {};
  return registered_resources()(name);
}

std::string demangle(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled;  // "f" is a name, not the type float
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(text.get()) : mangled;
}

std::string kernel_display_name(const void* kernel) { return display_name(kernel_mangled_name(kernel)); }

std::string kernel_display_names(const std::vector<KernelLaunch>& launches) {
  std::string names;
  for (const KernelLaunch& launch : launches) {
    if (!names.empty()) names += ", ";
    names += kernel_display_name(launch.kernel);
  }
  return names;
}

std::string display_name(const std::string& mangled_name) {
  return function_name(demangle(std::string(without_file_prefix(mangled_name))));
}

}  // namespace convladder

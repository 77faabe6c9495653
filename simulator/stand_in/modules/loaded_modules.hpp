// Modules that a program loads while it runs. The driver calls them modules and libraries; handles of both are the
// address of one of these, and handles of functions and kernels are the address of a Function.
#pragma once

#include <list>
#include <map>
#include <string>

#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {

/// The places of a kernel's parameters when they are passed as one block of bytes.
struct KernelParameters {
  struct Place {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  std::vector<Place> places;
  std::size_t bytes = 0;  ///< up to the end of the last parameter

  /// Places parameters one after the other, each with its alignment.
  explicit KernelParameters(const ptx::Kernel& kernel) {
    for (const ptx::Symbol& parameter : kernel.parameters) {
      const auto alignment = static_cast<std::size_t>(parameter.alignment > 0 ? parameter.alignment : 1);
      const std::size_t offset = (bytes + alignment - 1) / alignment * alignment;
      places.push_back({offset, parameter.bytes});
      bytes = offset + parameter.bytes;
    }
  }
};

struct LoadedModule {
  Module* module = nullptr;
  std::map<std::string, Function*, std::less<>> functions;  ///< the functions that were asked for
  const DeviceContext* context = nullptr;                   ///< with which it ends; nullptr for libraries, which stay
  bool is_library = false;
  bool is_registered = false;  ///< registered at the program's start: never unloaded
};

class LoadedModules {
 public:
  /// The loaded modules of this process.
  static LoadedModules& get();

  /// Throws Failure for PTX that cannot be read; the message says where.
  LoadedModule& load(Machine& machine, std::string ptx, bool is_library);
  /// The module that a kernel belongs to.
  LoadedModule& of(const Function& function);
  /// Throws Failure for a wrong handle.
  LoadedModule& at(const void* handle);
  /// Throws Failure if there is no such kernel.
  Function& function(Machine& machine, LoadedModule& module, std::string_view name);
  void unload(Machine& machine, LoadedModule& module);
  void unload_all_of(Machine& machine, const DeviceContext& context);

 private:
  std::list<LoadedModule> modules_;
};

}  // namespace convladder::stand_in

#include "simulator/stand_in/modules/loaded_modules.hpp"

#include <algorithm>

#include "simulator/stand_in/modules/images.hpp"

namespace convladder::stand_in {

LoadedModules& LoadedModules::get() {
  static auto* const modules = new LoadedModules;  // never destroyed: programs call until their very end
  return *modules;
}

LoadedModule& LoadedModules::load(Machine& machine, std::string ptx, bool is_library) {
  Module& module = machine.add_module(std::move(ptx));
  try {
    require_all_defined(module.read(machine.architecture()));
  } catch (const Failure&) {
    machine.remove_module(module);
    throw;
  }
  return modules_.emplace_back(LoadedModule{.module = &module,
                                            .functions = {},
                                            .context = is_library ? nullptr : machine.contexts.current(),
                                            .is_library = is_library});
}

LoadedModule& LoadedModules::of(const Function& function) {
  const auto found = std::ranges::find(modules_, function.module, &LoadedModule::module);
  if (found != modules_.end()) return *found;
  return modules_.emplace_back(LoadedModule{.module = function.module, .functions = {}, .is_registered = true});
}

LoadedModule& LoadedModules::at(const void* handle) {
  const auto found = std::ranges::find_if(modules_, [handle](const LoadedModule& one) { return &one == handle; });
  if (found == modules_.end()) throw Failure(kInvalidHandle);
  return *found;
}

Function& LoadedModules::function(Machine& machine, LoadedModule& module, std::string_view name) {
  const auto known = module.functions.find(name);
  if (known != module.functions.end()) return *known->second;
  if (module.module->read(machine.architecture()).find_kernel(name) == nullptr) throw Failure(kSymbolNotFound);
  Function& made = machine.add_function(nullptr, *module.module, std::string(name));
  module.functions.emplace(name, &made);
  return made;
}

void LoadedModules::unload(Machine& machine, LoadedModule& module) {
  machine.synchronize_all();
  machine.remove_module(*module.module);
  modules_.remove_if([&module](const LoadedModule& one) { return &one == &module; });
}

void LoadedModules::unload_all_of(Machine& machine, const DeviceContext& context) {
  for (auto module = modules_.begin(); module != modules_.end();) {
    LoadedModule& one = *module++;
    if (one.context == &context) unload(machine, one);
  }
}

}  // namespace convladder::stand_in

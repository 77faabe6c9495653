// Modules, kernels and variables of the machine.
#include <fmt/format.h>

#include <algorithm>

#include "devices/kernel_resources.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/stand_in/machine.hpp"
#include "simulator/state/source_place.hpp"

namespace convladder::stand_in {
namespace {

/// The reason why a kernel cannot be executed, with its place in the PTX and in the source.
std::string why_refused(const ptx::Module& module, const ptx::Kernel& kernel, const ptx::PtxError& error) {
  std::string place;
  for (const ptx::Instruction& instruction : kernel.instructions) {
    if (instruction.position.line > error.position.line) break;
    const auto places = simulated::places_of(module, instruction.source);
    if (!places.empty()) place = simulated::place_text(places[0]) + ", ";
  }
  place = fmt::format("at {}{}, PTX line {}", place, module.file, error.position.line);
  const auto is_named = [&error](const ptx::Kernel& other) {
    return error.problem.find("'" + other.name + "'") != std::string::npos;
  };
  const auto launched = std::ranges::find_if(module.kernels, is_named);
  if (launched != module.kernels.end()) {
    return fmt::format("it launches the kernel {} {}, and kernels that launch kernels are not supported",
                       display_name(launched->name), place);
  }
  if (error.problem.find("cudaLaunchDevice") != std::string::npos) {
    return fmt::format("it launches a kernel {}, and kernels that launch kernels are not supported", place);
  }
  return fmt::format("{} {}", error.problem, place);
}

}  // namespace

Module& Machine::add_module(const void* fat_binary) { return modules_.emplace_back(fat_binary); }
Module& Machine::add_module(std::vector<const void*> fat_binaries) {
  return modules_.emplace_back(std::move(fat_binaries));
}
Module& Machine::add_module(std::string ptx) { return modules_.emplace_back(std::move(ptx)); }

Function& Machine::add_function(const void* host, Module& module, std::string name) {
  auto made = std::make_shared<Function>(Function{.host = host, .module = &module, .name = std::move(name)});
  functions_[made.get()] = made;
  module.handles.push_back(made.get());
  if (host != nullptr) {
    functions_[host] = made;
    module.handles.push_back(host);
  }
  return *made;
}

void Machine::add_variable(const void* host, Variable variable) {
  variable.module->handles.push_back(host);
  variables_[host] = std::move(variable);
}

void Machine::forget(const Module& module) {
  if (deferred_) {
    // Another kernel may get the address of one of its kernels.
    settle();
    deferred_->forget_steps();
    report_known_launches();
    known_launches_.clear();
    counted_by_sizes_.clear();
  }
  for (const void* const handle : module.handles) {
    // Another module may have got the same handle since.
    if (const auto found = functions_.find(handle); found != functions_.end() && found->second->module == &module) {
      functions_.erase(found);
    }
    if (const auto found = variables_.find(handle); found != variables_.end() && found->second.module == &module) {
      variables_.erase(found);
    }
  }
}

void Machine::remove_module(Module& module) {
  forget(module);
  if (const ptx::Module* const read = module.read_already()) device_.unload(*read);
  modules_.remove_if([&module](const Module& one) { return &one == &module; });
}

Function* Machine::find_function(const void* host) {
  const auto found = functions_.find(host);
  return found == functions_.end() ? nullptr : found->second.get();
}

Function& Machine::function(const void* host) {
  Function* const found = find_function(host);
  if (found == nullptr) throw Failure(kInvalidDeviceFunction);
  return *found;
}

const ptx::Kernel& Machine::kernel(Function& function) {
  if (function.kernel != nullptr) return *function.kernel;
  const ptx::Module& module = function.module->read(architecture());
  function.kernel = module.find_kernel(function.name);
  if (function.kernel == nullptr) {
    throw Failure(kInvalidDeviceFunction, fmt::format("{} is not in the program's PTX", display_name(function.name)));
  }
  if (function.module->is_too_new()) {
    report.note(fmt::format("the program's PTX is for {}, newer than the {}; it runs all the same", module.target,
                            gpu_->title));
  }
  return *function.kernel;
}

const void* Machine::loaded(Function& function) {
  if (function.loaded != nullptr && device_.is_loaded(function.loaded)) return function.loaded;
  const ptx::Kernel& found = kernel(function);
  const ptx::Module& module = function.module->read(architecture());
  try {
    function.loaded = device_.load(module, found);
  } catch (const ptx::PtxError& error) {
    const std::string why = why_refused(module, found, error);
    report.unseen(fmt::format("the kernel {} cannot be simulated: {}", display_name(function.name), why));
    throw Failure(kNotSupported, why);
  }
  return function.loaded;
}

int Machine::ptx_architecture(Function& function) {
  static_cast<void>(kernel(function));
  const std::string& target = function.module->read(architecture()).target;  // "sm_75", "sm_90a"
  const std::size_t digits = target.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : std::stoi(target.substr(digits));
}

const Variable& Machine::variable(const void* host) const {
  const auto found = variables_.find(host);
  if (found != variables_.end()) return found->second;
  // For a managed variable the program has the variable itself.
  const auto managed = std::ranges::find_if(variables_, [host](const auto& entry) {
    return entry.second.managed != nullptr && host != nullptr && *entry.second.managed == host;
  });
  if (managed == variables_.end()) throw Failure(kInvalidSymbol);
  return managed->second;
}

std::byte* Machine::address_of(Module& module, const std::string& name, std::uint64_t* bytes) {
  const ptx::Module& read = module.read(architecture());
  const auto symbol = std::ranges::find(read.symbols, name, &ptx::Symbol::name);
  if (symbol == read.symbols.end()) throw Failure(kSymbolNotFound);
  if (bytes != nullptr) *bytes = symbol->bytes;
  return static_cast<std::byte*>(device_.variable(read, *symbol));
}

void Machine::place_managed(const Module& module) {
  for (const auto& [host, variable] : variables_) {
    if (variable.module == &module && variable.managed != nullptr) *variable.managed = address_of(variable);
  }
}

std::byte* Machine::address_of(const Variable& variable) {
  try {
    return address_of(*variable.module, variable.name, nullptr);
  } catch (const Failure& failure) {
    if (failure.status == kSymbolNotFound) throw Failure(kInvalidSymbol);
    throw;
  }
}

}  // namespace convladder::stand_in

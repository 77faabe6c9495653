// The functions that nvcc's host code calls before main to register fat binaries, kernels and variables.
#include <cstring>

#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {
namespace {

/// A handle is the address of this; nvcc's code only passes it on.
struct Registered {
  void* first;  // nvcc's type is void**
  Module* module;
};

Module& module_of(void** handle) { return *reinterpret_cast<Registered*>(handle)->module; }

/// Registers; this cannot fail, as there is nobody to tell.
template <typename Work>
void registering(const Work& work) noexcept {
  if (Machine::is_lost_by_fork()) return;
  try {
    Machine& machine = Machine::get();
    const std::scoped_lock lock(machine.mutex);
    work(machine);
  } catch (...) {  // NOLINT(bugprone-empty-catch): using something that was not registered is an error
  }
}

}  // namespace
}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  static Module none(std::string{});
  auto* const registered = new Registered{nullptr, &none};
  const auto* const read = static_cast<const FatBinaryWrapper*>(wrapper);
  registering([&](Machine& machine) {
    if (read->magic != FatBinaryWrapper::kMagic) return;
    constexpr unsigned kLinked = 2;
    if (read->version != kLinked || read->linked == nullptr) {
      registered->module = &machine.add_module(read->data);
      return;
    }
    std::vector<const void*> objects;
    for (const auto* one = static_cast<const void* const*>(read->linked); *one != nullptr; ++one)
      objects.push_back(*one);
    registered->module = &machine.add_module(std::move(objects));
  });
  return &registered->first;
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** handle) {
  registering([&](Machine& machine) { machine.forget(module_of(handle)); });
}

/// Called before the host uses a managed variable for the first time: sets its pointers to those of the module.
char __cudaInitModule(void** handle) {
  registering([&](Machine& machine) { machine.place_managed(module_of(handle)); });
  return 1;
}

void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name, int /*thread_limit*/,
                            uint3* /*tid*/, uint3* /*bid*/, dim3* /*block*/, dim3* /*grid*/, int* /*warp_size*/) {
  registering([&](Machine& machine) { machine.add_function(host, module_of(handle), name); });
}

void __cudaRegisterVar(void** handle, char* host, char* /*device*/, const char* name, int /*ext*/, std::size_t bytes,
                       int /*constant*/, int /*global*/) {
  registering([&](Machine& machine) { machine.add_variable(host, {&module_of(handle), name, bytes, nullptr}); });
}

void __cudaRegisterHostVar(void** handle, const char* name, char* host, std::size_t bytes) {
  registering([&](Machine& machine) { machine.add_variable(host, {&module_of(handle), name, bytes, nullptr}); });
}

void __cudaRegisterManagedVar(void** handle, void** host, char* /*device*/, const char* name, int /*ext*/,
                              std::size_t bytes, int /*constant*/, int /*global*/) {
  registering([&](Machine& machine) { machine.add_variable(host, {&module_of(handle), name, bytes, host}); });
}

}  // extern "C"

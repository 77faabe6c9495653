// Libraries of kernels that a program loads while it runs, handles of kernels, and access to the driver's functions.
// Handles are the driver's.
#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/driver/entry_points.hpp"
#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/modules/loaded_modules.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

LoadedModule& library_at(cudaLibrary_t library) { return LoadedModules::get().at(library); }

/// Loads the PTX that `text(architecture)` gives. Options of the compiler have no meaning here: nothing is compiled.
template <typename Text>
cudaError_t load(const char* name, cudaLibrary_t* library, const Text& text) {
  return answer(name, [&](Machine& machine) {
    require(library != nullptr);
    LoadedModule& loaded = LoadedModules::get().load(machine, text(machine.architecture()), true);
    *library = reinterpret_cast<cudaLibrary_t>(&loaded);
  });
}

cudaError_t give_global(const char* name, void** address, std::size_t* bytes, cudaLibrary_t library,
                        const char* symbol) {
  return answer(name, [&](Machine& machine) {
    require(symbol != nullptr);
    std::uint64_t size = 0;
    std::byte* const found = machine.address_of(*library_at(library).module, symbol, &size);
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = size;
  });
}

cudaError_t give_entry_point(const char* name, const char* symbol, void** address, unsigned version,
                             unsigned long long flags, cudaDriverEntryPointQueryResult* found) {
  return answer(name, [&](Machine&) {
    require(symbol != nullptr && address != nullptr && flags <= cudaEnablePerThreadDefaultStream);
    require(version <= static_cast<unsigned>(kCudaVersion));
    const EntryPoint entry = driver_entry_point(symbol, static_cast<int>(version));
    *address = entry.address;
    if (found == nullptr) return;
    *found = entry.address != nullptr ? cudaDriverEntryPointSuccess
             : entry.is_known         ? cudaDriverEntryPointVersionNotSufficent
                                      : cudaDriverEntryPointSymbolNotFound;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption* /*options*/,
                                void** /*values*/, unsigned /*count*/, cudaLibraryOption* /*library_options*/,
                                void** /*library_values*/, unsigned /*library_count*/) {
  return load("cudaLibraryLoadData", library, [&](int architecture) { return ptx_of_image(image, architecture); });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* /*options*/,
                                    void** /*values*/, unsigned /*count*/, cudaLibraryOption* /*library_options*/,
                                    void** /*library_values*/, unsigned /*library_count*/) {
  return load("cudaLibraryLoadFromFile", library, [&](int architecture) { return ptx_of_file(path, architecture); });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return answer("cudaLibraryUnload", [&](Machine& machine) {
    LoadedModule& found = library_at(library);
    require(found.is_library, kInvalidHandle);
    LoadedModules::get().unload(machine, found);
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return answer("cudaLibraryGetKernel", [&](Machine& machine) {
    require(kernel != nullptr && name != nullptr);
    *kernel = reinterpret_cast<cudaKernel_t>(&LoadedModules::get().function(machine, library_at(library), name));
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return answer("cudaLibraryGetKernelCount", [&](Machine& machine) {
    give(count, static_cast<unsigned>(library_at(library).module->read(machine.architecture()).kernels.size()));
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  return answer("cudaLibraryEnumerateKernels", [&](Machine& machine) {
    require(kernels != nullptr);
    LoadedModule& found = library_at(library);
    const auto& known = found.module->read(machine.architecture()).kernels;
    for (unsigned i = 0; i < count && i < known.size(); ++i) {
      kernels[i] = reinterpret_cast<cudaKernel_t>(&LoadedModules::get().function(machine, found, known[i].name));
    }
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return give_global("cudaLibraryGetGlobal", address, bytes, library, name);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return answer("cudaGetFuncBySymbol",
                [&](Machine& machine) { give(function, reinterpret_cast<cudaFunction_t>(&machine.function(symbol))); });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
  return answer("cudaGetKernel",
                [&](Machine& machine) { give(kernel, reinterpret_cast<cudaKernel_t>(&machine.function(symbol))); });
}

cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return answer("cudaFuncGetParamInfo", [&](Machine& machine) {
    const KernelParameters parameters(machine.kernel(machine.function(function)));
    require(offset != nullptr && index < parameters.places.size());
    *offset = parameters.places[index].offset;
    if (bytes != nullptr) *bytes = parameters.places[index].bytes;
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  if (device != 0) return refuse("cudaKernelSetAttributeForDevice", kInvalidDevice);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** address, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* found) {
  return give_entry_point("cudaGetDriverEntryPoint", symbol, address, kCudaVersion, flags, found);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** address, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* found) {
  return give_entry_point("cudaGetDriverEntryPointByVersion", symbol, address, version, flags, found);
}

}  // extern "C"

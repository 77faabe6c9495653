// Modules and libraries: PTX and fat binaries that a program loads while it runs, and their contents.
#include "simulator/stand_in/driver/jit_options.hpp"
#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/modules/loaded_modules.hpp"

using namespace convladder::stand_in;

namespace {

LoadedModule& module_at(const void* handle) { return LoadedModules::get().at(handle); }

template <typename Handle>
Handle handle_of(LoadedModule& module) {
  return reinterpret_cast<Handle>(&module);
}

/// Loads the PTX that `text(architecture)` gives.
template <typename Handle, typename Text>
CUresult load(const char* name, Handle* handle, Needs needs, bool is_library, const JitLogs& logs, const Text& text) {
  return answer_driver(name, needs, [&](Machine& machine) {
    require(handle != nullptr);
    LoadedModule& loaded = with_logs(logs, [&]() -> std::reference_wrapper<LoadedModule> {
      return LoadedModules::get().load(machine, text(machine.architecture()), is_library);
    });
    *handle = handle_of<Handle>(loaded);
  });
}

/// Reads the options of a call; a wrong one is the call's error.
template <typename Work>
CUresult with_options(const char* name, unsigned count, const CUjit_option* options, void** values, const Work& work) {
  JitLogs logs;
  const CUresult status =
      answer_driver(name, Needs::nothing, [&](Machine&) { logs = JitLogs(count, options, values); });
  return status == CUDA_SUCCESS ? work(logs) : status;
}

void give_global(Machine& machine, LoadedModule& module, const char* name, void** address, std::size_t* bytes) {
  require(name != nullptr);
  std::uint64_t size = 0;
  std::byte* const found = machine.address_of(*module.module, name, &size);
  if (address != nullptr) *address = found;
  if (bytes != nullptr) *bytes = size;
}

}  // namespace

namespace convladder::stand_in {

Function& function_of(Machine& machine, const void* handle) {
  Function* const found = handle == nullptr ? nullptr : machine.find_function(handle);
  if (found == nullptr) throw Failure(kInvalidHandle);
  return *found;
}

}  // namespace convladder::stand_in

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load("cuModuleLoad", module, Needs::context, false, {},
              [&](int architecture) { return ptx_of_file(path, architecture); });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load("cuModuleLoadData", module, Needs::context, false, {},
              [&](int architecture) { return ptx_of_image(image, architecture); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options, CUjit_option* names, void** values) {
  const char* const name = "cuModuleLoadDataEx";
  return with_options(name, options, names, values, [&](const JitLogs& logs) {
    return load(name, module, Needs::context, false, logs,
                [&](int architecture) { return ptx_of_image(image, architecture); });
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load("cuModuleLoadFatBinary", module, Needs::context, false, {},
              [&](int architecture) { return ptx_of_image(image, architecture); });
}

CUresult cuModuleUnload(CUmodule module) {
  return answer_driver("cuModuleUnload", Needs::context, [&](Machine& machine) {
    LoadedModule& found = module_at(module);
    require(!found.is_library && !found.is_registered, kNotPermitted);
    LoadedModules::get().unload(machine, found);
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return answer_driver("cuModuleGetLoadingMode", Needs::initialization,
                       [&](Machine&) { give(mode, CU_MODULE_LAZY_LOADING); });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return answer_driver("cuModuleGetFunction", Needs::context, [&](Machine& machine) {
    require(function != nullptr && name != nullptr);
    *function = reinterpret_cast<CUfunction>(&LoadedModules::get().function(machine, module_at(module), name));
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return answer_driver("cuModuleGetFunctionCount", Needs::context, [&](Machine& machine) {
    give(count, static_cast<unsigned>(module_at(module).module->read(machine.architecture()).kernels.size()));
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return answer_driver("cuModuleEnumerateFunctions", Needs::context, [&](Machine& machine) {
    require(functions != nullptr);
    LoadedModule& found = module_at(module);
    const auto& kernels = found.module->read(machine.architecture()).kernels;
    for (unsigned i = 0; i < count && i < kernels.size(); ++i) {
      functions[i] = reinterpret_cast<CUfunction>(&LoadedModules::get().function(machine, found, kernels[i].name));
    }
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  return answer_driver("cuModuleGetGlobal", Needs::context, [&](Machine& machine) {
    void* found = nullptr;
    give_global(machine, module_at(module), name, &found, bytes);
    if (address != nullptr) *address = number_of(found);
  });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options, void** values, unsigned count,
                           CUlibraryOption* /*library_options*/, void** /*library_values*/,
                           unsigned /*library_count*/) {
  const char* const name = "cuLibraryLoadData";
  return with_options(name, count, options, values, [&](const JitLogs& logs) {
    return load(name, library, Needs::initialization, true, logs,
                [&](int architecture) { return ptx_of_image(image, architecture); });
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned count, CUlibraryOption* /*library_options*/, void** /*library_values*/,
                               unsigned /*library_count*/) {
  const char* const name = "cuLibraryLoadFromFile";
  return with_options(name, count, options, values, [&](const JitLogs& logs) {
    return load(name, library, Needs::initialization, true, logs,
                [&](int architecture) { return ptx_of_file(path, architecture); });
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return answer_driver("cuLibraryUnload", Needs::initialization, [&](Machine& machine) {
    LoadedModule& found = module_at(library);
    require(found.is_library, kInvalidHandle);
    LoadedModules::get().unload(machine, found);
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return answer_driver("cuLibraryGetModule", Needs::context,
                       [&](Machine&) { give(module, handle_of<CUmodule>(module_at(library))); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return answer_driver("cuLibraryGetKernel", Needs::initialization, [&](Machine& machine) {
    require(kernel != nullptr && name != nullptr);
    *kernel = reinterpret_cast<CUkernel>(&LoadedModules::get().function(machine, module_at(library), name));
  });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return answer_driver("cuLibraryGetKernelCount", Needs::initialization, [&](Machine& machine) {
    give(count, static_cast<unsigned>(module_at(library).module->read(machine.architecture()).kernels.size()));
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return answer_driver("cuLibraryEnumerateKernels", Needs::initialization, [&](Machine& machine) {
    require(kernels != nullptr);
    LoadedModule& found = module_at(library);
    const auto& known = found.module->read(machine.architecture()).kernels;
    for (unsigned i = 0; i < count && i < known.size(); ++i) {
      kernels[i] = reinterpret_cast<CUkernel>(&LoadedModules::get().function(machine, found, known[i].name));
    }
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name) {
  return answer_driver("cuLibraryGetGlobal", Needs::context, [&](Machine& machine) {
    void* found = nullptr;
    give_global(machine, module_at(library), name, &found, bytes);
    if (address != nullptr) *address = number_of(found);
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return answer_driver("cuKernelGetLibrary", Needs::initialization, [&](Machine& machine) {
    give(library, handle_of<CUlibrary>(LoadedModules::get().of(function_of(machine, kernel))));
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return answer_driver("cuKernelGetFunction", Needs::context, [&](Machine& machine) {
    give(function, reinterpret_cast<CUfunction>(&function_of(machine, kernel)));
  });
}

}  // extern "C"

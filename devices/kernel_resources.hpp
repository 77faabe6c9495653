// The resources that a kernel needs, as the compiler reports them, known without a GPU.
//
// The figures come from `ptxas -v`, run at build time on the PTX of every CUDA variant. A build without CUDA has this
// header too; there every answer is empty.
#pragma once

#include <string>
#include <vector>

namespace convladder {

struct KernelLaunch;

/// One kernel on one architecture. Counts are per thread for registers, stack and spills, per block for the rest.
struct KernelResources {
  std::string kernel;        ///< mangled, as in PTX and machine code
  std::string demangled;     ///< "convladder::conv_compile_time<5, 1>(float const*, ...)"
  std::string architecture;  ///< "sm_90"
  int registers = 0;
  int shared_bytes = 0;    ///< static; the launch may ask for more
  int constant_bytes = 0;  ///< over all constant banks; 0 where ptxas does not say (from sm_90 on)
  int stack_bytes = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int barriers = 0;
  std::string source;  ///< "ptxas"
};

/// The resources of the kernel with that host address (`KernelLaunch::kernel`), an entry per architecture in ascending
/// order. Empty if nothing is known of it.
std::vector<KernelResources> kernel_resources(const void* kernel);

/// The kernel's name as in PTX and machine code; empty if nothing is known of it.
std::string kernel_mangled_name(const void* kernel);

/// The name of a `__constant__` or `__device__` variable in PTX and machine code, from its host address
/// (`VariableContent::variable`).
std::string variable_mangled_name(const void* variable);

/// The kernel's name as written, "convladder::conv_compile_time<5, 1>"; empty if nothing is known of it.
std::string kernel_display_name(const void* kernel);

/// The names as written of all launched kernels, separated by commas.
std::string kernel_display_names(const std::vector<KernelLaunch>& launches);

/// A kernel's name as written, from its mangled name; a name that is not mangled comes back unchanged.
std::string display_name(const std::string& mangled_name);

/// Mangled C++ -> as written; other text comes back unchanged.
std::string demangle(const std::string& mangled);

/// A static object of this type makes the names of this build's kernels and of their modules' variables known: host
/// address -> mangled name.
struct KernelNamesRegistration {
  explicit KernelNamesRegistration(std::string (*mangled_name)(const void* kernel_or_variable));
};

/// A static object of this type makes the kernels' resources known: mangled name -> resources.
struct KernelResourcesRegistration {
  explicit KernelResourcesRegistration(std::vector<KernelResources> (*resources_of)(const std::string& mangled_name));
};

}  // namespace convladder

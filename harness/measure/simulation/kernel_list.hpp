// The contents of a PTX file: its kernels with parameters and resources, what the simulated device refuses in them, and
// its variables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"
#include "support/report.hpp"

namespace convladder {

/// Bytes of the variables in that space that the kernel has itself or shares with others in its file; dynamic ones
/// count 0.
std::uint64_t variable_bytes(const ptx::Module& module, const ptx::Kernel& kernel, ptx::Space space);

/// The kernel with the name `entry`, in the source or in the PTX; the only one where `entry` is empty. Throws UserError
/// with the known names.
const ptx::Kernel& find_kernel(const ptx::Module& module, const std::string& entry);

/// The variables that the host can set and read: in global and constant memory, without those that compilers make.
std::vector<const ptx::Symbol*> host_variables(const ptx::Module& module);
/// The variable of that name, in the source or in the PTX. Throws UserError whose text begins with `before`.
const ptx::Symbol& find_variable(const ptx::Module& module, const std::string& name, const std::string& before);

struct ListedKernel {
  const ptx::Kernel* kernel = nullptr;
  std::string name;  ///< as written in the source
  std::vector<ptx::Refusal> refusals;
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;  ///< per thread
};

/// The contents of a PTX file; the module outlives it.
struct KernelList {
  const ptx::Module* module = nullptr;
  bool has_dynamic_shared_memory = false;
  std::vector<const ptx::Symbol*> variables;   ///< host_variables
  std::vector<const ptx::Symbol*> references;  ///< textures, samplers, surfaces
  std::vector<ListedKernel> kernels;
};

/// The name of a variable's space: "global".
std::string_view space_name(ptx::Space space);

/// The contents of a PTX file, with all kernels or `only` one.
KernelList list_kernels(const ptx::Module& module, const ptx::Kernel* only = nullptr);
/// Adds the list, with less than JSON has.
void add_kernel_list(Report& report, const KernelList& list);

}  // namespace convladder

// The contents of a PTX file: its kernels with parameters and resources, what the simulated device refuses in them, and
// its variables.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "simulator/ptx/module.hpp"

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

/// The contents of a PTX file as text. Those of one kernel if `only` is not null.
std::string kernel_list_text(const ptx::Module& module, const ptx::Kernel* only = nullptr);
/// The contents of a PTX file as JSON, in more detail than `kernel_list_text`.
nlohmann::ordered_json kernel_list_json(const ptx::Module& module, const ptx::Kernel* only = nullptr);

}  // namespace convladder

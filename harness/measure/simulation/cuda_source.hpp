// Files of kernels, PTX or CUDA C++, which a compiler of this machine makes PTX of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder {

struct CudaCompiler {
  std::string name;   ///< "nvcc", "clang", a program's path; empty: nvcc, or clang where that is missing
  std::string flags;  ///< further flags, separated by spaces
};

/// Whether the file is CUDA C++ by its name: .cu.
bool is_cuda_source(std::string_view file);

/// The PTX of a CUDA C++ file with the lines of its source. nvcc is looked for on the path, in CUDA_HOME and in
/// /usr/local/cuda, clang (14 or later) on the path; clang works without the toolkit and its headers. Throws UserError,
/// in one line: no compiler, or the compiler's message.
std::string compile_to_ptx(const std::string& file, const CudaCompiler& compiler);

/// The text of a PTX file, or the PTX of a CUDA C++ file. Throws UserError.
std::string ptx_text(const std::string& file, const CudaCompiler& compiler);
/// It as a module; messages name the file. Throws UserError or ptx::PtxError.
ptx::Module parse_ptx_of(const std::string& file, const std::string& text);

/// The registers and spills of the kernels for an architecture, as ptxas reports them. Empty if there is no ptxas, or
/// it does not take the PTX.
std::vector<KernelResources> ptxas_resources(const std::string& ptx, const std::string& architecture);

}  // namespace convladder

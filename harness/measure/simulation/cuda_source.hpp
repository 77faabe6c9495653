// CUDA C++ to PTX, by a compiler of this machine.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace convladder

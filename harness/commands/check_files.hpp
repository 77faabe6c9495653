// `convladder check FILE...`: kernels of PTX and CUDA files, looked at without running them.
#pragma once

#include <string>
#include <vector>

#include "harness/commands/printed.hpp"
#include "harness/measure/simulation/cuda_source.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The options, not checked yet.
struct CheckFileArguments {
  std::string block;   ///< empty: as the kernel says
  std::string shared;  ///< empty: not known
  std::string gpu;     ///< empty: the usual one
  std::string kernels;
  CudaCompiler compiler;

  /// The first option that is given, "--block"; empty if none is.
  std::string given() const;
};

void add_check_file_options(CLI::App& command, CheckFileArguments& arguments);

/// Whether it is a file of kernels by its name: .ptx, .cu.
bool is_kernel_file(const std::string& name);

/// Prints what is found. Returns the exit code. Throws UserError.
int check_files(const std::vector<std::string>& files, const CheckFileArguments& arguments, const Printed& printed);

}  // namespace convladder

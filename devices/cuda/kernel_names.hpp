// Kernel names without a driver.
//
// The code that nvcc generates tells the CUDA runtime before main which host function stands for which kernel, through
// __cudaRegisterFunction. `cudaFuncGetName` would read that back, but needs a driver. The linker option
// --wrap=__cudaRegisterFunction (devices/CMakeLists.txt) sends the calls through here first, where the pairs are kept.
#pragma once

#include <string>

namespace convladder {

/// The mangled name of the kernel with that host address, as in PTX and machine code; empty if it is none.
std::string mangled_kernel_name(const void* kernel);

}  // namespace convladder

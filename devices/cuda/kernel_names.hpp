// Names of kernels and of their modules' variables without a driver.
//
// The code that nvcc generates tells the CUDA runtime before main which host function stands for which kernel, through
// __cudaRegisterFunction, and which host variable for which of the device, through __cudaRegisterVar. `cudaFuncGetName`
// would read the former back, but needs a driver. The linker options --wrap=__cudaRegisterFunction and
// --wrap=__cudaRegisterVar (devices/CMakeLists.txt) send the calls through here first, where the pairs are kept.
#pragma once

#include <string>

namespace convladder {

/// The mangled name of the kernel or variable with that host address, as in PTX and machine code; empty if it is none.
std::string mangled_device_name(const void* kernel_or_variable);

}  // namespace convladder

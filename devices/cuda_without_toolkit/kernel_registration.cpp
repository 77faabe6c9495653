// The CUDA runtime's part in a program whose kernels clang compiled, on a machine without the CUDA toolkit: it learns
// which host function stands for which kernel, and which host variable for which of the device. It launches nothing:
// kernels run on the simulated device.
//
// Before main, the host code that clang makes of a .cu file registers its kernels with these functions, as nvcc's does
// (clang/lib/CodeGen/CGCUDANV.cpp). The stubs behind the kernels' names refer to the last two.
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "devices/kernel_resources.hpp"

namespace convladder {
namespace {

// A function-local static: names are registered before main, before or after this file's own statics.
std::unordered_map<const void*, std::string>& names_by_address() {
  static std::unordered_map<const void*, std::string> names;
  return names;
}

std::string mangled_device_name(const void* kernel_or_variable) {
  const auto found = names_by_address().find(kernel_or_variable);
  return found == names_by_address().end() ? std::string() : found->second;
}

const KernelNamesRegistration registration{mangled_device_name};

}  // namespace
}  // namespace convladder

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the CUDA runtime's
void** __cudaRegisterFatBinary(void* binary);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
int __cudaRegisterFunction(void** handle, const char* host_function, char* device_function, const char* device_name,
                           int thread_limit, void* thread_index, void* block_index, void* block_size, void* grid_size,
                           int* warp_size);
void __cudaRegisterVar(void** handle, char* host_variable, char* device_address, const char* device_name, int is_extern,
                       std::size_t bytes, int is_constant, int is_global);
unsigned __cudaPopCallConfiguration(void* grid, void* block, std::size_t* shared_bytes, void* stream);
int cudaLaunchKernel(const void* kernel);

void** __cudaRegisterFatBinary(void* /*binary*/) {
  static void* handle = nullptr;
  return &handle;
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** /*handle*/) {}

int __cudaRegisterFunction(void** /*handle*/, const char* host_function, char* /*device_function*/,
                           const char* device_name, int /*thread_limit*/, void* /*thread_index*/, void* /*block_index*/,
                           void* /*block_size*/, void* /*grid_size*/, int* /*warp_size*/) {
  convladder::names_by_address()[host_function] = device_name;
  return 0;
}

void __cudaRegisterVar(void** /*handle*/, char* host_variable, char* /*device_address*/, const char* device_name,
                       int /*is_extern*/, std::size_t /*bytes*/, int /*is_constant*/, int /*is_global*/) {
  convladder::names_by_address()[host_variable] = device_name;
}

// A stub runs only if somebody calls a kernel like a function, past the devices.
unsigned __cudaPopCallConfiguration(void* /*grid*/, void* /*block*/, std::size_t* /*shared_bytes*/, void* /*stream*/) {
  std::abort();
}

int cudaLaunchKernel(const void* /*kernel*/) { std::abort(); }
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

}  // extern "C"

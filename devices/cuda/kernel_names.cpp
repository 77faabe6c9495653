#include "devices/cuda/kernel_names.hpp"

#include <cuda_runtime_api.h>

#include <unordered_map>

#include "devices/kernel_resources.hpp"

namespace convladder {
namespace {

// A function-local static: names are registered before main, before or after this file's own statics.
std::unordered_map<const void*, std::string>& names_by_address() {
  static std::unordered_map<const void*, std::string> names;
  return names;
}

const KernelNamesRegistration names_registration{mangled_device_name};

}  // namespace

std::string mangled_device_name(const void* kernel_or_variable) {
  const auto found = names_by_address().find(kernel_or_variable);
  return found == names_by_address().end() ? std::string() : found->second;
}

}  // namespace convladder

// The signatures are those of crt/host_runtime.h in the CUDA toolkit.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the linker's
void __real___cudaRegisterFunction(void** fat_binary, const char* host_function, char* device_function,
                                   const char* device_name, int thread_limit, uint3* thread_index, uint3* block_index,
                                   dim3* block_size, dim3* grid_size, int* warp_size);

void __wrap___cudaRegisterFunction(void** fat_binary, const char* host_function, char* device_function,
                                   const char* device_name, int thread_limit, uint3* thread_index, uint3* block_index,
                                   dim3* block_size, dim3* grid_size, int* warp_size);

void __wrap___cudaRegisterFunction(void** fat_binary, const char* host_function, char* device_function,
                                   const char* device_name, int thread_limit, uint3* thread_index, uint3* block_index,
                                   dim3* block_size, dim3* grid_size, int* warp_size) {
  convladder::names_by_address()[host_function] = device_name;
  __real___cudaRegisterFunction(fat_binary, host_function, device_function, device_name, thread_limit, thread_index,
                                block_index, block_size, grid_size, warp_size);
}

void __real___cudaRegisterVar(void** fat_binary, char* host_variable, char* device_address, const char* device_name,
                              int is_extern, std::size_t bytes, int is_constant, int is_global);

void __wrap___cudaRegisterVar(void** fat_binary, char* host_variable, char* device_address, const char* device_name,
                              int is_extern, std::size_t bytes, int is_constant, int is_global);

void __wrap___cudaRegisterVar(void** fat_binary, char* host_variable, char* device_address, const char* device_name,
                              int is_extern, std::size_t bytes, int is_constant, int is_global) {
  convladder::names_by_address()[host_variable] = device_name;
  __real___cudaRegisterVar(fat_binary, host_variable, device_address, device_name, is_extern, bytes, is_constant,
                           is_global);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

}  // extern "C"

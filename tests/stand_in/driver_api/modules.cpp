// Modules, libraries, and modules linked from several parts.
#include "subjects.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>

#include "expect.h"

namespace {

const char* const kFirstHalf = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) twice (.param .b32 value);
.visible .entry calls(.param .u64 calls_data)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [calls_data];
  ld.global.u32 %r1, [%rd1];
  { .param .b32 in; st.param.b32 [in], %r1; .param .b32 out;
    call.uni (out), twice, (in); ld.param.b32 %r2, [out]; }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

const char* const kSecondHalf = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) twice (.param .b32 value)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [value];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)";

const char* const kOtherHalf = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b64 result) twice (.param .b64 value) { st.param.b64 [result], 1; ret; }
)";

const char* const kNeedsVariable = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .global .b32 elsewhere;
.visible .entry reads(.param .u64 reads_data)
{
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [reads_data];
  ld.global.b32 %r1, [elsewhere];
  st.global.b32 [%rd1], %r1;
  ret;
}
)";

const char* const kVariable = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .b32 elsewhere = 5;
)";

const char* const kOtherVariable = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .b64 elsewhere = 5;
)";

const char* const kOf64 = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry of_64(.param .u64 data) .reqntid 64, 1, 1
{
  ret;
}
)";

/// What the linker says of the texts: its status, and its errors in `log`.
CUresult linked(std::initializer_list<const char*> texts, std::string& log) {
  char errors[1024] = "as it was";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors)};
  CUlinkState link = nullptr;
  EXPECT_OK(cuLinkCreate(2, options, values, &link));
  for (const char* const text : texts) {
    EXPECT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, "text", 0, nullptr,
                            nullptr));
  }
  void* image = nullptr;
  std::size_t bytes = 0;
  const CUresult status = cuLinkComplete(link, &image, &bytes);
  log = errors;
  EXPECT_OK(cuLinkDestroy(link));
  return status;
}

bool says(const std::string& log, const char* text) { return log.find(text) != std::string::npos; }

void what_is_missing() {
  std::string log;
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, linked({kFirstHalf}, log));
  EXPECT(says(log, "undefined reference to the function 'twice'"));
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, linked({kNeedsVariable, kSecondHalf}, log));
  EXPECT(says(log, "undefined reference to the variable 'elsewhere'") && !says(log, "twice"));
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, linked({kFirstHalf, kNeedsVariable}, log));
  EXPECT(says(log, "'elsewhere'") && says(log, "'twice'"));
  for (const auto& texts : {std::initializer_list<const char*>{kFirstHalf, kOtherHalf}, {kOtherHalf, kFirstHalf}}) {
    EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, linked(texts, log));
    EXPECT(says(log, "prototype doesn't match") && says(log, "'twice'"));
  }
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, linked({kNeedsVariable, kOtherVariable}, log));
  EXPECT(says(log, "size doesn't match") && says(log, "'elsewhere'"));
  EXPECT_OK(linked({kNeedsVariable, kFirstHalf, kVariable, kSecondHalf}, log));
  EXPECT(log.empty());

  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, kNeedsVariable));
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, kFirstHalf));
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX,
                cuLibraryLoadData(&library, kFirstHalf, nullptr, nullptr, 0, nullptr, nullptr, 0));
  char errors[1024] = "as it was";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors)};
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, kNeedsVariable, 2, options, values));
  EXPECT(says(errors, "'elsewhere'"));
}

void required_sizes() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  void* parameters[] = {&data};
  EXPECT_OK(cuModuleLoadData(&module, kOf64));
  EXPECT_OK(cuModuleGetFunction(&function, module, "of_64"));
  for (const unsigned threads : {32U, 128U, 1U}) {
    EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE,
                  cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  }
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 8, 8, 1, 0, nullptr, parameters, nullptr));
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuModuleUnload(module));
}

}  // namespace

void modules() {
  CUmodule module = nullptr;
  CUmodule other = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr factor = 0;
  std::size_t bytes = 0;
  EXPECT_OK(cuModuleLoadData(&module, kScale));
  EXPECT_OK(cuModuleLoadData(&other, kScale));
  EXPECT_OK(cuModuleGetFunction(&function, module, "scale"));
  EXPECT_STATUS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "shrink"));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, reinterpret_cast<CUmodule>(&bytes), "scale"));
  EXPECT_OK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == 4);
  EXPECT_STATUS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&factor, &bytes, module, "addend"));
  // Each has variables of its own.
  CUdeviceptr of_other = 0;
  EXPECT_OK(cuModuleGetGlobal(&of_other, nullptr, other, "factor"));
  EXPECT(of_other != factor);
  const float three = 3;
  float read = 0;
  EXPECT_OK(cuMemcpyHtoD(of_other, &three, 4));
  EXPECT_OK(cuMemcpyDtoH(&read, factor, 4));
  EXPECT(read == 2);
  EXPECT_OK(cuModuleUnload(other));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(other));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(of_other, &three, 4));

  char log[256] = "as it was";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(2)};
  const std::string broken = std::string(kScale) + "\n.visible .entry broken( {";
  EXPECT_STATUS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&other, broken.c_str(), 3, options, values));
  EXPECT(std::strlen(log) > 10 && reinterpret_cast<std::size_t>(values[1]) == std::strlen(log));
  values[1] = reinterpret_cast<void*>(sizeof log);
  EXPECT_OK(cuModuleLoadDataEx(&other, kScale, 3, options, values));
  EXPECT(std::strlen(log) == 0 && values[1] == nullptr);
  EXPECT_OK(cuModuleUnload(other));
  EXPECT_STATUS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&other, "\177ELF\2\1\1"));
  EXPECT_STATUS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&other, "certainly no image"));
  EXPECT_STATUS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&other, ""));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&other, nullptr));
  EXPECT_STATUS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&other, "/nowhere/at/all.ptx"));
  EXPECT_OK(cuModuleUnload(module));
}

void libraries() {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  unsigned count = 0;
  EXPECT_OK(cuLibraryLoadData(&library, kScale, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_OK(cuLibraryGetKernelCount(&count, library));
  EXPECT(count == 2);
  EXPECT_OK(cuLibraryGetKernel(&kernel, library, "wild"));
  EXPECT_OK(cuKernelGetFunction(&function, kernel));
  CUmodule module = nullptr;
  EXPECT_OK(cuLibraryGetModule(&module, library));
  EXPECT_STATUS(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
  EXPECT_OK(cuLibraryUnload(library));
}

void linking() {
  what_is_missing();
  required_sizes();
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_OK(cuLinkCreate(0, nullptr, nullptr, &link));
  EXPECT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kFirstHalf), std::strlen(kFirstHalf) + 1, "first",
                          0, nullptr, nullptr));
  EXPECT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kSecondHalf), std::strlen(kSecondHalf) + 1,
                          "second", 0, nullptr, nullptr));
  char elf[] = "\177ELF";
  EXPECT_STATUS(CUDA_ERROR_NO_BINARY_FOR_GPU,
                cuLinkAddData(link, CU_JIT_INPUT_CUBIN, elf, sizeof elf, "machine code", 0, nullptr, nullptr));
  EXPECT_OK(cuLinkComplete(link, &image, &bytes));
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, image));
  EXPECT_OK(cuLinkDestroy(link));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(link));
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  unsigned value = 21;
  EXPECT_OK(cuModuleGetFunction(&function, module, "calls"));
  EXPECT_OK(cuMemAlloc(&data, 4));
  EXPECT_OK(cuMemcpyHtoD(data, &value, 4));
  void* parameters[] = {&data};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_OK(cuMemcpyDtoH(&value, data, 4));
  EXPECT(value == 42);
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_OK(cuMemFree(data));
}

/* NVRTC on the stand-in: what a program asks for as machine code is loaded and run. */
#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "../expect.h"

static const char* const kSource =
    "#include \"factor.h\"\n"
    "namespace space { template <typename T, int N> __global__ void scaled(T* x) { x[threadIdx.x] *= N * FACTOR; } }\n"
    "extern \"C\" __global__ void filled(float* x) { x[threadIdx.x] = threadIdx.x; }\n";

static std::string log_of(nvrtcProgram program) {
  size_t size = 0;
  EXPECT_OK(nvrtcGetProgramLogSize(program, &size));
  std::string log(size, '\0');
  EXPECT_OK(nvrtcGetProgramLog(program, log.data()));
  return log;
}

/* Compiles for a GPU, and runs what machine code is asked for, or PTX. */
static void compiled_for(const std::vector<const char*>& options, bool machine_code) {
  const char* const headers[] = {"#pragma once\n#define FACTOR 2\n"};
  const char* const names[] = {"factor.h"};
  nvrtcProgram program = nullptr;
  EXPECT_OK(nvrtcCreateProgram(&program, kSource, "scaled.cu", 1, headers, names));
  EXPECT_OK(nvrtcAddNameExpression(program, "space::scaled<float, 5>"));
  const nvrtcResult result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  EXPECT_OK(result);
  if (result != NVRTC_SUCCESS) puts(log_of(program).c_str());
  const char* lowered = nullptr;
  EXPECT_OK(nvrtcGetLoweredName(program, "space::scaled<float, 5>", &lowered));
  size_t size = 0;
  EXPECT_OK(machine_code ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size));
  EXPECT(size > 0);
  std::vector<char> image(size);
  EXPECT_OK(machine_code ? nvrtcGetCUBIN(program, image.data()) : nvrtcGetPTX(program, image.data()));
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  CUfunction scale = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, image.data()));
  EXPECT_OK(cuModuleGetFunction(&fill, module, "filled"));
  EXPECT_OK(cuModuleGetFunction(&scale, module, lowered));
  EXPECT_OK(nvrtcDestroyProgram(&program));
  CUdeviceptr memory = 0;
  float numbers[32] = {};
  EXPECT_OK(cuMemAlloc(&memory, sizeof numbers));
  void* arguments[] = {&memory};
  EXPECT_OK(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_OK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_OK(cuMemcpyDtoH(numbers, memory, sizeof numbers));
  EXPECT(numbers[0] == 0 && numbers[31] == 310);
}

int main() {
  int major = 0;
  int minor = 0;
  EXPECT_OK(nvrtcVersion(&major, &minor));
  EXPECT(major >= 11);
  EXPECT_OK(cuInit(0));
  CUcontext context = nullptr;
  CUdevice device = 0;
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT_OK(cuCtxSetCurrent(context));
  compiled_for({"--gpu-architecture=sm_90", "--std=c++17", "-lineinfo"}, true);
  compiled_for({"-arch", "sm_80"}, true);
  compiled_for({"--gpu-architecture=compute_75", "-default-device"}, false);
  nvrtcProgram program = nullptr;
  EXPECT_OK(nvrtcCreateProgram(&program, "__global__ void f() { nowhere(); }", "wrong.cu", 0, nullptr, nullptr));
  const char* const options[] = {"-arch=sm_90a"};
  EXPECT_STATUS(NVRTC_ERROR_COMPILATION, nvrtcCompileProgram(program, 1, options));
  EXPECT(log_of(program).find("wrong.cu") != std::string::npos);
  EXPECT(log_of(program).find("nowhere") != std::string::npos);
  EXPECT_OK(nvrtcDestroyProgram(&program));
  EXPECT_STATUS(NVRTC_ERROR_INVALID_PROGRAM, nvrtcDestroyProgram(&program));
  return outcome();
}

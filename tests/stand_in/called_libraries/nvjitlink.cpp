/* nvJitLink on the stand-in: PTX of two texts is linked, loaded as machine code and run. */
#define NVJITLINK_NO_INLINE /* the names without a version, which loaders look for, and one with it */
#include <cuda.h>
#include <nvJitLink.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../expect.h"

extern "C" {
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t count, const char** options);
nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle);
nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data, size_t bytes,
                                 const char* name);
nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path);
nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle);
nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* image);
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx);
nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size);
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log);
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size);
}

static const std::string kHead = ".version 7.0\n.target sm_70\n.address_size 64\n";
static const std::string kDeclaration = ".func (.param .b32 r) twice (.param .b32 v)";
static const std::string kCaller = kHead + ".extern " + kDeclaration +
                                   ";\n.visible .entry f(.param .u64 p) {\n.reg .u64 %a; .reg .b32 %x;\n"
                                   "ld.param.u64 %a, [p];\n{ .param .b32 in; .param .b32 out;\nst.param.b32 [in], 21;\n"
                                   "call.uni (out), twice, (in);\nld.param.b32 %x, [out]; }\n"
                                   "st.global.b32 [%a], %x;\nret;\n}\n";
static const std::string kCalled = kHead + ".visible " + kDeclaration +
                                   " {\n.reg .b32 %x;\nld.param.b32 %x, [v];\nshl.b32 %x, %x, 1;\n"
                                   "st.param.b32 [r], %x;\nret;\n}\n";

static void add(nvJitLinkHandle link, const std::string& text) {
  EXPECT_OK(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, text.data(), text.size(), "text"));
}

static nvJitLinkHandle new_link() {
  const char* options[] = {"-arch=sm_90"};
  nvJitLinkHandle link = nullptr;
  EXPECT_OK(nvJitLinkCreate(&link, 1, options));
  return link;
}

int main() {
  unsigned major = 0;
  unsigned minor = 0;
  EXPECT_OK(nvJitLinkVersion(&major, &minor));
  EXPECT(major >= 12);
  nvJitLinkHandle link = nullptr;
  EXPECT_STATUS(NVJITLINK_ERROR_MISSING_ARCH, nvJitLinkCreate(&link, 0, nullptr));
  link = new_link();
  size_t size = 0;
  EXPECT_STATUS(NVJITLINK_ERROR_INVALID_INPUT, nvJitLinkGetLinkedCubinSize(link, &size));
  add(link, kCaller);
  add(link, kCalled);
  EXPECT_OK(__nvJitLinkComplete_13_0(link));
  EXPECT_OK(nvJitLinkGetLinkedCubinSize(link, &size));
  std::vector<char> image(size);
  EXPECT_OK(nvJitLinkGetLinkedCubin(link, image.data()));
  EXPECT_OK(nvJitLinkGetLinkedPtxSize(link, &size));
  EXPECT(size == image.size());
  std::vector<char> text(size);
  EXPECT_OK(nvJitLinkGetLinkedPtx(link, text.data()));
  EXPECT(text == image);
  EXPECT_OK(nvJitLinkGetInfoLogSize(link, &size));
  EXPECT_OK(nvJitLinkDestroy(&link));
  EXPECT(link == nullptr);

  EXPECT_OK(cuInit(0));
  CUcontext context = nullptr;
  CUdevice device = 0;
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT_OK(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, image.data()));
  EXPECT_OK(cuModuleGetFunction(&function, module, "f"));
  CUdeviceptr memory = 0;
  int number = 0;
  EXPECT_OK(cuMemAlloc(&memory, sizeof number));
  void* arguments[] = {&memory};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_OK(cuMemcpyDtoH(&number, memory, sizeof number));
  EXPECT(number == 42);

  link = new_link(); /* without what it calls */
  add(link, kCaller);
  EXPECT_STATUS(NVJITLINK_ERROR_PTX_COMPILE, nvJitLinkComplete(link));
  EXPECT_OK(nvJitLinkGetErrorLogSize(link, &size));
  std::string log(size, '\0');
  EXPECT_OK(nvJitLinkGetErrorLog(link, log.data()));
  EXPECT(log.find("twice") != std::string::npos);
  EXPECT_STATUS(NVJITLINK_ERROR_INVALID_INPUT,
                nvJitLinkAddData(link, NVJITLINK_INPUT_LIBRARY, text.data(), text.size(), "archive"));
  EXPECT_STATUS(NVJITLINK_ERROR_INVALID_INPUT,
                nvJitLinkAddData(link, NVJITLINK_INPUT_CUBIN, "\177ELF\2\1\1", 7, "machine code"));
  EXPECT_STATUS(NVJITLINK_ERROR_INVALID_INPUT, nvJitLinkAddFile(link, NVJITLINK_INPUT_PTX, "/nowhere"));
  EXPECT_OK(nvJitLinkDestroy(&link));
  link = reinterpret_cast<nvJitLinkHandle>(&number);
  EXPECT_STATUS(NVJITLINK_ERROR_INVALID_INPUT, nvJitLinkDestroy(&link));
  return outcome();
}

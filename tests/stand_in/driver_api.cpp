// What a program that uses the CUDA driver API alone sees. Compiled by tests/end_to_end/test_driver_api.py against
// cuda.h and linked with libcuda.so.1. It prints what is wrong, and ends with 1 if anything is.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}

void expect_status(CUresult got, CUresult wanted, const char* what, int line) {
  if (got == wanted) return;
  ++failures;
  std::printf("line %d: %s is %d, not %d\n", line, what, got, wanted);
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define GIVES(wanted, call) expect_status(call, wanted, #call, __LINE__)
#define WORKS(call) GIVES(CUDA_SUCCESS, call)

const char* const kScale = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .b8 factor[4] = {0, 0, 0, 64};
.visible .entry scale(.param .u8 scale_before, .param .u64 scale_data, .param .u32 scale_count)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [scale_data];
  ld.param.u32 %r1, [scale_count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd4], %f3;
DONE:
  ret;
}
.visible .entry wild(.param .u64 wild_data)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [wild_data];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

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

const char* const kTile = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry tile(.param .align 64 .b8 tile_map[128], .param .u64 tile_out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  .shared .align 128 .b8 box[128];
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r2, 2;
  mov.u32 %r3, 1;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [bar], 1;
READY:
  bar.sync 0;
  @%p1 bra WAIT;
  mov.b64 %rd1, tile_map;
  cvta.param.u64 %rd2, %rd1;
  mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%rd2, {%r2, %r3}], [bar];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
  @!%p2 bra WAIT;
  mul.lo.u32 %r4, %r1, 4;
  mov.u32 %r5, box;
  add.u32 %r5, %r5, %r4;
  ld.shared.u32 %r5, [%r5];
  ld.param.u64 %rd4, [tile_out];
  cvt.u64.u32 %rd5, %r4;
  add.u64 %rd4, %rd4, %rd5;
  st.global.u32 [%rd4], %r5;
  ret;
}
)";

const char* const kSample = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry sample(.param .u64 sample_texture, .param .u64 sample_out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  .reg .f32 %f<7>;
  ld.param.u64 %rd1, [sample_texture];
  ld.param.u64 %rd2, [sample_out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mad.lo.u32 %r3, %r2, 4, %r1;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f3;
  ret;
}
)";

void before_initialization() {
  int count = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  GIVES(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
  GIVES(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&memory, 4));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  WORKS(cuInit(0));
  int version = 0;
  WORKS(cuDriverGetVersion(&version));
  EXPECT(version == 13000);
}

void devices() {
  int count = 0;
  CUdevice device = 7;
  WORKS(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  WORKS(cuDeviceGet(&device, 0));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
  char name[8] = {};
  WORKS(cuDeviceGetName(name, sizeof name, device));
  EXPECT(std::strlen(name) == 7);
  int major = 0;
  WORKS(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(major == 9);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&major, static_cast<CUdevice_attribute>(100000), device));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 3));
}

void contexts() {
  CUcontext current = nullptr;
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  CUdeviceptr memory = 0;
  CUdevice device = 0;
  WORKS(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&current));
  WORKS(cuCtxCreate(&first, nullptr, CU_CTX_SCHED_YIELD, 0));
  WORKS(cuCtxCreate(&second, nullptr, 0, 0));
  WORKS(cuCtxGetCurrent(&current));
  EXPECT(current == second && first != second);
  WORKS(cuCtxPopCurrent(&current));
  EXPECT(current == second);
  WORKS(cuCtxGetCurrent(&current));
  EXPECT(current == first);
  unsigned flags = 0;
  WORKS(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_YIELD);
  WORKS(cuCtxGetDevice(&device));
  unsigned version = 0;
  WORKS(cuCtxGetApiVersion(first, &version));
  EXPECT(version >= 3020);
  // Another thread has a stack of its own.
  std::thread([&] {
    CUcontext there = first;
    WORKS(cuCtxGetCurrent(&there));
    EXPECT(there == nullptr);
    WORKS(cuCtxSetCurrent(second));
    WORKS(cuMemAlloc(&memory, 64));
  }).join();
  // What a context has made ends with it.
  CUdeviceptr begin = 0;
  WORKS(cuMemGetAddressRange(&begin, nullptr, memory + 5));
  EXPECT(begin == memory);
  WORKS(cuCtxDestroy(second));
  GIVES(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&begin, nullptr, memory));
  GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSetCurrent(second));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(reinterpret_cast<CUcontext>(&device)));
  WORKS(cuCtxDestroy(first));
  WORKS(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);

  int is_active = 7;
  WORKS(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  EXPECT(is_active == 0);
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  WORKS(cuDevicePrimaryCtxRetain(&first, 0));
  WORKS(cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT(first == second);
  WORKS(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  EXPECT(is_active == 1);
  WORKS(cuCtxSetCurrent(first));
  WORKS(cuMemAlloc(&memory, 64));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
  WORKS(cuDevicePrimaryCtxRelease(0));
  WORKS(cuMemsetD8(memory, 1, 64));
  WORKS(cuDevicePrimaryCtxRelease(0));
  GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemsetD8(memory, 1, 64));
  WORKS(cuCtxSetCurrent(nullptr));
}

void modules() {
  CUmodule module = nullptr;
  CUmodule other = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr factor = 0;
  std::size_t bytes = 0;
  WORKS(cuModuleLoadData(&module, kScale));
  WORKS(cuModuleLoadData(&other, kScale));
  WORKS(cuModuleGetFunction(&function, module, "scale"));
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "shrink"));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, reinterpret_cast<CUmodule>(&bytes), "scale"));
  WORKS(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == 4);
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&factor, &bytes, module, "addend"));
  // Each has variables of its own.
  CUdeviceptr of_other = 0;
  WORKS(cuModuleGetGlobal(&of_other, nullptr, other, "factor"));
  EXPECT(of_other != factor);
  const float three = 3;
  float read = 0;
  WORKS(cuMemcpyHtoD(of_other, &three, 4));
  WORKS(cuMemcpyDtoH(&read, factor, 4));
  EXPECT(read == 2);
  WORKS(cuModuleUnload(other));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(other));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(of_other, &three, 4));

  char log[256] = "as it was";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(2)};
  const std::string broken = std::string(kScale) + "\n.visible .entry broken( {";
  GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&other, broken.c_str(), 3, options, values));
  EXPECT(std::strlen(log) > 10 && reinterpret_cast<std::size_t>(values[1]) == std::strlen(log));
  values[1] = reinterpret_cast<void*>(sizeof log);
  WORKS(cuModuleLoadDataEx(&other, kScale, 3, options, values));
  EXPECT(std::strlen(log) == 0 && values[1] == nullptr);
  WORKS(cuModuleUnload(other));
  GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&other, "\177ELF\2\1\1"));
  GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&other, "certainly no image"));
  GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&other, ""));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&other, nullptr));
  GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&other, "/nowhere/at/all.ptx"));
  WORKS(cuModuleUnload(module));
}

void launches() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  WORKS(cuModuleLoadData(&module, kScale));
  WORKS(cuModuleGetFunction(&function, module, "scale"));
  constexpr int kCount = 1000;
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  WORKS(cuMemAlloc(&data, kCount * sizeof(float)));
  WORKS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  WORKS(cuMemcpyHtoDAsync(data, host.data(), kCount * sizeof(float), stream));

  std::size_t offset = 0;
  std::size_t size = 0;
  WORKS(cuFuncGetParamInfo(function, 1, &offset, &size));
  EXPECT(offset == 8 && size == 8);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function, 3, &offset, &size));
  int value = 0;
  WORKS(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  EXPECT(value == 1024);
  const char* name = nullptr;
  WORKS(cuFuncGetName(&name, function));
  EXPECT(std::strcmp(name, "scale") == 0);
  CUmodule its_module = nullptr;
  WORKS(cuFuncGetModule(&its_module, function));
  EXPECT(its_module == module);

  unsigned char before = 0;
  int count = kCount;
  void* parameters[] = {&before, &data, &count};
  WORKS(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr));
  struct {
    unsigned char before = 0;
    CUdeviceptr data = 0;
    int count = kCount;
  } block;
  block.data = data;
  std::size_t block_bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                   CU_LAUNCH_PARAM_END};
  WORKS(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, nullptr, extra));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, parameters, extra));
  block_bytes = 8;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, nullptr, extra));
  CUlaunchConfig configuration = {};
  configuration.gridDimX = 4;
  configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 256;
  configuration.blockDimY = configuration.blockDimZ = 1;
  configuration.hStream = stream;
  WORKS(cuLaunchKernelEx(&configuration, function, parameters, nullptr));
  WORKS(cuMemcpyDtoHAsync(host.data(), data, kCount * sizeof(float), stream));
  WORKS(cuStreamSynchronize(stream));
  bool all = true;
  for (int i = 0; i < kCount; ++i) all = all && host[static_cast<std::size_t>(i)] == static_cast<float>(8 * i);
  EXPECT(all);

  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 1 << 20, stream, parameters, nullptr));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  GIVES(CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(reinterpret_cast<CUfunction>(&data), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  GIVES(CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, reinterpret_cast<CUstream>(&data), parameters, nullptr));

  int grid = 0;
  int best = 0;
  WORKS(cuOccupancyMaxPotentialBlockSize(&grid, &best, function, nullptr, 0, 0));
  EXPECT(best == 1024 && grid == 2 * 132);
  WORKS(cuOccupancyMaxPotentialBlockSize(
      &grid, &best, function, [](int threads) { return threads * std::size_t{100}; }, 0, 512));
  EXPECT(best > 0 && best <= 512);

  WORKS(cuStreamDestroy(stream));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
  WORKS(cuMemFree(data));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(data));
  WORKS(cuModuleUnload(module));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
}

void memory() {
  CUdeviceptr data = 0;
  std::size_t pitch = 0;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&data, 0));
  WORKS(cuMemAllocPitch(&data, &pitch, 24, 3, 4));
  EXPECT(pitch >= 24 && pitch % 4 == 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&data, &pitch, 24, 3, 3));
  WORKS(cuMemsetD2D32(data, pitch, 7, 6, 3));
  WORKS(cuMemsetD16(data + pitch, 0x0102, 2));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(data + 1, 0, 1));
  unsigned rows[3][8] = {};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = data;
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = rows;
  copy.dstPitch = sizeof rows[0];
  copy.dstXInBytes = 4;
  copy.WidthInBytes = 24;
  copy.Height = 3;
  WORKS(cuMemcpy2D(&copy));
  EXPECT(rows[0][0] == 0 && rows[0][1] == 7 && rows[2][6] == 7 && rows[1][1] == 0x01020102 && rows[1][2] == 7);
  copy.WidthInBytes = 32;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(rows, data, 1 << 20));

  void* pinned = nullptr;
  CUdeviceptr there = 0;
  WORKS(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  WORKS(cuMemHostGetDevicePointer(&there, pinned, 0));
  unsigned type = 0;
  WORKS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, there));
  EXPECT(type == CU_MEMORYTYPE_HOST);
  WORKS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data));
  EXPECT(type == CU_MEMORYTYPE_DEVICE);
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)));
  CUdeviceptr begin = 0;
  int ordinal = 7;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&begin, &ordinal};
  WORKS(cuPointerGetAttributes(2, attributes, values, data + 3));
  EXPECT(begin == data && ordinal == 0);
  WORKS(cuPointerGetAttributes(2, attributes, values, reinterpret_cast<CUdeviceptr>(&type)));
  EXPECT(begin == 0 && ordinal == -2);
  WORKS(cuMemFreeHost(pinned));
  WORKS(cuMemFree(data));
  std::size_t free = 0;
  std::size_t total = 0;
  WORKS(cuMemGetInfo(&free, &total));
  GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&data, total * 2));
}

void events() {
  CUevent begin = nullptr;
  CUevent end = nullptr;
  float milliseconds = -1;
  WORKS(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  WORKS(cuEventCreate(&end, CU_EVENT_DEFAULT));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, begin, end));
  WORKS(cuEventRecord(begin, nullptr));
  WORKS(cuEventRecord(end, nullptr));
  WORKS(cuEventSynchronize(end));
  WORKS(cuEventQuery(end));
  WORKS(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);
  WORKS(cuEventDestroy(begin));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(begin));
  WORKS(cuEventDestroy(end));
}

void libraries() {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  unsigned count = 0;
  WORKS(cuLibraryLoadData(&library, kScale, nullptr, nullptr, 0, nullptr, nullptr, 0));
  WORKS(cuLibraryGetKernelCount(&count, library));
  EXPECT(count == 2);
  WORKS(cuLibraryGetKernel(&kernel, library, "wild"));
  WORKS(cuKernelGetFunction(&function, kernel));
  CUmodule module = nullptr;
  WORKS(cuLibraryGetModule(&module, library));
  GIVES(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
  WORKS(cuLibraryUnload(library));
}

void linking() {
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  WORKS(cuLinkCreate(0, nullptr, nullptr, &link));
  WORKS(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kFirstHalf), std::strlen(kFirstHalf) + 1, "first", 0,
                      nullptr, nullptr));
  WORKS(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kSecondHalf), std::strlen(kSecondHalf) + 1, "second", 0,
                      nullptr, nullptr));
  char elf[] = "\177ELF";
  GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU,
        cuLinkAddData(link, CU_JIT_INPUT_CUBIN, elf, sizeof elf, "machine code", 0, nullptr, nullptr));
  WORKS(cuLinkComplete(link, &image, &bytes));
  CUmodule module = nullptr;
  WORKS(cuModuleLoadData(&module, image));
  WORKS(cuLinkDestroy(link));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(link));
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  unsigned value = 21;
  WORKS(cuModuleGetFunction(&function, module, "calls"));
  WORKS(cuMemAlloc(&data, 4));
  WORKS(cuMemcpyHtoD(data, &value, 4));
  void* parameters[] = {&data};
  WORKS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  WORKS(cuMemcpyDtoH(&value, data, 4));
  EXPECT(value == 42);
  WORKS(cuModuleUnload(module));
  WORKS(cuMemFree(data));
}

void entry_points() {
  void* found = nullptr;
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
  WORKS(cuGetProcAddress("cuMemAlloc", &found, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found == reinterpret_cast<void*>(&cuMemAlloc) && result == CU_GET_PROC_ADDRESS_SUCCESS);
  WORKS(cuGetProcAddress("cuCtxCreate", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found != nullptr && found != reinterpret_cast<void*>(&cuCtxCreate));
  WORKS(cuGetProcAddress("cuCtxCreate", &found, 12050, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result));
  EXPECT(found == reinterpret_cast<void*>(&cuCtxCreate));
  WORKS(cuGetProcAddress("cuTensorMapEncodeTiled", &found, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found == nullptr && result == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  WORKS(cuGetProcAddress("cuNothing", &found, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found == nullptr && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuMemAlloc", &found, 14000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuMemAlloc", &found, 13000, 8, &result));
  const char* text = nullptr;
  WORKS(cuGetErrorName(CUDA_ERROR_NO_BINARY_FOR_GPU, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_NO_BINARY_FOR_GPU") == 0);
  WORKS(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT(std::strcmp(text, "invalid argument") == 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &text));
  EXPECT(text == nullptr);
}

/// A kernel gets a box of a matrix by a tensor map that was made here.
void tensor_maps() {
  constexpr unsigned kWidth = 16;
  constexpr unsigned kHeight = 8;
  std::vector<unsigned> matrix(kWidth * kHeight);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<unsigned>(i);
  CUdeviceptr data = 0;
  CUdeviceptr out = 0;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  WORKS(cuMemAlloc(&data, matrix.size() * 4));
  WORKS(cuMemAlloc(&out, 128));
  WORKS(cuMemcpyHtoD(data, matrix.data(), matrix.size() * 4));
  CUtensorMap map = {};
  const cuuint64_t sizes[] = {kWidth, kHeight};
  const cuuint64_t strides[] = {kWidth * 4};
  const cuuint32_t box[] = {8, 4};
  const cuuint32_t steps[] = {1, 1};
  const auto encode = [&](CUdeviceptr address, unsigned rank) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, rank, reinterpret_cast<void*>(address), sizes,
                                  strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  GIVES(CUDA_ERROR_INVALID_VALUE, encode(data, 6));
  GIVES(CUDA_ERROR_INVALID_VALUE, encode(data + 8, 2));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(data)));
  WORKS(encode(data + 16, 2));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(data + 4)));
  WORKS(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(data)));
  WORKS(cuModuleLoadData(&module, kTile));
  WORKS(cuModuleGetFunction(&function, module, "tile"));
  void* parameters[] = {&map, &out};
  WORKS(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  unsigned got[32] = {};
  WORKS(cuMemcpyDtoH(got, out, sizeof got));
  // The box begins at column 2 of row 1.
  EXPECT(got[0] == 18 && got[7] == 25 && got[8] == 34 && got[31] == 73);
  WORKS(cuModuleUnload(module));
  WORKS(cuMemFree(data));
  WORKS(cuMemFree(out));
}

void textures() {
  CUDA_ARRAY_DESCRIPTOR wanted = {};
  wanted.Width = 4;
  wanted.Height = 2;
  wanted.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  wanted.NumChannels = 1;
  CUarray array = nullptr;
  WORKS(cuArrayCreate(&array, &wanted));
  CUDA_ARRAY3D_DESCRIPTOR known = {};
  WORKS(cuArray3DGetDescriptor(&known, array));
  EXPECT(known.Width == 4 && known.Height == 2 && known.Depth == 0 && known.NumChannels == 1);
  EXPECT(known.Format == CU_AD_FORMAT_UNSIGNED_INT8);
  const unsigned char texels[2][4] = {{0, 10, 20, 30}, {40, 50, 60, 70}};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels;
  copy.srcPitch = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  WORKS(cuMemcpy2D(&copy));
  copy.Height = 3;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  unsigned char row[4] = {};
  WORKS(cuMemcpyAtoH(row, array, 1, 3));
  EXPECT(row[0] == 10 && row[2] == 30);

  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture = {};
  for (CUaddress_mode& mode : texture.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  texture.filterMode = CU_TR_FILTER_MODE_POINT;
  CUtexObject object = 0;
  WORKS(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  float got[8] = {};
  WORKS(cuMemAlloc(&out, sizeof got));
  WORKS(cuModuleLoadData(&module, kSample));
  WORKS(cuModuleGetFunction(&function, module, "sample"));
  void* parameters[] = {&object, &out};
  WORKS(cuLaunchKernel(function, 1, 1, 1, 4, 2, 1, 0, nullptr, parameters, nullptr));
  WORKS(cuMemcpyDtoH(got, out, sizeof got));
  EXPECT(got[0] == 0 && got[3] == 30 / 255.0F && got[5] == 50 / 255.0F);
  WORKS(cuTexObjectDestroy(object));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(object));
  WORKS(cuArrayDestroy(array));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  WORKS(cuModuleUnload(module));
  WORKS(cuMemFree(out));
}

/// What a stream is told while it is captured happens when the graph is launched.
void graphs() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  WORKS(cuModuleLoadData(&module, kScale));
  WORKS(cuModuleGetFunction(&function, module, "scale"));
  WORKS(cuMemAlloc(&data, 16));
  WORKS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const float ones[4] = {1, 1, 1, 1};
  WORKS(cuMemcpyHtoD(data, ones, sizeof ones));
  unsigned char before = 0;
  int count = 4;
  void* parameters[] = {&before, &data, &count};
  WORKS(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  WORKS(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  WORKS(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, parameters, nullptr));
  WORKS(cuMemsetD32Async(data + 12, 0x40a00000, 1, stream));
  WORKS(cuStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  WORKS(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  float got[4] = {};
  WORKS(cuMemcpyDtoH(got, data, sizeof got));
  EXPECT(got[0] == 1 && got[3] == 1);
  WORKS(cuGraphInstantiate(&ready, graph, 0));
  WORKS(cuGraphLaunch(ready, stream));
  WORKS(cuGraphLaunch(ready, stream));
  WORKS(cuStreamSynchronize(stream));
  WORKS(cuMemcpyDtoH(got, data, sizeof got));
  EXPECT(got[0] == 4 && got[2] == 4 && got[3] == 5);
  WORKS(cuGraphExecDestroy(ready));
  WORKS(cuGraphDestroy(graph));
  WORKS(cuStreamDestroy(stream));
  WORKS(cuMemFree(data));
  WORKS(cuModuleUnload(module));
}

/// An error of a kernel stays, until its context is destroyed.
void errors_stay() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr wild = 64;
  CUdeviceptr memory = 0;
  void* parameters[] = {&wild};
  WORKS(cuCtxCreate(&context, nullptr, 0, 0));
  WORKS(cuModuleLoadData(&module, kScale));
  WORKS(cuModuleGetFunction(&function, module, "wild"));
  WORKS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&memory, 4));
  int count = 0;
  WORKS(cuDeviceGetCount(&count));
  WORKS(cuCtxDestroy(context));
  WORKS(cuMemAlloc(&memory, 4));
}

}  // namespace

int main() {
  before_initialization();
  devices();
  contexts();
  CUcontext context = nullptr;
  WORKS(cuCtxCreate(&context, nullptr, 0, 0));
  modules();
  launches();
  memory();
  events();
  libraries();
  linking();
  entry_points();
  tensor_maps();
  textures();
  graphs();
  errors_stay();
  // One that is not there: it says so.
  CUmemGenericAllocationHandle handle = 0;
  GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&handle, 1 << 20, nullptr, 0));
  WORKS(cuCtxDestroy(context));
  std::puts(failures == 0 ? "all as documented" : "not as documented");
  return failures == 0 ? 0 : 1;
}

/* NVML on the stand-in: what is known of the simulated GPU, and "not supported" for the rest. nvml.h is not part of
 * every toolkit. */
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "../expect.h"

extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
int nvmlSystemGetDriverVersion(char* text, unsigned bytes);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device);
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device);
int nvmlDeviceGetName(void* device, char* text, unsigned bytes);
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used);
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz);
int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* mhz);
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor);
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* list);
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius);
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts);
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates);
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending);
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* generation);
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* lanes);
int nvmlDeviceGetFieldValues(void* device, int count, void* values);
const char* nvmlErrorString(int status);
}

int main() {
  unsigned count = 0;
  EXPECT_STATUS(1, nvmlDeviceGetCount_v2(&count));
  EXPECT_OK(nvmlInit_v2());
  EXPECT_OK(nvmlDeviceGetCount_v2(&count));
  EXPECT(count == 1);
  char text[96];
  EXPECT_OK(nvmlSystemGetDriverVersion(text, sizeof text));
  EXPECT(std::string(text) == "580.65.06");
  void* device = nullptr;
  EXPECT_STATUS(2, nvmlDeviceGetHandleByIndex_v2(1, &device));
  EXPECT_OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
  /* The same device as CUDA's. */
  cudaDeviceProp properties;
  EXPECT_OK(cudaGetDeviceProperties(&properties, 0));
  char bus_id[32];
  EXPECT_OK(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
  void* by_bus = nullptr;
  EXPECT_OK(nvmlDeviceGetHandleByPciBusId_v2(bus_id, &by_bus));
  EXPECT(by_bus == device);
  EXPECT_STATUS(6, nvmlDeviceGetHandleByPciBusId_v2("0000:77:00.0", &by_bus));
  EXPECT_OK(nvmlDeviceGetName(device, text, sizeof text));
  EXPECT(std::strcmp(text, properties.name) == 0);
  EXPECT_STATUS(7, nvmlDeviceGetName(device, text, 3));
  int major = 0;
  int minor = 0;
  EXPECT_OK(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
  EXPECT(major == properties.major && minor == properties.minor);
  unsigned long long before[3];
  unsigned long long after[3];
  EXPECT_OK(nvmlDeviceGetMemoryInfo(device, before));
  EXPECT(before[0] == properties.totalGlobalMem);
  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 1 << 20));
  EXPECT_OK(nvmlDeviceGetMemoryInfo(device, after));
  EXPECT(after[2] - before[2] == 1 << 20 && after[1] + after[2] == after[0]);
  unsigned mhz = 0;
  unsigned most = 0;
  EXPECT_OK(nvmlDeviceGetClockInfo(device, 1, &mhz));
  EXPECT_OK(nvmlDeviceGetMaxClockInfo(device, 0, &most));
  EXPECT(mhz == most && mhz > 500);
  struct {
    unsigned process;
    unsigned long long bytes;
    unsigned instances[2];
  } processes[4];
  unsigned running = 4;
  EXPECT_OK(nvmlDeviceGetComputeRunningProcesses_v3(device, &running, processes));
  EXPECT(running == 1 && processes[0].process == static_cast<unsigned>(getpid()));
  unsigned value[2];
  EXPECT_STATUS(3, nvmlDeviceGetTemperature(device, 0, value));
  EXPECT_STATUS(3, nvmlDeviceGetPowerUsage(device, value));
  unsigned pending = 1;
  EXPECT_OK(nvmlDeviceGetMigMode(device, value, &pending));
  EXPECT(value[0] == 0 && pending == 0);
  EXPECT_OK(nvmlDeviceGetCurrPcieLinkGeneration(device, value));
  EXPECT(value[0] == 5);
  EXPECT_OK(nvmlDeviceGetCurrPcieLinkWidth(device, value));
  EXPECT(value[0] == 16);
  struct {
    unsigned field, scope;
    long long timestamp, latency;
    int type, status;
    unsigned long long number;
  } field = {};
  EXPECT_OK(nvmlDeviceGetFieldValues(device, 1, &field));
  EXPECT(field.status == 3);
  EXPECT_STATUS(3, nvmlDeviceGetUtilizationRates(device, value));
  EXPECT(std::strcmp(nvmlErrorString(3), "Not Supported") == 0);
  EXPECT_OK(nvmlShutdown());
  EXPECT_STATUS(1, nvmlDeviceGetCount_v2(&count));
  return outcome();
}

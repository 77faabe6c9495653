/* A program of CUDA 12, or of CUDA 11 with -DRUNTIME=11: what has other parameters or structures today is declared here as
 * it was, and the program is linked with a library of that version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

typedef struct CUstream_st* cudaStream_t;
typedef struct CUgraph_st* cudaGraph_t;

int cudaMalloc(void** address, size_t bytes);
int cudaMallocManaged(void** address, size_t bytes, unsigned flags);
int cudaFree(void* address);
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaRuntimeGetVersion(int* version);
int cudaGetDeviceProperties(void* properties, int device);
int cudaMemAdvise(const void* address, size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void* address, size_t bytes, int device, cudaStream_t stream);
int cudaThreadSynchronize(void);
int cudaPointerGetAttributes(void* attributes, const void* address);
int cudaGetLastError(void);
#if RUNTIME == 11
int cudaGetDriverEntryPoint(const char* name, void** address, unsigned long long flags);
int cudaBindTexture(size_t* offset, const void* texture, const void* address, const void* format, size_t bytes);
#else
struct Location {
  int type;
  int id;
};
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaMemPrefetchAsync_v2(const void* address, size_t bytes, struct Location location, unsigned flags,
                            cudaStream_t stream);
int cudaGetDriverEntryPoint(const char* name, void** address, unsigned long long flags, int* found);
int cudaMemcpyBatchAsync(void** to, void** from, size_t* sizes, size_t count, void* attributes, size_t* indices,
                         size_t attribute_count, size_t* failed, cudaStream_t stream);
#endif

#ifdef WITH_UNKNOWN
int cudaNobodyKnows(int);
#endif

enum { kInvalidValue = 1, kInvalidDevice = 101, kNotSupported = 801 };

static int int_at(const unsigned char* bytes, size_t offset) {
  int value = 0;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

/* Nothing behind the structure is written. */
static void properties(int (*get)(void*, int), size_t bytes) {
  unsigned char properties[2048];
  memset(properties, 0xa5, sizeof properties);
  EXPECT_OK(get(properties, 0));
  for (size_t i = bytes; i < sizeof properties; ++i) {
    if (properties[i] == 0xa5) continue;
    EXPECT(!"a byte behind the structure is written");
    break;
  }
  EXPECT(strstr((const char*)properties, "simulated") != NULL);
  int wanted = 0;
  /* The attributes' numbers, and where the members are. */
  const int places[][2] = {{10, 308}, {1, 320},  {2, 324},  {5, 336},  {13, 348}, {75, 360}, {76, 364},
                           {16, 388}, {20, 404}, {21, 408}, {31, 576}, {32, 580}, {33, 584}, {40, 600},
                           {36, 608}, {37, 612}, {38, 616}, {39, 624}, {82, 648}, {87, 668}, {95, 688}, {106, 712}};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    EXPECT_OK(cudaDeviceGetAttribute(&wanted, places[i][0], 0));
    if (int_at(properties, (size_t)places[i][1]) == wanted) continue;
    ++*failures();
    printf("attribute %d is %d, at byte %d there is %d\n", places[i][0], wanted, places[i][1],
           int_at(properties, (size_t)places[i][1]));
  }
  EXPECT_STATUS(kInvalidDevice, get(properties, 1));
  EXPECT_STATUS(kInvalidValue, get(NULL, 0));
}

int main(void) {
  int version = 0;
  EXPECT_OK(cudaRuntimeGetVersion(&version));
#if RUNTIME == 11
  EXPECT(version == 11080);
#else
  EXPECT(version >= 12000 && version < 13000);
  properties(cudaGetDeviceProperties_v2, 1032);
#endif
  properties(cudaGetDeviceProperties, 728);

  struct {
    int type;
    int device;
    void* on_device;
    void* on_host;
    long behind[9];
  } attributes;
  memset(&attributes, 0xa5, sizeof attributes);
  void* memory = NULL;
  EXPECT_OK(cudaMalloc(&memory, 64));
  EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT(attributes.type == 2 && attributes.device == 0 && attributes.on_device == memory && !attributes.on_host);
  for (int i = 0; i < 9; ++i) EXPECT(attributes.behind[i] == (long)0xa5a5a5a5a5a5a5a5);
  EXPECT_OK(cudaFree(memory));

  EXPECT_OK(cudaMallocManaged(&memory, 64, 1));
  EXPECT_OK(cudaMemAdvise(memory, 64, 1, -1));
  EXPECT_OK(cudaMemPrefetchAsync(memory, 64, -1, NULL));
  EXPECT_STATUS(400, cudaMemPrefetchAsync(memory, 64, 0, (cudaStream_t)&version));
  EXPECT_OK(cudaThreadSynchronize());

  void* entry = NULL;
#if RUNTIME == 11
  EXPECT(cudaGetDriverEntryPoint("cuMemAlloc", &entry, 0) == 0 && entry != NULL);
  EXPECT(cudaGetDriverEntryPoint("cuNothing", &entry, 0) == 500 && entry == NULL);
  EXPECT(cudaBindTexture(NULL, &memory, memory, &version, 64) == kNotSupported);
#else
  const struct Location host = {2, 0};
  EXPECT_OK(cudaMemPrefetchAsync_v2(memory, 64, host, 0, NULL));
  int found = 7;
  EXPECT(cudaGetDriverEntryPoint("cuMemAlloc", &entry, 0, &found) == 0 && entry != NULL && found == 0);
  EXPECT(cudaGetDriverEntryPoint("cuNothing", &entry, 0, &found) == 0 && entry == NULL && found == 1);
  EXPECT_STATUS(kNotSupported, cudaMemcpyBatchAsync(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL));
#endif
#ifdef WITH_UNKNOWN
  EXPECT(cudaNobodyKnows(1) == kNotSupported);
#endif
  return outcome();
}

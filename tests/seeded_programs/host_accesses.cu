// Loads and stores of the host in managed and pinned memory, before or after it has waited for the work that uses it,
// as the first argument says.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

constexpr int kElements = 1 << 14;
constexpr std::size_t kBytes = kElements * sizeof(int);

__global__ void fill(int* values, int count, int value) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = value;
}

__global__ void total(const int* values, int count, int* sum) {
  int own = 0;
  for (int i = 0; i < count; ++i) own += values[i];
  *sum = own;
}

/// Writes a result, and then says so, for a host that looks at `flag`.
__global__ void publish(int* result, volatile int* flag) {
  *result = 42;
  __threadfence_system();
  *flag = 1;
}

/// Looks at a flag of the host.
__global__ void look(const volatile int* flag, int* seen) { *seen = *flag; }

__global__ void add(int* counter) { atomicAdd_system(counter, 1); }

namespace {

struct Memory {
  int* managed = nullptr;
  int* sum = nullptr;  // managed
  int* pinned = nullptr;
  int* device = nullptr;
  cudaStream_t one = nullptr;
  cudaStream_t two = nullptr;
  cudaEvent_t event = nullptr;

  Memory() {
    cudaMallocManaged(&managed, kBytes);
    cudaMallocManaged(&sum, sizeof(int));
    cudaMallocHost(&pinned, kBytes);
    cudaMalloc(&device, kBytes);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    for (int i = 0; i < kElements; ++i) managed[i] = pinned[i] = 1;
    *sum = 0;
    cudaMemcpy(device, pinned, kBytes, cudaMemcpyHostToDevice);
  }
  ~Memory() {
    cudaFree(managed);
    cudaFree(sum);
    cudaFreeHost(pinned);
    cudaFree(device);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaEventDestroy(event);
  }

  void fill_managed(cudaStream_t stream = nullptr, int count = kElements) const {
    fill<<<kElements / 256, 256, 0, stream>>>(managed, count, 7);
  }
  void copy_out(cudaStream_t stream) const { cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, stream); }
  void copy_in(cudaStream_t stream) const { cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, stream); }
};

/// Keeps the compiler from leaving an access out.
void use(int value) {
  static volatile int sink;
  sink = value;
}

/// Fills managed memory by a graph that was captured in one stream, in the other one.
void fill_by_graph(Memory& m, bool waits) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(m.one, cudaStreamCaptureModeGlobal);
  m.fill_managed(m.one);
  m.copy_out(m.one);
  cudaStreamEndCapture(m.one, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, m.two);
  if (waits) cudaStreamSynchronize(m.two);
  use(m.managed[5]);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

void written_to_a_file(const int* values) {
  std::FILE* const file = std::tmpfile();
  std::printf("%zu elements written\n", std::fwrite(values, sizeof(int), kElements, file));
  std::fclose(file);
}

using Ways = std::map<std::string, std::function<void(Memory&)>>;

const Ways& right() {
  static const Ways all = {
      {"device", [](Memory& m) { m.fill_managed(), cudaDeviceSynchronize(), use(m.managed[5]); }},
      {"stream", [](Memory& m) { m.fill_managed(m.one), cudaStreamSynchronize(m.one), use(m.managed[5]); }},
      {"event",
       [](Memory& m) {
         m.fill_managed(m.one), cudaEventRecord(m.event, m.one), cudaEventSynchronize(m.event), use(m.managed[5]);
       }},
      {"query",
       [](Memory& m) {
         m.copy_out(m.one);
         while (cudaStreamQuery(m.one) == cudaErrorNotReady) {
         }
         use(m.pinned[5]);
       }},
      {"a copy that waits",
       [](Memory& m) {
         total<<<1, 1>>>(m.managed, kElements, m.sum);
         int sum = 0;
         cudaMemcpy(&sum, m.sum, sizeof sum, cudaMemcpyDefault);
         use(sum + *m.sum);
       }},
      {"memset", [](Memory& m) { cudaMemset(m.managed, 0, kBytes), use(m.managed[5]); }},
      {"copied into managed memory",
       [](Memory& m) { cudaMemcpy(m.managed, m.device, kBytes, cudaMemcpyDeviceToDevice), use(m.managed[5]); }},
      {"both read",
       [](Memory& m) {
         total<<<1, 1>>>(m.managed, kElements, m.sum), use(m.managed[5]);
         m.copy_in(m.one), use(m.pinned[5]);
       }},
      {"other elements",
       [](Memory& m) {
         m.fill_managed(nullptr, kElements / 2 + 1), m.managed[kElements / 2 + 1] = 3, use(m.managed[kElements - 1]);
       }},
      {"halves",
       [](Memory& m) {
         for (int half = 0; half < 2; ++half) {
           std::memset(m.pinned + half * kElements / 2, half, kBytes / 2);
           cudaMemcpyAsync(m.device + half * kElements / 2, m.pinned + half * kElements / 2, kBytes / 2,
                           cudaMemcpyHostToDevice, m.one);
         }
       }},
      {"two buffers in turns",
       [](Memory& m) {
         for (int turn = 0; turn < 6; ++turn) {
           const cudaStream_t stream = turn % 2 == 0 ? m.one : m.two;
           int* const half = m.pinned + turn % 2 * kElements / 2;
           cudaStreamSynchronize(stream);
           for (int i = 0; i < kElements / 2; ++i) half[i] = turn;
           cudaMemcpyAsync(m.device, half, kBytes / 2, cudaMemcpyHostToDevice, stream);
           cudaStreamWaitEvent(turn % 2 == 0 ? m.two : m.one, (cudaEventRecord(m.event, stream), m.event));
         }
       }},
      {"a function of the host",
       [](Memory& m) {
         static std::atomic<bool> is_done{false};
         m.copy_out(m.one);
         cudaLaunchHostFunc(
             m.one, [](void*) { is_done = true; }, nullptr);
         while (!is_done) {
         }
         use(m.pinned[5]);
       }},
      {"a callback",
       [](Memory& m) {
         m.copy_out(m.one);
         cudaStreamAddCallback(
             m.one, [](cudaStream_t, cudaError_t, void* memory) { use(static_cast<int*>(memory)[5]); }, m.pinned, 0);
       }},
      {"a flag",
       [](Memory& m) {
         volatile int* const flag = m.pinned + 4096;
         *flag = 0;
         publish<<<1, 1, 0, m.one>>>(m.pinned, flag);
         while (*flag == 0) {
         }
         use(m.pinned[0]);
       }},
      {"a flag of the host",
       [](Memory& m) {
         *m.pinned = 0;
         look<<<1, 1, 0, m.one>>>(m.pinned, m.device);
         *m.pinned = 1;
       }},
      {"a counter", [](Memory& m) { add<<<1, 32>>>(m.sum), use(*m.sum); }},
      {"a thread that has waited",
       [](Memory& m) {
         m.fill_managed(m.one);
         std::thread([&] { cudaStreamSynchronize(m.one), use(m.managed[5]); }).join();
       }},
      {"a graph that is waited for", [](Memory& m) { fill_by_graph(m, true); }},
      {"a thread that meets a call",
       [](Memory& m) {
         std::atomic<bool> ends{false};
         std::thread reader([&] {
           while (!ends) use(m.pinned[100]);
         });
         for (int i = 0; i < 300; ++i) fill<<<1, 32, 0, m.one>>>(m.pinned, 8, i);
         cudaStreamSynchronize(m.one);
         ends = true;
         reader.join();
       }},
      {"freed",
       [](Memory& m) {
         m.fill_managed(), cudaFree(m.managed), cudaMallocManaged(&m.managed, kBytes), use(m.managed[5]);
       }},
      {"written to a file",
       [](Memory& m) { m.fill_managed(), cudaDeviceSynchronize(), written_to_a_file(m.managed); }}};
  return all;
}

const Ways& lucky() {
  static const Ways all = {
      {"not waited", [](Memory& m) { m.fill_managed(), use(m.managed[5]); }},
      {"the sum", [](Memory& m) { total<<<1, 1>>>(m.managed, kElements, m.sum), use(*m.sum); }},
      {"other stream", [](Memory& m) { m.fill_managed(m.one), cudaStreamSynchronize(m.two), use(m.managed[5]); }},
      {"event of before",
       [](Memory& m) {
         cudaEventRecord(m.event, m.one), m.fill_managed(m.one), cudaEventSynchronize(m.event), use(m.managed[5]);
       }},
      {"stored into", [](Memory& m) { m.fill_managed(), m.managed[kElements - 1] = 3; }},
      {"input changed", [](Memory& m) { total<<<1, 1>>>(m.managed, kElements, m.device), m.managed[5] = 3; }},
      {"copy out", [](Memory& m) { m.copy_out(m.one), use(m.pinned[5]); }},
      {"copy in", [](Memory& m) { m.copy_in(m.one), m.pinned[5] = 3; }},
      {"memset", [](Memory& m) { cudaMemsetAsync(m.managed, 0, kBytes), use(m.managed[5]); }},
      {"of pinned memory", [](Memory& m) { fill<<<1, 32, 0, m.one>>>(m.pinned, 32, 1), use(m.pinned[31]); }},
      {"a thread", [](Memory& m) { m.fill_managed(), std::thread([&] { use(m.managed[5]); }).join(); }},
      {"memcpy",
       [](Memory& m) {
         static int values[kElements];
         m.copy_out(m.one), std::memcpy(values, m.pinned, kBytes), use(values[5]);
       }},
      {"a file", [](Memory& m) { m.fill_managed(), written_to_a_file(m.managed); }},
      {"a graph", [](Memory& m) { fill_by_graph(m, false); }},
      {"at the end", [](Memory& m) {
         m.fill_managed();
         std::printf("done %d\n", m.managed[5]);
         std::exit(0);
       }}};
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const std::string how = argc > 2 ? argv[2] : "";
  const Ways& ways = kind == "right" ? right() : lucky();
  if (how.empty()) {
    for (const auto& [name, way] : ways) std::puts(name.c_str());
    return 0;
  }
  if (kind == "handled") std::signal(SIGSEGV, [](int) { std::exit(9); });
  {
    Memory memory;
    ways.at(how)(memory);
    if (kind == "handled") {
      std::puts("done");
      std::fflush(stdout);
      use(*static_cast<volatile int*>(nullptr));  // its own fault is its own
    }
  }
  std::puts("done");
  return 0;
}

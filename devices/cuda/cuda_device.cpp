#include "devices/cuda/cuda_device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "devices/cuda/cuda_versions.hpp"
#include "devices/cuda/cupti_activities.hpp"
#include "devices/cuda/own_kernels.hpp"
#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"

namespace convladder {
namespace {

constexpr std::size_t shared_bytes_without_opt_in = 48 * 1024;

std::string error_text(cudaError_t status) {
  return fmt::format("{} ({})", cudaGetErrorName(status), cudaGetErrorString(status));
}

std::string display_name(const void* kernel) {
  std::string name = kernel_display_name(kernel);
  return name.empty() ? "unknown kernel" : name;
}

std::string launch_text(const KernelLaunch& launch) {
  return fmt::format("{} with grid ({}, {}, {}), block ({}, {}, {}), {} bytes of dynamic shared memory",
                     display_name(launch.kernel), launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                     launch.block.y, launch.block.z, launch.dynamic_shared_bytes);
}

std::string bus_id() {
  std::array<char, 32> text{};
  require_cuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), 0), "cudaDeviceGetPCIBusId");
  return text.data();
}

int attribute(cudaDeviceAttr name) {
  int value = 0;
  require_cuda(cudaDeviceGetAttribute(&value, name, 0), "cudaDeviceGetAttribute");
  return value;
}

/// Whether the CUDA runtime of this process is the stand-in (simulator/stand_in), which says so by this symbol.
bool is_stand_in() { return dlsym(RTLD_DEFAULT, "convladder_stand_in_version") != nullptr; }

/// Whether the device's times are those of a virtual clock: the stand-in's are, unless its settings ask for the real
/// one.
bool has_virtual_clock() {
  const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "convladder_stand_in_is_virtual"));
  return ask != nullptr && ask() != 0;
}

/// A graph of what was captured, ready to be launched.
class CudaRecording final : public Recording {
 public:
  CudaRecording(cudaGraphExec_t graph, const cudaStream_t* stream) : graph_(graph), stream_(stream) {}
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;
  ~CudaRecording() override { static_cast<void>(cudaGraphExecDestroy(graph_)); }
  void replay() override { require_cuda(cudaGraphLaunch(graph_, *stream_), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t graph_;
  const cudaStream_t* stream_;  ///< the current stream of the device, which outlives this object
};

/// Calls `ask` unless there is no device or none that answers: then returns an empty answer, since the cases themselves
/// say why, and others are to run. Opening the device instead would make a context in this process.
template <typename Answer>
Answer asked_of_device(Answer (*ask)()) {
  try {
    return cuda_unavailable().empty() ? ask() : Answer{};
  } catch (const DeviceError&) {
    return {};
  }
}

DeviceCapacity capacity_of_device() {
  constexpr double kContextBytes = 640.0 * 1024 * 1024;  // an H100's with all kernels of this program loaded
  cudaDeviceProp properties{};
  require_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const int mode = attribute(cudaDevAttrComputeMode);
  const auto all = static_cast<double>(properties.totalGlobalMem);
  const NvmlDevice nvml(bus_id());
  return {.memory_bytes = all,
          .free_bytes = std::min(all, nvml.free_memory_bytes().value_or(all)),
          .bytes_per_process = kContextBytes,
          .one_process = mode == cudaComputeModeExclusive || mode == cudaComputeModeExclusiveProcess,
          .other_processes = nvml.other_processes().value_or(0)};
}

std::string why_compiled_on_device() {
  if (is_stand_in()) return {};
  const int major = attribute(cudaDevAttrComputeCapabilityMajor);
  const int minor = attribute(cudaDevAttrComputeCapabilityMinor);
  if (has_machine_code(CONVLADDER_CUDA_ARCHITECTURES, major, minor)) return {};
  return fmt::format(
      "this build has no machine code for {}.{}: the driver compiles PTX at the first launch, and runs what it makes "
      "of "
      "it (-DCONVLADDER_ALL_CUDA_ARCHITECTURES=ON builds machine code)",
      major, minor);
}

/// Why kernels are compiled at their first launch; empty if the GPU runs machine code that is in this build.
std::string why_compiled_at_first_launch() { return asked_of_device(why_compiled_on_device); }

DeviceSpeed speed_of_device() {
  constexpr double kLanes = 128;            // lanes of a multiprocessor; some have 64
  constexpr double kStartSeconds = 30;      // for a context, with all that is loaded from a slow disk
  constexpr double kCompilingSeconds = 60;  // for a file's kernels from PTX, on a busy host
  const double kilohertz = std::max(attribute(cudaDevAttrClockRate), 1'000'000);  // 0 where the driver does not say
  return {.flop_per_second = 2 * kLanes * attribute(cudaDevAttrMultiProcessorCount) * kilohertz * 1e3,
          .start_seconds = kStartSeconds + (why_compiled_at_first_launch().empty() ? 0 : kCompilingSeconds)};
}

std::vector<DeviceFact> facts_of_device() {
  cudaDeviceProp properties{};
  require_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0;
  int runtime = 0;
  require_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  require_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  const auto version = [](int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); };
  std::vector<DeviceFact> facts = {
      {"name", properties.name},
      {"compute capability", fmt::format("{}.{}", properties.major, properties.minor)},
      {"multiprocessors", std::to_string(properties.multiProcessorCount)},
      {"memory bytes", std::to_string(properties.totalGlobalMem)},
      {"L2 bytes", std::to_string(properties.l2CacheSize)},
      {"shared memory bytes per multiprocessor", std::to_string(properties.sharedMemPerMultiprocessor)},
      {"registers per multiprocessor", std::to_string(properties.regsPerMultiprocessor)},
      {"threads per multiprocessor", std::to_string(properties.maxThreadsPerMultiProcessor)},
      {"ECC", properties.ECCEnabled != 0 ? "on" : "off"},
      {"CUDA version of the driver", version(driver)},
      {"CUDA version of the runtime", version(runtime)},
      {"PCI bus id", bus_id()},
  };
  // cudaDeviceProp lost its clocks in CUDA 13. The attributes are left; a driver that has no answer says 0.
  const auto add_known = [&facts](const char* name, int value) {
    if (value > 0) facts.push_back({name, std::to_string(value)});
  };
  add_known("highest SM clock kHz", attribute(cudaDevAttrClockRate));
  add_known("memory clock kHz", attribute(cudaDevAttrMemoryClockRate));
  add_known("memory bus bits", attribute(cudaDevAttrGlobalMemoryBusWidth));
  const bool from_machine_code = why_compiled_at_first_launch().empty();
  facts.push_back({"kernels", is_stand_in()       ? "PTX of this build, executed by the stand-in"
                              : from_machine_code ? "machine code of this build"
                                                  : "PTX of this build, compiled by the driver at the first launch"});
  for (DeviceFact& fact : NvmlDevice(bus_id()).facts()) facts.push_back(std::move(fact));
  return facts;
}

std::unique_ptr<Device> open_cuda_device() { return std::make_unique<CudaDevice>(); }

const DeviceRegistration registration{{.name = "cuda",
                                       .family = "cuda",
                                       .order = 20,
                                       .unavailable = cuda_unavailable,
                                       .open = open_cuda_device,
                                       .facts = cuda_facts,
                                       .has_virtual_clock = has_virtual_clock,
                                       .is_simulated = is_stand_in,
                                       .capacity = [] { return asked_of_device(capacity_of_device); },
                                       .speed = [] { return asked_of_device(speed_of_device); },
                                       .warning = why_compiled_at_first_launch}};

}  // namespace

void require_cuda(cudaError_t status, const std::string& call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // an error that is not sticky must not be reported a second time
  throw DeviceError(fmt::format("{}: {}", call, error_text(status)));
}

CudaDevice::CudaDevice() {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) throw DeviceError(reason);
  require_cuda(cudaSetDevice(0), "cudaSetDevice");
  multiprocessors_ = attribute(cudaDevAttrMultiProcessorCount);
  l2_bytes_ = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
  shared_bytes_opt_in_ = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  nvml_ = NvmlDevice(bus_id());
  require_cuda(cudaEventCreate(&start_), "cudaEventCreate");
  require_cuda(cudaEventCreate(&stop_), "cudaEventCreate");
  filling_ = make_cuda_filling(current_stream_);
  if (has_virtual_clock()) return;
  clock_readings_ = allocate(2 * kMostMultiprocessors * sizeof(ClockReading), "readings of the clocks");
  require(cudaMemset(clock_readings_.address(), 0, clock_readings_.bytes()), "cudaMemset");
}

CudaDevice::~CudaDevice() {
  // After a sticky error these calls fail as well; the process is about to end, and a destructor has no one to tell.
  flush_buffer_ = DeviceBuffer();
  clock_readings_ = DeviceBuffer();
  if (start_ != nullptr) static_cast<void>(cudaEventDestroy(start_));
  if (stop_ != nullptr) static_cast<void>(cudaEventDestroy(stop_));
  for (const std::array<cudaEvent_t, 2>& pair : pairs_) {
    for (cudaEvent_t event : pair) static_cast<void>(cudaEventDestroy(event));
  }
  for (cudaEvent_t event : events_) {
    if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  }
  for (cudaStream_t stream : streams_) {
    if (stream != nullptr) static_cast<void>(cudaStreamDestroy(stream));
  }
  if (recording_stream_ != nullptr) static_cast<void>(cudaStreamDestroy(recording_stream_));
}

std::size_t CudaDevice::free_bytes() const {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  require_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return free_bytes;
}

DeviceBuffer CudaDevice::allocate(std::size_t bytes, std::string_view label) {
  void* address = nullptr;
  const cudaError_t status = cudaMalloc(&address, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    std::size_t left = 0;
    std::size_t total = 0;
    const bool is_known = cudaMemGetInfo(&left, &total) == cudaSuccess;
    static_cast<void>(cudaGetLastError());
    throw OutOfDeviceMemory(fmt::format("{}: needs {} bytes of device memory, but {} bytes are free", label, bytes,
                                        is_known ? std::to_string(left) : "fewer"));
  }
  require_cuda(status, fmt::format("cudaMalloc of {} bytes for {}", bytes, label));
  return {*this, address, bytes};
}

void CudaDevice::free(void* address, std::size_t /*bytes*/) noexcept { static_cast<void>(cudaFree(address)); }

void CudaDevice::copy_to_device(void* destination, const void* source, std::size_t bytes) {
  require(cudaMemcpy(destination, source, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
}

void CudaDevice::copy_to_host(void* destination, const void* source, std::size_t bytes) {
  require(cudaMemcpy(destination, source, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
}

/// Once for each kernel, since it takes time of its own, which would otherwise be part of a measurement.
void CudaDevice::allow_shared_memory(const KernelLaunch& launch) {
  std::size_t& allowed = allowed_shared_bytes_[launch.kernel];
  if (launch.dynamic_shared_bytes <= allowed) return;
  if (launch.dynamic_shared_bytes > shared_bytes_opt_in_) {
    throw DeviceError(fmt::format("launch of {}: a block has at most {} bytes of shared memory", launch_text(launch),
                                  shared_bytes_opt_in_));
  }
  const cudaError_t status = cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  static_cast<int>(launch.dynamic_shared_bytes));
  if (status != cudaSuccess) require_cuda(status, fmt::format("cudaFuncSetAttribute of {}", launch_text(launch)));
  allowed = launch.dynamic_shared_bytes;
}

void CudaDevice::launch(const KernelLaunch& launch) {
  // This may run between the two events of a measurement: texts are made only for errors.
  const auto require_launch = [&launch](cudaError_t status, const char* call) {
    if (status != cudaSuccess) require_cuda(status, fmt::format("{} of {}", call, launch_text(launch)));
  };
  if (launch.dynamic_shared_bytes > shared_bytes_without_opt_in) allow_shared_memory(launch);
  for (const VariableContent& content : launch.variables) {
    require_launch(cudaMemcpyToSymbolAsync(content.variable, content.source, content.bytes, 0, cudaMemcpyDeviceToDevice,
                                           current_stream_),
                   "cudaMemcpyToSymbolAsync before the launch");
  }
  arguments_.clear();
  for (const std::vector<std::byte>& argument : launch.arguments) {
    // The runtime only reads the arguments; its parameter merely does not say so.
    arguments_.push_back(const_cast<std::byte*>(argument.data()));
  }
  last_kernel_ = launch.kernel;
  if (launch.cluster || launch.cooperative) return require_launch(launch_with_attributes(launch), "launch");
  require_launch(cudaLaunchKernel(launch.kernel, dim3(launch.grid.x, launch.grid.y, launch.grid.z),
                                  dim3(launch.block.x, launch.block.y, launch.block.z), arguments_.data(),
                                  launch.dynamic_shared_bytes, current_stream_),
                 "launch");
}

/// Launches the kernel with the arguments in `arguments_`.
cudaError_t CudaDevice::launch_with_attributes(const KernelLaunch& launch) {
  std::array<cudaLaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if (launch.cluster) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {launch.cluster->x, launch.cluster->y, launch.cluster->z};
  }
  if (launch.cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  }
  const cudaLaunchConfig_t config{.gridDim = dim3(launch.grid.x, launch.grid.y, launch.grid.z),
                                  .blockDim = dim3(launch.block.x, launch.block.y, launch.block.z),
                                  .dynamicSmemBytes = launch.dynamic_shared_bytes,
                                  .stream = current_stream_,
                                  .attrs = attributes.data(),
                                  .numAttrs = count};
  return cudaLaunchKernelExC(&config, launch.kernel, arguments_.data());
}

void CudaDevice::require(cudaError_t status, const char* call) const {
  if (status == cudaSuccess) return;
  // Kernels run asynchronously: their failure shows in whatever call comes next.
  require_cuda(status, last_kernel_ == nullptr ? std::string(call)
                                               : fmt::format("{} after {}", call, display_name(last_kernel_)));
}

void CudaDevice::wait() { require(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void CudaDevice::read_clocks_at(std::size_t place) {
  if (clock_readings_.address() == nullptr) return;
  // An earlier reading must not stand for a multiprocessor that no block comes to now.
  auto* const readings = static_cast<ClockReading*>(clock_readings_.address()) + place * kMostMultiprocessors;
  require(cudaMemsetAsync(readings, 0, kMostMultiprocessors * sizeof(ClockReading)), "cudaMemsetAsync");
  require(read_clocks(readings, multiprocessors_, nullptr), "launch of the kernel that reads clocks");
}

std::optional<double> CudaDevice::timed_clock_mhz() {
  if (clock_readings_.address() == nullptr) return std::nullopt;
  std::vector<ClockReading> readings(2 * std::size_t{kMostMultiprocessors});
  copy_to_host(readings.data(), clock_readings_.address(), clock_readings_.bytes());
  const std::span<const ClockReading> all(readings);
  return clock_between(all.first(kMostMultiprocessors), all.last(kMostMultiprocessors));
}

double CudaDevice::time_ns(const std::function<void()>& work) {
  read_clocks_at(0);
  require(cudaEventRecord(start_), "cudaEventRecord");
  work();
  require(cudaEventRecord(stop_), "cudaEventRecord");
  read_clocks_at(1);
  require(cudaEventSynchronize(stop_), "cudaEventSynchronize");
  float milliseconds = 0.0F;
  require(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e6;
}

std::vector<double> CudaDevice::times_ns(std::size_t calls, const std::function<void(std::size_t)>& before,
                                         const std::function<void(std::size_t)>& work) {
  while (pairs_.size() < calls) {
    std::array<cudaEvent_t, 2>& pair = pairs_.emplace_back();
    for (cudaEvent_t& event : pair) require(cudaEventCreate(&event), "cudaEventCreate");
  }
  read_clocks_at(0);
  for (std::size_t i = 0; i < calls; ++i) {
    before(i);
    require(cudaEventRecord(pairs_[i][0]), "cudaEventRecord");
    work(i);
    require(cudaEventRecord(pairs_[i][1]), "cudaEventRecord");
  }
  read_clocks_at(1);
  wait();
  std::vector<double> times;
  for (std::size_t i = 0; i < calls; ++i) {
    float milliseconds = 0.0F;
    require(cudaEventElapsedTime(&milliseconds, pairs_[i][0], pairs_[i][1]), "cudaEventElapsedTime");
    times.push_back(static_cast<double>(milliseconds) * 1e6);
  }
  return times;
}

void CudaDevice::flush_caches() {
  if (l2_bytes_ == 0) return;
  const bool is_new = flush_buffer_.address() == nullptr;
  if (is_new) flush_buffer_ = allocate((2 * l2_bytes_ + (1 << 20)) / 16 * 16, "flush of the L2");
  // A virtual clock does not know what caches hold: it only has to be busy meanwhile, and writing is simulated sooner.
  const bool is_virtual = clock_readings_.address() == nullptr;
  // Memory that was never written may be all zeros without being there, and read faster than any other.
  if (is_new || is_virtual) {
    require(cudaMemsetAsync(flush_buffer_.address(), 0, flush_buffer_.bytes()), "cudaMemsetAsync");
  }
  if (is_virtual) return;
  require(read_through(flush_buffer_.address(), flush_buffer_.bytes(), nullptr),
          "launch of the kernel that reads through the L2");
}

void CudaDevice::launch_nothing() { require(run_nothing(current_stream_), "launch of an empty kernel"); }

std::unique_ptr<Recording> CudaDevice::record(const std::function<void()>& work) {
  // The default stream cannot be captured. What enqueues there nevertheless runs now, since this stream does not wait
  // for it, and is missing in the graph.
  if (recording_stream_ == nullptr) {
    require(cudaStreamCreateWithFlags(&recording_stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  auto* const before = std::exchange(current_stream_, recording_stream_);
  bool is_whole = cudaStreamBeginCapture(recording_stream_, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
  if (is_whole) {
    try {
      work();
    } catch (const DeviceError&) {
      is_whole = false;  // a call that cannot be captured
    }
    cudaGraph_t graph = nullptr;
    is_whole = cudaStreamEndCapture(recording_stream_, &graph) == cudaSuccess && is_whole;
    std::size_t nodes = 0;
    is_whole = is_whole && cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes > 0;
    cudaGraphExec_t ready = nullptr;
    is_whole = is_whole && cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess;
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    current_stream_ = before;
    if (is_whole) return std::make_unique<CudaRecording>(ready, &current_stream_);
  }
  current_stream_ = before;
  static_cast<void>(cudaGetLastError());  // an error of recording is none of the next call's business
  return nullptr;
}

void CudaDevice::forget_persisting() {
  // A device whose L2 has no persisting share reports that it does not know of it, each call in its own way.
  const auto require_known = [this](cudaError_t status, const char* call) {
    if (status != cudaErrorNotSupported && status != cudaErrorUnsupportedLimit && status != cudaErrorInvalidValue) {
      return require(status, call);
    }
    static_cast<void>(cudaGetLastError());
  };
  require_known(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
  require_known(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "cudaDeviceSetLimit");
  const cudaLaunchAttributeValue no_window{};
  for (std::size_t number = 0; number < streams_.size(); ++number) {
    if (number > 0 && streams_[number] == nullptr) continue;  // not made yet
    require_known(cudaStreamSetAttribute(streams_[number], cudaStreamAttributeAccessPolicyWindow, &no_window),
                  "cudaStreamSetAttribute");
  }
}

cudaStream_t CudaDevice::stream(int number) {
  check_stream(number);
  cudaStream_t& stream = streams_[static_cast<std::size_t>(number)];
  // A blocking stream and the default stream would wait for each other at every turn.
  if (number > 0 && stream == nullptr) {
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  return stream;
}

cudaEvent_t CudaDevice::event(int number) {
  check_event(number);
  cudaEvent_t& event = events_[static_cast<std::size_t>(number)];
  if (event == nullptr) require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return event;
}

PinnedBuffer CudaDevice::allocate_pinned(std::size_t bytes, std::string_view label) {
  void* address = nullptr;
  const cudaError_t status = cudaHostAlloc(&address, bytes, cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw OutOfDeviceMemory(fmt::format("{} needs {} bytes of pinned memory, which are not available", label, bytes));
  }
  require_cuda(status, fmt::format("cudaHostAlloc of {} bytes for {}", bytes, label));
  return {address, bytes, [](void* memory) { static_cast<void>(cudaFreeHost(memory)); }};
}

PinnedBuffer CudaDevice::pin(void* address, std::size_t bytes) {
  if (cudaHostRegister(address, bytes, cudaHostRegisterDefault) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  return {address, bytes, [](void* memory) { static_cast<void>(cudaHostUnregister(memory)); }};
}

void CudaDevice::set_stream(int number) { current_stream_ = stream(number); }

void CudaDevice::record_event(int number) {
  require(cudaEventRecord(event(number), current_stream_), "cudaEventRecord");
}

void CudaDevice::stream_waits_for(int stream_number, int event_number) {
  require(cudaStreamWaitEvent(stream(stream_number), event(event_number), 0), "cudaStreamWaitEvent");
}

void CudaDevice::copy_to_device_async(void* destination, const void* source, std::size_t bytes) {
  require(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyHostToDevice, current_stream_),
          "cudaMemcpyAsync to the device");
}

void CudaDevice::copy_to_host_async(void* destination, const void* source, std::size_t bytes) {
  require(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToHost, current_stream_),
          "cudaMemcpyAsync to the host");
}

bool CudaDevice::records_activities() const { return cupti_unavailable().empty(); }

std::string CudaDevice::why_no_activities() const { return cupti_unavailable(); }

void CudaDevice::start_activities() { start_cupti_activities(); }

std::vector<Activity> CudaDevice::stop_activities() {
  pause_cupti_api_calls();  // this wait is the harness's, not the program's
  wait();
  return stop_cupti_activities();
}

DeviceState CudaDevice::state() const { return nvml_.state(); }

std::string cuda_unavailable() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    int driver = 0;
    int runtime = 0;
    if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
        cudaRuntimeGetVersion(&runtime) == cudaSuccess && driver < runtime) {
      return fmt::format("no CUDA device ({})", driver_too_old(driver, runtime, nvml_driver_version()));
    }
    return fmt::format("no CUDA device (cudaGetDeviceCount: {})", cudaGetErrorString(status));
  }
  if (count == 0) return "no CUDA device (cudaGetDeviceCount: found none)";
  int major = 0;
  int minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return "no CUDA device (cudaDeviceGetAttribute: the device does not answer)";
  }
  constexpr int oldest = CONVLADDER_OLDEST_CUDA_ARCHITECTURE;
  if (10 * major + minor < oldest) {
    return fmt::format("no CUDA device (its compute capability is {}.{}, this build needs {}.{} or later)", major,
                       minor, oldest / 10, oldest % 10);
  }
  return {};
}

std::vector<DeviceFact> cuda_facts() {
  if (!cuda_unavailable().empty()) return {};
  try {
    return facts_of_device();
  } catch (const DeviceError& error) {
    return {{"name", "CUDA device that does not answer"}, {"answer", error.what()}};
  }
}

}  // namespace convladder

#include "simulator/instructions/device_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

#include "simulator/instructions/call_arguments.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/device_runtime.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

// Statuses of cudaError_t (driver_types.h).
constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kMaxDepthExceeded = 65;
constexpr int kInvalidDeviceFunction = 98;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidHandle = 400;

// Streams that have no handle of their own.
constexpr std::uint64_t kNamedStreams = 4;  // 0: the block's own, 1 and 2: its other names, 3 and 4: these
constexpr std::uint64_t kTailLaunch = 3;
constexpr std::uint64_t kFirstHandle = 0x10000;

constexpr const char* kParameterLabel = "parameters of a kernel that a kernel launches";
constexpr std::uint64_t kMostParameterBytes = 1 << 16;

using Values = std::array<std::uint64_t, kLanes>;

DeviceRuntime& runtime_of(const WarpState& warp) {
  DeviceRuntime* const runtime = warp.block->runtime;
  if (runtime == nullptr)
    throw KernelFault("a kernel calls the CUDA runtime, and nothing here carries out what it asks");
  return *runtime;
}

std::pair<std::uint64_t, unsigned> thread_of(const WarpState& warp, int lane) {
  return {warp.block->block_number, static_cast<unsigned>(warp.index * kLanes + lane)};
}

/// Gives the call's status to the thread, and keeps an error as its last one.
void answer(const WarpState& warp, const Operation& operation, int lane, int status) {
  if (status != kSuccess) runtime_of(warp).last_errors[thread_of(warp, lane)] = status;
  set_result<std::int32_t>(warp, operation, lane, status);
}

/// Stores a value of the lanes where the pointers point; the call's status is `status` of each lane, and a lane with an
/// error stores nothing.
template <typename T>
void answer_with(WarpState& warp, const Operation& operation, std::size_t pointer, const std::array<T, kLanes>& values,
                 const std::array<int, kLanes>& statuses) {
  const LaneMask all = warp.mask;
  Addresses addresses{};
  LaneMask stored = 0;
  for_each_lane(all, [&](int lane) {
    int status = statuses[lane];
    addresses[lane] = argument<std::uint64_t>(warp, operation, pointer, lane);
    if (status == kSuccess && addresses[lane] == 0) status = kInvalidValue;
    if (status == kSuccess) stored |= LaneMask{1} << lane;
    answer(warp, operation, lane, status);
  });
  if (stored == 0) return;
  warp.mask = stored;
  fill_inactive(addresses, stored);
  for_each_space(warp, addresses, [&]<ptx::Space kSpace>(const Addresses& in_space) {
    const LanePlaces places = reach<kSpace>(warp, operation, in_space, sizeof(T), AccessKind::store,
                                            {reinterpret_cast<const std::byte*>(values.data()), sizeof(T)});
    for_each_lane(places.mask, [&](int lane) { std::memcpy(places.at[lane], &values[lane], sizeof(T)); });
  });
  warp.mask = all;
  ++warp.block->memory_changes;
}

// --- launches -------------------------------------------------------------------------------------------------------

/// A buffer for parameters in the device's memory, or 0.
std::uint64_t parameter_buffer(const WarpState& warp, std::uint64_t bytes) {
  DeviceRuntime& runtime = runtime_of(warp);
  BlockContext& block = *warp.block;
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (bytes > kMostParameterBytes) return 0;
  std::vector<std::uint64_t>& spare = runtime.spare_buffers[bytes];
  if (!spare.empty()) {
    const std::uint64_t address = spare.back();
    spare.pop_back();
    return address;
  }
  try {
    const std::uint64_t address = block.memory->allocate(bytes, kParameterLabel);
    runtime.buffers[address] = bytes;
    for (AccessObserver* const observer : block.observers) observer->allocated(address, bytes);
    return address;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

DeviceWork work_at(const WarpState& warp, const Operation& operation, int lane, DeviceWork::Kind kind) {
  DeviceWork work{kind};
  work.place = warp.block->finding_at(warp, operation, lane, Checker::memory, "");
  return work;
}

/// The launch as the arguments from `first` on say: grid, block, bytes of shared memory. Returns a status.
int take_launch(const WarpState& warp, const Operation& operation, int lane, std::size_t first, DeviceWork& work) {
  DeviceRuntime& runtime = runtime_of(warp);
  work = work_at(warp, operation, lane, DeviceWork::Kind::kernel);
  work.kernel = kernel_at(*warp.block->program->module, argument<std::uint64_t>(warp, operation, 0, lane));
  if (work.kernel == nullptr) return kInvalidDeviceFunction;
  const auto grid = argument<std::array<unsigned, 3>>(warp, operation, first, lane);
  const auto block = argument<std::array<unsigned, 3>>(warp, operation, first + 1, lane);
  work.grid = {grid[0], grid[1], grid[2]};
  work.block = {block[0], block[1], block[2]};
  work.dynamic_shared_bytes = argument<std::uint32_t>(warp, operation, first + 2, lane);
  return runtime.host->prepare(*warp.block->program, work);
}

void get_parameter_buffer(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const std::uint64_t address = parameter_buffer(warp, argument<std::uint64_t>(warp, operation, 1, lane));
    set_result<std::uint64_t>(warp, operation, lane, address);
  });
}

void get_parameter_buffer_of_launch(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    DeviceWork work;
    int status = take_launch(warp, operation, lane, 1, work);
    std::uint64_t address = 0;
    if (status == kSuccess) {
      address = parameter_buffer(warp, work.parameters.size());
      if (address == 0) status = kOutOfMemory;
    }
    if (status == kSuccess) {
      runtime_of(warp).prepared[address] = std::move(work);
    } else {
      runtime_of(warp).last_errors[thread_of(warp, lane)] = status;  // the caller sees no status, but a null pointer
    }
    set_result<std::uint64_t>(warp, operation, lane, address);
  });
}

bool is_stream(const WarpState& warp, std::uint64_t stream) {
  return stream <= kNamedStreams || runtime_of(warp).streams.contains(stream);
}

/// Looks for pointers to memory that ends with its thread or block: a child cannot reach it.
void check_parameters(WarpState& warp, const Operation& operation, int lane, const DeviceWork& work) {
  constexpr int kLocalPointer = 111;  // a kind of fault beside those of accesses
  const BlockContext& block = *warp.block;
  std::uint64_t at = 0;
  for (const ptx::Symbol& parameter : work.kernel->parameters) {
    const auto alignment = static_cast<std::uint64_t>(std::max(parameter.alignment, 1));
    at = (at + alignment - 1) / alignment * alignment;
    std::uint64_t value = 0;
    if (parameter.bytes == sizeof value) std::memcpy(&value, work.parameters.data() + at, sizeof value);
    at += parameter.bytes;
    const bool is_local = value >= kLocalWindow && value - kLocalWindow < block.program->local_bytes;
    const bool is_shared = value >= kSharedWindow && value - kSharedWindow < block.shared.size();
    if (!is_local && !is_shared) continue;
    block.fault(warp, operation, Checker::memory, kLocalPointer, LaneMask{1} << lane, [&](int faulty) {
      return block.finding_at(warp, operation, faulty, Checker::memory,
                              fmt::format("a pointer to {} memory is given to a kernel, which cannot reach it",
                                          is_local ? "local" : "shared"));
    });
  }
}

int enqueue_kernel(WarpState& warp, const Operation& operation, int lane, DeviceWork work, std::uint64_t stream,
                   std::uint64_t buffer) {
  DeviceRuntime& runtime = runtime_of(warp);
  if (!is_stream(warp, stream)) return kInvalidHandle;
  if (runtime.depth >= DeviceRuntime::kDeepest && stream != kTailLaunch) return kMaxDepthExceeded;
  const auto found = runtime.buffers.find(buffer);
  if (found == runtime.buffers.end()) {
    if (!work.parameters.empty() || buffer != 0) return kInvalidValue;
  } else {
    const std::uint64_t bytes = std::min<std::uint64_t>(found->second, work.parameters.size());
    std::memcpy(work.parameters.data(), warp.block->memory->host(buffer), bytes);
    runtime.spare_buffers[found->second].push_back(buffer);
  }
  check_parameters(warp, operation, lane, work);
  work.is_tail = stream == kTailLaunch;
  work.place = warp.block->finding_at(warp, operation, lane, Checker::memory, "");
  runtime.work.push_back(std::move(work));
  ++warp.block->memory_changes;
  return kSuccess;
}

void launch_device(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    DeviceWork work;
    int status = take_launch(warp, operation, lane, 2, work);
    if (status == kSuccess) {
      status = enqueue_kernel(warp, operation, lane, std::move(work), argument<std::uint64_t>(warp, operation, 5, lane),
                              argument<std::uint64_t>(warp, operation, 1, lane));
    }
    answer(warp, operation, lane, status);
  });
}

void launch_device_of_buffer(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const auto buffer = argument<std::uint64_t>(warp, operation, 0, lane);
    const auto found = runtime_of(warp).prepared.extract(buffer);
    const int status = found.empty() ? kInvalidValue
                                     : enqueue_kernel(warp, operation, lane, std::move(found.mapped()),
                                                      argument<std::uint64_t>(warp, operation, 1, lane), buffer);
    answer(warp, operation, lane, status);
  });
}

// --- streams and events ---------------------------------------------------------------------------------------------

/// Makes a handle in each lane; the second argument has flags, of which only `allowed` may be set.
void make_handles(WarpState& warp, const Operation& operation, std::set<std::uint64_t>& handles, std::uint32_t allowed,
                  std::uint32_t required) {
  Values values{};
  std::array<int, kLanes> statuses{};
  for_each_lane(warp.mask, [&](int lane) {
    const auto flags = argument<std::uint32_t>(warp, operation, 1, lane);
    if ((flags & ~allowed) != 0 || (flags & required) != required) {
      statuses[lane] = kInvalidValue;
      return;
    }
    values[lane] = kFirstHandle + 16 * runtime_of(warp).next_handle++;
    handles.insert(values[lane]);
  });
  answer_with(warp, operation, 0, values, statuses);
}

void create_stream(WarpState& warp, const Operation& operation) {
  constexpr std::uint32_t kNonBlocking = 1;  // the only kind of stream that kernels can make
  make_handles(warp, operation, runtime_of(warp).streams, kNonBlocking, kNonBlocking);
}

void create_event(WarpState& warp, const Operation& operation) {
  constexpr std::uint32_t kDisableTiming = 2;
  make_handles(warp, operation, runtime_of(warp).events, kDisableTiming, kDisableTiming);
}

/// Answers with an invalid handle where `is_known(lane)` does not hold.
template <typename IsKnown>
void answer_known(WarpState& warp, const Operation& operation, const IsKnown& is_known) {
  for_each_lane(warp.mask,
                [&](int lane) { answer(warp, operation, lane, is_known(lane) ? kSuccess : kInvalidHandle); });
}

void destroy_stream(WarpState& warp, const Operation& operation) {
  answer_known(warp, operation, [&](int lane) {
    return runtime_of(warp).streams.erase(argument<std::uint64_t>(warp, operation, 0, lane)) > 0;
  });
}

void destroy_event(WarpState& warp, const Operation& operation) {
  answer_known(warp, operation, [&](int lane) {
    return runtime_of(warp).events.erase(argument<std::uint64_t>(warp, operation, 0, lane)) > 0;
  });
}

/// Work is carried out in the order in which it is asked for, so a record that comes before a wait is done before it.
void record_event(WarpState& warp, const Operation& operation) {
  answer_known(warp, operation, [&](int lane) {
    return runtime_of(warp).events.contains(argument<std::uint64_t>(warp, operation, 0, lane)) &&
           is_stream(warp, argument<std::uint64_t>(warp, operation, 1, lane));
  });
}

void wait_for_event(WarpState& warp, const Operation& operation) {
  answer_known(warp, operation, [&](int lane) {
    return is_stream(warp, argument<std::uint64_t>(warp, operation, 0, lane)) &&
           runtime_of(warp).events.contains(argument<std::uint64_t>(warp, operation, 1, lane));
  });
}

// --- copies and fills -----------------------------------------------------------------------------------------------

void enqueue(WarpState& warp, const Operation& operation, int lane, DeviceWork work, std::uint64_t stream) {
  if (!is_stream(warp, stream)) return answer(warp, operation, lane, kInvalidHandle);
  const bool has_rows = work.rows <= 1 || (work.row_bytes <= work.to_pitch &&
                                           (work.kind == DeviceWork::Kind::fill || work.row_bytes <= work.from_pitch));
  if (!has_rows) return answer(warp, operation, lane, kInvalidValue);
  work.is_tail = stream == kTailLaunch;
  if (work.row_bytes > 0 && work.rows > 0) runtime_of(warp).work.push_back(std::move(work));
  ++warp.block->memory_changes;
  answer(warp, operation, lane, kSuccess);
}

void copy(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    DeviceWork work = work_at(warp, operation, lane, DeviceWork::Kind::copy);
    work.to = argument<std::uint64_t>(warp, operation, 0, lane);
    work.from = argument<std::uint64_t>(warp, operation, 1, lane);
    work.row_bytes = argument<std::uint64_t>(warp, operation, 2, lane);
    enqueue(warp, operation, lane, std::move(work), argument<std::uint64_t>(warp, operation, 4, lane));
  });
}

void copy_rows(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    DeviceWork work = work_at(warp, operation, lane, DeviceWork::Kind::copy);
    work.to = argument<std::uint64_t>(warp, operation, 0, lane);
    work.to_pitch = argument<std::uint64_t>(warp, operation, 1, lane);
    work.from = argument<std::uint64_t>(warp, operation, 2, lane);
    work.from_pitch = argument<std::uint64_t>(warp, operation, 3, lane);
    work.row_bytes = argument<std::uint64_t>(warp, operation, 4, lane);
    work.rows = argument<std::uint64_t>(warp, operation, 5, lane);
    enqueue(warp, operation, lane, std::move(work), argument<std::uint64_t>(warp, operation, 7, lane));
  });
}

void fill(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    DeviceWork work = work_at(warp, operation, lane, DeviceWork::Kind::fill);
    work.to = argument<std::uint64_t>(warp, operation, 0, lane);
    work.value = static_cast<std::byte>(argument<std::uint32_t>(warp, operation, 1, lane));
    work.row_bytes = argument<std::uint64_t>(warp, operation, 2, lane);
    enqueue(warp, operation, lane, std::move(work), argument<std::uint64_t>(warp, operation, 3, lane));
  });
}

void fill_rows(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    DeviceWork work = work_at(warp, operation, lane, DeviceWork::Kind::fill);
    work.to = argument<std::uint64_t>(warp, operation, 0, lane);
    work.to_pitch = argument<std::uint64_t>(warp, operation, 1, lane);
    work.value = static_cast<std::byte>(argument<std::uint32_t>(warp, operation, 2, lane));
    work.row_bytes = argument<std::uint64_t>(warp, operation, 3, lane);
    work.rows = argument<std::uint64_t>(warp, operation, 4, lane);
    enqueue(warp, operation, lane, std::move(work), argument<std::uint64_t>(warp, operation, 5, lane));
  });
}

void allocate(WarpState& warp, const Operation& operation) {
  Values values{};
  std::array<int, kLanes> statuses{};
  for_each_lane(warp.mask, [&](int lane) {
    values[lane] = allocate_on_heap(warp, argument<std::uint64_t>(warp, operation, 1, lane));
    statuses[lane] = values[lane] == 0 ? kOutOfMemory : kSuccess;
  });
  answer_with(warp, operation, 0, values, statuses);
}

void release(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const bool freed = free_on_heap(warp, operation, lane, argument<std::uint64_t>(warp, operation, 0, lane));
    answer(warp, operation, lane, freed ? kSuccess : kInvalidValue);
  });
}

// --- questions ------------------------------------------------------------------------------------------------------

void last_error(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const auto found = runtime_of(warp).last_errors.extract(thread_of(warp, lane));
    set_result<std::int32_t>(warp, operation, lane, found.empty() ? kSuccess : found.mapped());
  });
}

void peek_at_last_error(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const auto& errors = runtime_of(warp).last_errors;
    const auto found = errors.find(thread_of(warp, lane));
    set_result<std::int32_t>(warp, operation, lane, found == errors.end() ? kSuccess : found->second);
  });
}

template <std::function<std::string(int)> DeviceRuntimeFacts::*kText>
void error_text(WarpState& warp, const Operation& operation) {
  DeviceRuntimeHost& host = *runtime_of(warp).host;
  for_each_lane(warp.mask, [&](int lane) {
    const auto status = argument<std::int32_t>(warp, operation, 0, lane);
    const auto& text = host.facts().*kText;
    set_result<std::uint64_t>(warp, operation, lane,
                              host.text_on_device(text ? text(status) : fmt::format("error {}", status)));
  });
}

/// Answers with one number for all lanes.
template <int DeviceRuntimeFacts::*kNumber>
void give_number(WarpState& warp, const Operation& operation) {
  std::array<std::int32_t, kLanes> values{};
  values.fill(runtime_of(warp).host->facts().*kNumber);
  answer_with(warp, operation, 0, values, {});
}

void attribute(WarpState& warp, const Operation& operation) {
  const DeviceRuntimeFacts& facts = runtime_of(warp).host->facts();
  std::array<std::int32_t, kLanes> values{};
  std::array<int, kLanes> statuses{};
  for_each_lane(warp.mask, [&](int lane) {
    const auto number = argument<std::int32_t>(warp, operation, 1, lane);
    const auto value = facts.attribute ? facts.attribute(number) : std::nullopt;
    values[lane] = value.value_or(0);
    statuses[lane] = value ? kSuccess : kInvalidValue;
    if (argument<std::int32_t>(warp, operation, 2, lane) != facts.device) statuses[lane] = kInvalidDevice;
  });
  answer_with(warp, operation, 0, values, statuses);
}

void limit(WarpState& warp, const Operation& operation) {
  const DeviceRuntimeFacts& facts = runtime_of(warp).host->facts();
  Values values{};
  std::array<int, kLanes> statuses{};
  for_each_lane(warp.mask, [&](int lane) {
    const auto number = argument<std::int32_t>(warp, operation, 1, lane);
    const auto value = facts.limit ? facts.limit(number) : std::nullopt;
    values[lane] = value.value_or(0);
    statuses[lane] = value ? kSuccess : kInvalidValue;
  });
  answer_with(warp, operation, 0, values, statuses);
}

void resident_blocks(WarpState& warp, const Operation& operation) {
  DeviceRuntimeHost& host = *runtime_of(warp).host;
  std::array<std::int32_t, kLanes> values{};
  std::array<int, kLanes> statuses{};
  for_each_lane(warp.mask, [&](int lane) {
    const ptx::Kernel* const kernel =
        kernel_at(*warp.block->program->module, argument<std::uint64_t>(warp, operation, 1, lane));
    const auto threads = argument<std::int32_t>(warp, operation, 2, lane);
    if (kernel == nullptr) {
      statuses[lane] = kInvalidDeviceFunction;
    } else if (threads <= 0) {
      statuses[lane] = kInvalidValue;
    } else {
      values[lane] = host.resident_blocks(*warp.block->program, *kernel, static_cast<std::uint64_t>(threads),
                                          argument<std::uint64_t>(warp, operation, 3, lane));
    }
  });
  answer_with(warp, operation, 0, values, statuses);
}

constexpr std::string_view kPrefix = "__cudaCDP2";
constexpr std::string_view kOldPrefix = "cuda";
constexpr std::string_view kOfThread = "_ptsz";

}  // namespace

const ProvidedFunction* device_runtime_function(std::string_view name) {
  constexpr OperationKind kPlain = OperationKind::plain;
  static const std::vector<ProvidedFunction> all = {
      {"GetParameterBuffer", {8, 8}, {8}, kPlain, get_parameter_buffer},
      {"GetParameterBufferV2", {8, 12, 12, 4}, {8}, kPlain, get_parameter_buffer_of_launch},
      {"LaunchDevice", {8, 8, 12, 12, 4, 8}, {4}, kPlain, launch_device},
      {"LaunchDeviceV2", {8, 8}, {4}, kPlain, launch_device_of_buffer},
      {"StreamCreateWithFlags", {8, 4}, {4}, kPlain, create_stream},
      {"StreamDestroy", {8}, {4}, kPlain, destroy_stream},
      {"StreamWaitEvent", {8, 8, 4}, {4}, kPlain, wait_for_event},
      {"EventCreateWithFlags", {8, 4}, {4}, kPlain, create_event},
      {"EventRecord", {8, 8}, {4}, kPlain, record_event},
      {"EventRecordWithFlags", {8, 8, 4}, {4}, kPlain, record_event},
      {"EventDestroy", {8}, {4}, kPlain, destroy_event},
      {"MemcpyAsync", {8, 8, 8, 4, 8}, {4}, kPlain, copy},
      {"Memcpy2DAsync", {8, 8, 8, 8, 8, 8, 4, 8}, {4}, kPlain, copy_rows},
      {"MemsetAsync", {8, 4, 8, 8}, {4}, kPlain, fill},
      {"Memset2DAsync", {8, 8, 4, 8, 8, 8}, {4}, kPlain, fill_rows},
      {"Malloc", {8, 8}, {4}, kPlain, allocate},
      {"Free", {8}, {4}, kPlain, release},
      {"GetLastError", {}, {4}, kPlain, last_error},
      {"PeekAtLastError", {}, {4}, kPlain, peek_at_last_error},
      {"GetErrorString", {4}, {8}, kPlain, error_text<&DeviceRuntimeFacts::status_text>},
      {"GetErrorName", {4}, {8}, kPlain, error_text<&DeviceRuntimeFacts::status_name>},
      {"GetDevice", {8}, {4}, kPlain, give_number<&DeviceRuntimeFacts::device>},
      {"GetDeviceCount", {8}, {4}, kPlain, give_number<&DeviceRuntimeFacts::devices>},
      {"RuntimeGetVersion", {8}, {4}, kPlain, give_number<&DeviceRuntimeFacts::version>},
      {"DeviceGetAttribute", {8, 4, 4}, {4}, kPlain, attribute},
      {"DeviceGetLimit", {8, 4}, {4}, kPlain, limit},
      {"OccupancyMaxActiveBlocksPerMultiprocessor", {8, 8, 4, 8}, {4}, kPlain, resident_blocks},
      {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", {8, 8, 4, 8, 4}, {4}, kPlain, resident_blocks},
  };
  if (name.starts_with(kPrefix)) {
    name.remove_prefix(kPrefix.size());
  } else if (name.starts_with(kOldPrefix)) {
    name.remove_prefix(kOldPrefix.size());
  } else {
    return nullptr;
  }
  if (name.ends_with(kOfThread)) name.remove_suffix(kOfThread.size());
  const auto found = std::ranges::find(all, name, &ProvidedFunction::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace convladder::simulated

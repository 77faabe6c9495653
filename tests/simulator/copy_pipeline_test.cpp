#include "devices/copy_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "devices/cpu/cpu_device.hpp"
#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "expect_error.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder {
namespace {

/// What is done in a stream: a copy or a computation that reads one memory and writes another.
struct Operation {
  std::string name;
  int stream = 0;
  const void* reads = nullptr;
  const void* writes = nullptr;
  std::set<std::size_t> after;  ///< every operation that is done before this one starts
};

/// Carries nothing out: it writes down the operations, and which of them streams and events put before which.
class RecordingDevice final : public Device {
 public:
  bool can_overlap() const override { return true; }
  void set_stream(int stream) override {
    check_stream(stream);
    current_ = stream;
  }
  void record_event(int event) override {
    check_event(event);
    events_[event] = done_in_[current_];
  }
  void stream_waits_for(int stream, int event) override {
    check_stream(stream);
    check_event(event);
    done_in_[stream].insert(events_[event].begin(), events_[event].end());
  }
  void copy_to_device_async(void* destination, const void* source, std::size_t /*bytes*/) override {
    enqueue("copy in", source, destination);
  }
  void copy_to_host_async(void* destination, const void* source, std::size_t /*bytes*/) override {
    enqueue("copy out", source, destination);
  }
  void enqueue(const std::string& name, const void* reads, const void* writes) {
    operations.push_back({name, current_, reads, writes, done_in_[current_]});
    done_in_[current_].insert(operations.size() - 1);
  }
  int current_stream() const { return current_; }

  std::size_t free_bytes() const override { return 0; }
  DeviceBuffer allocate(std::size_t /*bytes*/, std::string_view /*label*/) override { return {}; }
  void copy_to_device(void*, const void*, std::size_t) override {}
  void copy_to_host(void*, const void*, std::size_t) override {}
  void launch(const KernelLaunch&) override {}
  void wait() override {}
  double time_ns(const std::function<void()>&) override { return 0; }

  std::vector<Operation> operations;

 private:
  void free(void*, std::size_t) noexcept override {}
  int current_ = 0;
  std::map<int, std::set<std::size_t>> done_in_;  // by stream: what is done when its next operation starts
  std::map<int, std::set<std::size_t>> events_;   // likewise when the event has happened
};

bool ordered(const std::vector<Operation>& operations, std::size_t a, std::size_t b) {
  return operations[b].after.contains(a) || operations[a].after.contains(b);
}

/// Two operations on the same memory, one of which writes it, and neither is sure to be done before the other starts.
std::vector<std::string> races(const std::vector<Operation>& operations) {
  std::vector<std::string> found;
  for (std::size_t a = 0; a < operations.size(); ++a) {
    for (std::size_t b = a + 1; b < operations.size(); ++b) {
      const Operation& one = operations[a];
      const Operation& other = operations[b];
      const bool conflict = one.writes == other.writes || one.writes == other.reads || one.reads == other.writes;
      if (conflict && !ordered(operations, a, b)) found.push_back(one.name + " and " + other.name);
    }
  }
  return found;
}

/// Host and device memory of a pipeline, of which only the addresses matter.
struct Memory {
  explicit Memory(std::size_t count) : inputs(count), outputs(count) {
    for (std::size_t i = 0; i < count; ++i) chunks.push_back({&inputs[i], 1, &outputs[i], 1});
  }
  std::vector<char> inputs;
  std::vector<char> outputs;
  std::array<char, 4> device{};
  std::array<PipelineSlot, 2> slots = {PipelineSlot{&device[0], &device[1]}, PipelineSlot{&device[2], &device[3]}};
  std::vector<PipelineChunk> chunks;
};

void run(RecordingDevice& device, Memory& memory) {
  run_copy_pipeline(device, memory.chunks, memory.slots, [&](std::size_t chunk, std::size_t slot) {
    EXPECT_EQ(device.current_stream(), 0);
    device.enqueue("compute " + std::to_string(chunk), memory.slots[slot].input, memory.slots[slot].output);
  });
}

TEST(CopyPipeline, NoSlotIsOverwrittenBeforeItIsConsumed) {
  for (const std::size_t count : {0, 1, 2, 3, 4, 7}) {
    RecordingDevice device;
    Memory memory(count);
    run(device, memory);
    EXPECT_EQ(device.operations.size(), 3 * count);
    EXPECT_EQ(races(device.operations), std::vector<std::string>()) << count << " chunks";
  }
}

TEST(CopyPipeline, EveryChunkIsCopiedComputedAndCopiedBack) {
  RecordingDevice device;
  Memory memory(5);
  run(device, memory);
  const auto writer_of = [&](const void* memory_read, std::size_t before) {
    for (std::size_t i = before; i-- > 0;) {
      if (device.operations[i].writes == memory_read) return i;
    }
    return before;
  };
  for (std::size_t i = 0; i < device.operations.size(); ++i) {
    const Operation& out = device.operations[i];
    if (out.name != "copy out") continue;
    const auto chunk = static_cast<std::size_t>(static_cast<const char*>(out.writes) - memory.outputs.data());
    const std::size_t compute = writer_of(out.reads, i);
    EXPECT_EQ(device.operations[compute].name, "compute " + std::to_string(chunk));
    const std::size_t in = writer_of(device.operations[compute].reads, compute);
    EXPECT_EQ(device.operations[in].reads, &memory.inputs[chunk]);
    EXPECT_TRUE(out.after.contains(compute));
    EXPECT_TRUE(device.operations[compute].after.contains(in));
  }
}

TEST(CopyPipeline, CopiesAreFreeToOverlapWithComputing) {
  RecordingDevice device;
  Memory memory(4);
  run(device, memory);
  const auto find = [&](const std::string& name, const void* address) {
    const auto found = std::ranges::find_if(device.operations, [&](const Operation& operation) {
      return operation.name == name &&
             (operation.reads == address || operation.writes == address || address == nullptr);
    });
    return static_cast<std::size_t>(found - device.operations.begin());
  };
  const std::size_t compute = find("compute 1", nullptr);
  const std::size_t next_in = find("copy in", &memory.inputs[2]);
  const std::size_t last_out = find("copy out", &memory.outputs[0]);
  ASSERT_LT(std::max({compute, next_in, last_out}), device.operations.size());
  EXPECT_FALSE(ordered(device.operations, compute, next_in));
  EXPECT_FALSE(ordered(device.operations, compute, last_out));
  EXPECT_FALSE(ordered(device.operations, next_in, last_out));
  EXPECT_LT(next_in, compute) << "enqueued first, in case that computing waits for its own end";
}

TEST(CopyPipeline, BeginsAfterAndEndsBeforeWhatStreamZeroHolds) {
  RecordingDevice device;
  Memory memory(3);
  device.enqueue("before", nullptr, &memory.device[0]);
  run(device, memory);
  EXPECT_EQ(device.current_stream(), 0);
  device.enqueue("after", &memory.outputs[2], nullptr);
  for (std::size_t i = 1; i + 1 < device.operations.size(); ++i) {
    EXPECT_TRUE(device.operations[i].after.contains(0)) << device.operations[i].name;
    EXPECT_TRUE(device.operations.back().after.contains(i)) << device.operations[i].name;
  }
}

TEST(CopyPipeline, TheModelFindsARace) {
  RecordingDevice device;
  Memory memory(1);
  device.set_stream(1);
  device.copy_to_device_async(memory.slots[0].input, &memory.inputs[0], 1);
  device.set_stream(0);
  device.enqueue("compute", memory.slots[0].input, memory.slots[0].output);
  EXPECT_EQ(races(device.operations), (std::vector<std::string>{"copy in and compute"}));
  device.record_event(0);
  device.stream_waits_for(2, 0);
  device.set_stream(2);
  device.copy_to_host_async(&memory.outputs[0], memory.slots[0].output, 1);
  EXPECT_EQ(races(device.operations).size(), 1U) << "the event orders the copy out";
}

constexpr const char* kDoubled = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry doubled(.param .u64 input, .param .u64 output, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %i, %n;
  .reg .f32 %x;
  .reg .b64 %in, %out, %at;
  ld.param.u64 %in, [input];
  ld.param.u64 %out, [output];
  ld.param.u32 %n, [count];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %at, %i, 4;
  add.u64 %in, %in, %at;
  add.u64 %out, %out, %at;
  ld.global.f32 %x, [%in];
  add.f32 %x, %x, %x;
  st.global.f32 [%out], %x;
  ret;
}
)";

TEST(CopyPipeline, GivesTheRightResultsUnderTheCheckers) {
  const ptx::Module module = ptx::parse_module(kDoubled, "doubled.ptx");
  simulated::SimulatedDeviceOptions options;
  options.checkers = simulated::CheckerSet::all();
  simulated::SimulatedDevice device(options);
  const void* const kernel = device.load(module, module.kernels.front());

  constexpr std::size_t kCount = 37;  // in chunks of 10, the last of 7
  constexpr std::size_t kChunk = 10;
  {
    const PinnedBuffer input = device.allocate_pinned(kCount * sizeof(float), "input");
    const PinnedBuffer output = device.allocate_pinned(kCount * sizeof(float), "output");
    std::iota(input.floats(), input.floats() + kCount, 1.0F);
    std::fill(output.floats(), output.floats() + kCount, -1.0F);
    std::vector<PipelineChunk> chunks;
    for (std::size_t first = 0; first < kCount; first += kChunk) {
      const std::size_t bytes = std::min(kChunk, kCount - first) * sizeof(float);
      chunks.push_back({input.floats() + first, bytes, output.floats() + first, bytes});
    }
    std::vector<DeviceBuffer> buffers;
    for (const char* label : {"input 0", "output 0", "input 1", "output 1"}) {
      buffers.push_back(device.allocate(kChunk * sizeof(float), label));
    }
    const std::array<PipelineSlot, 2> slots = {PipelineSlot{buffers[0].address(), buffers[1].address()},
                                               PipelineSlot{buffers[2].address(), buffers[3].address()}};
    run_copy_pipeline(device, chunks, slots, [&](std::size_t chunk, std::size_t slot) {
      KernelLaunch launch{kernel, {}, {32, 1, 1}, 0, {}, {}, {}};
      const auto append = [&launch](const auto& value) {
        launch.arguments.emplace_back(sizeof value);
        std::memcpy(launch.arguments.back().data(), &value, sizeof value);
      };
      append(slots[slot].input);
      append(slots[slot].output);
      append(static_cast<std::uint32_t>(chunks[chunk].input_bytes / sizeof(float)));
      device.launch(launch);
    });
    device.wait();
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(output.floats()[i], 2.0F * static_cast<float>(i + 1)) << "element " << i;
    }
  }
  EXPECT_TRUE(device.take_findings().empty());
  EXPECT_TRUE(device.leaks().empty());
}

TEST(CopyPipeline, TheCpuHasOneStream) {
  CpuDevice device;
  EXPECT_FALSE(device.can_overlap());
  expect_error<DeviceError>([&] { run_copy_pipeline(device, {}, {}, {}); }, {"one stream"});
  expect_error<DeviceError>([&] { device.allocate_pinned(64, "input"); }, {"one stream"});
}

TEST(Streams, NumbersThatThereAreNotAreRefused) {
  simulated::SimulatedDevice device;
  EXPECT_TRUE(device.can_overlap());
  expect_error<DeviceError>([&] { device.set_stream(3); }, {"stream 3", "0 to 2"});
  expect_error<DeviceError>([&] { device.record_event(-1); }, {"event -1", "0 to 7"});
  expect_error<DeviceError>([&] { device.stream_waits_for(0, 8); }, {"event 8"});
}

TEST(PinnedBuffers, AreAlignedAndMovedWithTheirMemory) {
  simulated::SimulatedDevice device;
  PinnedBuffer buffer = device.allocate_pinned(100, "input");
  EXPECT_EQ(buffer.bytes(), 100U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.address()) % 64, 0U);
  void* const address = buffer.address();
  const PinnedBuffer moved = std::move(buffer);
  EXPECT_EQ(moved.address(), address);
  expect_error<OutOfDeviceMemory>([&] { device.allocate_pinned(SIZE_MAX - 3, "all"); }, {"all", "pinned"});
}

}  // namespace
}  // namespace convladder

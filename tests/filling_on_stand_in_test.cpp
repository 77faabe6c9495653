// What a GPU's own kernels fill and change, on the stand-in for the CUDA runtime, against the host's loops: bit by bit.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cuda/cuda_device.hpp"
#include "devices/cuda/own_kernels.hpp"
#include "harness/measure/verification/changed_input.hpp"
#include "harness/measure/verification/output_probe.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {
namespace {

using Bytes = std::vector<std::byte>;

/// The GPU whose filling goes to a stream of the test's, which may be captured.
class OnStream final : public Device {
 public:
  explicit OnStream(Device& device) : device_(device) {
    require_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    filling_ = make_cuda_filling(stream_);
  }
  ~OnStream() override { static_cast<void>(cudaStreamDestroy(stream_)); }
  std::size_t free_bytes() const override { return free_bytes_; }
  DeviceBuffer allocate(std::size_t bytes, std::string_view label) override { return device_.allocate(bytes, label); }
  PinnedBuffer allocate_pinned(std::size_t bytes, std::string_view label) override {
    ++pinned_;
    return device_.allocate_pinned(bytes, label);
  }
  void copy_to_device(void* to, const void* from, std::size_t bytes) override {
    device_.copy_to_device(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override { device_.copy_to_host(to, from, bytes); }
  void launch(const KernelLaunch& launch) override { device_.launch(launch); }
  void wait() override { device_.wait(); }
  double time_ns(const std::function<void()>& work) override { return device_.time_ns(work); }
  DeviceFilling* filling() override { return filling_.get(); }

  cudaStream_t stream() const { return stream_; }
  int pinned() const { return pinned_; }
  void set_free_bytes(std::size_t bytes) { free_bytes_ = bytes; }

 private:
  void free(void* /*address*/, std::size_t /*bytes*/) noexcept override {}

  Device& device_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<DeviceFilling> filling_;
  std::size_t free_bytes_ = std::size_t{1} << 30U;
  int pinned_ = 0;
};

Bytes on_host(Device& device, const DeviceBuffer& buffer) {
  Bytes bytes(buffer.bytes());
  device.wait();
  device.copy_to_host(bytes.data(), buffer.address(), bytes.size());
  return bytes;
}

/// Numbers of a type that differ from each other.
Bytes values_of(ElementType type, std::int64_t elements) {
  Bytes bytes(static_cast<std::size_t>(elements) * element_bytes(type));
  with_element_type(type, [&]<typename T>(T) {
    for (std::int64_t i = 0; i < elements; ++i) {
      const T value = from_double<T>(static_cast<double>((i * 37 + 11) % 101) - (is_floating(type) ? 50.5 : 0));
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

class FillingOnStandIn : public testing::Test {
 protected:
  CudaDevice device_;
};

TEST_F(FillingOnStandIn, OutputsHoldTheHostsBits) {
  for (const ElementType type : element_types()) {
    for (const float scale : {1.0F, 3e-9F, 70000.0F}) {
      for (const bool opposite : {false, true}) {
        constexpr std::int64_t kElements = 777;
        const OutputFill fill{.seed = 99, .scale = scale, .opposite = opposite};
        const std::size_t bytes = kElements * element_bytes(type);
        const DeviceBuffer output = device_.allocate(bytes, "output");
        fill_output(device_, output.address(), type, kElements, fill);
        Bytes expected(bytes);
        write_fill(expected.data(), type, fill, 0, kElements);
        EXPECT_EQ(on_host(device_, output), expected) << element_name(type) << ' ' << scale << ' ' << opposite;
      }
    }
  }
}

TEST_F(FillingOnStandIn, PiecesAreThoseOfTheHostAndTheRestStays) {
  constexpr std::int64_t kElements = OutputFill::kFewestOfLarge + 5;
  const DeviceBuffer output = device_.allocate(kElements, "output");
  CpuDevice cpu;
  const DeviceBuffer expected = cpu.allocate(kElements, "output");
  for (const FillPart part : {FillPart::all, FillPart::pieces, FillPart::nothing}) {
    const OutputFill fill{.seed = static_cast<std::uint32_t>(part) + 5, .part = part};
    fill_output(device_, output.address(), ElementType::u8, kElements, fill);
    fill_output(cpu, expected.address(), ElementType::u8, kElements, fill);
    EXPECT_EQ(on_host(device_, output), on_host(cpu, expected));
  }
}

struct ChangeCase {
  InputLayout layout;
  InputChange change;
};

InputLayout row_layout(ElementType type, std::int64_t elements, bool may_move, std::uint64_t place = 0) {
  InputLayout layout(5, elements, type, place);
  layout.range = is_floating(type) ? ValueRange{-50.5, 49.5} : ValueRange{0, 100};
  layout.may_move = may_move;
  return layout;
}

std::vector<ChangeCase> changes() {
  const InputLayout images(ConvShape{4, 3, 11, 7, 5, 4, 3, 2});
  const InputLayout one_row(ConvShape{3, 1, 1, 9, 1, 1});
  std::vector<ChangeCase> all = {
      {images, {}},
      {images, {.rotation = 2, .factor = -4, .pokes = 77, .poke_size = 3}},
      {images, {.rotation = 1, .pokes = 78, .everywhere = true, .poke_size = 3, .whole = true}},
      {one_row, {.factor = 2, .pokes = 5, .everywhere = true}},
  };
  for (const ElementType type : element_types()) {
    all.push_back(
        {row_layout(type, 13, true, 2), {.rotation = 3, .pokes = 9, .everywhere = true, .shift = 5, .thorough = true}});
    all.push_back({row_layout(type, 6, false), {.rotation = 4, .pokes = 10}});
  }
  InputLayout of_one_value = row_layout(ElementType::i16, 7, false);
  of_one_value.range = {0, 1};
  all.push_back({of_one_value, {.pokes = 31, .everywhere = true}});
  InputLayout stays = row_layout(ElementType::i32, 7, false);
  stays.stays_as_filled = true;
  all.push_back({stays, {.rotation = 1, .pokes = 32}});
  return all;
}

/// Before each of these calls an input on the GPU is what it is in the host's memory.
void expect_inputs_alike(Device& device, const ChangeCase& one, bool renewed) {
  const std::int64_t elements = one.layout.batch * one.layout.elements_per_image();
  const Bytes values = values_of(one.layout.type, elements);
  CpuDevice cpu;
  const DeviceBuffer there = device.allocate(values.size(), "input");
  const DeviceBuffer here = cpu.allocate(values.size(), "input");
  ChangedInput changed(device, one.layout, values.data(), there.address(), renewed);
  ChangedInput expected(cpu, one.layout, values.data(), here.address(), renewed);
  changed.write_decoy();
  expected.write_decoy();
  EXPECT_EQ(on_host(device, there), on_host(cpu, here)) << element_name(one.layout.type);
  for (const int again : {0, 1}) {
    InputChange change = one.change;
    change.rotation = (change.rotation + again) % one.layout.batch;
    changed.set(change);
    expected.set(change);
    const Bytes unchanged = on_host(cpu, here);
    const bool is_planted = change.pokes != 0 && !one.layout.stays_as_filled;
    EXPECT_EQ(on_host(device, there) != unchanged, is_planted);
    for (const std::int64_t call : {1, 2, 3, 7, 2}) {
      changed.before_call(call);
      expected.before_call(call);
      EXPECT_EQ(on_host(device, there), on_host(cpu, here)) << element_name(one.layout.type) << " before " << call;
      if (call == 3) changed.plant(7);
      if (renewed) {  // the call writes it
        device.copy_to_device(there.address(), values.data(), values.size());
        std::memcpy(here.address(), values.data(), values.size());
      }
    }
  }
}

TEST_F(FillingOnStandIn, InputsAreThoseOfTheHostBeforeEveryCall) {
  for (const ChangeCase& one : changes()) {
    for (const bool renewed : {false, true}) expect_inputs_alike(device_, one, renewed);
  }
}

TEST_F(FillingOnStandIn, WhereMemoryIsShortTheProblemsValuesStayOnTheHost) {
  OnStream device(device_);
  device.set_free_bytes(100);
  expect_inputs_alike(device, changes().at(1), false);
  EXPECT_EQ(device.pinned(), 1);
}

/// A capture refuses whatever waits, allocates or copies from the host.
cudaGraphExec_t captured(const OnStream& device, const std::function<void()>& work) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  require_cuda(cudaStreamBeginCapture(device.stream(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  work();
  require_cuda(cudaStreamEndCapture(device.stream(), &graph), "cudaStreamEndCapture");
  require_cuda(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  require_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return exec;
}

TEST_F(FillingOnStandIn, AGraphOfCallsGivesEachItsInputHoweverOftenItIsLaunched) {
  OnStream device(device_);
  const ChangeCase one = changes().at(2);
  const Bytes values = values_of(ElementType::f32, one.layout.batch * one.layout.elements_per_image());
  const DeviceBuffer input = device.allocate(values.size(), "input");
  ChangedInput changed(device, one.layout, values.data(), input.address());
  changed.set(one.change);
  constexpr std::int64_t kCalls = 4;
  std::vector<DeviceBuffer> found;
  for (std::int64_t call = 0; call < kCalls; ++call) found.push_back(device.allocate(values.size(), "found"));
  const cudaGraphExec_t graph = captured(device, [&] {
    for (std::int64_t call = 1; call <= kCalls; ++call) {
      changed.before_call(call);
      require_cuda(cudaMemcpyAsync(found[static_cast<std::size_t>(call - 1)].address(), input.address(), values.size(),
                                   cudaMemcpyDeviceToDevice, device.stream()),
                   "cudaMemcpyAsync");
      changed.plant(call + 1);
    }
  });
  for (int launch = 0; launch < 3; ++launch) {
    require_cuda(cudaGraphLaunch(graph, device.stream()), "cudaGraphLaunch");
    for (std::int64_t call = 1; call <= kCalls; ++call) {
      Bytes expected(values.size());
      for (int image = 0; image < one.layout.batch; ++image) {
        std::byte* const to = expected.data() + static_cast<std::size_t>(image) * one.layout.bytes_per_image();
        write_changed_image(to, one.change, one.layout, values.data(), image);
        poke_image(to, one.change, one.layout, values.data(), image, call);
      }
      EXPECT_EQ(on_host(device, found[static_cast<std::size_t>(call - 1)]), expected) << launch << ' ' << call;
    }
  }
  require_cuda(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
}

/// Of an output that holds the number of each element.
TEST_F(FillingOnStandIn, AProbeKeepsWhatStandsBehindACallAndPoisonsItBefore) {
  OnStream device(device_);
  constexpr std::int64_t kItems = 5;
  constexpr std::int64_t kElements = 91;
  std::vector<std::int32_t> numbers(kItems * kElements);
  std::iota(numbers.begin(), numbers.end(), 1000);
  const DeviceBuffer output = device.allocate(numbers.size() * sizeof(std::int32_t), "output");
  OutputProbe probe(device, ElementType::i32, kItems, kElements, output.address());
  const OutputFill fill{.seed = 3};
  probe.set(17, 1, fill);
  const cudaGraphExec_t graph = captured(device, [&] {
    for (const std::int64_t call : {1, 2}) {
      probe.before_call(call);
      if (call == 2) {
        require_cuda(
            cudaMemcpyAsync(output.address(), numbers.data(), output.bytes(), cudaMemcpyHostToDevice, device.stream()),
            "cudaMemcpyAsync");
      }
      probe.behind_call(call);
    }
  });
  require_cuda(cudaGraphLaunch(graph, device.stream()), "cudaGraphLaunch");
  const ProbedElements probed{.seed = 17, .items = kItems, .of_item = kElements};
  for (const std::int64_t call : {1, 2}) {
    std::vector<std::int32_t> found(ProbedElements::kElements);
    ASSERT_EQ(probe.bytes_of_call(), found.size() * sizeof(std::int32_t));
    probe.read(call, found.data());
    for (std::int32_t i = 0; i < ProbedElements::kElements; ++i) {
      const std::int64_t element = probed.of_call(call).element(i);
      ASSERT_EQ(element / kElements, probed.item(call));
      const std::int32_t expected =
          call == 1 ? fill.element<std::int32_t>(element) : static_cast<std::int32_t>(1000 + element);
      EXPECT_EQ(found[static_cast<std::size_t>(i)], expected) << call;
    }
  }
  require_cuda(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
}

/// On a GPU, what is replaced again is not taken out at the same time.
TEST(ReplacedElements, KnowsItsOwn) {
  const InputLayout images(ConvShape{4, 3, 11, 7, 5, 4, 3, 2});
  for (std::int64_t call = 1; call < 40; ++call) {
    const InputChange change{.pokes = 7, .everywhere = call % 2 == 0, .thorough = true};
    const ReplacedElements replaced = change.replaced(call, images);
    std::vector<bool> expected(static_cast<std::size_t>(images.elements_per_image()));
    change.poked(call, images).for_each(images, [&](int, int, std::int64_t element) {
      expected[static_cast<std::size_t>(element)] = true;
    });
    EXPECT_EQ(replaced.count(), std::ranges::count(expected, true));
    for (std::int64_t number = 0; number < replaced.count(); ++number) {
      EXPECT_TRUE(expected[static_cast<std::size_t>(replaced.element(number))]);
    }
    for (std::int64_t element = 0; element < images.elements_per_image(); ++element) {
      EXPECT_EQ(replaced.contains(element), expected[static_cast<std::size_t>(element)]) << call << ' ' << element;
    }
  }
}

TEST(ChosenElements, AreOfTheirSpanHoweverLargeItIs) {
  for (const std::int64_t span : {std::int64_t{1}, std::int64_t{7}, (std::int64_t{1} << 33U) + 5}) {
    const ChosenElements chosen{.seed = 5, .first = 100, .span = span, .count = 500};
    std::int64_t least = span;
    std::int64_t most = 0;
    for (std::int32_t i = 0; i < chosen.count; ++i) {
      least = std::min(least, chosen.element(i) - 100);
      most = std::max(most, chosen.element(i) - 100);
    }
    EXPECT_GE(least, 0);
    EXPECT_LT(most, span);
    EXPECT_LE(least, span / 20) << "no part is left out";
    EXPECT_GE(most, span - 1 - span / 20);
  }
}

}  // namespace
}  // namespace convladder

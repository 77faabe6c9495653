// The tuning tables of the built-in networks: every entry is of a layer, possible, and gives the right output.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cpu/cpu_microarchitecture.hpp"
#include "devices/ptx_images.hpp"
#include "network/network.hpp"
#include "sanitized.hpp"
#include "simulator/device/simulated_device.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"
#include "variants/tuned_variant.hpp"

namespace convladder {
namespace {

bool is_of_a_network(const ProblemSize& size) {
  return std::ranges::any_of(built_in_networks(), [&](const Network& network) {
    return std::ranges::find(network.layers, size, &Layer::size) != network.layers.end();
  });
}

void expect_right(const Variant& variant, std::unique_ptr<Device> device, const ConvShape& shape) {
  const ConvTestData data = integer_data(shape, 5);
  std::vector<float> expected(static_cast<std::size_t>(shape.output_elements()));
  reference_forward(shape, shape.batch, data.input.data(), data.weights.data(), expected.data());
  std::vector<float> output(expected.size(), std::nanf(""));
  const DeviceBuffer x = device->allocate(data.input.size() * sizeof(float), "input");
  const DeviceBuffer y = device->allocate(output.size() * sizeof(float), "output");
  device->copy_to_device(x.address(), data.input.data(), x.bytes());
  device->copy_to_device(y.address(), output.data(), y.bytes());
  const auto prepared =
      variant.prepare(*device, shape, conv_tensors(shape, x.floats(), data.weights.data(), y.floats()));
  EXPECT_TRUE(prepared->choice().ends_with(", from the table")) << prepared->choice();
  prepared->run();
  device->copy_to_host(output.data(), y.address(), y.bytes());
  EXPECT_EQ(output, expected);
}

/// AlexNet's layers take minutes: they are executed with CONVLADDER_SLOW_TESTS=1.
TEST(TuningTable, EveryEntryIsOfABuiltInLayerAndPossibleAndRight) {
  constexpr double kMostFlop = kSanitized ? 2e6 : 100e6;
  const double most_flop = std::getenv("CONVLADDER_SLOW_TESTS") != nullptr ? 1e12 : kMostFlop;
  int entries = 0;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const TuningTable* const table = tuning_table(registered.info.family, registered.info.name);
    if (table == nullptr) continue;
    for (const TuningEntry& entry : table->entries) {
      SCOPED_TRACE(fmt::format("{} {}: {}", registered.info.name, size_name(entry.size), entry.configuration.text()));
      ASSERT_TRUE(is_of_a_network(entry.size));
      const ConvShape shape = conv_shape(entry.size.with_batch(entry.batch.value_or(2)));
      // What goes on one processor may be too wide for another.
      if (!entry.machine.empty() && entry.machine != cpu_microarchitecture()) continue;
      ASSERT_NO_THROW(registered.variant->configured(shape, entry.configuration, ChosenBy::table));
      ++entries;
      // A batch's own entry is executed through the configured variant, with two images.
      const ConvShape small = shape.with_batch(2);
      if (small.flop() > most_flop) continue;
      if (registered.info.family == "cpu") {
        expect_right(*registered.variant->configured(small, entry.configuration, ChosenBy::table),
                     std::make_unique<CpuDevice>(), small);
        continue;
      }
      if (ptx_images().empty()) continue;
      simulated::SimulatedDeviceOptions options;
      options.with_caches = false;
      expect_right(*registered.variant->configured(small, entry.configuration, ChosenBy::table),
                   std::make_unique<simulated::SimulatedDevice>(options), small);
    }
  }
#if CONVLADDER_HAS_CUDA_FAMILY
  EXPECT_GT(entries, 0) << "no table at all";
#endif
}

}  // namespace
}  // namespace convladder

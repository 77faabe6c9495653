// Counters that are published for a large batch are those of the batch executed whole: of our variants, which are
// scaled, and of other programs' (seeded_cuda/image_places.cu), whatever they say about their blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "devices/ptx_images.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

constexpr unsigned kWanted = 8;  // images, of which the others are to be known

struct Counted {
  std::vector<KernelCounters> kernels;
  std::vector<float> output;
};

Counted counted(const ProblemVariant& registered, const ConvShape& shape, const std::string& compiler,
                std::optional<GridWindow> items, std::optional<GridWindow> window = std::nullopt) {
  simulated::SimulatedDeviceOptions options;
  options.ptx_compiler = compiler;
  options.host_threads = 1;
  simulated::SimulatedDevice device(options);
  SeededRandom random(1, 0);
  std::vector<float> input(static_cast<std::size_t>(shape.input_elements()));
  std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
  for (float& value : input) value = static_cast<float>(random.between(0, 3));
  for (float& value : weights) value = static_cast<float>(random.between(-3, 3));
  Counted result{{}, std::vector<float>(static_cast<std::size_t>(shape.output_elements()), -1000.0F)};
  const DeviceBuffer x = device.allocate(input.size() * sizeof(float), "input");
  const DeviceBuffer y = device.allocate(result.output.size() * sizeof(float), "output");
  device.copy_to_device(x.address(), input.data(), x.bytes());
  device.copy_to_device(y.address(), result.output.data(), y.bytes());
  const auto prepared =
      registered.variant->prepare(device, shape, conv_tensors(shape, x.floats(), weights.data(), y.floats()));
  device.set_counted_items(items);
  device.set_grid_window(window);
  prepared->run();
  device.copy_to_host(result.output.data(), y.address(), y.bytes());
  result.kernels = device.take_counters();
  return result;
}

std::vector<const ProblemVariant*> variants_for(const ConvShape& shape) {
  std::vector<const ProblemVariant*> found;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family == "cuda" && registered.variant->unsupported_reason(shape).empty() &&
        !registered.variant->launch_plan(shape).empty()) {
      found.push_back(&registered);
    }
  }
  return found;
}

/// With as many maps as images, so that one can be taken for the other; and with an odd number of images.
const ConvShape kShapes[] = {{20, 1, 9, 10, 20, 3}, {21, 2, 9, 9, 6, 3}};

TEST(ScaledCounters, AreThoseOfTheBatchExecutedWhole) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  std::set<std::string> scaled;
  for (const ConvShape& shape : kShapes) {
    const GridWindow items{0, kWanted, static_cast<unsigned>(shape.batch)};
    for (const ProblemVariant* const registered : variants_for(shape)) {
      for (const PtxImages& images : ptx_images()) {
        SCOPED_TRACE(std::string(registered->info.name) + ", " + images.compiler);
        const std::vector<KernelCounters> whole = counted(*registered, shape, images.compiler, std::nullopt).kernels;
        const std::vector<KernelCounters> known = counted(*registered, shape, images.compiler, items).kernels;
        ASSERT_EQ(known.size(), whole.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
          EXPECT_EQ(known[i].values, whole[i].values);
          EXPECT_EQ(whole[i].items_executed, 0U);
          if (known[i].items_executed > 0) scaled.insert(std::string(registered->info.name));
          if (known[i].items_executed == 0) {
            EXPECT_EQ(known[i].modelled, whole[i].modelled);
          }
          EXPECT_FALSE(known[i].items_executed > 0 && known[i].depends_on_data);
        }
      }
    }
  }
  for (const ProblemVariant* const registered : variants_for(kShapes[0])) {
    const std::string name(registered->info.name);
    if (name.starts_with("seeded")) continue;
    EXPECT_TRUE(scaled.contains(name)) << name << " is executed whole";
  }
  for (const char* const name : {"seeded-images-x", "seeded-images-y", "seeded-images-z", "seeded-images-guarded",
                                 "seeded-images-two-kernels"}) {
    EXPECT_TRUE(scaled.contains(name)) << name;
  }
  for (const char* const name :
       {"seeded-images-silent", "seeded-images-with-maps", "seeded-images-persistent", "seeded-images-strided",
        "seeded-images-pairs", "seeded-images-skip-zeros", "seeded-images-last-more", "seeded-images-each-a-launch"}) {
    EXPECT_FALSE(scaled.contains(name)) << name;
  }
}

TEST(ScaledCounters, SayWhereTheyDependOnTheImages) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  const GridWindow items{0, kWanted, static_cast<unsigned>(kShapes[1].batch)};
  for (const ProblemVariant* const registered : variants_for(kShapes[1])) {
    const std::vector<KernelCounters> kernels = counted(*registered, kShapes[1], "", items).kernels;
    const bool any = std::ranges::any_of(kernels, &KernelCounters::depends_on_data);
    EXPECT_EQ(any, registered->info.name == "seeded-images-skip-zeros") << registered->info.name;
  }
}

/// Of a launch that tells the truth the window's images are written; of one that says nothing, or what its grid or its
/// instructions do not bear out, all are.
TEST(ScaledCounters, AWindowLeavesOutNoBlockThatItsImagesNeed) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  const ConvShape& shape = kShapes[1];
  const GridWindow window{0, kWanted, static_cast<unsigned>(shape.batch)};
  const auto written = static_cast<std::ptrdiff_t>(kWanted * shape.output_elements_per_image());
  for (const ProblemVariant* const registered : variants_for(shape)) {
    SCOPED_TRACE(registered->info.name);
    const std::vector<float> whole = counted(*registered, shape, "", std::nullopt).output;
    const std::vector<float> part = counted(*registered, shape, "", std::nullopt, window).output;
    EXPECT_EQ(std::vector<float>(part.begin(), part.begin() + written),
              std::vector<float>(whole.begin(), whole.begin() + written));
  }
}

}  // namespace
}  // namespace convladder

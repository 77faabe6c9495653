#include "harness/measure/cases/workload.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "datasets/resize.hpp"
#include "harness/measure/cases/case_messages.hpp"
#include "harness/measure/cases/small_problem.hpp"
#include "network/reference_network.hpp"
#include "network/weights.hpp"

namespace convladder {
namespace {

template <typename T>
std::vector<T> copy_of(std::span<const T> view) {
  return {view.begin(), view.end()};
}

void expect_same(const ProblemData& a, const ProblemData& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(copy_of(a.input()), copy_of(b.input()));
  EXPECT_EQ(copy_of(a.constants.at(0).values()), copy_of(b.constants.at(0).values()));
}

void expect_sizes(const ProblemData& problem) {
  ASSERT_EQ(problem.input().size(), static_cast<std::size_t>(problem.shape.input_elements()));
  ASSERT_EQ(problem.constants.at(0).values().size(), static_cast<std::size_t>(problem.shape.constant_elements()));
}

std::vector<float> resized(const ImageSet& images, int count, int size) {
  std::vector<float> pixels(static_cast<std::size_t>(count) * size * size);
  for (int i = 0; i < count; ++i) {
    resize_bilinear(images.image(i % images.count), images.height, images.width, pixels.data() + i * size * size, size,
                    size);
  }
  return pixels;
}

TEST(Workload, AFirstLayerTakesTheImagesResized) {
  const ImageSet images = synthetic_images(5, 3);
  const Workload workload(network_layer("lenet72", "conv1", 5), images, 1);
  EXPECT_EQ(workload.input_kind(), "images");
  EXPECT_EQ(copy_of(workload.real().input()), resized(images, 5, 72));
  expect_sizes(workload.real());
}

TEST(Workload, AFirstLayerOfTheImagesOwnSizeTakesTheirPixels) {
  const ImageSet images = synthetic_images(3, 3);
  const Workload workload(network_layer("lenet28", "conv1", 3), images, 1);
  EXPECT_EQ(copy_of(workload.real().input()), std::vector<float>(images.pixels.begin(), images.pixels.end()));
}

TEST(Workload, ALaterLayerTakesWhatTheLayersBeforeItMake) {
  const ImageSet images = synthetic_images(3, 3);
  const LayerWork work = network_layer("lenet72", "conv2", 3);
  const Workload workload(work, images, 17);
  EXPECT_EQ(workload.input_kind(), "upstream activations");
  std::vector<float> expected(static_cast<std::size_t>(work.shape.input_elements()));
  upstream_activations(*work.source, work.layer_index, 3, resized(images, 3, 72).data(), 17, expected.data());
  EXPECT_EQ(copy_of(workload.real().input()), expected);
  EXPECT_EQ(copy_of(workload.real().constants.at(0).values()),
            initial_convolution_weights(*work.source, work.layer_index, 17));
  expect_sizes(workload.real());
}

TEST(Workload, AnOwnShapeOfOneChannelTakesImagesWithThePixelScaleInTheWeights) {
  const ImageSet images = synthetic_images(2, 3);
  const ConvShape shape{2, 1, 15, 15, 4, 3};
  const Workload workload(own_shape(shape), images, 5);
  EXPECT_EQ(workload.input_kind(), "images");
  EXPECT_EQ(copy_of(workload.real().input()), resized(images, 2, 15));
  EXPECT_EQ(copy_of(workload.real().constants.at(0).values()), initial_convolution_weights(shape, kPixelScale, 5));
}

TEST(Workload, AnOwnShapeOfSeveralChannelsTakesRandomNumbersFromZeroToOne) {
  const ConvShape shape{3, 4, 20, 21, 2, 3, 2, 1, 2};
  const Workload workload(own_shape(shape), synthetic_images(1, 3), 5);
  EXPECT_EQ(workload.input_kind(), "random");
  double sum = 0;
  for (const float value : workload.real().input()) {
    EXPECT_GE(value, 0.0F);
    EXPECT_LT(value, 1.0F);
    sum += value;
  }
  const double count = static_cast<double>(workload.real().input().size());
  EXPECT_NEAR(sum / count, 0.5, 4 * std::sqrt(1.0 / 12 / count));
  const auto image = [&](int i) {
    return copy_of(workload.real().input().subspan(i * shape.input_elements_per_image(),
                                                   static_cast<std::size_t>(shape.input_elements_per_image())));
  };
  EXPECT_NE(image(0), image(1)) << "every image has numbers of its own";
  EXPECT_EQ(copy_of(workload.real().constants.at(0).values()), initial_convolution_weights(shape, 1.0F, 5));
  expect_sizes(workload.real());
}

TEST(Workload, ASmallSetIsRepeatedToFillTheBatch) {
  const ImageSet images = synthetic_images(3, 3);
  const Workload workload(network_layer("lenet28", "conv1", 8), images, 1);
  const std::vector<float> input = copy_of(workload.real().input());
  EXPECT_EQ(input, resized(images, 8, 28));
  EXPECT_TRUE(std::equal(input.begin(), input.begin() + 784, input.begin() + 3 * 784));
  EXPECT_FALSE(std::equal(input.begin(), input.begin() + 784, input.begin() + 784));
}

TEST(Workload, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const ImageSet images = synthetic_images(3, 3);
  for (const LayerWork& work : {network_layer("lenet72", "conv2", 2), own_shape({2, 3, 9, 9, 2, 3})}) {
    const Workload once(work, images, 9);
    const Workload again(work, images, 9);
    const Workload other(work, images, 10);
    expect_same(once.real(), again.real());
    expect_same(once.integers(), again.integers());
    EXPECT_NE(copy_of(once.real().constants.at(0).values()), copy_of(other.real().constants.at(0).values()));
    EXPECT_NE(copy_of(once.real().input()), copy_of(other.real().input()));
    EXPECT_NE(copy_of(once.integers().input()), copy_of(other.integers().input()));
  }
}

TEST(Workload, HasASmallProblemOfIntegersBesides) {
  for (const int batch : {1, 2, 3, 50}) {
    const Workload workload(network_layer("lenet28", "conv1", batch), synthetic_images(3, 3), 1);
    const ProblemData& integers = workload.integers();
    EXPECT_EQ(integers.shape, workload.real().shape.with_batch(std::min(batch, 3)));
    expect_sizes(integers);
    std::set<float> seen;
    for (const auto& view : {integers.input(), integers.constants.at(0).values()}) {
      for (const float value : view) {
        EXPECT_EQ(value, std::round(value));
        EXPECT_LE(std::abs(value), 8.0F);
        seen.insert(value);
      }
    }
    EXPECT_EQ(seen.size(), 17U) << "every whole number from -8 to 8";
    const ExpectedOutput& expected = workload.expected_convolution(ProblemKind::integers);
    EXPECT_EQ(expected.held_images(), integers.shape.batch);
    for (const float magnitude : expected.magnitude()) EXPECT_LT(magnitude, 0x1p24) << "exact in float32 in any order";
  }
}

TEST(Workload, ItsTensorsAreAligned) {
  const auto misaligned = [](const auto& view) {
    return reinterpret_cast<std::uintptr_t>(view.data()) % sizeof(view.front()) != 0;
  };
  for (const int batch : {1, 2, 3, 4}) {  // an odd number of floats for every other batch
    const Workload workload(own_shape({batch, 1, 3, 3, 1, 3}), synthetic_images(1, 1), 1);
    for (const ProblemData* problem : {&workload.real(), &workload.integers()}) {
      EXPECT_FALSE(misaligned(problem->input())) << batch;
      EXPECT_FALSE(misaligned(problem->constants.at(0).values())) << batch;
    }
  }
}

TEST(Workload, OpensInAnotherProcessAsItIs) {
  for (const LayerWork& work : {network_layer("lenet72", "conv2", 12), own_shape({2, 1, 3, 3, 1, 3})}) {
    const Workload workload(work, synthetic_images(3, 3), 4);
    to_case::Hello hello;
    hello.workload = workload.header();
    const WorkloadHeader header =
        MessageTexts<CaseMessages>::read_hello(MessageTexts<CaseMessages>::of_hello(hello)).workload;
    // What a child process gets; the workload closes it.
    const Workload opened(header, fcntl(workload.descriptor(), F_DUPFD_CLOEXEC, 0));
    EXPECT_EQ(opened.input_kind(), workload.input_kind());
    expect_same(opened.real(), workload.real());
    expect_same(opened.integers(), workload.integers());
    EXPECT_NE(opened.real().input().data(), workload.real().input().data());
  }
}

TEST(Workload, NobodyCanWriteToWhatCasesSee) {
  const Workload workload(own_shape({2, 1, 3, 3, 1, 3}), synthetic_images(1, 1), 1);
  const int copy = fcntl(workload.descriptor(), F_DUPFD_CLOEXEC, 0);
  EXPECT_THROW(SharedMemory(copy, 4096, SharedMemory::Access::write), std::exception);
  const int again = open(("/proc/self/fd/" + std::to_string(workload.descriptor())).c_str(), O_RDWR);
  if (again >= 0) {
    EXPECT_EQ(write(again, "x", 1), -1);
    close(again);
  }
}

}  // namespace
}  // namespace convladder

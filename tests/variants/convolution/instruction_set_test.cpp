// The same code for every instruction set that this processor has: chosen when the program runs, and right in each.
#include "variants/vector_lanes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "devices/cpu/cpu_device.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

constexpr const char* kVariable = "CONVLADDER_INSTRUCTION_SET";

/// Asks for an instruction set for as long as it lives.
class InstructionSetTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv(kVariable, GetParam(), 1); }
  void TearDown() override { unsetenv(kVariable); }
};

bool processor_has_it() {
  try {
    chosen_instruction_set();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void expect_exact(const ConvShape& shape, const std::string& name) {
  const ConvTestData data = integer_data(shape, 5);
  CpuDevice device;
  const DeviceBuffer input = device.allocate(data.input.size() * sizeof(float), "input");
  device.copy_to_device(input.address(), data.input.data(), input.bytes());
  std::vector<float> result(static_cast<std::size_t>(shape.output_elements()), std::nanf(""));
  const DeviceBuffer output = device.allocate(result.size() * sizeof(float), "output");
  device.copy_to_device(output.address(), result.data(), output.bytes());
  const ProblemVariant* const registered = find_variant(convolution_problem(), "cpu", name);
  ASSERT_NE(registered, nullptr) << name;
  if (!registered->variant->unsupported_reason(shape).empty()) return;
  const auto prepared = registered->variant->prepare(
      device, shape, conv_tensors(shape, input.floats(), data.weights.data(), output.floats()));
  EXPECT_EQ(prepared->choice().find(getenv(kVariable)), 0U) << prepared->choice();
  prepared->run();
  device.copy_to_host(result.data(), output.address(), output.bytes());
  for (int image = 0; image < shape.batch; ++image) {
    const ReferenceOutput expected =
        reference_convolution(shape, data.input.data() + image * shape.input_elements_per_image(), data.weights.data());
    const float* const values = result.data() + image * shape.output_elements_per_image();
    for (std::size_t i = 0; i < expected.value.size(); ++i) {
      ASSERT_EQ(values[i], expected.value[i]) << "image " << image << " element " << i;
    }
  }
  EXPECT_EQ(device.memory_violation(), "");
}

TEST_P(InstructionSetTest, IsUsedAndExactOnIntegers) {
  if (!processor_has_it()) GTEST_SKIP() << "this processor has no " << GetParam();
  for (const char* name :
       {"register-tile", "implicit-gemm", "shifted-rows", "image-lanes", "winograd", "winograd-map-lanes"}) {
    for (const ConvShape& shape : {ConvShape{1, 3, 29, 27, 17, 11, 4, 2},
                                   {1, 30, 13, 13, 26, 3, 1, 1},
                                   {1, 4, 9, 5, 6, 3, 2, 1, 2},
                                   {1, 1, 28, 28, 13, 5},
                                   {1, 40, 6, 3, 9, 1},
                                   {1, 2, 3, 2, 5, 5, 1, 4}}) {
      SCOPED_TRACE(std::string(name) + " " + shape_name(shape));
      expect_exact(shape, name);
    }
  }
}

/// from[i] + 1 in to[i], vector by vector past the caches.
struct StreamedSums {
  template <typename Set>
  static void run(const float* const& from, float* const& to, const int& count) {
    for (int i = 0; i < count; i += Set::lanes) {
      Vector<Set> sum;
      load_vector(sum, from + i);
      sum = sum + 1.F;
      stream_vector(to + i, sum);
    }
    finish_streams();
  }
};

TEST_P(InstructionSetTest, StreamsEveryLane) {
  if (!processor_has_it()) GTEST_SKIP() << "this processor has no " << GetParam();
  constexpr int kCount = 96;
  AlignedFloats from(kCount);
  AlignedFloats to(kCount + 16);
  for (int i = 0; i < kCount; ++i) from.data()[i] = static_cast<float>(i);
  run_with<StreamedSums>(chosen_instruction_set().kind, static_cast<const float*>(from.data()), to.data(), kCount);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(to.data()[i], static_cast<float>(i + 1));
  for (int i = kCount; i < kCount + 16; ++i) EXPECT_EQ(to.data()[i], 0.F) << "beyond the last vector";
}

// Fewer images than lanes, as many, and one more; strips of images that begin at different rows.
TEST_P(InstructionSetTest, TakesEveryRestOfTheLanes) {
  if (!processor_has_it()) GTEST_SKIP() << "this processor has no " << GetParam();
  for (const char* name : {"image-lanes", "winograd", "winograd-map-lanes"}) {
    for (const int batch : {1, 3, 8, 16, 17}) {
      for (ConvShape shape : {ConvShape{1, 8, 7, 9, 5, 3, 1, 1},
                              {1, 9, 6, 5, 3, 5, 1, 2},
                              {1, 8, 9, 12, 9, 7},
                              {1, 16, 5, 7, 6, 2, 1, 1, 2},
                              {1, 2, 11, 8, 3, 3, 2, 1}}) {
        shape.batch = batch;
        SCOPED_TRACE(std::string(name) + " " + shape_name(shape) + " batch " + std::to_string(batch));
        expect_exact(shape, name);
      }
    }
  }
}

TEST_P(InstructionSetTest, HasRegistersForItsTileAndTheOperands) {
  if (!processor_has_it()) GTEST_SKIP() << "this processor has no " << GetParam();
  const InstructionSet set = chosen_instruction_set();
  EXPECT_STREQ(set.name, GetParam());
  const int registers = set.kind == InstructionSet::Kind::avx512 ? 32 : 16;
  EXPECT_LE(set.maps * set.vectors + set.vectors + 1, registers) << "sums, pixels and a weight";
  EXPECT_EQ(set.tile_pixels(), set.vectors * set.lanes);
}

INSTANTIATE_TEST_SUITE_P(Each, InstructionSetTest, testing::Values("avx512", "avx2", "baseline"),
                         [](const auto& set) { return std::string(set.param); });

// A processor that takes two turns for a wide vector gains nothing from lanes that are idle.
TEST(InstructionSet, IsChosenAmongTwoWhereWideVectorsAreHalved) {
  setenv(kVariable, "avx512", 1);
  if (!processor_has_it()) GTEST_SKIP() << "this processor has no avx512";
  const InstructionSet wide = chosen_instruction_set();
  EXPECT_EQ(instruction_sets_to_choose_from().size(), 1) << "what is asked for is kept";
  unsetenv(kVariable);
  const std::vector<InstructionSet> both = instruction_sets_to_choose_from(wide, true);
  ASSERT_EQ(both.size(), 2);
  EXPECT_EQ(both[0].kind, InstructionSet::Kind::avx512) << "the widest is first";
  EXPECT_EQ(both[1].kind, InstructionSet::Kind::avx2);
  EXPECT_EQ(instruction_sets_to_choose_from(wide, false).size(), 1);
  EXPECT_EQ(instruction_sets_to_choose_from(baseline_instruction_set(), true).size(), 1);
  EXPECT_EQ(cycles_of_vector(baseline_instruction_set()), 1);
}

// Wide layers take maps in lanes with any batch, unless their filtered inputs are many; narrow ones where there are
// fewer images than lanes, and the maps fill them.
TEST(InstructionSet, DecidesWhichWinogradStageSuits) {
  setenv(kVariable, "baseline", 1);  // four lanes, on every machine
  const auto suits = [](const char* name, const ConvShape& shape) {
    return find_variant(convolution_problem(), "cpu", name)->variant->suits(shape);
  };
  for (const int batch : {1, 3, 16, 1000}) {
    const ConvShape wide{batch, 256, 13, 13, 384, 3, 1, 1};
    EXPECT_TRUE(suits("winograd-map-lanes", wide)) << batch;
    EXPECT_FALSE(suits("winograd", wide)) << batch;
    EXPECT_FALSE(suits("map-lanes", wide)) << batch;
  }
  EXPECT_FALSE(suits("winograd-map-lanes", {1, 128, 56, 56, 128, 3, 1, 1})) << "filtered inputs of 6 MB";
  EXPECT_FALSE(suits("winograd-map-lanes", {1, 3, 227, 227, 96, 11, 4})) << "three channels fill no vector";
  EXPECT_FALSE(suits("winograd-map-lanes", {1, 256, 13, 13, 23, 3, 1, 1})) << "few maps";
  const ConvShape narrow{3, 12, 33, 33, 24, 7};
  EXPECT_TRUE(suits("winograd-map-lanes", narrow));
  EXPECT_FALSE(suits("winograd-map-lanes", narrow.with_batch(4)));
  EXPECT_TRUE(suits("winograd", narrow.with_batch(4)));
  unsetenv(kVariable);
  setenv(kVariable, "avx2", 1);
  const bool has_avx2 = processor_has_it();
  if (has_avx2) {
    EXPECT_TRUE(suits("winograd-map-lanes", narrow));
    EXPECT_FALSE(suits("winograd-map-lanes", {3, 12, 33, 33, 25, 7})) << "of 25 maps the last vector has one";
  }
  unsetenv(kVariable);
  if (!has_avx2) GTEST_SKIP() << "this processor has no avx2";
}

TEST(InstructionSet, IsTheWidestUnlessAskedOtherwise) {
  unsetenv(kVariable);
  const int lanes = chosen_instruction_set().lanes;
  for (const char* name : {"avx512", "avx2", "baseline"}) {
    setenv(kVariable, name, 1);
    if (!processor_has_it()) continue;
    EXPECT_LE(chosen_instruction_set().lanes, lanes);
  }
  unsetenv(kVariable);
}

TEST(InstructionSet, AnUnknownNameIsRefusedWithTheKnownOnes) {
  setenv(kVariable, "avx1024", 1);
  try {
    chosen_instruction_set();
    ADD_FAILURE() << "taken";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "CONVLADDER_INSTRUCTION_SET is 'avx1024', it must be avx512, avx2 or baseline");
  }
  unsetenv(kVariable);
}

}  // namespace
}  // namespace convladder

// Variants that are a stage without one of its ideas: they differ from it by that alone, and compute the same.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "devices/ptx_images.hpp"
#include "sanitized.hpp"
#include "simulator/device/simulated_device.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

std::vector<ProblemVariant> all_left_out(std::string_view family) {
  std::vector<ProblemVariant> all;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family == family && !registered.info.leaves_out.empty()) all.push_back(registered);
  }
  return all;
}

/// Small integers, so that every order of summation gives the same.
struct SmallIntegers {
  explicit SmallIntegers(const ConvShape& shape)
      : input(static_cast<std::size_t>(shape.input_elements())),
        weights(static_cast<std::size_t>(shape.weight_elements())) {
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>((i * 7 + 3) % 11) - 5;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>((i * 5 + 1) % 7) - 3;
  }
  std::vector<float> input;
  std::vector<float> weights;
};

void expect_names(const ProblemVariant& registered) {
  const VariantInfo& info = registered.info;
  SCOPED_TRACE(info.name);
  const ProblemVariant* const best = find_variant(convolution_problem(), info.family, info.builds_on);
  ASSERT_NE(best, nullptr);
  EXPECT_TRUE(best->info.rung.has_value());
  EXPECT_FALSE(info.rung.has_value());
  EXPECT_FALSE(info.is_library());
  EXPECT_LE(info.leaves_out.size(), 36U) << "too long for a table's column";
}

TEST(LeaveOneOut, NamesAStageAndAnIdea) {
  ASSERT_GE(all_left_out("cpu").size(), 8U);
  for (const char* const family : {"cpu", "cuda"}) {
    for (const ProblemVariant& registered : all_left_out(family)) expect_names(registered);
  }
}

TEST(LeaveOneOut, OnTheCpuComputesWhatTheStageComputes) {
  CpuDevice device;
  for (const ConvShape& shape : {ConvShape{3, 1, 38, 38, 12, 7}, ConvShape{2, 3, 21, 19, 5, 5},
                                 ConvShape{2, 4, 17, 13, 10, 3, 2, 1, 2}, ConvShape{1, 12, 33, 33, 24, 7}}) {
    const SmallIntegers data(shape);
    const auto output_of = [&](std::string_view name) {
      std::vector<float> output(static_cast<std::size_t>(shape.output_elements()), std::nanf(""));
      find_variant(convolution_problem(), "cpu", name)
          ->variant->prepare(device, shape, conv_tensors(shape, data.input.data(), data.weights.data(), output.data()))
          ->run();
      return output;
    };
    const std::vector<float> expected = output_of("streamed-output");
    for (const ProblemVariant& registered : all_left_out("cpu")) {
      const std::string why = registered.variant->unsupported_reason(shape);
      if (why.find("there are no copies") != std::string::npos) continue;  // on processors with narrower vectors
      ASSERT_EQ(why, "");
      EXPECT_EQ(output_of(registered.info.name), expected) << registered.info.name << ' ' << shape_name(shape);
    }
  }
}

TEST(LeaveOneOut, OnTheCpuRefusesCopiesThatNeedTooMuchMemory) {
  const Variant& variant = *find_variant(convolution_problem(), "cpu", "without-near-copies")->variant;
  EXPECT_NE(variant.unsupported_reason(ConvShape{100000, 1, 64, 64, 12, 7}).find("2 GiB"), std::string::npos);
  EXPECT_EQ(variant.unsupported_reason(ConvShape{1000, 1, 64, 64, 12, 7}), "");
}

#if CONVLADDER_HAS_CUDA_FAMILY

using Counts = std::map<std::string, double>;

struct Run {
  std::vector<float> output;
  Counts counts;
};

Run run(const Variant& variant, const std::string& compiler, const ConvShape& shape) {
  simulated::SimulatedDeviceOptions options;
  options.ptx_compiler = compiler;
  simulated::SimulatedDevice device(options);
  const auto& [input, weights] = SmallIntegers(shape);
  const DeviceBuffer x = device.allocate(input.size() * sizeof(float), "input");
  const DeviceBuffer y = device.allocate(static_cast<std::size_t>(shape.output_elements()) * sizeof(float), "output");
  device.copy_to_device(x.address(), input.data(), x.bytes());
  variant.prepare(device, shape, conv_tensors(shape, x.floats(), weights.data(), y.floats()))->run();
  Run result;
  result.output.resize(static_cast<std::size_t>(shape.output_elements()));
  device.copy_to_host(result.output.data(), y.address(), y.bytes());
  for (const KernelCounters& counters : device.take_counters()) {
    for (const auto& [name, value] : counters.values) result.counts[name] += value;
  }
  return result;
}

/// Layers of few pixels on which stage 9 has the tiles that ideas are left out of; the batch takes several images a
/// block, and the last tiles hang over the edge.
std::vector<ConvShape> small_layers() { return {{8, 1, 16, 11, 15, 7}, {8, 2, 26, 7, 15, 7}, {8, 3, 7, 13, 8, 5}}; }

TEST(LeaveOneOut, ComputesWhatTheStageComputes) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  for (const ConvShape& shape : small_layers()) {
    for (const PtxImages& images : ptx_images()) {
      const std::vector<float> expected =
          run(*find_variant(convolution_problem(), "cuda", "many-images")->variant, images.compiler, shape).output;
      for (const ProblemVariant& registered : all_left_out("cuda")) {
        if (kSanitized && shape != small_layers().front()) continue;
        SCOPED_TRACE(std::string(registered.info.name) + " " + shape_name(shape) + " by " + images.compiler);
        ASSERT_EQ(registered.variant->unsupported_reason(shape), "");
        EXPECT_EQ(run(*registered.variant, images.compiler, shape).output, expected);
      }
    }
  }
}

TEST(LeaveOneOut, IsTheStageItselfWhereNothingIsLeftOut) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  for (const ConvShape& layer : small_layers()) {
    const ConvShape shape = layer.with_batch(1);  // the stage takes one image a block, so none is missing
    for (const PtxImages& images : ptx_images()) {
      SCOPED_TRACE(shape_name(shape) + " by " + images.compiler);
      const Variant& best = *find_variant(convolution_problem(), "cuda", "many-images")->variant;
      const Variant& same = *find_variant(convolution_problem(), "cuda", "without-many-images")->variant;
      const Counts expected = run(best, images.compiler, shape).counts;
      const Counts counts = run(same, images.compiler, shape).counts;
      for (const char* const name :
           {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "smsp__sass_inst_executed_op_shared_ld.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
            "smsp__inst_executed_op_barrier.sum"}) {
        EXPECT_EQ(counts.at(name), expected.at(name)) << name;
      }
      // The compiler allocates and orders a little otherwise around the same loops.
      const char* const instructions = "smsp__inst_executed.sum";
      EXPECT_NEAR(counts.at(instructions) / expected.at(instructions), 1.0, 0.02);
    }
  }
}

TEST(LeaveOneOut, RefusesTilesThatTheStageDoesNotHave) {
  const ConvShape alexnet{1, 3, 227, 227, 96, 11, 4};
  const ConvShape one_channel{1, 1, 72, 72, 12, 7};
  for (const ProblemVariant& registered : all_left_out("cuda")) {
    EXPECT_NE(registered.variant->unsupported_reason(alexnet).find("is not among the compiled ones"),
              std::string::npos);
    EXPECT_NE(registered.variant->unsupported_reason(one_channel).find("many-images uses a tile for this layer"),
              std::string::npos);
    EXPECT_TRUE(registered.variant->launch_plan(one_channel).empty());
  }
}

#endif  // CONVLADDER_HAS_CUDA_FAMILY

}  // namespace
}  // namespace convladder

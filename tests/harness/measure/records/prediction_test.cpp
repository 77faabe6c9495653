// `prediction` of a case: from the record's counters and resources, and what is missing in them.
#include "harness/measure/records/prediction.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

ordered_json kernel_counters(const std::string& name, double multiply_adds) {
  return {{"kernel", name},
          {"grid", {132, 8, 1}},
          {"block", {16, 16, 1}},
          {"values",
           {{"smsp__inst_executed.sum", multiply_adds / 8},
            {"smsp__thread_inst_executed_pred_on.sum", multiply_adds * 4},
            {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", multiply_adds},
            {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", multiply_adds},
            {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", multiply_adds / 32},
            {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", multiply_adds / 8}}},
          {"modelled", {{"lts__t_sectors_op_read.sum", 1000.0}, {"dram__bytes_read.sum", 32000.0}}}};
}

ordered_json counters(const ordered_json& kernels) {
  return {{"totals", kernels.at(0).at("values")}, {"modelled", kernels.at(0).at("modelled")}, {"kernels", kernels}};
}

ordered_json resources(const std::string& kernel, const std::string& architecture, int shared_bytes = 0) {
  return {{"kernel", kernel},          {"architecture", architecture},
          {"registers", 40},           {"shared_bytes", shared_bytes},
          {"dynamic_shared_bytes", 0}, {"spill_store_bytes", 0},
          {"spill_load_bytes", 0},     {"grid", {132, 8, 1}},
          {"block", {16, 16, 1}}};
}

ordered_json predicted(const ordered_json& counters, const ordered_json& resources) {
  return prediction_json(
      predict(read_counters(JsonPlace(counters, "counters")), read_resources(JsonPlace(resources, "resources"))));
}

const ordered_json& of_gpu(const ordered_json& prediction, const std::string& name) {
  for (const ordered_json& one : prediction.at("gpus")) {
    if (one.at("gpu") == name) return one;
  }
  throw std::out_of_range(name);
}

TEST(Prediction, IsNullWithoutCounters) {
  EXPECT_TRUE(predicted({{"kernels", ordered_json::array()}}, ordered_json::array()).is_null());
}

TEST(Prediction, TakesTheResourcesOfTheGpusArchitecture) {
  const ordered_json counted = counters(ordered_json::array({kernel_counters("convladder::conv<5, 1>", 1e9)}));
  const ordered_json reported =
      ordered_json::array({resources("void convladder::other<5, 1>(float const*)", "sm_90"),
                           resources("void convladder::conv<5, 1>(float const*)", "sm_80"),
                           resources("void convladder::conv<5, 1>(float const*)", "sm_90", 2048)});
  const ordered_json prediction = predicted(counted, reported);
  EXPECT_EQ(prediction.at("kind"), "predicted");
  EXPECT_EQ(prediction.at("gpus").size(), gpu_facts().size());
  EXPECT_EQ(of_gpu(prediction, "h100").at("kernels").at(0).at("shared_bytes"), 2048);
  EXPECT_EQ(of_gpu(prediction, "a100").at("kernels").at(0).at("shared_bytes"), 0);
  EXPECT_EQ(of_gpu(prediction, "a100").at("kernels").at(0).at("registers"), 40);
  EXPECT_TRUE(of_gpu(prediction, "k80").at("kernels").at(0).at("registers").is_null()) << "sm_75 was not reported";
  EXPECT_EQ(prediction.at("roofline").at("flop"), 2e9);
  EXPECT_EQ(prediction.at("roofline").at("l1_bytes"), 4e9);
  EXPECT_EQ(prediction.at("roofline").at("l2_bytes"), 32000);
}

TEST(Prediction, HasNoTimeWhereTheKernelNeedsANewerArchitecture) {
  const ordered_json counted = counters(ordered_json::array({kernel_counters("convladder::conv", 1e9)}));
  const ordered_json newer =
      ordered_json::array({resources("convladder::conv()", "sm_80"), resources("convladder::conv()", "sm_90")});
  const ordered_json prediction = predicted(counted, newer);
  for (const char* const gpu : {"k80", "v100"}) {
    EXPECT_TRUE(of_gpu(prediction, gpu).at("low").is_null()) << gpu;
    EXPECT_EQ(of_gpu(prediction, gpu).at("kernels").at(0).at("occupancy").at("limited_by"),
              ordered_json({"architecture"}));
  }
  EXPECT_GT(of_gpu(prediction, "a100").at("low"), 0);
  ordered_json every = newer;
  every.push_back(resources("convladder::conv()", "sm_75"));
  EXPECT_GT(of_gpu(predicted(counted, every), "v100").at("low"), 0);
}

TEST(Prediction, AddsTheKernelsUpAndNamesWhatBindsTheLongest) {
  const ordered_json one = predicted(counters(ordered_json::array({kernel_counters("a", 1e9)})), ordered_json::array());
  const ordered_json other =
      predicted(counters(ordered_json::array({kernel_counters("b", 3e9)})), ordered_json::array());
  const ordered_json both = predicted(
      counters(ordered_json::array({kernel_counters("a", 1e9), kernel_counters("b", 3e9)})), ordered_json::array());
  for (const char* end : {"low", "high"}) {
    EXPECT_DOUBLE_EQ(of_gpu(both, "h100").at(end).get<double>(),
                     of_gpu(one, "h100").at(end).get<double>() + of_gpu(other, "h100").at(end).get<double>());
  }
  EXPECT_EQ(of_gpu(both, "h100").at("binding_low"), of_gpu(other, "h100").at("binding_low"));
}

TEST(Prediction, HasNoTimeWhereAKernelCannotBeLaunched) {
  const ordered_json prediction = predicted(counters(ordered_json::array({kernel_counters("tile_kernel", 1e9)})),
                                            ordered_json::array({resources("tile_kernel", "sm_75", 64 * 1024),
                                                                 resources("tile_kernel", "sm_90", 64 * 1024)}));
  const ordered_json& k80 = of_gpu(prediction, "k80");  // 48 KiB a block at most
  EXPECT_TRUE(k80.at("low").is_null());
  EXPECT_TRUE(k80.at("binding_high").is_null());
  EXPECT_EQ(k80.at("kernels").at(0).at("occupancy").at("blocks"), 0);
  EXPECT_EQ(k80.at("kernels").at(0).at("occupancy").at("limited_by"), ordered_json({"shared memory"}));
  EXPECT_TRUE(of_gpu(prediction, "v100").at("low").is_number());
  EXPECT_TRUE(of_gpu(prediction, "h100").at("low").is_number());
}

}  // namespace
}  // namespace convladder

#include "harness/measure/networks/network_summary.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/measure/networks/network_plan.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// Cases of lenet72 with each stage in both convolutions, of which each takes so many nanoseconds.
std::vector<NetworkResult> timed_cases(const std::map<std::string, double>& ns) {
  NetworkOptions options;
  options.networks = {"lenet72"};
  options.devices = {"cpu"};
  options.batches = {10};
  for (const auto& [variant, time] : ns) options.variants.push_back(variant);
  std::vector<NetworkResult> results;
  for (const NetworkCase& planned : make_network_plan(options)) {
    NetworkResult& result = results.emplace_back();
    result.planned = planned;
    for (const char* type : {"convolution", "tanh", "convolution"}) {
      result.outcome.steps.push_back({.name = type,
                                      .type = type,
                                      .implementation = planned.variants,
                                      .verification = {},
                                      .samples = {type[0] == 'c' ? ns.at(planned.variants) : 1e9},
                                      .counters = {}});
    }
  }
  return results;
}

std::string name_of(const NetworkRow* row) { return row == nullptr ? "none" : row->of->planned.variants; }

TEST(NetworkSummary, TheBestIsTheFastestStageAndNeverALibrary) {
  if (find_variant(convolution_problem(), "cpu", "onednn") == nullptr)
    GTEST_SKIP() << "this build has no library beside the CPU's stages";
  const std::vector<NetworkResult> results = timed_cases(
      {{"memory-accumulation", 800.0}, {"compile-time", 200.0}, {"register-tile", 100.0}, {"onednn", 50.0}});
  const std::vector<NetworkSummary> summaries = network_summaries(results);
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(name_of(summaries[0].baseline), "memory-accumulation");
  EXPECT_EQ(name_of(summaries[0].sixth), "compile-time");
  EXPECT_EQ(name_of(summaries[0].best), "register-tile");
  EXPECT_EQ(name_of(summaries[0].library), "onednn");
  EXPECT_EQ(summaries[0].best->op, 200.0) << "both convolutions, and nothing else";
  EXPECT_EQ(summaries[0].best->x_baseline->value, 8.0);
  EXPECT_EQ(summaries[0].best->percent_of_library->value, 50.0);
}

TEST(NetworkSummary, WhatFailedTellsNothing) {
  std::vector<NetworkResult> results = timed_cases({{"memory-accumulation", 800.0}, {"compile-time", 200.0}});
  for (NetworkResult& result : results) {
    if (result.planned.variants == "compile-time") result.outcome.status = Status::incorrect;
  }
  const std::vector<NetworkSummary> summaries = network_summaries(results);
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(name_of(summaries[0].sixth), "none");
  EXPECT_EQ(name_of(summaries[0].best), "memory-accumulation");
  EXPECT_FALSE(summaries[0].best->percent_of_library);
  results.front().outcome.status = results.back().outcome.status = Status::crashed;
  EXPECT_TRUE(network_summaries(results).empty());
}

}  // namespace
}  // namespace convladder

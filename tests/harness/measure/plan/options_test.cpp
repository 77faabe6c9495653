#include "harness/measure/plan/options_json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// Every field away from its default.
RunOptions unusual_options() {
  RunOptions o;
  o.families = {"cpu", "cuda"};
  o.variants = {"shared-memory"};
  o.networks = {"lenet72", "lenet28"};
  o.layers = {"conv1", "lenet72.conv2"};
  o.devices = {"cpu"};
  o.batches = {3, 1, 10000};
  o.shapes = {ConvShape{1, 3, 227, 226, 96, 11, 4, 2, 3}, ConvShape{5, 1, 28, 28, 50, 5}};
  o.case_filter = "cpu/.*\"quoted\" µ";
  o.data_folder = "/some where/else";
  o.seed = 18446744073709551615U;
  o.budget_seconds = 0.1;
  o.target_half_width = 0.003;
  o.sample_milliseconds = 7.25;
  o.max_samples = 17;
  o.repetitions = 9;
  o.timeout_seconds = 12.5;
  o.isolate = false;
  o.profile_calls = 4;
  o.google_benchmark_flags = {"--benchmark_color=false", "--benchmark_context=a=b"};
  return o;
}

void expect_same(const RunOptions& a, const RunOptions& b) {
  EXPECT_EQ(a.families, b.families);
  EXPECT_EQ(a.variants, b.variants);
  EXPECT_EQ(a.networks, b.networks);
  EXPECT_EQ(a.layers, b.layers);
  EXPECT_EQ(a.devices, b.devices);
  EXPECT_EQ(a.batches, b.batches);
  EXPECT_EQ(a.shapes, b.shapes);
  EXPECT_EQ(a.case_filter, b.case_filter);
  EXPECT_EQ(a.data_folder, b.data_folder);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.budget_seconds, b.budget_seconds);
  EXPECT_EQ(a.target_half_width, b.target_half_width);
  EXPECT_EQ(a.sample_milliseconds, b.sample_milliseconds);
  EXPECT_EQ(a.max_samples, b.max_samples);
  EXPECT_EQ(a.repetitions, b.repetitions);
  EXPECT_EQ(a.timeout_seconds, b.timeout_seconds);
  EXPECT_EQ(a.isolate, b.isolate);
  EXPECT_EQ(a.profile_calls, b.profile_calls);
  EXPECT_EQ(a.google_benchmark_flags, b.google_benchmark_flags);
}

RunOptions read(const ordered_json& json) { return read_run_options(JsonPlace(json, "run.json: options")); }

/// As a file would hold it.
ordered_json through_text(const RunOptions& options) { return ordered_json::parse(options_json(options).dump()); }

TEST(Options, SurviveTheRecordAsTheyAre) {
  expect_same(read(through_text(unusual_options())), unusual_options());
  expect_same(read(through_text({})), {});
}

TEST(Options, EveryFieldOfTheRecordIsReadBack) {
  const ordered_json unusual = through_text(unusual_options());
  const ordered_json plain = through_text({});
  ASSERT_EQ(unusual.size(), plain.size());
  for (const auto& [field, value] : unusual.items()) {
    EXPECT_NE(value, plain.at(field)) << field << " is at its default in this test";
    ordered_json mixed = plain;
    mixed[field] = value;
    EXPECT_EQ(options_json(read(mixed)), mixed) << field;
  }
}

TEST(Options, WhatIsNotSetIsNull) {
  const ordered_json json = options_json(RunOptions());
  EXPECT_TRUE(json.at("repetitions").is_null());
  EXPECT_TRUE(json.at("timeout_seconds").is_null());
  EXPECT_TRUE(json.at("batches").is_array());
}

TEST(Options, AMissingFieldIsNamed) {
  const ordered_json whole = options_json(RunOptions());
  for (const auto& [field, value] : whole.items()) {
    if (field == "repetitions" || field == "timeout_seconds" || field == "profile_calls") continue;
    ordered_json json = whole;
    json.erase(field);
    expect_error<UserError>([&] { read(json); }, {"run.json: options: " + field});
  }
}

TEST(Options, AFieldOfTheWrongKindIsNamed) {
  const ordered_json whole = options_json(unusual_options());
  for (const auto& [field, value] : whole.items()) {
    ordered_json json = whole;
    json[field] = ordered_json::object({{"a", ordered_json::array({"b"})}});
    expect_error<UserError>([&] { read(json); }, {"run.json: options: " + field});
  }
  expect_error<UserError>([] { read(ordered_json::array()); }, {"run.json: options: expected an object"});
  expect_error<UserError>([] { read(3); }, {"run.json: options: expected an object"});
}

TEST(Options, AShapeThatIsNoListOfNineNumbersIsRefused) {
  for (const char* shapes : {"[3]", "[[1,2,3]]", R"([["1",1,28,28,50,5,1,0,1]])", "[[1,1,28,28,50,5,1,0]]"}) {
    ordered_json json = options_json(RunOptions());
    json["shapes"] = ordered_json::parse(shapes);
    expect_error<UserError>([&] { read(json); }, {"run.json: options: shapes[0]", "expected"});
  }
}

TEST(Options, WhatTheCommandLineRefusesIsRefused) {
  for (const auto& [field, value] : std::vector<std::pair<std::string, ordered_json>>{{"repetitions", -1},
                                                                                      {"repetitions", true},
                                                                                      {"repetitions", 2.5},
                                                                                      {"repetitions", UINT64_MAX},
                                                                                      {"sample_milliseconds", 0},
                                                                                      {"sample_milliseconds", 1e300},
                                                                                      {"target_half_width", -0.1},
                                                                                      {"budget_seconds", 1e7},
                                                                                      {"timeout_seconds", 0},
                                                                                      {"seed", -1},
                                                                                      {"seed", 1.5},
                                                                                      {"max_samples", 0},
                                                                                      {"profile_calls", 0},
                                                                                      {"isolate", 1},
                                                                                      {"batches", {1.5}},
                                                                                      {"batches", {0}},
                                                                                      {"families", {1}}}) {
    ordered_json json = options_json(RunOptions());
    json[field] = value;
    expect_error<UserError>([&] { read(json); }, {"run.json: options: " + field, "expected"});
  }
}

TEST(Options, AFlagOfTheProgramsOwnIsNoneOfGoogleBenchmarks) {
  for (const char* flag :
       {"--benchmark_out=file", "--benchmark_out", "--benchmark_list_tests=true", "--help", "file"}) {
    ordered_json json = options_json(RunOptions());
    json["google_benchmark_flags"] = {flag};
    expect_error<UserError>([&] { read(json); }, {"run.json: options: google_benchmark_flags: expected flags", flag});
  }
}

NetworkOptions unusual_network_options() {
  NetworkOptions options;
  options.networks = {"lenet28", "own.json"};
  options.variants = {"all", "conv1=flat-vector"};
  options.with = {"/kernels/my_conv.cu"};
  options.operators = {"fully_connected=onednn"};
  options.devices = {"cpu"};
  options.batches = {3, 1'000'000};
  options.case_filter = "cpu/.*";
  options.data_folder = "mnist";
  options.weights = "low";
  options.skip_images = 7;
  options.seed = UINT64_MAX;
  options.budget_seconds = 0.5;
  options.repetitions = 3;
  options.chunk = 2;
  options.overlap = true;
  options.timeout_seconds = 0.1;
  options.isolate = false;
  return options;
}

TEST(NetworkOptions, EveryFieldOfTheRecordIsReadBack) {
  const ordered_json unusual = ordered_json::parse(options_json(unusual_network_options()).dump());
  const ordered_json plain = options_json(NetworkOptions());
  for (const auto& [field, value] : unusual.items()) {
    const bool is_always_there = plain.contains(field);
    EXPECT_TRUE(!is_always_there || value != plain.at(field)) << field << " is at its default in this test";
    ordered_json mixed = plain;
    mixed[field] = value;
    EXPECT_EQ(options_json(read_network_options({mixed, "options"})), mixed) << field;
    ordered_json wrong = unusual;
    wrong[field] = ordered_json::object({{"a", 1}});
    expect_error<UserError>([&] { read_network_options({wrong, "options"}); }, {"options: " + field, "expected"});
    if (!is_always_there || plain.at(field).is_null()) continue;
    wrong.erase(field);
    expect_error<UserError>([&] { read_network_options({wrong, "options"}); }, {"options: " + field, "found nothing"});
  }
}

TEST(NetworkOptions, WhatTheCommandLineRefusesIsRefused) {
  for (const auto& [field, value] : std::vector<std::pair<std::string, ordered_json>>{{"batches", {0}},
                                                                                      {"skip_images", -1},
                                                                                      {"chunk", 0},
                                                                                      {"repetitions", 0},
                                                                                      {"budget_seconds", -1},
                                                                                      {"timeout_seconds", 0}}) {
    ordered_json json = options_json(NetworkOptions());
    json[field] = value;
    expect_error<UserError>([&] { read_network_options({json, "options"}); }, {"options: " + field, "expected"});
  }
}

}  // namespace
}  // namespace convladder

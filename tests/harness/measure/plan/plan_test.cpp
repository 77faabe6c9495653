#include "harness/measure/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "devices/device_registry.hpp"
#include "expect_error.hpp"
#include "support/errors.hpp"
#include "temporary_folder.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// Small and on the CPU unless a test says otherwise.
RunOptions cpu_options() {
  RunOptions options;
  options.devices = {"cpu"};
  options.batches = {2};
  return options;
}

std::vector<PlannedCase> all_cases(const std::vector<CaseGroup>& plan) {
  std::vector<PlannedCase> cases;
  for (const CaseGroup& group : plan) cases.insert(cases.end(), group.cases.begin(), group.cases.end());
  return cases;
}

std::vector<std::string> group_names(const std::vector<CaseGroup>& plan) {
  std::vector<std::string> names;
  for (const CaseGroup& group : plan) {
    names.push_back(group.device + " " + group.work.name() + " " + std::to_string(group.work.shape.batch));
  }
  return names;
}

/// Without those that leave an idea out, which are run if they are asked for.
std::size_t variants_of(std::string_view family) {
  return static_cast<std::size_t>(
      std::ranges::count_if(convolution_problem().variants(), [family](const auto& registered) {
        return registered.info.family == family && registered.info.leaves_out.empty();
      }));
}

TEST(Plan, TheDefaultSelectionIsOfTheFirstStagesTheLibrariesAndWhatContends) {
  RunOptions options;
  options.devices = {"cpu", "simulated"};
  const std::vector<PlannedCase> all = all_cases(make_plan(options));
  options.default_selection = true;
  const std::vector<PlannedCase> selection = all_cases(make_plan(options));
  EXPECT_LT(selection.size(), all.size()) << "what is counted is counted for one batch";
  for (const PlannedCase& planned : selection) {
    EXPECT_EQ(planned.contends, planned.device == "cpu" && planned.variant.info.rung.value_or(0) > 6) << planned.id;
  }
  for (const PlannedCase& planned : all) EXPECT_FALSE(planned.contends);
  const auto count = [&selection](const char* device) {
    return std::ranges::count_if(selection, [&](const PlannedCase& planned) {
      return planned.device == device && planned.work.name() == "lenet28.conv1" && planned.variant.info.rung == 1;
    });
  };
  EXPECT_EQ(count("cpu"), 3);
  EXPECT_EQ(count("simulated"), 1);
}

TEST(Plan, HasEveryVariantOfTheFamilyForEveryLayer) {
  const std::vector<CaseGroup> plan = make_plan(cpu_options());
  std::size_t layers = 0;
  for (const Network& network : built_in_networks()) {
    if (network.default_run) layers += convolution_layers(network).size();
  }
  ASSERT_GT(layers, 0U);
  ASSERT_EQ(plan.size(), layers);
  for (const CaseGroup& group : plan) {
    EXPECT_EQ(group.device, "cpu");
    EXPECT_EQ(group.work.shape.batch, 2);
    ASSERT_EQ(group.cases.size(), variants_of("cpu"));
    std::size_t i = 0;
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cpu" || !registered.info.leaves_out.empty()) continue;
      const PlannedCase& planned = group.cases[i++];
      EXPECT_EQ(planned.variant.info.name, registered.info.name) << "in ladder order";
      EXPECT_EQ(planned.device, "cpu");
      EXPECT_EQ(planned.work.shape, group.work.shape);
      EXPECT_EQ(planned.unsupported, registered.variant->unsupported_reason(planned.work.shape)) << planned.id;
      EXPECT_EQ(planned.runs(), planned.unsupported.empty()) << planned.id << planned.skipped;
    }
  }
}

TEST(Plan, IdsAreDeviceVariantLayerAndBatchAndUnique) {
  RunOptions options;
  options.batches = {1, 20};
  std::set<std::string> ids;
  for (const PlannedCase& planned : all_cases(make_plan(options))) {
    EXPECT_EQ(planned.id, planned.device + "/" + std::string(planned.variant.info.name) + "/" + planned.work.network +
                              "." + planned.work.layer + "/" + std::to_string(planned.work.shape.batch));
    EXPECT_TRUE(ids.insert(planned.id).second) << planned.id;
  }
  EXPECT_TRUE(ids.contains("cpu/memory-accumulation/lenet72.conv2/20"));
}

TEST(Plan, FiltersByNetworkLayerVariantFamilyAndBatch) {
  RunOptions options = cpu_options();
  options.networks = {"lenet72"};
  options.batches = {30, 4, 30};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu lenet72.conv1 4", "cpu lenet72.conv1 30",
                                                                       "cpu lenet72.conv2 4", "cpu lenet72.conv2 30"}));
  options.layers = {"conv2"};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu lenet72.conv2 4", "cpu lenet72.conv2 30"}));
  options = cpu_options();
  options.layers = {"conv1"};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu lenet28.conv1 2", "cpu lenet72.conv1 2"}));
  options.layers = {"lenet72.conv1"};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu lenet72.conv1 2"}));
  options.variants = {"compile-time", "memory-accumulation"};
  options.families = {"cpu"};
  const std::vector<PlannedCase> cases = all_cases(make_plan(options));
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].variant.info.name, "memory-accumulation") << "in ladder order, not in the order asked for";
  EXPECT_EQ(cases[1].variant.info.name, "compile-time");
}

TEST(Plan, TakesANetworkOutsideTheDefaultOneByNameByLayerAndByFile) {
  RunOptions options = cpu_options();
  options.networks = {"lenet86"};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu lenet86.conv1 2", "cpu lenet86.conv2 2"}));
  options.networks.clear();
  options.layers = {"alexnet.conv3", "lenet28.conv1"};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu alexnet.conv3 2", "cpu lenet28.conv1 2"}));

  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "own.json";
  std::ofstream(file) << R"({"name": "own", "title": "t", "input": {"channels": 1, "height": 9, "width": 9},
      "layers": [{"name": "first", "type": "convolution", "out_channels": 2, "kernel": 3}]})";
  options.layers.clear();
  options.networks = {file};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu own.first 2"}));

  std::ofstream(folder.path() / "taken.json") << R"({"name": "lenet28", "title": "t",
      "input": {"channels": 1, "height": 9, "width": 9}, "layers": [{"name": "t", "type": "tanh"}]})";
  options.networks = {folder.path() / "taken.json"};
  expect_error<UserError>([&] { make_plan(options); }, {"taken.json", "'lenet28'", "built-in"});
  options.networks = {folder.path() / "missing.json"};
  expect_error<UserError>([&] { make_plan(options); }, {"missing.json", "No such file"});
}

TEST(Plan, FiltersIdsByARegularExpression) {
  RunOptions options = cpu_options();
  options.case_filter = "memory.*/lenet72\\.conv[2-9]/";
  const std::vector<PlannedCase> cases = all_cases(make_plan(options));
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id, "cpu/memory-accumulation/lenet72.conv2/2");
  options.case_filter = "*(";
  expect_error<UserError>([&] { make_plan(options); }, {"--benchmark_filter '*('", "is not a regular expression"});
}

TEST(Plan, UnknownNamesAreAnsweredWithTheNearestFirst) {
  const auto options_with = [](std::vector<std::string> RunOptions::*field, const char* name) {
    RunOptions options = cpu_options();
    options.*field = {name};
    return options;
  };
  const auto refused = [](const RunOptions& options, std::string_view part) {
    expect_error<UserError>([&] { make_plan(options); }, {part});
  };
  refused(options_with(&RunOptions::variants, "compiletime"), "unknown variant 'compiletime'; known: compile-time, ");
  refused(options_with(&RunOptions::networks, "lenet288"), "unknown network 'lenet288'; known: lenet28, ");
  refused(options_with(&RunOptions::layers, "conv3"), "unknown layer 'conv3'; known: conv1, conv2, ");
  refused(options_with(&RunOptions::layers, "lenet28.conv2"), "unknown layer 'lenet28.conv2'; known: lenet28.conv1, ");
  refused(options_with(&RunOptions::devices, "cpuu"), "unknown device 'cpuu'; known: cpu");
  refused(options_with(&RunOptions::families, "cuba"), "unknown family 'cuba'; known: c");
}

TEST(Plan, OneUnknownNameAmongKnownOnesIsAnErrorToo) {
  RunOptions options = cpu_options();
  options.variants = {"compile-time", "nonsense"};
  expect_error<UserError>([&] { make_plan(options); }, {"unknown variant 'nonsense'"});
}

TEST(Plan, FiltersThatLeaveNothingAreAnError) {
  RunOptions options = cpu_options();
  options.networks = {"lenet28"};
  options.layers = {"lenet72.conv2"};
  expect_error<UserError>([&] { make_plan(options); }, {"no case remains", "convladder list"});
  options = cpu_options();
  options.case_filter = "no such case";
  expect_error<UserError>([&] { make_plan(options); }, {"no case remains"});
}

TEST(Plan, WithoutBatchesTakesTheDefaultsBelowTheWorkLimit) {
  RunOptions options = cpu_options();
  options.batches.clear();
  for (const CaseGroup& group : make_plan(options)) {
    const int batch = group.work.shape.batch;
    EXPECT_NE(std::ranges::count(convolution_problem().default_batches(), batch), 0) << batch;
    EXPECT_LE(group.work.shape.flop(), kDefaultWorkLimit) << group.work.name() << " " << batch;
  }
  const std::vector<std::string> names = group_names(make_plan(options));
  for (const char* name : {"cpu lenet28.conv1 10", "cpu lenet28.conv1 100", "cpu lenet28.conv1 1000",
                           "cpu lenet72.conv1 1000", "cpu lenet72.conv2 100"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  }
  EXPECT_EQ(std::ranges::find(names, "cpu lenet72.conv2 1000"), names.end()) << "20.6 GFLOP";
}

TEST(Plan, TheSmallestDefaultBatchIsTakenWhateverItsWork) {
  RunOptions options = cpu_options();
  options.batches.clear();
  options.shapes = {ConvShape{1, 256, 100, 100, 256, 3, 1, 1}};  // 11.8 GFLOP an image
  const std::vector<CaseGroup> plan = make_plan(options);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].work.shape.batch, convolution_problem().default_batches()[0]);
}

TEST(Plan, OwnShapesStandAloneUnlessNetworksAreNamed) {
  RunOptions options = cpu_options();
  options.shapes = {ConvShape{1, 3, 15, 16, 8, 3, 2, 1}};
  EXPECT_EQ(group_names(make_plan(options)), (std::vector<std::string>{"cpu shape.C3H15W16M8K3S2P1 2"}));
  EXPECT_EQ(make_plan(options)[0].work.source, nullptr);
  options.networks = {"lenet28"};
  EXPECT_EQ(group_names(make_plan(options)),
            (std::vector<std::string>{"cpu lenet28.conv1 2", "cpu shape.C3H15W16M8K3S2P1 2"}));
}

TEST(Plan, AShapeThatIsNoneIsRefusedWithItsReason) {
  RunOptions options = cpu_options();
  options.shapes = {ConvShape{1, 1, 4, 4, 2, 5}};
  expect_error<UserError>([&] { make_plan(options); }, {"shape.C1H4W4M2K5", "kernel 5x5", "4x4"});
  options = cpu_options();
  options.batches = {0};
  expect_error<UserError>([&] { make_plan(options); }, {"lenet28.conv1", "batch is 0"});
}

TEST(Plan, AVariantThatCannotRunTheShapeSaysWhyAndTheOthersRun) {
  RunOptions options = cpu_options();
  options.shapes = {ConvShape{1, 1, 40, 40, 2, 6, 3}};
  int unsupported = 0;
  for (const PlannedCase& planned : all_cases(make_plan(options))) {
    EXPECT_EQ(planned.unsupported, planned.variant.variant->unsupported_reason(planned.work.shape));
    EXPECT_EQ(planned.runs(), planned.unsupported.empty());
    EXPECT_EQ(planned.skipped, "");
    unsupported += planned.unsupported.empty() ? 0 : 1;
  }
  EXPECT_GE(unsupported, 1) << "the stage of compile-time sizes has no kernel 6 with stride 3";
}

TEST(Plan, ABatchBeyondTheMemoryIsPlannedForItsTurn) {
  RunOptions options = cpu_options();
  options.networks = {"lenet28"};
  options.batches = {2, 2000000000};
  EXPECT_EQ(group_names(make_plan(options)),
            (std::vector<std::string>{"cpu lenet28.conv1 2", "cpu lenet28.conv1 2000000000"}));
  for (const PlannedCase& planned : all_cases(make_plan(options))) EXPECT_EQ(planned.skipped, "");
}

TEST(Plan, ACasesBytesAreItsTensorsTwiceAndTheHostsInput) {
  const ConvShape shape{10, 1, 28, 28, 50, 5};
  const double input = 4.0 * 10 * 28 * 28;
  EXPECT_EQ(case_bytes(shape), input + 2 * (input + 4.0 * 50 * 25 + 4.0 * 10 * 50 * 24 * 24));
}

TEST(Plan, ACaseOfFusedConvolutionsMayHoldTheConvolutionsOutput) {
  const ProblemSize size = parse_size(*find_problem("fused-convolution"), "C1H28W28M50K5T1").with_batch(10);
  EXPECT_EQ(case_bytes(size), 4.0 * 10 * 28 * 28 + 2 * size.minimum_bytes() + 4.0 * 10 * 50 * 24 * 24);
}

TEST(Plan, CasesOfADeviceThatIsNotThereCarryTheReason) {
  for (const DeviceKind& kind : device_kinds()) {
    const std::string reason = kind.unavailable();
    RunOptions options;
    options.batches = {2};
    options.devices = {std::string(kind.name)};
    if (variants_of(kind.family) == 0) continue;
    for (const PlannedCase& planned : all_cases(make_plan(options))) {
      EXPECT_EQ(planned.skipped, reason);
      EXPECT_EQ(planned.device, kind.name);
      EXPECT_EQ(planned.variant.info.family, kind.family);
      EXPECT_TRUE(reason.empty() || !planned.runs());
    }
  }
}

TEST(Plan, EveryFamilyOfTheBuildIsPlannedByDefault) {
  RunOptions options;
  options.batches = {1};
  std::set<std::string_view> planned_families;
  for (const PlannedCase& planned : all_cases(make_plan(options))) planned_families.insert(planned.variant.info.family);
  std::set<std::string_view> families;
  for (const DeviceKind& kind : device_kinds()) {
    if (variants_of(kind.family) > 0) families.insert(kind.family);
  }
  EXPECT_EQ(planned_families, families);
}

}  // namespace
}  // namespace convladder

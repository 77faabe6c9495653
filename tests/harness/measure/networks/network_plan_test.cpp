#include "harness/measure/networks/network_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "devices/cpu/tile_unit.hpp"
#include "expect_error.hpp"
#include "network/layer_operators.hpp"
#include "network/network_problem.hpp"
#include "support/errors.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

NetworkOptions options_for(const char* network) {
  NetworkOptions options;
  options.networks = {network};
  options.devices = {"cpu"};
  options.batches = {2};
  return options;
}

std::vector<std::string> ids(const NetworkOptions& options) {
  std::vector<std::string> list;
  for (const NetworkCase& planned : make_network_plan(options)) list.push_back(planned.id);
  return list;
}

TEST(NetworkPlan, TakesTheLastStageThatSuitsEachLayerUnlessToldOtherwise) {
  NetworkOptions options = options_for("alexnet");
  options.variants = {"best-separate"};
  const std::vector<NetworkCase> plan = make_network_plan(options);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_TRUE(plan[0].runs());
  ASSERT_EQ(plan[0].choice.convolutions.size(), 5U);
  std::string id = "cpu/";
  for (const auto& [index, chosen] : plan[0].choice.convolutions) {
    const Layer& layer = plan[0].network->layers[index];
    const ProblemSize shape = layer.size.with_batch(2);
    std::string_view last;
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family == "cpu" && registered.info.rung && registered.variant->suits(shape) &&
          registered.variant->unsupported_reason(shape).empty()) {
        last = registered.info.name;
      }
    }
    EXPECT_EQ(chosen.info.name, last) << layer.name;
    id += fmt::format("{}{}={}", id.ends_with('/') ? "" : ",", layer.name, last);
  }
  EXPECT_EQ(plan[0].id, id + "/alexnet/2") << "two images fill no lanes where the stride is 4, and more where it is 1";
}

TEST(NetworkPlan, FusesByDefaultWhatSuits) {
  for (const char* name : {"lenet28", "lenet72", "lenet86", "alexnet"}) {
    SCOPED_TRACE(name);
    const std::vector<NetworkCase> plan = make_network_plan(options_for(name));
    ASSERT_EQ(plan.size(), 1U);
    EXPECT_TRUE(plan[0].runs()) << plan[0].unsupported;
    for (const std::size_t index : convolution_layers(*plan[0].network)) {
      const std::optional<FusedLayers> layers = fused_layers(*plan[0].network, index);
      int highest = 0;
      for (const ProblemVariant& fused : fused_problem().variants()) {
        if (!layers || fused.info.family != "cpu" || !fused.variant->suits(layers->size.with_batch(2))) continue;
        highest = std::max(highest, convolution_of(fused).info.rung.value());
      }
      const auto chosen = plan[0].choice.fused.find(index);
      ASSERT_EQ(chosen != plan[0].choice.fused.end(), highest > 0) << plan[0].network->layers[index].name;
      if (highest == 0) continue;
      EXPECT_EQ(convolution_of(chosen->second).info.rung, highest);
    }
    // Wide layers go to AMX where it is, and no fused variant is made for that.
    const bool all_on_tiles = name == std::string_view("alexnet") && tile_unit() == TileUnit::processor;
    EXPECT_EQ(plan[0].choice.fused.empty(), all_on_tiles);
  }
}

TEST(NetworkPlan, ALibraryDoesAWholeNetworkOrNone) {
  if (variants_of_kind(kWholeNetworks).empty()) GTEST_SKIP() << "this build has no library that does whole networks";
  const std::string name(variants_of_kind(kWholeNetworks).front().info.name);
  NetworkOptions options = options_for("lenet72");
  options.variants = {name};
  const std::vector<NetworkCase> plan = make_network_plan(options);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_TRUE(plan[0].runs()) << plan[0].unsupported;
  EXPECT_EQ(plan[0].id, "cpu/" + name + "/lenet72/2");
  options.variants = {"conv1=" + name};
  expect_error<UserError>([&] { make_network_plan(options); }, {"it does whole networks, and no layer of one"});
}

TEST(NetworkPlan, PlugsAVariantIntoEachLayer) {
  NetworkOptions options = options_for("lenet72");
  options.variants = {"conv1=flat-vector,conv2=compile-time", "conv2=unrolled-taps"};
  const std::vector<NetworkCase> plan = make_network_plan(options);
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].id, "cpu/conv1=flat-vector,conv2=compile-time/lenet72/2");
  EXPECT_EQ(plan[0].choice.convolutions.at(0).info.name, "flat-vector");
  EXPECT_EQ(plan[0].choice.convolutions.at(3).info.name, "compile-time");
  EXPECT_EQ(plan[1].choice.convolutions.at(3).info.name, "unrolled-taps");
  EXPECT_TRUE(plan[1].choice.convolutions.at(0).info.rung.has_value()) << "a layer not named gets the last stage";
}

TEST(NetworkPlan, AllIsEveryVariantOfTheDevicesFamily) {
  NetworkOptions options = options_for("lenet28");
  options.variants = {"all"};
  options.batches = {5, 3, 5};
  std::size_t variants = 0;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    variants += registered.info.family == "cpu" && registered.info.leaves_out.empty() ? 1 : 0;
  }
  const std::vector<std::string> list = ids(options);
  EXPECT_EQ(list.size(), 2 * variants);
  EXPECT_EQ(list.front(), "cpu/memory-accumulation/lenet28/3");
}

TEST(NetworkPlan, LeavesOutVariantsThatTheDeviceDoesNotRun) {
  NetworkOptions options = options_for("lenet28");
#if CONVLADDER_HAS_CUDA_FAMILY
  options.variants = {"flat-vector", "global-memory"};
  EXPECT_EQ(ids(options), std::vector<std::string>{"cpu/flat-vector/lenet28/2"});
#endif
  options.variants = {"compile-time"};  // both families have one
  EXPECT_EQ(ids(options), std::vector<std::string>{"cpu/compile-time/lenet28/2"});
}

TEST(NetworkPlan, TakesTheNetworksOwnBatchesAsFarAsTheyAreSoonDone) {
  NetworkOptions options = options_for("lenet72");
  options.batches.clear();
  options.variants = {"compile-time"};
  EXPECT_EQ(ids(options), (std::vector<std::string>{"cpu/compile-time/lenet72/100", "cpu/compile-time/lenet72/1000",
                                                    "cpu/compile-time/lenet72/10000"}));
  options.networks = {"alexnet"};
  const std::vector<std::string> list = ids(options);
  EXPECT_EQ(list.front(), "cpu/compile-time/alexnet/1");
  EXPECT_EQ(list.back(), "cpu/compile-time/alexnet/128");
#if CONVLADDER_HAS_CUDA_FAMILY
  options.devices = {"simulated"};
  EXPECT_EQ(ids(options), std::vector<std::string>{"simulated/compile-time/alexnet/1"});
  options.networks = {"lenet72"};
  EXPECT_EQ(ids(options), std::vector<std::string>{"simulated/compile-time/lenet72/8"});
#endif
}

TEST(NetworkPlan, AnswersUnknownNamesWithTheNearestFirst) {
  const auto refused = [](NetworkOptions options, std::initializer_list<std::string_view> parts) {
    expect_error<UserError>([&] { make_network_plan(options); }, parts);
  };
  NetworkOptions options = options_for("alexnett");
  refused(options, {"unknown network 'alexnett'; known: alexnet, "});
  options = options_for("lenet72");
  options.variants = {"flat_vector"};
  refused(options, {"unknown variant 'flat_vector'; known: flat-vector, "});
  options.variants = {"conv1=flat-vektor"};
  refused(options, {"unknown variant 'flat-vektor'; known: flat-vector, "});
  options.variants = {"conv3=flat-vector"};
  refused(options, {"--variant", "unknown convolution of lenet72 'conv3'; known: conv1, conv2"});
  options.variants = {"conv1=flat-vector,conv2"};
  refused(options, {"--variant conv1=flat-vector,conv2", "expected NAME=IMPLEMENTATION", "'conv2'"});
  options.variants.clear();
  options.devices = {"gpu"};
  refused(options, {"unknown device 'gpu'; known: cpu, "});
  options.devices = {"cpu"};
  options.operators = {"fully_conected=onednn"};
  refused(options, {"unknown operator 'fully_conected'; known: fully_connected, "});
  options.operators = {"fully_connected=nonsense"};
  refused(options, {"unknown fully_connected operator 'nonsense'"});
}

TEST(NetworkPlan, ABatchWhoseImagesExceedTheMemoryHasNoRoomAtItsTurn) {
  NetworkOptions options = options_for("alexnet");
  options.batches = {1, 1'000'000};
  const std::vector<NetworkCase> plan = make_network_plan(options);
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_TRUE(plan[0].runs() && plan[1].runs());
  EXPECT_EQ(why_no_room(plan[0]), "");
  // 2 x 1e6 images of 3 x 227 x 227 floats.
  expect_one_line(why_no_room(plan[1]), {"the images of batch 1000000 need 1236.7 GB of memory", "are available"});
}

TEST(NetworkFlop, CountsConvolutionsAndFullyConnectedLayers) {
  for (const Network& network : built_in_networks()) {
    if (network.name != "lenet28") continue;
    EXPECT_DOUBLE_EQ(network_flop(network), 2.0 * (50 * 24 * 24 * 25 + 7200 * 500 + 500 * 10));
  }
}

}  // namespace
}  // namespace convladder

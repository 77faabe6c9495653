#include "network/weights_files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "built_in_network.hpp"
#include "expect_error.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

/// A cache of the test's own.
class WeightsFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* const cache = getenv("XDG_CACHE_HOME")) before_ = cache;
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    std::filesystem::create_directories(weights_cache_folder());
  }
  void TearDown() override { before_ ? setenv("XDG_CACHE_HOME", before_->c_str(), 1) : unsetenv("XDG_CACHE_HOME"); }
  /// Puts random weights into the cache.
  static void cache(const Network& network, const std::string& dataset, const std::string& quality,
                    std::uint64_t seed) {
    write_file_atomically(weights_cache_folder() / weights_file_name(network, dataset, quality),
                          weights_file_content(network, initial_weights(network, seed), {}));
  }

  TemporaryFolder folder_;
  std::optional<std::string> before_;
};

ImageSet named(const std::string& name) {
  ImageSet set;
  set.name = name;
  return set;
}

TEST_F(WeightsFiles, TheCacheIsTheUsers) { EXPECT_EQ(weights_cache_folder(), folder_.path() / "convladder/weights"); }

TEST_F(WeightsFiles, EveryLeNetHasSomeBuiltIn) {
  for (const Network& network : built_in_networks()) {
    for (const std::string dataset : {"synthetic", "mnist"}) {
      SCOPED_TRACE(network.name + " " + dataset);
      const auto weights = find_weights(network, dataset, "high");
      ASSERT_EQ(weights.has_value(), network.name.starts_with("lenet"));
      if (!weights) continue;
      EXPECT_EQ(weights->name, network.name + " " + dataset + " high");
      EXPECT_EQ(weights->sha256.size(), 64U);
      EXPECT_EQ(weights->origin.dataset, dataset);
      EXPECT_EQ(weights->origin.from, "built in");
      EXPECT_TRUE(weights->origin.trained_on.find("tested on") != std::string::npos);
      EXPECT_TRUE(weights->origin.held_out.starts_with("accuracy 0.9"));
    }
    EXPECT_FALSE(find_weights(network, "fashion-mnist", "high"));
    EXPECT_FALSE(find_weights(network, "mnist", "low"));
  }
}

TEST_F(WeightsFiles, TheCachesComeFirst) {
  const Network& network = built_in("lenet86");
  cache(network, "mnist", "high", 5);
  EXPECT_EQ(find_weights(network, "mnist", "high")->layers, initial_weights(network, 5).layers);
  cache(network, "own", "low", 6);
  EXPECT_EQ(find_weights(network, "own", "low")->name, "lenet86-own-low.safetensors");
}

TEST_F(WeightsFiles, ABrokenOneInTheCacheIsSaid) {
  const Network& network = built_in("lenet86");
  const std::filesystem::path file = weights_cache_folder() / "lenet86-mnist-high.safetensors";
  write_file_atomically(file, "short");
  expect_error<UserError>([&] { find_weights(network, "mnist", "high"); }, {file.string(), "the file has 5"});
  expect_error<UserError>([&] { load_weights(network, folder_.path() / "none"); }, {"none"});
}

TEST_F(WeightsFiles, ChangedOrMistakenOnesInTheCacheAreNotUsed) {
  const Network& network = built_in("lenet86");
  const auto put = [&](const std::string& dataset, auto change) {
    std::string content = weights_file_content(network, initial_weights(network, 3),
                                               {{"network", "lenet86"}, {"dataset", "synthetic"}, {"quality", "high"}});
    change(content);
    write_file_atomically(weights_cache_folder() / weights_file_name(network, dataset, "high"), content);
  };
  put("synthetic", [](std::string&) {});
  EXPECT_EQ(find_weights(network, "synthetic", "high")->origin.from, "in the cache");
  put("synthetic", [](std::string& content) { content[content.size() - 5] ^= 1; });
  expect_error<UserError>([&] { find_weights(network, "synthetic", "high"); },
                          {"lenet86-synthetic-high.safetensors", "not those that were written", "train it again"});
  put("mnist", [](std::string&) {});
  expect_error<UserError>(
      [&] { find_weights(network, "mnist", "high"); },
      {"weights of lenet86 for mnist images, but it was trained for lenet86 on synthetic images", "remove it"});
  // On a grid the weights of one network may fit another.
  const Network& larger = built_in("lenet64");
  write_file_atomically(weights_cache_folder() / weights_file_name(built_in("lenet48"), "synthetic", "high"),
                        weights_file_content(larger, initial_weights(larger, 3), {{"network", "lenet64"}}, 6));
  expect_error<UserError>([&] { find_weights(built_in("lenet48"), "synthetic", "high"); },
                          {"weights of lenet48", "trained for lenet64"});
}

TEST_F(WeightsFiles, AreNamedByWhatTheyWereTrainedOn) {
  EXPECT_EQ(dataset_key(named("synthetic")), "synthetic");
  EXPECT_EQ(dataset_key(named("MNIST train")), "mnist");
  EXPECT_EQ(dataset_key(named("Fashion-MNIST sample of 900")), "fashion-mnist");
  EXPECT_EQ(dataset_key(named("unknown IDX files")), "own");
  Network network;
  network.name = "../my net";
  EXPECT_EQ(weights_file_name(network, "own", "low"), ".._my_net-own-low.safetensors");
}

}  // namespace
}  // namespace convladder

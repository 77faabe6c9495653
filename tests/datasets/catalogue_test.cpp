#include "datasets/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "datasets/idx_reader.hpp"
#include "support/sha256.hpp"
#include "tests/datasets/idx_test_files.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using namespace testing_files;

void write_pair(const TestFolder& folder, const std::string& beginning, std::uint32_t count,
                const std::string& ending = "idx3-ubyte") {
  folder.write(beginning + "-images-" + ending, small_images(count));
  folder.write(beginning + "-labels-idx1-ubyte", small_labels(count));
}

TEST(LoadImageFolder, FillsTheSet) {
  const TestFolder folder;
  folder.write("t10k-images-idx3-ubyte.gz", gzip(small_images(5)));
  folder.write("t10k-labels-idx1-ubyte.gz", gzip(small_labels(5)));
  const ImageSet set = load_image_folder(folder.path());
  EXPECT_EQ(set.name, "unknown IDX files");
  EXPECT_EQ(set.source, "t10k-images-idx3-ubyte.gz");
  EXPECT_EQ(set.sha256, sha256_hex(small_images(5)));
  EXPECT_EQ(set.count, 5);
  EXPECT_EQ(set.height, 4);
  EXPECT_EQ(set.width, 3);
  EXPECT_EQ(set.pixels, some_bytes(60));
  EXPECT_EQ(set.labels, (Bytes{0, 1, 2, 3, 4}));
  EXPECT_TRUE(set.class_names.empty());
}

TEST(LoadImageFolder, TakesTheSplitAskedFor) {
  const TestFolder folder;
  write_pair(folder, "t10k", 2);
  write_pair(folder, "train", 3);
  write_pair(folder, "other", 4);
  EXPECT_EQ(load_image_folder(folder.path()).count, 2);
  EXPECT_EQ(load_image_folder(folder.path(), Split::test).count, 2);
  EXPECT_EQ(load_image_folder(folder.path(), Split::train).count, 3);
}

TEST(LoadImageFolder, TrainingImagesServeAsTestImagesButNotTheOtherWayRound) {
  const TestFolder training;
  write_pair(training, "train", 3);
  EXPECT_EQ(load_image_folder(training.path(), Split::test).count, 3);
  fs::rename(training.path() / "train-images-idx3-ubyte", training.path() / "t10k-images-idx3-ubyte");
  fs::rename(training.path() / "train-labels-idx1-ubyte", training.path() / "t10k-labels-idx1-ubyte");
  expect_data_error([&] { load_image_folder(training.path(), Split::train); },
                    {training.path().string(), "training images", "train-images-idx3-ubyte"});
}

TEST(LoadImageFolder, OnePairOfAnotherNameServesAsBoth) {
  const TestFolder folder;
  write_pair(folder, "sample", 4);
  EXPECT_EQ(load_image_folder(folder.path(), Split::test).count, 4);
  EXPECT_EQ(load_image_folder(folder.path(), Split::train).count, 4);
  write_pair(folder, "another", 4);
  expect_data_error([&] { load_image_folder(folder.path()); }, {folder.path().string(), "found another, sample"});
}

TEST(LoadImageFolder, KnowsTheNamesWithADot) {
  const TestFolder folder;
  folder.write("t10k-images.idx3-ubyte", small_images(5));
  folder.write("t10k-labels.idx1-ubyte", small_labels(5));
  EXPECT_EQ(load_image_folder(folder.path()).source, "t10k-images.idx3-ubyte");
}

TEST(LoadImageFolder, TakesPlainOrPackedWhereBothAreThere) {
  const TestFolder folder;
  write_pair(folder, "sample", 4);
  folder.write("sample-images-idx3-ubyte.gz", gzip(small_images(4)));
  EXPECT_EQ(load_image_folder(folder.path()).source, "sample-images-idx3-ubyte");
}

TEST(LoadImageFolder, SaysWhatItLookedFor) {
  const TestFolder folder;
  expect_data_error([&] { load_image_folder(folder.path() / "none"); },
                    {(folder.path() / "none").string(), "No such file or directory"});
  const fs::path file = folder.write("file", {});
  expect_data_error([&] { load_image_folder(file); }, {file.string(), "Not a directory"});
  fs::remove(file);
  expect_data_error([&] { load_image_folder(folder.path()); },
                    {folder.path().string(), "*-images-idx3-ubyte", "-labels-idx1-ubyte", ".gz"});
  folder.write("t10k-images-idx3-ubyte", small_images(5));
  expect_data_error([&] { load_image_folder(folder.path()); },
                    {"t10k-images-idx3-ubyte: no labels", "t10k-labels-idx1-ubyte.gz"});
}

TEST(LoadImageFolder, RefusesAnotherNumberOfLabels) {
  const TestFolder folder;
  folder.write("t10k-images-idx3-ubyte", small_images(5));
  folder.write("t10k-labels-idx1-ubyte", small_labels(6));
  expect_data_error([&] { load_image_folder(folder.path()); },
                    {"t10k-labels-idx1-ubyte: expected 5 labels", "t10k-images-idx3-ubyte, found 6"});
}

TEST(LoadImageFolder, NamesTheBadFileOfThePair) {
  const TestFolder folder;
  folder.write("t10k-images-idx3-ubyte", small_images(5));
  folder.write("t10k-labels-idx1-ubyte", small_images(5));
  expect_data_error([&] { load_image_folder(folder.path()); },
                    {(folder.path() / "t10k-labels-idx1-ubyte").string() + ": byte 0: "});
}

TEST(LoadImageFolder, KnowsMnist) {
  SKIP_WITHOUT_REAL_DATASETS();
  const ImageSet test = load_image_folder(*real_datasets() / "mnist");
  EXPECT_EQ(test.name, "MNIST test");
  EXPECT_EQ(test.sha256, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7");
  EXPECT_EQ(test.count, 10000);
  EXPECT_EQ(test.height, 28);
  EXPECT_EQ(test.width, 28);
  EXPECT_EQ(test.class_names.size(), 10U);
  EXPECT_EQ(test.labels[0], 7);  // the well-known first test digit
  const ImageSet train = load_image_folder(*real_datasets() / "mnist", Split::train);
  EXPECT_EQ(train.name, "MNIST train");
  EXPECT_EQ(train.count, 60000);
  EXPECT_EQ(train.labels[0], 5);
}

TEST(LoadImageFolder, KnowsTheFashionSample) {
  SKIP_WITHOUT_REAL_DATASETS();
  const ImageSet set = load_image_folder(*real_datasets() / "fashion-mnist-sample");
  EXPECT_EQ(set.name, "Fashion-MNIST sample of 900");
  EXPECT_EQ(set.count, 900);
  for (int label = 0; label < 10; ++label) EXPECT_EQ(std::count(set.labels.begin(), set.labels.end(), label), 90);
  EXPECT_EQ(set.class_names.at(9), "Ankle boot");
}

TEST(LoadImageFolder, RefusesKnownImagesWithOtherLabels) {
  SKIP_WITHOUT_REAL_DATASETS();
  const TestFolder folder;
  fs::copy_file(*real_datasets() / "mnist/t10k-images-idx3-ubyte.gz", folder.path() / "t10k-images-idx3-ubyte.gz");
  IdxLabels labels = read_idx_labels(*real_datasets() / "mnist/t10k-labels-idx1-ubyte.gz");
  labels.labels[1234] ^= 1;
  folder.write("t10k-labels-idx1-ubyte", idx_file({0x801, 10000}, labels.labels));
  expect_data_error([&] { load_image_folder(folder.path()); }, {"t10k-labels-idx1-ubyte", "the labels of MNIST test"});
}

/// Sets an environment variable, or removes it, until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(CacheFolder, FollowsTheEnvironment) {
  const ScopedVariable home("HOME", "/home/somebody");
  {
    const ScopedVariable cache("XDG_CACHE_HOME", "/var/cache/somebody");
    EXPECT_EQ(default_cache_folder(), "/var/cache/somebody/convladder/datasets");
  }
  for (const std::optional<std::string>& value : {std::optional<std::string>(), {""}, {"relative"}}) {
    const ScopedVariable cache("XDG_CACHE_HOME", value);
    EXPECT_EQ(default_cache_folder(), "/home/somebody/.cache/convladder/datasets");
    const ScopedVariable no_home("HOME", std::nullopt);
    EXPECT_TRUE(default_cache_folder().empty());
    EXPECT_EQ(find_cached_folder(), std::nullopt);
  }
}

TEST(CacheFolder, FindsASetFashionFirst) {
  const TestFolder folder;
  EXPECT_EQ(find_cached_folder(folder.path() / "none"), std::nullopt);
  fs::create_directories(folder.path() / "fashion-mnist");
  EXPECT_EQ(find_cached_folder(folder.path()), std::nullopt);
  folder.write("mnist/t10k-images-idx3-ubyte.gz", {});
  EXPECT_EQ(find_cached_folder(folder.path()), folder.path() / "mnist");
  folder.write("fashion-mnist/t10k-images-idx3-ubyte.gz", {});
  EXPECT_EQ(find_cached_folder(folder.path()), folder.path() / "fashion-mnist");
}

}  // namespace
}  // namespace convladder

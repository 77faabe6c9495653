#include "network/training/training_data.hpp"

#include <fmt/format.h>

#include "datasets/catalogue.hpp"
#include "datasets/synthetic_images.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr int kSyntheticTrainingImages = 12'000;
constexpr int kSyntheticTestImages = 2'000;
constexpr std::uint64_t kSyntheticTestSeed = 1;  // the images that runs see when no seed is given

}  // namespace

TrainingData::TrainingData(const TrainingDataChoice& choice) {
  load(choice);
  choose(choice);
  refuse_common_images();
}

void TrainingData::load(const TrainingDataChoice& choice) {
  if (choice.folder.empty()) {
    training_ = synthetic_images(kSyntheticTrainingImages, kSyntheticTrainingSeed);
    test_ = synthetic_images(kSyntheticTestImages, kSyntheticTestSeed);
    return;
  }
  training_ = load_image_folder(choice.folder, Split::train);
  test_ = load_image_folder(choice.folder, Split::test);
}

void TrainingData::choose(const TrainingDataChoice& choice) {
  training_count_ = training_.count;
  test_count_ = test_.count;
  if (!choice.split.empty()) {
    if (!choice.images.empty() || !choice.test_images.empty()) {
      throw UserError("--split cannot be combined with --images or --test-images: it sets both");
    }
    training_count_ = parse_whole_number("--split", choice.split, 1, training_.count - 1);
    test_ = training_;
    test_first_ = training_count_;
    test_count_ = training_.count - training_count_;
    return;
  }
  if (!choice.images.empty()) training_count_ = parse_whole_number("--images", choice.images, 1, training_.count);
  if (!choice.test_images.empty()) {
    const std::size_t colon = choice.test_images.find(':');
    if (colon == std::string::npos) {
      throw UserError(
          fmt::format("--test-images: expected A:B, for the images A to B-1, got '{}'", choice.test_images));
    }
    test_first_ = parse_whole_number("--test-images", choice.test_images.substr(0, colon), 0, test_.count - 1);
    const int end =
        parse_whole_number("--test-images", choice.test_images.substr(colon + 1), test_first_ + 1, test_.count);
    test_count_ = end - test_first_;
  }
}

void TrainingData::refuse_common_images() const {
  if (training_.sha256 != test_.sha256 || test_first_ >= training_count_) return;
  throw UserError(
      fmt::format("{} holds the images for training and for testing, {} in all: --split N trains on the first N and "
                  "tests on the others",
                  training_.source, training_.count));
}

std::string TrainingData::description() const {
  return fmt::format("{} images of {}, tested on {} of {}", training_count_, training_.name, test_count_, test_.name);
}

}  // namespace convladder

// Which images a network is trained on, and which it is tested on: never the same.
#pragma once

#include <string>

#include "datasets/image_set.hpp"
#include "network/training/training.hpp"

namespace convladder {

/// The training data as chosen on the command line; empty where not given.
struct TrainingDataChoice {
  std::string folder;       ///< with IDX files; empty: the synthetic images
  std::string images;       ///< N: train on the first N
  std::string split;        ///< N: train on the first N of one file's images and test on the others
  std::string test_images;  ///< A:B: test on the test images A .. B-1
};

class TrainingData {
 public:
  /// Throws UserError: what cannot be read, numbers beyond the images there are, images in both parts.
  explicit TrainingData(const TrainingDataChoice& choice);

  ImageRange training() const { return {&training_, 0, training_count_}; }
  ImageRange test() const { return {&test_, test_first_, test_count_}; }
  /// "60000 images of MNIST train, tested on 10000 of MNIST test".
  std::string description() const;

 private:
  void load(const TrainingDataChoice& choice);
  void choose(const TrainingDataChoice& choice);
  void refuse_common_images() const;

  ImageSet training_;
  ImageSet test_;
  int training_count_ = 0;
  int test_first_ = 0;
  int test_count_ = 0;
};

}  // namespace convladder

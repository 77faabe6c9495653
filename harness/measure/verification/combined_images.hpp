// Freivalds' check, over images: where a problem is linear, a random combination of outputs is the output of the same
// combination of inputs. One computation in float64, such as a convolution, stands for dozens of images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/seeded_random.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// Sums of r * x and r * y over some images, each image with a random r that nobody can know before: between 1/2 and 1
/// in size, of either sign.
///
/// Errors e of the images at one place come out as sum(r * e). Where each is within tolerance * S, S = sum(|x * w|) of
/// its image, that sum exceeds t * tolerance * sqrt(sum(S^2)) with a probability of at most 2 exp(-t^2 / 2)
/// (Hoeffding's inequality: the signs are independent and fair); t is 8. sum(S^2) is bounded by
/// sum(|w|) * sum(|w| * (r x)^2 / r^2) (Cauchy and Schwarz), which is computed like the sums themselves. A single wrong
/// element is found where its error is more than twice the bound. Of several, the largest of size e, the sum hides them
/// with a probability of at most 2 * bound / e, since the last r alone moves it evenly over a range of e.
class CombinedImages {
 public:
  /// The most images that are combined: the bound is 8 * sqrt(64) = 64 tolerances of the combined images' mean
  /// magnitude.
  static constexpr int kMost = 64;

  /// The size is of a linear problem, in whose weights those of each channel of the output lie together.
  CombinedImages(const ProblemSize& size, const float* weights, std::uint64_t secret);

  /// Draws the next image's factor and adds its input.
  void begin_image(const float* input);
  /// Adds elements of the image's output, beginning with number `first`.
  void add_output(std::int64_t first, const float* output, std::int64_t count);
  int images() const { return images_; }

  /// Empty if all of the images may be right, otherwise which place is not, in one line. Forgets them.
  std::string finish(double tolerance);

 private:
  ProblemSize size_;  ///< of one image
  const float* weights_;
  SeededRandom random_;
  double factor_ = 0;
  int images_ = 0;
  std::vector<double> input_;
  std::vector<double> squares_;
  std::vector<double> output_;
};

}  // namespace convladder

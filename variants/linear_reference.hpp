// The float64 reference of a linear problem, for one size and its weights.
#pragma once

#include <cstdint>

namespace convladder {

/// Another value in the place of one element of an item's input: by how much it is larger, and its absolute value is.
struct ElementChange {
  int channel = 0;  ///< place in the input's image
  int row = 0;
  int column = 0;
  double value = 0;
  double absolute = 0;
};

/// One element of an item's output: the sum of products, and the sum of their absolute values.
struct ElementSum {
  double value = 0;
  double magnitude = 0;
};

/// Sums of products of an item's input with the weights. Inputs and outputs of several items lie one after the other.
/// Each function uses all cores, except for `sum_of_element` and `add_change`.
class LinearReference {
 public:
  LinearReference() = default;
  LinearReference(const LinearReference&) = delete;
  LinearReference& operator=(const LinearReference&) = delete;
  virtual ~LinearReference() = default;

  /// Computes the sums, to the bits of `Problem::reference`, and their magnitudes, rounded to float32.
  virtual void sums(int items, const float* input, double* value, float* magnitude) const = 0;
  /// Computes the sums alone, rounded to float32.
  virtual void rounded_sums(int items, const float* input, float* value) const = 0;
  /// Computes the sums of one item in float64, for example of a combination of several.
  virtual void sums_of_combination(const double* input, double* value) const = 0;
  /// Computes one element of an item's output alone. Its terms are added in the order of `sums`.
  virtual ElementSum sum_of_element(const float* input, std::int64_t element) const = 0;
  /// Adds what a change does to one channel of an item's output: to its sums and to their magnitudes.
  virtual void add_change(const ElementChange& change, int channel, double* value, float* magnitude) const = 0;
};

}  // namespace convladder

// The size of a problem: values for its dimensions, and how many items lie behind each other in a batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

class Problem;

/// What is needed of a size everywhere, whatever the problem; what the values mean its problem knows.
struct ProblemSize {
  const Problem* problem = nullptr;  ///< lives as long as the program
  int batch = 1;                     ///< items: images of a convolution
  std::vector<int> values = {};      ///< in the order of the problem's dimensions

  bool operator==(const ProblemSize&) const = default;

  /// The value of the dimension with that letter. Throws std::logic_error if the problem has none.
  int at(std::string_view letter) const;
  ProblemSize with_batch(int new_batch) const;

  /// Of all tensors that an item is given, and of all that hold its results.
  std::int64_t input_elements_per_item() const;
  std::int64_t output_elements_per_item() const;
  std::int64_t input_elements() const { return batch * input_elements_per_item(); }
  std::int64_t output_elements() const { return batch * output_elements_per_item(); }
  /// Of all tensors that the items share.
  std::int64_t constant_elements() const;
  /// As input_elements and output_elements.
  double input_bytes() const;
  double output_bytes() const;

  /// Operations of the batch by the problem's definition.
  double flop() const;
  /// What no algorithm leaves out of them.
  double least_flop() const;
  /// Of all tensors: what is given and constants read once, results written once.
  double tensor_bytes() const;
  /// The fewest bytes it must move: these, unless the problem says otherwise.
  double minimum_bytes() const;
};

/// The size without its batch, short and unique: "C6H60W60K2S2". Values that are as usual are left out.
std::string size_name(const ProblemSize& size);

/// Empty if the problem can be of that size, otherwise what is wrong with it, in one line.
std::string size_error(const ProblemSize& size);

/// Reads what `size_name` writes, in any order, for a batch of 1. Throws std::invalid_argument, one line that says what
/// the problem expects.
ProblemSize parse_size(const Problem& problem, std::string_view text);

}  // namespace convladder

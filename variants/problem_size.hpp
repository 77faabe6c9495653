// The size of a problem: values for its dimensions, and how many items lie behind each other in a batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

class Problem;

/// The problem that runs where nobody names one.
inline constexpr std::string_view kDefaultProblem = "convolution";

/// The name of the only size of a problem that has no dimensions.
inline constexpr std::string_view kOnlySize = "all";

/// A size as every part of the program needs it, whatever the problem; only the problem knows the meaning of the
/// values.
struct ProblemSize {
  const Problem* problem = nullptr;  ///< lives as long as the program
  int batch = 1;                     ///< number of items: images of a convolution
  std::vector<int> values = {};      ///< in the order of the problem's dimensions

  bool operator==(const ProblemSize&) const = default;

  /// The value of the dimension with that letter or name. Throws std::logic_error if the problem has none.
  int at(std::string_view dimension) const;
  ProblemSize with_batch(int new_batch) const;

  /// Elements of all tensors that an item is given; `output_elements_per_item` counts those that hold its results.
  std::int64_t input_elements_per_item() const;
  std::int64_t output_elements_per_item() const;
  std::int64_t input_elements() const { return batch * input_elements_per_item(); }
  std::int64_t output_elements() const { return batch * output_elements_per_item(); }
  /// Elements of all tensors that the items share.
  std::int64_t constant_elements() const;
  /// Bytes of `input_elements`; `output_bytes` are those of `output_elements`.
  double input_bytes() const;
  double output_bytes() const;

  /// Operations of the batch by the problem's definition.
  double flop() const;
  /// The operations that no algorithm can leave out.
  double least_flop() const;
  /// Bytes of all tensors, with given ones and constants read once and results written once.
  double tensor_bytes() const;
  /// The fewest bytes that the problem must move: `tensor_bytes`, unless the problem says otherwise.
  double minimum_bytes() const;
};

/// The size without its batch, short and unique: "C6H60W60K2S2". Values that a dimension has by default are left out.
std::string size_name(const ProblemSize& size);

/// Empty if the problem can have that size, otherwise the error, in one line.
std::string size_error(const ProblemSize& size);

/// Reads what `size_name` writes, in any order, for a batch of 1. Throws std::invalid_argument, one line that says what
/// the problem expects.
ProblemSize parse_size(const Problem& problem, std::string_view text);

}  // namespace convladder

// A model in ONNX's format, as the bytes that ONNX Runtime takes. Only the parts that a few float32 layers need are
// written, by hand, so that nothing else has to be installed: protobuf's encoding is keys, lengths and contents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convladder {

/// A graph of nodes between tensors that are known by their names. Nodes stand in the order in which they can run.
class OnnxModel {
 public:
  /// The graph's inputs and outputs; sizes include the batch that the graph is made for.
  void add_input(std::string_view name, const std::vector<std::int64_t>& sizes);
  void add_output(std::string_view name, const std::vector<std::int64_t>& sizes);
  /// Adds weights: as many values as the sizes say. They are copied into the model.
  void add_constant(std::string_view name, const std::vector<std::int64_t>& sizes, std::span<const float> values);
  /// Adds one of ONNX's own operators, such as "Conv", with attributes that are lists of integers, such as {"strides",
  /// {1, 1}}, and attributes that are one integer, such as {"group", 1}.
  using Attribute = std::pair<std::string_view, std::vector<std::int64_t>>;
  using Number = std::pair<std::string_view, std::int64_t>;
  void add_node(std::string_view operation, const std::vector<std::string_view>& inputs, std::string_view output,
                const std::vector<Attribute>& attributes, const std::vector<Number>& numbers = {});

  /// The whole model.
  std::string bytes() const;

 private:
  std::string graph_;
};

/// The most bytes of weights that a model can hold: protobuf's messages are limited to 2 GiB.
inline constexpr std::int64_t kMostOnnxWeightBytes = std::int64_t{2000} << 20U;

}  // namespace convladder

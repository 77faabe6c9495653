#include "variants/convolution/cpu/libraries/onnx_model.hpp"

#include <bit>

namespace convladder {
namespace {

// Numbers of fields and values in onnx.proto; they never change.
constexpr int kIrVersion = 7;  // version of the format, 2020: every supported ONNX Runtime reads it
constexpr int kOpset = 11;     // version of the operators; the parts of Conv that are used here have not changed since
constexpr int kFloat = 1;      // TensorProto.DataType

namespace model {
constexpr int kIrVersionField = 1;
constexpr int kProducer = 2;
constexpr int kGraph = 7;
constexpr int kOpsetImport = 8;
constexpr int kOpsetVersion = 2;  // field in the opset's message
}  // namespace model
namespace graph {
constexpr int kNode = 1;
constexpr int kName = 2;
constexpr int kInitializer = 5;
constexpr int kInput = 11;
constexpr int kOutput = 12;
}  // namespace graph
namespace node {
constexpr int kInput = 1;
constexpr int kOutput = 2;
constexpr int kOperation = 4;
constexpr int kAttribute = 5;
}  // namespace node
namespace attribute {
constexpr int kName = 1;
constexpr int kInt = 3;
constexpr int kInts = 8;
constexpr int kType = 20;
constexpr int kTypeInt = 2;
constexpr int kTypeInts = 7;
}  // namespace attribute
namespace tensor {
constexpr int kSize = 1;
constexpr int kType = 2;
constexpr int kName = 8;
constexpr int kRawData = 9;
}  // namespace tensor
namespace value {
constexpr int kName = 1;
constexpr int kType = 2;
constexpr int kTensorType = 1;   // TypeProto.tensor_type
constexpr int kElementType = 1;  // field in the tensor type's message
constexpr int kShape = 2;
constexpr int kDimension = 1;  // field in the shape's message
constexpr int kSize = 1;       // field in a dimension's message
}  // namespace value

// How a field's content is written: the lowest three bits of its key.
enum class Wire : std::uint8_t { varint = 0, bytes = 2 };

/// Appends a number, seven bits a byte, the lowest first; the highest bit of a byte says that more follow.
void append_varint(std::string& to, std::uint64_t number) {
  for (; number >= 128; number >>= 7U) to.push_back(static_cast<char>(number % 128 + 128));
  to.push_back(static_cast<char>(number));
}

void append_key(std::string& to, int field, Wire wire) {
  append_varint(to, static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(wire));
}

void append_number(std::string& to, int field, std::int64_t number) {
  append_key(to, field, Wire::varint);
  append_varint(to, static_cast<std::uint64_t>(number));
}

/// Appends a text, raw data, or a message within the message.
void append_bytes(std::string& to, int field, std::string_view content) {
  append_key(to, field, Wire::bytes);
  append_varint(to, content.size());
  to += content;
}

std::string value_info(std::string_view name, const std::vector<std::int64_t>& sizes) {
  std::string shape;
  for (const std::int64_t size : sizes) {
    std::string dimension;
    append_number(dimension, value::kSize, size);
    append_bytes(shape, value::kDimension, dimension);
  }
  std::string tensor_type;
  append_number(tensor_type, value::kElementType, kFloat);
  append_bytes(tensor_type, value::kShape, shape);
  std::string type;
  append_bytes(type, value::kTensorType, tensor_type);
  std::string info;
  append_bytes(info, value::kName, name);
  append_bytes(info, value::kType, type);
  return info;
}

}  // namespace

void OnnxModel::add_input(std::string_view name, const std::vector<std::int64_t>& sizes) {
  append_bytes(graph_, graph::kInput, value_info(name, sizes));
}

void OnnxModel::add_output(std::string_view name, const std::vector<std::int64_t>& sizes) {
  append_bytes(graph_, graph::kOutput, value_info(name, sizes));
}

void OnnxModel::add_constant(std::string_view name, const std::vector<std::int64_t>& sizes,
                             std::span<const float> values) {
  static_assert(std::endian::native == std::endian::little, "raw data are little-endian");
  const auto bytes = std::as_bytes(values);
  std::string tensor;
  for (const std::int64_t size : sizes) append_number(tensor, tensor::kSize, size);
  append_number(tensor, tensor::kType, kFloat);
  append_bytes(tensor, tensor::kName, name);
  append_bytes(tensor, tensor::kRawData, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  append_bytes(graph_, graph::kInitializer, tensor);
}

void OnnxModel::add_node(std::string_view operation, const std::vector<std::string_view>& inputs,
                         std::string_view output, const std::vector<Attribute>& attributes,
                         const std::vector<Number>& numbers) {
  std::string node;
  for (const std::string_view input : inputs) append_bytes(node, node::kInput, input);
  append_bytes(node, node::kOutput, output);
  append_bytes(node, node::kOperation, operation);
  for (const auto& [name, values] : attributes) {
    std::string one;
    append_bytes(one, attribute::kName, name);
    for (const std::int64_t number : values) append_number(one, attribute::kInts, number);
    append_number(one, attribute::kType, attribute::kTypeInts);
    append_bytes(node, node::kAttribute, one);
  }
  for (const auto& [name, number] : numbers) {
    std::string one;
    append_bytes(one, attribute::kName, name);
    append_number(one, attribute::kInt, number);
    append_number(one, attribute::kType, attribute::kTypeInt);
    append_bytes(node, node::kAttribute, one);
  }
  append_bytes(graph_, graph::kNode, node);
}

std::string OnnxModel::bytes() const {
  std::string opset;
  append_number(opset, model::kOpsetVersion, kOpset);  // without a domain: ONNX's own
  std::string named_graph = graph_;
  append_bytes(named_graph, graph::kName, "convladder");
  std::string whole;
  append_number(whole, model::kIrVersionField, kIrVersion);
  append_bytes(whole, model::kProducer, "convladder");
  append_bytes(whole, model::kGraph, named_graph);
  append_bytes(whole, model::kOpsetImport, opset);
  return whole;
}

}  // namespace convladder

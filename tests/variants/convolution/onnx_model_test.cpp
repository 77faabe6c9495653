// The bytes of a model, read back by a reader of protobuf's encoding that knows nothing of how they were written.
#include "variants/convolution/cpu/libraries/onnx_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>

namespace convladder {
namespace {

using testing::ElementsAre;

/// A message as numbers and bytes by the numbers of its fields, in the order in which they stand.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {
    while (!rest_.empty()) {
      const std::uint64_t key = varint();
      const auto field = static_cast<int>(key >> 3U);
      if ((key & 7U) == 0) {
        numbers_[field].push_back(static_cast<std::int64_t>(varint()));
      } else if ((key & 7U) == 2) {
        const std::uint64_t length = varint();
        if (length > rest_.size()) throw std::runtime_error("a field ends behind its message");
        texts_[field].push_back(rest_.substr(0, length));
        rest_.remove_prefix(length);
      } else {
        throw std::runtime_error("an encoding that ONNX does not use here");
      }
    }
  }

  std::vector<std::int64_t> numbers(int field) const { return get(numbers_, field); }
  std::int64_t number(int field) const { return only(numbers(field)); }
  std::vector<std::string_view> texts(int field) const { return get(texts_, field); }
  std::string text(int field) const { return std::string(only(texts(field))); }
  Message message(int field) const { return Message(only(texts(field))); }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) throw std::runtime_error("a number ends behind its message");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 127U} << static_cast<unsigned>(shift);
      if (byte < 128) return value;
    }
    throw std::runtime_error("a number of more than 64 bits");
  }
  template <typename Values>
  static Values get(const std::map<int, Values>& of, int field) {
    const auto found = of.find(field);
    return found == of.end() ? Values() : found->second;
  }
  template <typename Values>
  static typename Values::value_type only(const Values& values) {
    if (values.size() != 1) throw std::runtime_error("expected a field once");
    return values.front();
  }

  std::string_view rest_;
  std::map<int, std::vector<std::int64_t>> numbers_;
  std::map<int, std::vector<std::string_view>> texts_;
};

/// Of a ValueInfoProto: the type's element type is float, and its shape these sizes.
std::vector<std::int64_t> sizes_of(const Message& info) {
  const Message tensor = info.message(2).message(1);
  EXPECT_EQ(tensor.number(1), 1) << "float";
  std::vector<std::int64_t> sizes;
  const Message shape = tensor.message(2);
  for (const std::string_view one : shape.texts(1)) sizes.push_back(Message(one).number(1));
  return sizes;
}

std::string model_of_one_layer(const std::vector<float>& weights) {
  OnnxModel model;
  model.add_input("input", {100, 12, 33, 300});
  model.add_constant("weights", {2, 3, 1, 2}, weights);
  model.add_node("Conv", {"input", "weights"}, "output", {{"strides", {1, 4}}, {"pads", {0, 300}}}, {{"group", 4}});
  model.add_output("output", {100, 2, 1, 1});
  return model.bytes();
}

// Numbers of fields as in onnx.proto.
TEST(OnnxModel, IsReadAsItWasWritten) {
  std::vector<float> weights(12);
  std::iota(weights.begin(), weights.end(), -3.5F);
  const std::string bytes = model_of_one_layer(weights);
  const Message model(bytes);
  EXPECT_EQ(model.number(1), 7) << "the format's version";
  EXPECT_EQ(model.text(2), "convladder");
  EXPECT_EQ(model.message(8).number(2), 11) << "the operators' version";
  EXPECT_THAT(model.message(8).texts(1), ElementsAre()) << "of ONNX's own operators";

  const Message graph = model.message(7);
  EXPECT_EQ(graph.text(2), "convladder");
  const Message input = graph.message(11);
  EXPECT_EQ(input.text(1), "input");
  EXPECT_THAT(sizes_of(input), ElementsAre(100, 12, 33, 300));
  EXPECT_EQ(graph.message(12).text(1), "output");
  EXPECT_THAT(sizes_of(graph.message(12)), ElementsAre(100, 2, 1, 1));

  const Message node = graph.message(1);
  EXPECT_THAT(node.texts(1), ElementsAre("input", "weights"));
  EXPECT_THAT(node.texts(2), ElementsAre("output"));
  EXPECT_EQ(node.text(4), "Conv");
  ASSERT_EQ(node.texts(5).size(), 3U);
  const Message strides(node.texts(5)[0]);
  EXPECT_EQ(strides.text(1), "strides");
  EXPECT_THAT(strides.numbers(8), ElementsAre(1, 4));
  EXPECT_EQ(strides.number(20), 7) << "a list of numbers";
  EXPECT_THAT(Message(node.texts(5)[1]).numbers(8), ElementsAre(0, 300)) << "more than one byte";
  const Message group(node.texts(5)[2]);
  EXPECT_EQ(group.text(1), "group");
  EXPECT_EQ(group.number(3), 4);
  EXPECT_EQ(group.number(20), 2) << "one number";

  const Message constant = graph.message(5);
  EXPECT_THAT(constant.numbers(1), ElementsAre(2, 3, 1, 2));
  EXPECT_EQ(constant.number(2), 1) << "float";
  EXPECT_EQ(constant.text(8), "weights");
  const std::string raw = constant.text(9);
  ASSERT_EQ(raw.size(), weights.size() * sizeof(float));
  std::vector<float> read(weights.size());
  std::memcpy(read.data(), raw.data(), raw.size());
  EXPECT_EQ(read, weights);
}

TEST(OnnxModel, HoldsWeightsOfMoreThanAMebibyte) {
  const std::vector<float> weights(300'000, 0.25F);
  const std::string bytes = model_of_one_layer(weights);
  EXPECT_EQ(Message(bytes).message(7).message(5).text(9).size(), weights.size() * sizeof(float));
}

}  // namespace
}  // namespace convladder

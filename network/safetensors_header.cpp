#include "network/safetensors_header.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "support/data_error.hpp"
#include "support/shown_text.hpp"

namespace convladder {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kMostDimensions = 8;

/// Receives the header token by token. Only three levels of nesting exist, so each has a state and nothing recurses.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  HeaderReader(TensorHeader& header, const std::string& file) : header_(header), file_(file) {}

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { unexpected(fmt::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { unexpected(shown_text(text)); }
  bool binary(binary_t& /*value*/) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::shape) {
      if (entry_.shape.size() == kMostDimensions) fail(fmt::format("more than {} dimensions", kMostDimensions));
      if (value > INT64_MAX) unexpected(fmt::to_string(value));
      entry_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (state_ == State::offsets && offsets_.size() < 2) {
      offsets_.push_back(value);
    } else {
      unexpected(fmt::to_string(value));
    }
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::metadata) {
      header_.metadata[key_] = value;
    } else if (state_ == State::tensor && key_ == "dtype") {
      entry_.dtype = value;
    } else {
      unexpected(fmt::format("the text {}", shown_name(value)));
    }
    return true;
  }

  bool start_object(std::size_t /*elements*/) override {
    if (state_ == State::start) {
      state_ = State::top;
    } else if (state_ == State::top) {
      fields_.clear();
      offsets_.clear();
      state_ = key_ == kMetadata ? State::metadata : State::tensor;
      entry_ = {.name = std::exchange(key_, {}), .dtype = {}, .shape = {}};
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    std::set<std::string>& known = state_ == State::top ? names_ : fields_;
    key_.clear();  // a message is about this name, not about what the last one held
    if (!known.insert(value).second) fail(fmt::format("{} occurs twice", shown_name(value)));
    if (state_ == State::tensor && value != "dtype" && value != "shape" && value != "data_offsets") {
      fail(fmt::format("the field {} is not known; expected dtype, shape and data_offsets", shown_name(value)));
    }
    key_ = value;
    return true;
  }

  bool end_object() override {
    key_.clear();
    if (state_ == State::tensor) finish_tensor();
    state_ = state_ == State::top ? State::end : State::top;
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    if (state_ != State::tensor || key_ == "dtype") unexpected("a list");
    state_ = key_ == "shape" ? State::shape : State::offsets;
    return true;
  }

  bool end_array() override {
    state_ = State::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/, const json::exception& /*error*/) override {
    throw DataError(fmt::format("{}: byte {} of the header: not valid JSON", file_, position));
  }

 private:
  enum class State { start, top, metadata, tensor, shape, offsets, end };

  void finish_tensor() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) fail(fmt::format("the field '{}' is missing", field));
    }
    if (offsets_.size() != 2) fail(fmt::format("data_offsets: expected two, found {}", offsets_.size()));
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    header_.entries.push_back(std::move(entry_));
  }

  /// Where the reader stands.
  std::string place() const {
    std::string whose = "header";
    if (state_ == State::metadata) whose = kMetadata;
    if (state_ == State::tensor || state_ == State::shape || state_ == State::offsets) whose = tensor_text(entry_.name);
    return key_.empty() ? whose : fmt::format("{}: {}", whose, shown_name(key_));
  }

  std::string expectation() const {
    switch (state_) {
      case State::metadata:
        return "a string";
      case State::tensor:
        return key_ == "dtype" ? "a string" : "a list of whole numbers";
      case State::shape:
        return "whole numbers from 0";
      case State::offsets:
        return "two whole numbers from 0";
      case State::start:
      case State::top:
      case State::end:
        break;
    }
    return "an object {…}";
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}: {}: {}", file_, place(), what));
  }
  [[noreturn]] void unexpected(const std::string& found) const {
    fail(fmt::format("expected {}, found {}", expectation(), found));
  }

  TensorHeader& header_;
  const std::string& file_;
  State state_ = State::start;
  std::set<std::string> names_;   ///< of the tensors so far
  std::set<std::string> fields_;  ///< of the tensor, or of the metadata
  std::string key_;
  TensorEntry entry_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace

std::string shown_name(const std::string& name) { return fmt::format("\"{}\"", shown_text(name)); }

std::string tensor_text(const std::string& name) { return fmt::format("tensor {}", shown_name(name)); }

TensorHeader parse_tensor_header(std::string_view json_text, const std::string& file) {
  TensorHeader header;
  HeaderReader reader(header, file);
  json::sax_parse(json_text, &reader);
  return header;
}

std::string tensor_header_json(const TensorHeader& header) {
  ordered_json json = ordered_json::object();
  if (!header.metadata.empty()) json[std::string(kMetadata)] = header.metadata;
  for (const TensorEntry& entry : header.entries) {
    json[entry.name] = {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace convladder

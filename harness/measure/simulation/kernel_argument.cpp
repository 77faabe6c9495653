#include "harness/measure/simulation/kernel_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "datasets/npy_file.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/simulation/tensor_argument.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36;  // of one buffer
constexpr std::uint64_t kMostParameterBytes = 32764;          // of all parameters of a kernel

/// The most bytes that a file may have for a buffer: two copies are there at a time, the host's and the device's.
std::uint64_t most_buffer_bytes() { return std::min(kMostBytes, std::uint64_t{available_memory_bytes()} / 2); }

std::size_t elements_of(const std::vector<std::size_t>& shape) {
  std::size_t elements = 1;
  for (const std::size_t size : shape) elements *= size;
  return elements;
}

bool is_name(std::string_view text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '$'; };
  return !text.empty() && std::ranges::all_of(text, allowed);
}

/// Takes an argument apart from left to right.
class ArgumentParser {
 public:
  /// `what` begins messages; `text` is the argument's name there, `rest` the text to be parsed.
  ArgumentParser(std::string what, const std::string& text, std::string_view rest)
      : what_(std::move(what)), rest_(rest) {
    result_.text = text;
  }

  KernelArgument parse_content_of(std::optional<ElementType> type) {
    result_.kind = ArgumentKind::input;
    result_.type = type;
    content();
    return std::move(result_);
  }

  KernelArgument parse_variable() {
    const bool is_file = rest_.ends_with(".npy");
    if (rest_.starts_with("struct:") || rest_.starts_with("bytes:") || rest_.starts_with("tensor:") ||
        (rest_.starts_with('@') && !is_file)) {
      return parse();
    }
    if (!rest_.starts_with('@')) result_.type = parse_element_type(what_, take_field(rest_));
    KernelArgument value = parse_content_of(result_.type);
    value.kind = ArgumentKind::value;
    return value;
  }

  KernelArgument parse() {
    if (const std::size_t equals = rest_.find('='); equals != std::string_view::npos) {
      if (const std::string_view name = rest_.substr(0, equals); name.find_first_of(":@") == std::string_view::npos) {
        if (!is_name(name)) fail(fmt::format("'{}' is not a valid name", name));
        result_.name = name;
        rest_.remove_prefix(equals + 1);
      }
    }
    if (rest_.starts_with('@')) {
      result_.bytes.resize(sizeof(std::uint64_t));
      result_.addresses = {parse_buffer_address(what_, rest_)};
      return std::move(result_);
    }
    const std::string_view word = take_field(rest_);
    if (auto texture = parse_texture_words(what_, word)) {
      texels(std::move(*texture));
    } else if (word == "struct") {
      StructureValue value = parse_structure(what_, rest_);
      result_.bytes = std::move(value.bytes);
      result_.addresses = std::move(value.addresses);
    } else if (word == "tensor") {
      StructureValue value = parse_tensor(what_, rest_);
      result_.bytes = std::move(value.bytes);
      result_.addresses = std::move(value.addresses);
    } else if (word == "in" || word == "inout") {
      result_.kind = word == "in" ? ArgumentKind::input : ArgumentKind::in_out;
      if (rest_.starts_with('@')) {
        file(rest_.substr(1));
      } else {
        result_.type = parse_element_type(what_, take_field(rest_));
        content();
      }
    } else if (word == "out") {
      result_.kind = ArgumentKind::output;
      result_.type = parse_element_type(what_, take_field(rest_));
      output();
    } else if (word == "bytes") {
      if (!rest_.starts_with('@')) fail("expected bytes:@FILE");
      result_.bytes = read_file_bytes(std::string(rest_.substr(1)), kMostParameterBytes);
    } else if (const auto type = element_type_of(word)) {
      result_.type = type;
      result_.bytes = parse_element(what_, *type, rest_);
    } else {
      fail(fmt::format(
          "expected in, out, inout, texture, surface, bytes, struct, tensor or a type and ':', or @ and a buffer's "
          "name, got '{}'",
          word));
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw UserError(fmt::format("{}: {}", what_, what)); }

  void set_shape(std::string_view text) {
    std::uint64_t bytes = element_bytes(*result_.type);
    const auto sizes = parse_sizes<std::uint64_t>(text);
    if (!sizes || std::ranges::find(*sizes, 0U) != sizes->end()) {
      fail(fmt::format("expected a number of elements (at least 1) or sizes such as 64x32, got '{}'", text));
    }
    for (const std::uint64_t size : *sizes) {
      if (size > kMostBytes / bytes) fail(fmt::format("{} elements are more than 64 GB", text));
      bytes *= size;
      result_.shape.push_back(size);
    }
    // Two copies are there at a time, the host's and the device's. The system grants memory before it is there, so this
    // asks how much is free.
    if (const std::uint64_t free = available_memory_bytes(); bytes > free / 2) {
      fail(fmt::format("2 x {} bytes are needed, but {} are free", bytes, free));
    }
  }

  void content() {
    if (rest_.empty()) fail("the buffer's content is missing");
    if (rest_.starts_with('@')) return file(rest_.substr(1));
    const std::string_view before = rest_;
    const std::string_view word = take_field(rest_);
    if (word == "fill") {
      set_shape(take_field(rest_));
      fill(rest_);
    } else if (word == "iota") {
      set_shape(take_field(rest_));
      iota();
    } else if (word == "random") {
      set_shape(take_field(rest_));
      random();
    } else {
      list(before);
    }
  }

  void list(std::string_view text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      append(parse_element(what_, *result_.type, text.substr(begin, end - begin)));
      begin = end + 1;
    }
    result_.shape = {result_.bytes.size() / element_bytes(*result_.type)};
  }

  void append(const std::vector<std::byte>& element) {
    result_.bytes.insert(result_.bytes.end(), element.begin(), element.end());
  }

  void fill(std::string_view value) {
    const std::vector<std::byte> element = parse_element(what_, *result_.type, value);
    result_.bytes.reserve(result_.buffer_bytes());
    for (std::size_t i = elements_of(result_.shape); i > 0; --i) append(element);
  }

  /// FIRST, FIRST + 1, …; the type must hold each of them exactly, or a right result would look wrong.
  void iota() {
    std::int64_t first = 0;
    if (!rest_.empty()) {
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), first);
      constexpr std::int64_t most = std::int64_t{1} << 53;
      if (error != std::errc() || stop != rest_.data() + rest_.size() || first < -most || first > most) {
        fail(fmt::format("expected a whole number to count from, got '{}'", rest_));
      }
    }
    const std::size_t elements = elements_of(result_.shape);
    const std::int64_t last = first + static_cast<std::int64_t>(elements) - 1;
    static_cast<void>(exact_element(first));
    static_cast<void>(exact_element(last));
    result_.bytes.reserve(result_.buffer_bytes());
    for (std::int64_t value = first; value <= last; ++value) {
      append(element_of(*result_.type, static_cast<double>(value)));
    }
  }

  std::vector<std::byte> exact_element(std::int64_t value) const {
    const ElementType type = *result_.type;
    const std::int64_t most = type == ElementType::f16    ? 1 << 11
                              : type == ElementType::bf16 ? 1 << 8
                              : type == ElementType::f32  ? 1 << 24
                                                          : std::int64_t{1} << 53;
    if (is_floating(type) && (value > most || value < -most)) {
      fail(fmt::format("{} does not hold every whole number up to {}", element_name(type), value));
    }
    return parse_element(what_, type, std::to_string(value));
  }

  /// Whole numbers 0 to 99 for integer types, multiples of 2^-10 from 0 to before 1 for floating types.
  void random() {
    std::uint64_t seed = 1;
    if (!rest_.empty()) {
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), seed);
      if (error != std::errc() || stop != rest_.data() + rest_.size()) {
        fail(fmt::format("expected a seed that is a whole number from 0 on, got '{}'", rest_));
      }
    }
    SeededRandom generator(seed, 0);
    result_.bytes.reserve(result_.buffer_bytes());
    for (std::size_t i = elements_of(result_.shape); i > 0; --i) {
      const double value = is_floating(*result_.type) ? generator.between(0, 1023) / 1024.0 : generator.between(0, 99);
      append(element_of(*result_.type, value));
    }
  }

  void file(std::string_view name) {
    const std::string file(name);
    std::vector<std::byte> content = read_file_bytes(file, most_buffer_bytes());
    if (name.ends_with(".npy")) {
      NpyArray array = parse_npy(content, file);
      if (result_.type && *result_.type != array.type) {
        fail(fmt::format("{} holds {}, not {}", file, element_name(array.type), element_name(*result_.type)));
      }
      result_.type = array.type;
      result_.shape = array.shape.empty() ? std::vector<std::size_t>{1} : std::move(array.shape);
      result_.bytes = std::move(array.bytes);
    } else {
      if (!result_.type) fail("the type is missing: only an .npy file contains it");
      const std::size_t element = element_bytes(*result_.type);
      if (content.size() % element != 0) {
        fail(fmt::format("{} has {} bytes, which is not a multiple of {}, the size of {}", file, content.size(),
                         element, element_name(*result_.type)));
      }
      result_.shape = {content.size() / element};
      result_.bytes = std::move(content);
    }
    if (result_.bytes.empty()) fail(fmt::format("{} has no elements", file));
  }

  void texels(TextureRequest request) {
    result_.kind = request.access == "in"    ? ArgumentKind::input
                   : request.access == "out" ? ArgumentKind::output
                                             : ArgumentKind::in_out;
    if (rest_.starts_with('@')) {
      file(rest_.substr(1));
    } else {
      result_.type = parse_element_type(what_, take_field(rest_));
      result_.kind == ArgumentKind::output ? output() : content();
    }
    set_texture_shape(what_, *result_.type, result_.shape, request);
    result_.texture = std::move(request);
  }

  void output() {
    const std::size_t equals = rest_.find('=');
    set_shape(rest_.substr(0, equals));
    if (equals != std::string_view::npos) fill(rest_.substr(equals + 1));
  }

  std::string what_;
  std::string_view rest_;
  KernelArgument result_;
};

}  // namespace

std::size_t KernelArgument::buffer_bytes() const { return is_buffer() ? elements_of(shape) * element_bytes(*type) : 0; }

KernelArgument parse_kernel_argument(const std::string& text, const std::string& option) {
  return ArgumentParser(fmt::format("{} {}", option, text), text, text).parse();
}

KernelArgument parse_variable_value(const std::string& text, const std::string& value) {
  return ArgumentParser("--set " + text, text, value).parse_variable();
}

KernelArgument parse_content(const std::string& what, ElementType type, const std::string& content) {
  const bool typed_by_file = content.starts_with('@') && content.ends_with(".npy");
  return ArgumentParser(what, content, content)
      .parse_content_of(typed_by_file ? std::nullopt : std::optional<ElementType>(type));
}

}  // namespace convladder

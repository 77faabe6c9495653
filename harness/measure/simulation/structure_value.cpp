#include "harness/measure/simulation/structure_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "support/element_type.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::size_t kDeepestStructure = 16;
constexpr std::size_t kMostStructureBytes = 32764;  // of all parameters of a kernel

class StructureParser {
 public:
  StructureParser(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  StructureValue parse() {
    StructureValue value = structure(1);
    if (at_ != text_.size()) fail("nothing was expected");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    throw UserError(fmt::format("{}: {} {}", what_, expected,
                                rest.empty() ? "at the end" : fmt::format("before '{}'", rest.substr(0, 20))));
  }

  bool takes(char wanted) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// Takes the text up to one of the characters of `ends`, or to the end.
  std::string_view take_until(std::string_view ends) {
    const std::size_t begin = std::min(text_.find_first_not_of(' ', at_), text_.size());
    const std::size_t end = std::min(text_.find_first_of(ends, begin), text_.size());
    at_ = end;
    return text_.substr(begin, end - begin);
  }

  StructureValue structure(std::size_t depth) {
    if (!takes('{')) fail("'{' was expected");
    if (depth > kDeepestStructure) fail("structures are nested too deep");
    StructureValue whole;
    do {
      StructureValue part = field(depth);
      pad(whole, part.alignment);
      for (BufferAddress& address : part.addresses) {
        address.at += whole.bytes.size();
        whole.addresses.push_back(std::move(address));
      }
      whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
      whole.alignment = std::max(whole.alignment, part.alignment);
      if (whole.bytes.size() > kMostStructureBytes) fail("the structure is larger than a kernel's parameters can be");
    } while (takes(','));
    if (!takes('}')) fail("',' or '}' was expected");
    pad(whole, whole.alignment);
    return whole;
  }

  static void pad(StructureValue& value, std::size_t alignment) {
    value.bytes.resize((value.bytes.size() + alignment - 1) / alignment * alignment);
  }

  StructureValue field(std::size_t depth) {
    if (takes('{')) {
      --at_;
      return structure(depth + 1);
    }
    std::string_view text = take_until(",}[");
    if (text.starts_with("u64:@")) text.remove_prefix(4);
    if (text.starts_with('@')) {
      return {
          std::vector<std::byte>(sizeof(std::uint64_t)), {parse_buffer_address(what_, text)}, sizeof(std::uint64_t)};
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
      fail(fmt::format("'{}' is no field: TYPE:VALUE, @BUFFER or a structure", text));
    const ElementType type = parse_element_type(what_, text.substr(0, colon));
    StructureValue value;
    value.alignment = element_bytes(type);
    std::string_view values = text.substr(colon + 1);
    const bool is_array = values.empty() && takes('[');
    if (is_array) values = take_until("]");
    for (const std::string& one : is_array ? split(values, ',') : std::vector{std::string(values)}) {
      const std::vector<std::byte> bytes = parse_element(what_, type, one);
      value.bytes.insert(value.bytes.end(), bytes.begin(), bytes.end());
    }
    if (is_array && !takes(']')) fail("']' was expected");
    return value;
  }

  std::string_view what_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

BufferAddress parse_buffer_address(std::string_view what, std::string_view text) {
  const std::size_t plus = std::min(text.find('+'), text.size());
  BufferAddress address{
      0, std::string(text.substr(std::min<std::size_t>(1, plus), plus - std::min<std::size_t>(1, plus))), 0};
  bool good = text.starts_with('@') && !address.buffer.empty();
  if (plus < text.size()) {
    const auto [end, error] = std::from_chars(text.data() + plus + 1, text.data() + text.size(), address.offset);
    good = good && error == std::errc() && end == text.data() + text.size();
  }
  if (!good)
    throw UserError(fmt::format("{}: expected a buffer's address, as @x or @x+64 (bytes), got '{}'", what, text));
  return address;
}

StructureValue parse_structure(std::string_view what, std::string_view text) {
  return StructureParser(what, text).parse();
}

}  // namespace convladder

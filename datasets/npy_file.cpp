#include "datasets/npy_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "support/errors.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeaderAlignment = 64;

/// NumPy's letter for the kind of number, and its bytes: "<f4". For bf16, which NumPy does not know, as ml_dtypes
/// writes it.
std::string descr_of(ElementType type) {
  if (type == ElementType::bf16) return "<V2";
  const char kind = is_floating(type) ? 'f' : element_name(type)[0];
  const std::size_t bytes = element_bytes(type);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

/// Reads the header, a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderReader {
 public:
  HeaderReader(std::string_view content, std::size_t begin, std::size_t end, const std::string& file)
      : content_(content.substr(0, end)), at_(begin), file_(file) {}

  void read(NpyArray& array) {
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::size_t key_at = at_;
      const std::string_view key = text();
      expect(':');
      if (key == "descr" && !has_type) {
        array.type = type();
        has_type = true;
      } else if (key == "fortran_order" && !has_order) {
        fortran_at_ = at_;
        fortran_ = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        array.shape = shape();
        has_shape = true;
      } else {
        fail(key_at, fmt::format("expected 'descr', 'fortran_order' and 'shape', once each, got '{}'", key));
      }
      if (!accept(',') && peek() != '}') fail(at_, "expected ',' or '}' in the header");
    }
    if (!has_type || !has_order || !has_shape) fail(at_, "the header lacks 'descr', 'fortran_order' or 'shape'");
    if (fortran_ && array.shape.size() > 1) {
      fail(fortran_at_, "the array is in Fortran order; save it with numpy.ascontiguousarray");
    }
  }

 private:
  [[noreturn]] void fail(std::size_t at, std::string_view what) const {
    throw UserError(fmt::format("{}: byte {}: {}", file_, at, what));
  }
  char peek() {
    while (at_ < content_.size() && (content_[at_] == ' ' || content_[at_] == '\n')) ++at_;
    return at_ < content_.size() ? content_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(at_, fmt::format("expected '{}' in the header", c));
  }

  std::string_view text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(at_, "expected a string in quotes in the header");
    const std::size_t end = content_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail(at_, "an unterminated string");
    const std::string_view result = content_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result;
  }

  ElementType type() {
    if (peek() == '[') fail(at_, "arrays of structures are not supported");
    const std::size_t begin = at_;
    const std::string_view descr = text();
    std::vector<std::string> known;
    for (const ElementType type : element_types()) {
      known.push_back(descr_of(type));
      if (known.back() == descr) return type;
    }
    if (descr.starts_with('>')) fail(begin, fmt::format("the type '{}' is big-endian, which is not supported", descr));
    fail(begin, fmt::format("the type '{}' is not supported; known: {}", descr, fmt::join(known, ", ")));
  }

  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (!content_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail(at_, "expected True or False");
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      if (peek() < '0' || peek() > '9') fail(at_, "expected a size that is a whole number");
      std::size_t size = 0;
      for (const std::size_t begin = at_; at_ < content_.size() && content_[at_] >= '0' && content_[at_] <= '9';
           ++at_) {
        size = size * 10 + static_cast<std::size_t>(content_[at_] - '0');
        if (at_ - begin > 15) fail(begin, "a size beyond 10^15");
      }
      sizes.push_back(size);
      if (!accept(',') && peek() != ')') fail(at_, "expected ',' or ')' in the shape");
    }
    return sizes;
  }

  std::string_view content_;
  std::size_t at_;
  const std::string& file_;
  bool fortran_ = false;
  std::size_t fortran_at_ = 0;
};

/// The array's size in bytes; none if it is more than memory can have.
std::optional<std::size_t> bytes_of(const NpyArray& array) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2;
  std::size_t bytes = element_bytes(array.type);
  if (std::ranges::find(array.shape, std::size_t{0}) != array.shape.end()) return 0;
  for (const std::size_t size : array.shape) {
    if (bytes > most / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

}  // namespace

NpyArray parse_npy(std::span<const std::byte> content, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  const auto fail = [&file](std::size_t at, std::string_view what) {
    throw UserError(fmt::format("{}: byte {}: {}", file, at, what));
  };
  const auto byte_at = [&content](std::size_t at) { return std::to_integer<std::size_t>(content[at]); };
  if (!text.starts_with(kMagic)) fail(0, "this is not an .npy file: it does not begin with \\x93NUMPY");
  if (content.size() < 10) fail(content.size(), "the file ends inside its header");
  const std::size_t version = byte_at(6);
  if (version < 1 || version > 3)
    fail(6, fmt::format("version {} of the format is not supported; versions 1 to 3 are", version));
  const std::size_t begin = version == 1 ? 10 : 12;
  if (content.size() < begin) fail(content.size(), "the file ends inside its header");
  std::size_t header = byte_at(8) | byte_at(9) << 8;
  if (version > 1) header |= byte_at(10) << 16 | byte_at(11) << 24;
  if (content.size() - begin < header) fail(content.size(), "the file ends inside its header");

  NpyArray array;
  HeaderReader(text, begin, begin + header, file).read(array);
  const std::size_t data = begin + header;
  const auto bytes = bytes_of(array);
  if (!bytes || content.size() - data < *bytes) {
    fail(content.size(), fmt::format("the file ends here; its shape ({}) of type {} needs {} bytes from byte {} on",
                                     fmt::join(array.shape, ", "), element_name(array.type),
                                     bytes ? std::to_string(*bytes) : "more", data));
  }
  if (content.size() - data > *bytes) {
    const std::size_t extra = content.size() - data - *bytes;
    fail(data + *bytes, fmt::format("{} after the array", plural(extra, "extra byte")));
  }
  array.bytes.assign(content.begin() + static_cast<std::ptrdiff_t>(data), content.end());
  return array;
}

std::vector<std::byte> npy_bytes(const NpyArray& array) {
  // A tuple of one has a comma behind it.
  const std::string shape = fmt::format("({}{})", fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr_of(array.type), shape);
  const std::size_t prefix = kMagic.size() + 4;
  while ((prefix + header.size() + 1) % kHeaderAlignment != 0) header += ' ';
  header += '\n';
  std::string text(kMagic);
  text += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  text += header;
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  std::vector<std::byte> bytes(begin, begin + text.size());
  bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  return bytes;
}

}  // namespace convladder

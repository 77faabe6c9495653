#include "ladders/ptx_entries.hpp"

#include <algorithm>
#include <charconv>

#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostPtxParameters = 4096;  // a kernel's parameters have at most 32764 bytes

/// Takes a PTX text apart into words (with their leading '.') and single characters of anything else.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// The next word; empty at the end.
  std::string_view next() {
    skip();
    std::size_t end = 0;
    while (end < text_.size() && is_of_word(text_[end])) ++end;
    const std::string_view word = text_.substr(0, text_.empty() ? 0 : std::max<std::size_t>(end, 1));
    text_.remove_prefix(word.size());
    return word;
  }

 private:
  static bool is_of_word(char one) { return is_of_identifier(one) || one == '.' || one == '$' || one == '%'; }

  void remove_to(std::string_view end) {
    const std::size_t at = text_.find(end);
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at + end.size());
  }

  /// Skips spaces, comments and texts in quotes.
  void skip() {
    for (;;) {
      if (text_.starts_with("//")) {
        remove_to("\n");
      } else if (text_.starts_with("/*")) {
        text_.remove_prefix(2);
        remove_to("*/");
      } else if (text_.starts_with('"')) {
        text_.remove_prefix(1);
        remove_to("\"");
      } else if (!text_.empty() && (text_[0] == ' ' || (text_[0] >= '\t' && text_[0] <= '\r'))) {
        text_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  std::string_view text_;
};

/// The size in bytes of an element of a type such as ".u64"; 0 for a word that is no type, such as ".align".
std::size_t bytes_of(std::string_view type) {
  if (type == ".f16x2") return 4;
  if (type == ".bf16") return 2;
  if (type.size() < 3 || type[0] != '.' || std::string_view("bsuf").find(type[1]) == std::string_view::npos) return 0;
  std::size_t bits = 0;
  const auto [end, error] = std::from_chars(type.data() + 2, type.data() + type.size(), bits);
  if (error != std::errc() || end != type.data() + type.size()) return 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits / 8 : 0;
}

/// Reads a parameter up to the ',' or ')' behind it, which is returned.
std::string_view read_parameter(Words& words, PtxParameter& parameter) {
  std::string_view word;
  for (word = words.next(); !word.empty() && word != "," && word != ")"; word = words.next()) {
    if (const std::size_t bytes = bytes_of(word); bytes > 0 && parameter.bytes == 0) {
      parameter = {std::string(word), bytes};
    } else if (word == "[") {
      const std::string_view count = words.next();
      std::size_t elements = 0;
      std::from_chars(count.data(), count.data() + count.size(), elements);
      if (parameter.type.empty()) continue;  // no type stands before it
      parameter.type += "[" + std::string(count) + "]";
      parameter.bytes *= std::min<std::size_t>(elements, 1 << 20);
    }
  }
  return word;
}

}  // namespace

std::vector<PtxEntry> ptx_entries(std::string_view text) {
  std::vector<PtxEntry> entries;
  Words words(text);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word != ".entry") continue;
    PtxEntry entry{std::string(words.next()), {}};
    if (words.next() == "(") {
      for (std::string_view end = ","; end == "," && entry.parameters.size() < kMostPtxParameters;) {
        PtxParameter parameter;
        end = read_parameter(words, parameter);
        if (!parameter.type.empty()) entry.parameters.push_back(std::move(parameter));
      }
    }
    if (std::ranges::find(entries, entry.name, &PtxEntry::name) == entries.end()) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace convladder

#include "simulator/ptx/token_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace convladder::ptx {
namespace {

constexpr std::size_t kShownCharacters = 60;  // of a token in a message

}  // namespace

std::string shown(std::string_view text) {
  std::string result(text.substr(0, kShownCharacters));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > kShownCharacters) result += "...";
  return result;
}

TokenReader::TokenReader(std::string_view source, std::string file)
    : file_(std::move(file)), tokens_(tokenize(source, file_)) {}

const Token& TokenReader::peek(std::size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

Token TokenReader::take() {
  const Token token = current();
  if (token.kind != TokenKind::end) ++at_;
  return token;
}

bool TokenReader::accept(std::string_view text) {
  if (!current().is(text)) return false;
  ++at_;
  return true;
}

void TokenReader::expect(std::string_view text) {
  if (!accept(text)) fail_expected(fmt::format("'{}'", text));
}

Token TokenReader::take_word(const char* what) {
  if (current().kind != TokenKind::word) fail_expected(what);
  return take();
}

std::uint64_t TokenReader::take_integer(const char* what, std::uint64_t largest) {
  if (current().kind != TokenKind::integer) fail_expected(what);
  if (current().number > largest) fail(current(), std::string(what) + " is larger than " + std::to_string(largest));
  return take().number;
}

int TokenReader::take_alignment() {
  const Token at = current();
  const std::uint64_t alignment = take_integer("an alignment", 1 << 16);
  if (!std::has_single_bit(alignment)) fail(at, "an alignment must be a power of two");
  return static_cast<int>(alignment);
}

void TokenReader::skip_brackets(std::string_view open, std::string_view close) {
  expect(open);
  for (int depth = 1; depth > 0;) {
    if (at_end()) fail_expected("a '" + std::string(close) + "'");
    const Token token = take();
    depth += token.is(open) ? 1 : token.is(close) ? -1 : 0;
  }
}

void TokenReader::fail(const Token& token, const std::string& what) const {
  throw PtxError(file_, token.position, what);
}

void TokenReader::fail_expected(const std::string& expected) const {
  const Token& found = current();
  fail(found, "expected " + expected + ", found " +
                  (found.kind == TokenKind::end ? "the end of the file" : "'" + shown(found.text) + "'"));
}

}  // namespace convladder::ptx

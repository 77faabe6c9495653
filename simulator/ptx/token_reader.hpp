// Takes tokens one after another, and reports what was expected in place of a wrong one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/lexer.hpp"

namespace convladder::ptx {

/// A token as a message shows it: in one short line, whatever it contains.
std::string shown(std::string_view text);

class TokenReader {
 public:
  /// `source` must outlive the reader. This and all functions that take tokens throw PtxError for an unexpected token.
  TokenReader(std::string_view source, std::string file);

  const std::string& file() const { return file_; }
  const Token& current() const { return tokens_[at_]; }
  const Token& peek(std::size_t ahead) const;
  const Token& last() const { return tokens_[at_ == 0 ? 0 : at_ - 1]; }
  bool at_end() const { return current().kind == TokenKind::end; }

  Token take();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  Token take_word(const char* what);
  /// A word that declares a name: without the dots of opcodes and vectors.
  Token take_name(const char* what);
  std::uint64_t take_integer(const char* what, std::uint64_t largest);
  int take_alignment();  ///< a power of two, in bytes
  /// Skips from a bracket to after the one that closes it.
  void skip_brackets(std::string_view open, std::string_view close);

  /// A place to return to.
  std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }

  [[noreturn]] void fail(const Token& token, const std::string& what) const;
  [[noreturn]] void fail_expected(const std::string& expected) const;

 private:
  std::string file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace convladder::ptx

#include "simulator/ptx/lexer.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>

namespace convladder::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%' || c == '.'; }
bool continues_word(char c) { return starts_word(c) || is_digit(c); }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& file) : source_(source), file_(file) {
    if (source_.starts_with("\xef\xbb\xbf")) at_ = line_start_ = 3;  // a byte order mark
    while (source_.ends_with('\0')) source_.remove_suffix(1);        // compilers pass PTX as a C string
  }

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skip_space();
      tokens.push_back(next());
    } while (tokens.back().kind != TokenKind::end);
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  bool done() const { return at_ >= source_.size(); }
  Position position() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }
  [[noreturn]] void fail(Position where, const std::string& what) const { throw PtxError(file_, where, what); }

  void advance() {
    if (source_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }

  void skip_line() {
    while (!done() && peek() != '\n') advance();
  }

  /// LLVM counts the lines of an assembler statement on from the line of the source that it stands at, and gives each a
  /// `.loc`: "ld" in the third line of a masked load of Triton would be two lines further down in the file. The `.loc`
  /// before the statement is the one that is right, and the one that has the callers.
  void note_comment(std::string_view comment) {
    if (comment.starts_with("// begin inline asm")) in_assembler_ = true;
    if (comment.starts_with("// end inline asm")) in_assembler_ = false;
  }

  void skip_space() {
    while (!done()) {
      if (peek() == '/' && peek(1) == '/') {
        const std::size_t begin = at_;
        skip_line();
        note_comment(source_.substr(begin, at_ - begin));
      } else if (in_assembler_ && source_.substr(at_).starts_with(".loc") && !continues_word(peek(4))) {
        skip_line();
      } else if (peek() == '/' && peek(1) == '*') {
        const Position start = position();
        advance();
        advance();
        while (!(peek() == '*' && peek(1) == '/')) {
          if (done()) fail(start, "an unterminated comment");
          advance();
        }
        advance();
        advance();
      } else if (peek() == ' ' || (peek() >= '\t' && peek() <= '\r')) {
        advance();
      } else {
        break;
      }
    }
  }

  Token token(TokenKind kind, std::size_t begin, Position where) const {
    return {kind, source_.substr(begin, at_ - begin), 0, where};
  }

  Token next() {
    const Position where = position();
    const std::size_t begin = at_;
    if (done()) return token(TokenKind::end, begin, where);
    const char c = peek();
    if (is_digit(c)) return number(begin, where);
    if (starts_word(c)) return word(begin, where);
    if (c == '"') return text(where);
    constexpr std::string_view punctuation = ",;:()[]{}<>@!|=+-*/&^~?";
    if (punctuation.find(c) == std::string_view::npos) fail(where, "a character that is not allowed in PTX");
    advance();
    constexpr std::string_view pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (const std::string_view pair : pairs) {
      if (c != pair[0] || peek() != pair[1]) continue;
      advance();
      break;
    }
    return token(TokenKind::punctuation, begin, where);
  }

  /// Takes opcodes with all their modifiers, but directives and types one by one: ".reg.u64" is two tokens.
  Token word(std::size_t begin, Position where) {
    if (peek() == '.') {
      advance();
      while (continues_word(peek()) && peek() != '.') advance();
      return token(TokenKind::word, begin, where);
    }
    while (continues_word(peek()) || (peek() == ':' && peek(1) == ':')) {
      if (peek() == ':') advance();  // "ld.shared::cta"
      advance();
    }
    return token(TokenKind::word, begin, where);
  }

  Token text(Position where) {
    advance();
    const std::size_t begin = at_;
    while (peek() != '"') {
      if (done() || peek() == '\n') fail(where, "an unterminated string");
      advance();
    }
    const Token result = token(TokenKind::text, begin, where);
    advance();
    return result;
  }

  std::size_t hex_digits() {
    const std::size_t begin = at_;
    while (is_hex_digit(peek())) advance();
    return at_ - begin;
  }

  std::uint64_t parse_integer(std::string_view digits, int base, Position where) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
      fail(where, "a number that is malformed or does not fit 64 bits");
    }
    return value;
  }

  /// Takes "0f" or "0d" with exactly 8 or 16 hexadecimal digits.
  Token float_bits(std::size_t begin, Position where) {
    const bool single = (peek(1) | 0x20) == 'f';
    advance();
    advance();
    const std::size_t digits_begin = at_;
    if (hex_digits() != (single ? 8U : 16U)) {
      fail(where,
           single ? "0f must be followed by 8 hexadecimal digits" : "0d must be followed by 16 hexadecimal digits");
    }
    Token result = token(single ? TokenKind::single : TokenKind::double_, begin, where);
    result.number = parse_integer(source_.substr(digits_begin, at_ - digits_begin), 16, where);
    return result;
  }

  Token number(std::size_t begin, Position where) {
    const char second = static_cast<char>(peek(1) | 0x20);
    if (peek() == '0' && (second == 'f' || second == 'd') && is_hex_digit(peek(2))) return float_bits(begin, where);
    int base = 10;
    std::size_t digits_begin = begin;
    if (peek() == '0' && (second == 'x' || second == 'b')) {
      base = second == 'x' ? 16 : 2;
      advance();
      advance();
      digits_begin = at_;
      hex_digits();
    } else {
      while (is_digit(peek())) advance();
      if (peek() == '.' || (peek() | 0x20) == 'e') return decimal_float(begin, where);
      if (source_[begin] == '0' && at_ - begin > 1) base = 8;
    }
    const std::string_view digits = source_.substr(digits_begin, at_ - digits_begin);
    if (peek() == 'U') advance();
    if (continues_word(peek())) fail(where, "a number followed by letters");
    Token result = token(TokenKind::integer, begin, where);
    result.number = parse_integer(digits, base, where);
    return result;
  }

  Token decimal_float(std::size_t begin, Position where) {
    while (is_digit(peek()) || peek() == '.') advance();
    if ((peek() | 0x20) == 'e') {
      advance();
      if (peek() == '+' || peek() == '-') advance();
      while (is_digit(peek())) advance();
    }
    Token result = token(TokenKind::double_, begin, where);
    double value = 0;
    const auto [end, error] = std::from_chars(result.text.data(), result.text.data() + result.text.size(), value);
    if (error != std::errc() || end != result.text.data() + result.text.size()) {
      fail(where, "a number that is malformed or out of range");
    }
    result.number = std::bit_cast<std::uint64_t>(value);
    return result;
  }

  std::string_view source_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
  bool in_assembler_ = false;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& file) { return Lexer(source, file).run(); }

}  // namespace convladder::ptx

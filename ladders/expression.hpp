// Expressions of problem.json in terms of its dimensions: "2 * M * N * K", "div(H - K, S) + 1".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// Numbers, names, + - * / ^, parentheses and the functions min(a, b), max(a, b), div(a, b) (rounded down),
/// mod(a, b) (what div leaves), ceil(a), floor(a), sqrt(a), log2(a). Everything is a double; == != < <= > >= give 1 or
/// 0 and bind weakest.
class Expression {
 public:
  /// Parses `text`, which may use `names`; their values are given later, in this order. Throws std::invalid_argument,
  /// one line that ends in the text and the place: "expected a number at column 5 of '2 * * M'".
  Expression(std::string_view text, const std::vector<std::string>& names);

  const std::string& text() const { return text_; }
  /// The expression's value, with `values` in the order of the names. Not finite where a division or a function has no
  /// value.
  double value(std::span<const double> values) const;
  /// The expression as C++ source that computes in doubles; `values` are source texts, in the order of the names. It
  /// uses <math.h> and convladder_min, convladder_max and convladder_mod, which launch_plan.cpp defines where it is
  /// compiled.
  std::string c_text(const std::vector<std::string>& values) const;

 private:
  friend class ExpressionParser;
  enum class Operation : std::uint8_t {
    number,
    name,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    min,
    max,
    div,
    mod,
    equal,
    not_equal,
    less,
    at_most,
    more,
    at_least,
    ceil,
    floor,
    sqrt,
    log2
  };
  struct Step {
    Operation operation;
    double number = 0;      ///< the value, for Operation::number
    std::size_t which = 0;  ///< the index of the name, for Operation::name
  };

  std::string text_;
  std::vector<Step> steps_;  ///< in the order of a stack machine: operands before their operation
};

}  // namespace convladder

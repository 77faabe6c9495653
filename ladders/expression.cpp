#include "ladders/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::size_t kLongest = 1000;  // characters
constexpr int kDeepest = 50;            // parentheses inside of each other

}  // namespace

/// Recursive descent; what binds tighter is called deeper.
class ExpressionParser {
 public:
  ExpressionParser(Expression& expression, const std::vector<std::string>& names)
      : text_(expression.text_), steps_(expression.steps_), names_(names) {}

  void parse() {
    if (text_.size() > kLongest) throw std::invalid_argument(fmt::format("longer than {} characters", kLongest));
    comparison();
    if (next() != '\0') fail("expected an operator");
  }

 private:
  using Operation = Expression::Operation;
  struct Function {
    std::string_view name;
    Operation operation;
    int arguments;
  };
  static constexpr std::array kFunctions{Function{"min", Operation::min, 2},   Function{"max", Operation::max, 2},
                                         Function{"div", Operation::div, 2},   Function{"mod", Operation::mod, 2},
                                         Function{"ceil", Operation::ceil, 1}, Function{"floor", Operation::floor, 1},
                                         Function{"sqrt", Operation::sqrt, 1}, Function{"log2", Operation::log2, 1}};
  struct Sign {
    std::string_view text;
    Operation operation;
  };
  static constexpr std::array kComparisons{Sign{"==", Operation::equal},   Sign{"!=", Operation::not_equal},
                                           Sign{"<=", Operation::at_most}, Sign{">=", Operation::at_least},
                                           Sign{"<", Operation::less},     Sign{">", Operation::more}};

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(fmt::format("{} at column {} of '{}'", what, at_ + 1, printable(text_, kShortText)));
  }

  /// The next character that is no space; 0 at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  void need(char wanted) {
    if (!take(wanted)) fail(fmt::format("expected '{}'", wanted));
  }
  void add(Operation operation) { steps_.push_back({operation}); }

  /// At most one: 'a < b < c' means something else to everybody.
  void comparison() {
    sum();
    next();
    const std::string_view rest = std::string_view(text_).substr(at_);
    const auto sign = std::ranges::find_if(kComparisons, [&](const Sign& one) { return rest.starts_with(one.text); });
    if (sign == kComparisons.end()) return;
    at_ += sign->text.size();
    sum();
    add(sign->operation);
  }

  void sum() {
    product();
    for (;;) {
      if (take('+')) {
        product();
        add(Operation::add);
      } else if (take('-')) {
        product();
        add(Operation::subtract);
      } else {
        return;
      }
    }
  }

  void product() {
    factor();
    for (;;) {
      if (take('*')) {
        factor();
        add(Operation::multiply);
      } else if (take('/')) {
        factor();
        add(Operation::divide);
      } else {
        return;
      }
    }
  }

  void factor() {
    const Depth deeper(*this);
    if (take('-')) {
      factor();
      return add(Operation::negate);
    }
    primary();
    if (!take('^')) return;
    factor();
    add(Operation::power);
  }

  void primary() {
    const char first = next();
    if (is_digit(first) || first == '.') return number();
    if (is_letter(first) || first == '_') return name_or_function();
    if (!take('(')) fail("expected a number, a dimension or '('");
    comparison();
    need(')');
  }

  void number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    steps_.push_back({Operation::number, value});
  }

  void name_or_function() {
    std::size_t end = at_;
    while (end < text_.size() && is_of_identifier(text_[end])) ++end;
    const std::string_view name = std::string_view(text_).substr(at_, end - at_);
    const auto function = std::ranges::find(kFunctions, name, &Function::name);
    const auto known = std::ranges::find(names_, name);
    if (known != names_.end()) {
      at_ = end;
      steps_.push_back({Operation::name, 0, static_cast<std::size_t>(known - names_.begin())});
    } else if (function != kFunctions.end()) {
      at_ = end;
      need('(');
      for (int i = 0; i < function->arguments; ++i) {
        if (i > 0) need(',');
        sum();
      }
      need(')');
      add(function->operation);
    } else {
      fail(unknown_name_message("name", name, names_));
    }
  }

  struct Depth {
    explicit Depth(ExpressionParser& of) : parser(of) {
      if (++parser.depth_ > kDeepest) parser.fail(fmt::format("more than {} levels", kDeepest));
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --parser.depth_; }
    ExpressionParser& parser;
  };

  const std::string& text_;
  std::vector<Expression::Step>& steps_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression(std::string_view text, const std::vector<std::string>& names) : text_(text) {
  ExpressionParser(*this, names).parse();
}

double Expression::value(std::span<const double> values) const {
  std::vector<double> stack;
  const auto pop = [&stack] {
    const double top = stack.back();
    stack.pop_back();
    return top;
  };
  const auto of_two = [&](auto operation) {
    const double right = pop();
    stack.back() = operation(stack.back(), right);
  };
  const auto of_one = [&](auto operation) { stack.back() = operation(stack.back()); };
  for (const Step& step : steps_) {
    switch (step.operation) {
      case Operation::number:
        stack.push_back(step.number);
        break;
      case Operation::name:
        stack.push_back(values[step.which]);
        break;
      case Operation::add:
        of_two([](double a, double b) { return a + b; });
        break;
      case Operation::subtract:
        of_two([](double a, double b) { return a - b; });
        break;
      case Operation::multiply:
        of_two([](double a, double b) { return a * b; });
        break;
      case Operation::divide:
        of_two([](double a, double b) { return a / b; });
        break;
      case Operation::power:
        of_two([](double a, double b) { return std::pow(a, b); });
        break;
      case Operation::min:
        of_two([](double a, double b) { return std::min(a, b); });
        break;
      case Operation::max:
        of_two([](double a, double b) { return std::max(a, b); });
        break;
      case Operation::div:
        of_two([](double a, double b) { return std::floor(a / b); });
        break;
      case Operation::mod:
        of_two([](double a, double b) { return a - b * std::floor(a / b); });
        break;
      case Operation::equal:
        of_two([](double a, double b) { return a == b ? 1.0 : 0.0; });
        break;
      case Operation::not_equal:
        of_two([](double a, double b) { return a != b ? 1.0 : 0.0; });
        break;
      case Operation::less:
        of_two([](double a, double b) { return a < b ? 1.0 : 0.0; });
        break;
      case Operation::at_most:
        of_two([](double a, double b) { return a <= b ? 1.0 : 0.0; });
        break;
      case Operation::more:
        of_two([](double a, double b) { return a > b ? 1.0 : 0.0; });
        break;
      case Operation::at_least:
        of_two([](double a, double b) { return a >= b ? 1.0 : 0.0; });
        break;
      case Operation::negate:
        of_one([](double a) { return -a; });
        break;
      case Operation::ceil:
        of_one([](double a) { return std::ceil(a); });
        break;
      case Operation::floor:
        of_one([](double a) { return std::floor(a); });
        break;
      case Operation::sqrt:
        of_one([](double a) { return std::sqrt(a); });
        break;
      case Operation::log2:
        of_one([](double a) { return std::log2(a); });
        break;
    }
  }
  return stack.back();
}

}  // namespace convladder

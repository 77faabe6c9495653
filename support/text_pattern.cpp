#include "support/text_pattern.hpp"

#include <fmt/format.h>

#include <regex>

#include "support/errors.hpp"

namespace convladder {

struct TextPattern::Expression {
  std::regex regex;
};

TextPattern::TextPattern(std::string_view option, const std::string& text) {
  if (text.empty()) return;
  try {
    expression_ = std::make_shared<const Expression>(Expression{std::regex(text)});
  } catch (const std::regex_error& error) {
    throw UserError(fmt::format("{} '{}' is not a regular expression: {}", option, text, error.what()));
  }
}

bool TextPattern::matches(const std::string& text) const {
  return expression_ == nullptr || std::regex_search(text, expression_->regex);
}

std::optional<std::string> TextPattern::first_group(const std::string& text) const {
  std::smatch found;
  if (expression_ == nullptr || !std::regex_search(text, found, expression_->regex)) return std::nullopt;
  return found.size() > 1 ? found[1].str() : found[0].str();
}

}  // namespace convladder

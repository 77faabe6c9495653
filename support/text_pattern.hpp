// A regular expression from the command line. <regex> itself takes the compiler two seconds in each file that uses it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace convladder {

/// A regular expression of ECMAScript's kind, as in std::regex.
class TextPattern {
 public:
  /// A pattern that matches everything, as an empty text does.
  TextPattern() = default;
  /// Throws UserError "OPTION 'TEXT' is not a regular expression: …".
  TextPattern(std::string_view option, const std::string& text);

  /// Whether some part of the text matches.
  bool matches(const std::string& text) const;
  /// The text that the first group matches, or the whole expression if it has none; none where no part of the text
  /// matches.
  std::optional<std::string> first_group(const std::string& text) const;

 private:
  struct Expression;
  std::shared_ptr<const Expression> expression_;
};

}  // namespace convladder

#include "harness/measure/runs/step_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "harness/measure/statistics/ratio_text.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr double kNearWord = 0.03;        // from a fraction that has a word
constexpr double kFewestInPercent = 0.1;  // below it, 1/n is easier to grasp

constexpr std::array<std::pair<double, const char*>, 11> kFractions = {{{1.0 / 2, "half"},
                                                                        {1.0 / 3, "a third"},
                                                                        {2.0 / 3, "two thirds"},
                                                                        {1.0 / 4, "a quarter"},
                                                                        {3.0 / 4, "three quarters"},
                                                                        {1.0 / 5, "a fifth"},
                                                                        {1.0 / 6, "a sixth"},
                                                                        {1.0 / 7, "a seventh"},
                                                                        {1.0 / 8, "an eighth"},
                                                                        {1.0 / 9, "a ninth"},
                                                                        {1.0 / 10, "a tenth"}}};

std::string fraction_text(double ratio) {
  for (const auto& [fraction, word] : kFractions) {
    if (std::abs(ratio / fraction - 1) <= kNearWord) return word;
  }
  if (ratio >= kFewestInPercent) return fmt::format("{:.0f}%", 100 * ratio);
  return fmt::format("1/{:.0f}", 1 / ratio);
}

}  // namespace

bool is_about_the_same(double factor) { return factor < kAboutTheSame && factor > 1 / kAboutTheSame; }

std::string factor_text(double factor) { return fmt::format("{:.{}f}x", factor, factor < 9.95 ? 1 : 0); }

std::string percent_text(double share) {
  const double percent = 100 * share;
  if (percent < 0.1) return "less than 0.1%";
  return fmt::format("{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

std::string amount_text(double ratio, std::string_view of_many) {
  if (is_about_the_same(ratio)) return fmt::format("about as many {}", of_many);
  if (ratio < 1) return fmt::format("{} of the {}", fraction_text(ratio), of_many);
  if (std::abs(ratio / 2 - 1) <= kNearWord) return fmt::format("twice as many {}", of_many);
  return fmt::format("{} as many {}", factor_text(ratio), of_many);
}

std::string speed_text(const Ratio& x, std::string_view than) {
  if (x.holds(1)) return fmt::format("cannot be told from {}", than);
  const bool faster = x.is_above(1);
  const std::string bound = bound_text(faster ? *x.low : 1 / *x.high);
  if (bound.empty()) return fmt::format("slightly {} than {}", faster ? "faster" : "slower", than);
  return faster ? fmt::format("at least {}x faster than {}", bound, than)
                : fmt::format("takes at least {} times as long as {}", bound, than);
}

std::string listed(const std::vector<std::string>& phrases) {
  std::string text;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == phrases.size() ? " and " : ", ", phrases[i]);
  }
  return text;
}

std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  if (std::string_view(".!?").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

std::string behind_colon(std::string sentence) {
  const bool acronym = sentence.size() > 1 && (is_capital(sentence[1]) || std::isdigit(sentence[1]) != 0);
  if (!sentence.empty() && is_capital(sentence.front()) && !acronym) {
    sentence.front() = static_cast<char>(sentence.front() - 'A' + 'a');
  }
  return sentence;
}

}  // namespace convladder

// Ratios in words that people use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/statistics/ratio.hpp"

namespace convladder {

/// Factors between 1 / kAboutTheSame and kAboutTheSame are about the same.
inline constexpr double kAboutTheSame = 1.05;

/// Whether a factor is not worth a word, since it is about 1.
bool is_about_the_same(double factor);

/// "7.4x", "42x".
std::string factor_text(double factor);
/// "13%", "1.9%", "less than 0.1%".
std::string percent_text(double share);

/// The amount that is `ratio` times the one before: "a third of the sectors", "56% of the instructions", "1/17 of the
/// sectors", "2.1x as many instructions", "twice as many barriers", "about as many barriers".
std::string amount_text(double ratio, std::string_view of_many);

/// The sure part of a speedup: "at least 7.4x faster than WHAT", "takes at least 1.7 times as long as WHAT", "slightly
/// faster than WHAT" where the bound is almost 1, "cannot be told from WHAT".
std::string speed_text(const Ratio& x, std::string_view than);

/// "one", "one and two", "one, two and three".
std::string listed(const std::vector<std::string>& phrases);

/// The text with a capital letter at its beginning and a full stop at its end. ASCII letters only; others stay as they
/// are.
std::string as_sentence(std::string text);
/// A sentence as it stands after a colon: its first word without a capital, unless that is an acronym or a number.
std::string behind_colon(std::string sentence);

}  // namespace convladder

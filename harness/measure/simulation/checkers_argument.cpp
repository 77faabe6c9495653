#include "harness/measure/simulation/checkers_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace convladder {

simulated::CheckerSet parse_checkers(const std::string& text) {
  if (text == "all") return simulated::CheckerSet::all();
  simulated::CheckerSet checkers;
  if (text == "none") return checkers;
  for (const std::string& name : split(text, ',')) {
    const auto word = [](const auto& one) { return std::string(one.first); };
    const auto found = std::ranges::find(simulated::kCheckerWords, name, word);
    if (found == simulated::kCheckerWords.end()) {
      std::vector<std::string> names = {"all", "none"};
      for (const auto& [one, member] : simulated::kCheckerWords) names.emplace_back(one);
      throw UserError(fmt::format("--checkers {}: {}", text, unknown_name_message("checker", name, names)));
    }
    checkers.*found->second = true;
  }
  return checkers;
}

std::string checkers_text(const simulated::CheckerSet& checkers) {
  std::string text;
  for (const auto& [word, member] : simulated::kCheckerWords) {
    if (checkers.*member) text += fmt::format("{}{}", text.empty() ? "" : ",", word);
  }
  return text.empty() ? "none" : text;
}

}  // namespace convladder

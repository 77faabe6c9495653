#include "harness/measure/simulation/checkers_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace convladder {

simulated::CheckerSet parse_checkers(const std::string& text) {
  if (text == "all") return simulated::CheckerSet::all();
  simulated::CheckerSet checkers;
  if (text == "none") return checkers;
  const std::vector<std::pair<std::string, bool*>> known = {{"memory", &checkers.memory},
                                                            {"initialization", &checkers.initialization},
                                                            {"race", &checkers.race},
                                                            {"synchronization", &checkers.synchronization}};
  for (const std::string& name : split(text, ',')) {
    const auto found = std::ranges::find(known, name, &std::pair<std::string, bool*>::first);
    if (found == known.end()) {
      std::vector<std::string> names = {"all", "none"};
      for (const auto& [one, unused] : known) names.push_back(one);
      throw UserError(fmt::format("--checkers {}: {}", text, unknown_name_message("checker", name, names)));
    }
    *found->second = true;
  }
  return checkers;
}

std::string checkers_text(const simulated::CheckerSet& checkers) {
  std::string text;
  for (const auto& [name, is_on] :
       {std::pair("memory", checkers.memory), std::pair("initialization", checkers.initialization),
        std::pair("race", checkers.race), std::pair("synchronization", checkers.synchronization)}) {
    if (is_on) text += fmt::format("{}{}", text.empty() ? "" : ",", name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace convladder

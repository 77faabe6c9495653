#include "support/kept_environment.hpp"

#include <unistd.h>

#include <algorithm>

namespace convladder {

std::vector<std::string> kept_environment(std::span<const std::string_view> kept,
                                          const std::map<std::string, std::string>& given) {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_kept = std::ranges::any_of(kept, [&](std::string_view one) {
      return one.ends_with('*') ? name.starts_with(one.substr(0, one.size() - 1)) : name == one;
    });
    if (is_kept && !given.contains(std::string(name))) variables.emplace_back(text);
  }
  for (const auto& [name, value] : given) variables.push_back(name + '=' + value);
  return variables;
}

}  // namespace convladder

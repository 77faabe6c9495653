#include "support/reasons.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "support/text_table.hpp"

namespace convladder {
void Reasons::add(const std::string& reason, const std::string& name) {
  const auto known = std::ranges::find(groups_, reason, &std::pair<std::string, std::vector<std::string>>::first);
  std::vector<std::string>& names =
      known == groups_.end() ? groups_.emplace_back(reason, std::vector<std::string>()).second : known->second;
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::vector<std::string> Reasons::lines(std::size_t most_names) const {
  std::vector<std::string> lines;
  for (const auto& [reason, names] : groups_) {
    const bool all = names.size() <= most_names + 1;  // "and 1 more" is no shorter than a name
    const auto shown = std::span(names).first(all ? names.size() : most_names);
    lines.push_back(fmt::format("{}{}: {}", fmt::join(shown, ", "),
                                all ? "" : fmt::format(" and {} more", names.size() - most_names), reason));
  }
  return lines;
}

std::string Reasons::text(std::size_t most_names) const {
  std::string text;
  for (const std::string& line : lines(most_names)) text += hanging("", line);
  return text;
}

}  // namespace convladder

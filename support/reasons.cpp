#include "support/reasons.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::size_t kNamesOfReason = 4;

}  // namespace

void Reasons::add(const std::string& reason, const std::string& name) {
  const auto known = std::ranges::find(groups_, reason, &std::pair<std::string, std::vector<std::string>>::first);
  std::vector<std::string>& names =
      known == groups_.end() ? groups_.emplace_back(reason, std::vector<std::string>()).second : known->second;
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::vector<std::string> Reasons::lines() const {
  std::vector<std::string> lines;
  for (const auto& [reason, names] : groups_) {
    const bool all = names.size() <= kNamesOfReason + 1;  // "and 1 more" is no shorter than a name
    const auto shown = std::span(names).first(all ? names.size() : kNamesOfReason);
    lines.push_back(fmt::format("{}{}: {}", fmt::join(shown, ", "),
                                all ? "" : fmt::format(" and {} more", names.size() - kNamesOfReason), reason));
  }
  return lines;
}

std::string Reasons::text() const {
  std::string text;
  for (const std::string& line : lines()) text += hanging("", line);
  return text;
}

}  // namespace convladder

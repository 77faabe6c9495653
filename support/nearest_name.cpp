#include "support/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostNames = 8;     // up to so many are all listed
constexpr std::size_t kNearestNames = 5;  // otherwise so many are listed

/// Levenshtein's distance: insertions, deletions and substitutions of characters.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names) {
  std::set<std::string> seen;
  std::erase_if(names, [&seen](const std::string& name) { return !seen.insert(name).second; });
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return edit_distance(wanted, name); });
  return names;
}

std::string unknown_name_message(std::string_view what, std::string_view wanted, std::vector<std::string> names) {
  std::vector<std::string> nearest = nearest_names(wanted, std::move(names));
  const std::size_t all = nearest.size();
  if (all > kMostNames) nearest.resize(kNearestNames);
  return fmt::format("unknown {} '{}'; known: {}{}", what, wanted, fmt::join(nearest, ", "),
                     all > kMostNames ? fmt::format(" and {} more", all - kNearestNames) : "");
}

void require_known(std::string_view what, std::string_view wanted, const std::vector<std::string>& names,
                   std::string_view before) {
  if (std::ranges::find(names, wanted) == names.end()) {
    throw UserError(fmt::format("{}{}", before, unknown_name_message(what, wanted, names)));
  }
}

void require_known(std::string_view what, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& names) {
  for (const std::string& one : wanted) require_known(what, one, names);
}

}  // namespace convladder

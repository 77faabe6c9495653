// Messages for unknown names, with the known ones, nearest first: "unknown variant 'shared-memroy'; known:
// shared-memory, …".
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The names, nearest to `wanted` first by edit distance; equal distances keep their order.
std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names);

/// "unknown <what> '<wanted>'; known: <names, nearest first>"; if there are more than eight names, the nearest five
/// "and 40 more".
std::string unknown_name_message(std::string_view what, std::string_view wanted, std::vector<std::string> names);

/// Throws UserError with `unknown_name_message`, after `before`, unless `wanted` is one of the names.
void require_known(std::string_view what, std::string_view wanted, const std::vector<std::string>& names,
                   std::string_view before = "");
/// Throws UserError with `unknown_name_message` for the first wanted name that is not known.
void require_known(std::string_view what, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& names);

template <class Range, class Name>
std::vector<std::string> names_of(const Range& all, Name name) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(std::ranges::distance(all)));
  for (const auto& one : all) names.emplace_back(std::invoke(name, one));
  return names;
}

/// The element whose `name` is wanted. Throws UserError with `unknown_name_message`.
template <class Range, class Name>
const auto& find_known(std::string_view what, std::string_view wanted, const Range& all, Name name,
                       std::string_view before = "") {
  const auto found = std::ranges::find(all, wanted, name);
  if (found == std::ranges::end(all)) require_known(what, wanted, names_of(all, name), before);
  return *found;
}

}  // namespace convladder

#include "support/short_names.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace convladder {
namespace {

constexpr const char* kLeftOut = "…";
constexpr std::size_t kMostOfArgument = 40;

/// A name around its first list of template arguments.
struct Parts {
  std::string before;  ///< "gemm"
  std::vector<std::string> arguments;
  std::string behind;  ///< "(float*)"

  bool operator==(const Parts&) const = default;
};

Parts parts_of(std::string_view name) {
  Parts parts;
  const std::size_t open = name.find('<');
  if (open == std::string_view::npos || name.substr(0, open).ends_with("operator")) return {std::string(name), {}, ""};
  parts.before = name.substr(0, open);
  std::string brackets;  // that are open
  std::size_t begin = open + 1;
  for (std::size_t i = open; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '{' || c == '[') brackets += c;
    const std::size_t which = std::string_view(">)}]").find(c);
    if (which != std::string_view::npos && brackets.back() == "<({["[which]) brackets.pop_back();
    const bool is_end = brackets.empty();
    if (!is_end && !(brackets.size() == 1 && c == ',')) continue;
    parts.arguments.emplace_back(name.substr(begin, i - begin));
    begin = i + (is_end || i + 1 >= name.size() || name[i + 1] != ' ' ? 1 : 2);
    if (!is_end) continue;
    parts.behind = name.substr(i + 1);
    return parts;
  }
  return {std::string(name), {}, ""};  // brackets that do not match
}

std::string text_of(const Parts& parts) {
  std::string text = parts.before + '<';
  std::string last;
  for (const std::string& argument : parts.arguments) {
    if (argument.empty() || (argument == kLeftOut && last == kLeftOut)) continue;
    text += (last.empty() ? "" : ", ") + argument;
    last = argument;
  }
  return text + '>' + parts.behind;
}

/// The name with as many of its namespaces: of "a::b::Policy<…>" with 1 "b::Policy<…>".
std::string with_namespaces(const std::string& name, std::size_t count) {
  const std::string_view before = std::string_view(name).substr(0, name.find_first_of("<({"));
  std::size_t begin = before.size();
  for (std::size_t i = 0; i <= count && begin != std::string_view::npos && begin > 0; ++i) {
    begin = before.rfind("::", begin - 1);
  }
  return begin == std::string_view::npos || begin == 0 ? name : name.substr(begin + 2);
}

/// The names, which differ, each with the fewest namespaces that tell it from the others.
std::vector<std::string> with_few_namespaces(const std::vector<std::string>& names) {
  std::vector<std::string> shorter = names;
  constexpr std::size_t kMostNamespaces = 8;
  for (std::size_t count = kMostNamespaces + 1; count-- > 0;) {
    std::vector<std::string> fewer;
    for (const std::string& name : names) fewer.push_back(with_namespaces(name, count));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::ranges::count(fewer, fewer[i]) == 1) shorter[i] = fewer[i];
    }
  }
  return shorter;
}

std::size_t count_different(const std::vector<std::string>& names) {
  return std::set(names.begin(), names.end()).size();
}

std::vector<std::string> cut(const std::vector<std::string>& names);

/// Names of several templates: those of one template are cut among themselves.
std::vector<std::string> cut_apart(const std::vector<std::string>& names, const std::vector<Parts>& parts) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> of_template;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!parts[i].arguments.empty()) of_template[{parts[i].before, parts[i].behind}].push_back(i);
  }
  std::vector<std::string> shorter = names;
  for (const auto& [one, places] : of_template) {
    if (places.size() == 1) {
      const std::size_t place = places.front();
      if (names[place].size() > kMostOfArgument) shorter[place] = parts[place].before + "<…>" + parts[place].behind;
      continue;
    }
    std::vector<std::string> group;
    for (const std::size_t place : places) group.push_back(names[place]);
    const std::vector<std::string> cut_group = cut(group);
    for (std::size_t i = 0; i < places.size(); ++i) shorter[places[i]] = cut_group[i];
  }
  if (count_different(shorter) < names.size()) return names;
  const std::vector<std::string> bare = with_few_namespaces(shorter);
  return count_different(bare) == names.size() ? bare : shorter;
}

/// The names, which differ, without what they have in common, and without what is not needed to tell them apart.
std::vector<std::string> cut(const std::vector<std::string>& names) {
  std::vector<Parts> parts;
  for (const std::string& name : names) parts.push_back(parts_of(name));
  const Parts& first = parts.front();
  const bool are_alike = std::ranges::all_of(parts, [&first](const Parts& one) {
    return one.before == first.before && one.behind == first.behind && !one.arguments.empty();
  });
  if (!are_alike) return cut_apart(names, parts);
  std::size_t most = 0;
  for (const Parts& one : parts) most = std::max(most, one.arguments.size());
  for (Parts& one : parts) one.arguments.resize(most);  // an empty argument is one that is not there
  std::vector<std::string> told_apart(names.size());    // what is shown of each so far
  for (std::size_t at = 0; at < most; ++at) {
    std::vector<std::string> different;  // arguments at this place
    std::vector<std::string> with_this = told_apart;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string& argument = parts[i].arguments[at];
      if (std::ranges::find(different, argument) == different.end()) different.push_back(argument);
      with_this[i] += argument + '\n';
    }
    const bool is_needed = count_different(with_this) > count_different(told_apart);
    const std::vector<std::string> shown = is_needed ? cut(different) : std::vector<std::string>();
    for (Parts& one : parts) {
      const auto place = std::ranges::find(different, one.arguments[at]) - different.begin();
      if (one.arguments[at].empty()) continue;
      one.arguments[at] = is_needed ? shown[static_cast<std::size_t>(place)] : kLeftOut;
    }
    if (is_needed) told_apart = with_this;
  }
  std::vector<std::string> result;
  for (const Parts& one : parts) result.push_back(text_of(one));
  return result;
}

}  // namespace

std::map<std::string, std::string> short_names(const std::set<std::string>& names, std::size_t most) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const std::string& name : names) {
    const Parts parts = parts_of(name);
    if (!parts.arguments.empty()) groups[{parts.before, parts.behind}].push_back(name);
  }
  std::map<std::string, std::string> shorter;
  std::set<std::string> used = names;
  for (const auto& [of, group] : groups) {
    const std::vector<std::string> cut_names = cut(group);
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i].size() > most && used.insert(cut_names[i]).second) shorter[group[i]] = cut_names[i];
    }
  }
  return shorter;
}

}  // namespace convladder

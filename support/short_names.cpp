#include "support/short_names.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
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
    if (argument == kLeftOut && last == kLeftOut) continue;
    text += (last.empty() ? "" : ", ") + argument;
    last = argument;
  }
  return text + '>' + parts.behind;
}

bool are_different(const std::vector<std::string>& names) {
  return std::set(names.begin(), names.end()).size() == names.size();
}

/// The names, which differ, without what they have in common.
std::vector<std::string> cut(const std::vector<std::string>& names) {
  std::vector<Parts> parts;
  for (const std::string& name : names) parts.push_back(parts_of(name));
  const Parts& first = parts.front();
  const bool are_alike = !first.arguments.empty() && std::ranges::all_of(parts, [&first](const Parts& one) {
    return std::tie(one.before, one.behind) == std::tie(first.before, first.behind) &&
           one.arguments.size() == first.arguments.size();
  });
  if (!are_alike) {
    std::vector<std::string> shorter = names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].size() > kMostOfArgument && !parts[i].arguments.empty()) {
        shorter[i] = parts[i].before + "<…>" + parts[i].behind;
      }
    }
    return are_different(shorter) ? shorter : names;
  }
  for (std::size_t at = 0; at < first.arguments.size(); ++at) {
    std::vector<std::string> different;  // arguments at this place
    for (const Parts& one : parts) {
      if (std::ranges::find(different, one.arguments[at]) == different.end()) different.push_back(one.arguments[at]);
    }
    const std::vector<std::string> shown = different.size() == 1 ? std::vector<std::string>{kLeftOut} : cut(different);
    for (Parts& one : parts) {
      const auto place = std::ranges::find(different, one.arguments[at]) - different.begin();
      one.arguments[at] = shown[static_cast<std::size_t>(place)];
    }
  }
  std::vector<std::string> result;
  for (const Parts& one : parts) result.push_back(text_of(one));
  return result;
}

}  // namespace

std::map<std::string, std::string> short_names(const std::set<std::string>& names, std::size_t most) {
  std::map<std::tuple<std::string, std::string, std::size_t>, std::vector<std::string>> groups;
  for (const std::string& name : names) {
    const Parts parts = parts_of(name);
    if (!parts.arguments.empty()) groups[{parts.before, parts.behind, parts.arguments.size()}].push_back(name);
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

// A change of a time as people and programs read it: the texts that `compare` and `duel` share.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/judge/compare/comparison.hpp"
#include "harness/measure/statistics/change_verdict.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {

/// The change in percent, from the logarithm of a ratio.
inline double percent(double logarithm) { return std::expm1(logarithm) * 100; }

/// A time as text: "1.23 ms"; empty for none.
inline std::string time_or_blank(const std::optional<double>& nanoseconds) {
  return nanoseconds ? time_text(*nanoseconds) : std::string();
}

/// A change as text, in percent: "+3.1", and "+1.2 to +4.9"; empty for none.
inline std::string change_text(const std::optional<ChangeBounds>& change) {
  return change ? fmt::format("{:+.1f}", percent(change->estimate)) : std::string();
}
inline std::string bounds_text(const std::optional<ChangeBounds>& change) {
  return change ? fmt::format("{:+.1f} to {:+.1f}", percent(change->low), percent(change->high)) : std::string();
}

/// The ids of cases grouped by the reason given for them, in the order in which the reasons first appear.
using IdsByReason = std::vector<std::pair<std::string, std::vector<std::string>>>;
inline void add_id(IdsByReason& all, const std::string& reason, const std::string& id) {
  auto same = std::ranges::find(all, reason, &IdsByReason::value_type::first);
  if (same == all.end()) same = all.insert(same, {reason, {}});
  same->second.push_back(id);
}

/// A section of the text: a verdict, and the cases with it. More than `most_listed` are only counted, with the first
/// one named.
inline std::string verdict_section(CaseVerdict verdict, const IdsByReason& all, std::size_t most_listed) {
  std::string text;
  for (const auto& [reason, ids] : all) {
    text += indented(ids.size() > most_listed ? fmt::format("{} cases, the first {}", ids.size(), ids.front())
                                              : fmt::format("{}", fmt::join(ids, " ")),
                     2);
    if (!reason.empty()) text += indented(reason, 6);
  }
  return text.empty() ? text : fmt::format("\n{}\n{}", case_verdict_name(verdict), text);
}

/// The number of cases with each verdict: "3 pass, 1 regressed".
template <class Result>
std::string counts_text(const Result& result) {
  std::vector<std::string> counts;
  for (const CaseVerdict verdict : kAllVerdicts) {
    const int count = result.count(verdict);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, case_verdict_name(verdict)));
  }
  return counts.empty() ? "no cases" : fmt::format("{}", fmt::join(counts, ", "));
}
template <class Result>
nlohmann::ordered_json counts_json(const Result& result) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const CaseVerdict verdict : kAllVerdicts)
    counts[std::string(case_verdict_name(verdict))] = result.count(verdict);
  return counts;
}

/// The cases that `keep` accepts, one `group` after the other, in the order in which groups first appear.
template <class Case, class Keep>
std::vector<std::vector<const Case*>> by_group(const std::vector<Case>& cases, const Keep& keep) {
  std::vector<std::vector<const Case*>> groups;
  std::map<std::string, std::size_t> index;
  for (const Case& one : cases) {
    if (!keep(one)) continue;
    const auto [place, added] = index.emplace(one.group, groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(&one);
  }
  return groups;
}

/// A program as text: "FILE: commit 0123456789ab and changes".
inline std::string program_text(const std::string& file, const std::string& commit, bool dirty) {
  return fmt::format("{}: commit {}{}", printable(file), commit.substr(0, 12), dirty ? " and changes" : "");
}

/// A change as {"estimate", "low", "high"} in fractions of the base: 0.1 is 10 % more. Null for none, and for a bound
/// that is not finite.
inline nlohmann::ordered_json change_json(const std::optional<ChangeBounds>& change) {
  if (!change) return nullptr;
  const auto part = [](double logarithm) {
    return std::isfinite(logarithm) ? nlohmann::ordered_json(std::expm1(logarithm)) : nlohmann::ordered_json();
  };
  return {{"estimate", part(change->estimate)}, {"low", part(change->low)}, {"high", part(change->high)}};
}

}  // namespace convladder

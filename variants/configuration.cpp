#include "variants/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

namespace convladder {
namespace {

Parameter parse_parameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view number = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  int value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (equals == 0 || number.empty() || error != std::errc() || end != number.data() + number.size()) {
    throw std::invalid_argument(fmt::format("expected NAME=NUMBER, got '{}'", text));
  }
  return {std::string(text.substr(0, equals)), value};
}

std::string known_names(std::span<const Configuration> all) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : all.front().parameters()) names.push_back(parameter.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Configuration Configuration::parse(std::string_view text) {
  Configuration result;
  while (true) {
    const std::size_t comma = text.find(',');
    Parameter parameter = parse_parameter(text.substr(0, comma));
    if (result.value(parameter.name)) throw std::invalid_argument(fmt::format("'{}' occurs twice", parameter.name));
    result.parameters_.push_back(std::move(parameter));
    if (comma == std::string_view::npos) return result;
    text.remove_prefix(comma + 1);
  }
}

std::optional<int> Configuration::value(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? std::nullopt : std::optional(found->value);
}

bool Configuration::agrees_with(const Configuration& complete) const {
  return std::ranges::all_of(parameters_, [&](const Parameter& one) { return complete.value(one.name) == one.value; });
}

Configuration Configuration::without(std::string_view name) const {
  Configuration result = *this;
  std::erase_if(result.parameters_, [&](const Parameter& one) { return one.name == name; });
  return result;
}

Configuration Configuration::with(const Configuration& others) const {
  Configuration result = *this;
  for (const Parameter& other : others.parameters_) {
    const auto own = std::ranges::find(result.parameters_, other.name, &Parameter::name);
    if (own == result.parameters_.end()) {
      result.parameters_.push_back(other);
    } else {
      own->value = other.value;
    }
  }
  return result;
}

std::string Configuration::text() const {
  std::vector<std::string> parts;
  for (const Parameter& parameter : parameters_) parts.push_back(fmt::format("{}={}", parameter.name, parameter.value));
  return fmt::format("{}", fmt::join(parts, ","));
}

const char* chosen_by_text(ChosenBy chosen_by) {
  if (chosen_by == ChosenBy::table) return ", from the table";
  return chosen_by == ChosenBy::request ? ", as asked for" : ", by the model";
}

std::vector<Configuration> candidates_of(const std::vector<Configuration>& all, const Configuration& wanted, int most) {
  std::vector<Configuration> taken;
  for (const Configuration& one : all) {
    if (taken.size() == static_cast<std::size_t>(most)) break;
    if (wanted.agrees_with(one) && std::ranges::find(taken, one) == taken.end()) taken.push_back(one);
  }
  return taken;
}

std::string impossible_configuration(const Configuration& wanted, std::span<const Configuration> all,
                                     std::string_view for_what) {
  if (all.empty()) return fmt::format("{} has no parameters to choose", for_what);
  std::vector<const Configuration*> left;
  for (const Configuration& one : all) left.push_back(&one);
  std::string before;
  for (const Parameter& parameter : wanted.parameters()) {
    if (!all.front().value(parameter.name)) {
      return fmt::format("unknown parameter '{}'; known: {}", parameter.name, known_names(all));
    }
    std::set<int> possible;
    for (const Configuration* const one : left) possible.insert(*one->value(parameter.name));
    if (!possible.contains(parameter.value)) {
      return fmt::format("{}={} is not possible for {}{}; possible: {}", parameter.name, parameter.value, for_what,
                         before.empty() ? "" : fmt::format(" with {}", before), fmt::join(possible, ", "));
    }
    std::erase_if(left, [&](const Configuration* one) { return one->value(parameter.name) != parameter.value; });
    before += fmt::format("{}{}={}", before.empty() ? "" : ",", parameter.name, parameter.value);
  }
  return {};
}

}  // namespace convladder

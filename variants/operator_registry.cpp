#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "variants/layer_operator.hpp"

namespace convladder {
namespace {

struct Entry {
  OperatorInfo info;
  std::unique_ptr<LayerOperator> implementation;
};

// A function-local static: registrars run before main in no particular order of files.
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

std::vector<RegisteredOperator> sorted_and_checked() {
  std::vector<RegisteredOperator> operators;
  for (const Entry& entry : entries()) operators.push_back({entry.info, entry.implementation.get()});
  const auto key = [](const RegisteredOperator& registered) {
    const OperatorInfo& info = registered.info;
    return std::tuple(info.family, info.type, info.library, info.name);
  };
  std::ranges::sort(operators, {}, key);
  for (const RegisteredOperator& a : operators) {
    for (const RegisteredOperator& b : operators) {
      if (a.implementation == b.implementation || a.info.family != b.info.family || a.info.type != b.info.type)
        continue;
      if (a.info.name == b.info.name || (a.info.preferred && b.info.preferred)) {
        throw std::logic_error(
            fmt::format("{} operators '{}' and '{}' of family {} have the same name or are both preferred",
                        operator_type_name(a.info.type), a.info.name, b.info.name, a.info.family));
      }
    }
  }
  return operators;
}

}  // namespace

const std::vector<RegisteredOperator>& registered_operators() {
  static const std::vector<RegisteredOperator> operators = sorted_and_checked();
  return operators;
}

const RegisteredOperator& default_operator(std::string_view family, OperatorType type) {
  const RegisteredOperator* first = nullptr;
  for (const RegisteredOperator& registered : registered_operators()) {
    if (registered.info.family != family || registered.info.type != type) continue;
    if (registered.info.preferred) return registered;
    if (first == nullptr) first = &registered;
  }
  if (first == nullptr) {
    throw std::logic_error(fmt::format("this build has no {} operator of family {}", operator_type_name(type), family));
  }
  return *first;
}

const RegisteredOperator* find_operator(std::string_view family, OperatorType type, std::string_view name) {
  for (const RegisteredOperator& registered : registered_operators()) {
    const OperatorInfo& info = registered.info;
    if (info.family == family && info.type == type && info.name == name) return &registered;
  }
  return nullptr;
}

OperatorRegistration::OperatorRegistration(const OperatorInfo& info, std::unique_ptr<LayerOperator> implementation) {
  entries().push_back({info, std::move(implementation)});
}

}  // namespace convladder

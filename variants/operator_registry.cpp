#include <fmt/format.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "support/registry.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {
namespace {

void check_operators(const std::vector<RegisteredOperator>& operators) {
  for (const RegisteredOperator& a : operators) {
    for (const RegisteredOperator& b : operators) {
      const bool alike = a.info.family == b.info.family && a.info.type == b.info.type;
      if (a.implementation == b.implementation || !alike || !a.info.preferred || !b.info.preferred) continue;
      throw std::logic_error(fmt::format("{} operators '{}' and '{}' of family {} are both preferred",
                                         operator_type_name(a.info.type), a.info.name, b.info.name, a.info.family));
    }
  }
}

auto place_in_order(const OperatorInfo& info) { return std::tuple(info.family, info.type, info.library, info.name); }

using Operators = Registry<RegisteredOperator>;

Operators& operators() {
  static Operators all(
      {.before = [](const RegisteredOperator& a,
                    const RegisteredOperator& b) { return place_in_order(a.info) < place_in_order(b.info); },
       .identity =
           [](const RegisteredOperator& one) {
             return fmt::format("{} operator '{}' of family {}", operator_type_name(one.info.type), one.info.name,
                                one.info.family);
           },
       .check = check_operators});
  return all;
}

}  // namespace

const std::vector<RegisteredOperator>& registered_operators() { return operators().all(); }

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
  return operators().find([&](const RegisteredOperator& one) {
    return one.info.family == family && one.info.type == type && one.info.name == name;
  });
}

OperatorRegistration::OperatorRegistration(const OperatorInfo& info, const LayerOperator& implementation) {
  operators().add({info, &implementation});
}

const LayerOperator& keep_operator(std::unique_ptr<const LayerOperator> implementation) {
  static std::vector<std::unique_ptr<const LayerOperator>> kept;
  return *kept.emplace_back(std::move(implementation));
}

}  // namespace convladder

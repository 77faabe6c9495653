#include "support/registry.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <tuple>

#include "variants/fused/fused_variant.hpp"

namespace convladder {
namespace {

void check(const std::vector<RegisteredFused>& variants) {
  for (const RegisteredFused& one : variants) {
    const VariantInfo& info = one.info;
    if (find_variant(info.family, info.name) != nullptr) {
      throw std::logic_error(fmt::format("there are two: variant '{}' of family {}", info.name, info.family));
    }
    if (info.rung) {
      throw std::logic_error(
          fmt::format("the fused variant '{}' has a rung, but fused variants are not on a ladder", info.name));
    }
    if (find_variant(info.family, info.builds_on) == nullptr) {
      throw std::logic_error(fmt::format("the fused variant '{}' builds on '{}', which is not a variant of family {}",
                                         info.name, info.builds_on, info.family));
    }
  }
}

auto place_in_order(const VariantInfo& info) { return std::tuple(info.family, info.name); }

using FusedVariants = Registry<RegisteredFused>;

FusedVariants& variants() {
  static FusedVariants all(
      {.before = [](const RegisteredFused& a,
                    const RegisteredFused& b) { return place_in_order(a.info) < place_in_order(b.info); },
       .identity =
           [](const RegisteredFused& one) {
             return fmt::format("variant '{}' of family {}", one.info.name, one.info.family);
           },
       .check = check});
  return all;
}

}  // namespace

const std::vector<RegisteredFused>& registered_fused_variants() { return variants().all(); }

const RegisteredFused* find_fused_variant(std::string_view family, std::string_view name) {
  return variants().find(
      [&](const RegisteredFused& one) { return one.info.family == family && one.info.name == name; });
}

FusedRegistration::FusedRegistration(const VariantInfo& info, std::unique_ptr<FusedVariant> variant) {
  const FusedVariant* const itself = variant.get();
  variants().add({info, itself}, std::move(variant));
}

}  // namespace convladder

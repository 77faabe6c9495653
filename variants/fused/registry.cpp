#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "variants/fused/fused_variant.hpp"

namespace convladder {
namespace {

struct Entry {
  VariantInfo info;
  std::unique_ptr<FusedVariant> variant;
};

// A function-local static: registrars run before main in no particular order of files.
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

std::vector<RegisteredFused> sorted_and_checked() {
  std::vector<RegisteredFused> variants;
  for (const Entry& entry : entries()) variants.push_back({entry.info, entry.variant.get()});
  std::ranges::sort(variants, {},
                    [](const RegisteredFused& one) { return std::tuple(one.info.family, one.info.name); });
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const VariantInfo& info = variants[i].info;
    const bool repeated = i > 0 && variants[i - 1].info.family == info.family && variants[i - 1].info.name == info.name;
    if (repeated || find_variant(info.family, info.name) != nullptr) {
      throw std::logic_error(fmt::format("two variants of family {} are called '{}'", info.family, info.name));
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
  return variants;
}

}  // namespace

const std::vector<RegisteredFused>& registered_fused_variants() {
  static const std::vector<RegisteredFused> variants = sorted_and_checked();
  return variants;
}

const RegisteredFused* find_fused_variant(std::string_view family, std::string_view name) {
  for (const RegisteredFused& registered : registered_fused_variants()) {
    if (registered.info.family == family && registered.info.name == name) return &registered;
  }
  return nullptr;
}

FusedRegistration::FusedRegistration(const VariantInfo& info, std::unique_ptr<FusedVariant> variant) {
  entries().push_back({info, std::move(variant)});
}

}  // namespace convladder

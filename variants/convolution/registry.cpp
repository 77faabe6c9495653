#include "variants/convolution/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "variants/convolution/tuned_variant.hpp"

namespace convladder {
namespace {

struct Entry {
  VariantInfo info;
  std::unique_ptr<ConvVariant> variant;
  std::unique_ptr<ConvVariant> tuned;  ///< null without a tuning table
};

// A function-local static: registrars run before main in no particular order of files.
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

std::vector<RegisteredVariant> sorted_and_checked() {
  std::vector<RegisteredVariant> variants;
  for (Entry& entry : entries()) {
    const TuningTable* const table = tuning_table(entry.info.family, entry.info.name);
    if (table != nullptr) entry.tuned = tuned_variant(*entry.variant, *table);
    variants.push_back({entry.info, entry.tuned ? entry.tuned.get() : entry.variant.get()});
  }
  const auto ladder_order = [](const RegisteredVariant& registered) {
    const VariantInfo& info = registered.info;
    return std::tuple(info.family, !info.leaves_out.empty(), info.rung.value_or(std::numeric_limits<int>::max()),
                      info.name);
  };
  std::ranges::sort(variants, {}, ladder_order);

  for (const RegisteredVariant& a : variants) {
    bool found_base = a.info.builds_on.empty();
    for (const RegisteredVariant& b : variants) {
      if (a.info.family != b.info.family) continue;
      found_base = found_base || b.info.name == a.info.builds_on;
      if (a.variant == b.variant) continue;
      if (a.info.name == b.info.name || (a.info.rung && a.info.rung == b.info.rung)) {
        throw std::logic_error(fmt::format("variants '{}' and '{}' of family {} share a name or a rung", a.info.name,
                                           b.info.name, a.info.family));
      }
    }
    const bool has_stage_below = std::ranges::any_of(variants, [&a](const RegisteredVariant& b) {
      return b.info.family == a.info.family && b.info.name == a.info.builds_on && b.info.rung;
    });
    if (!a.info.leaves_out.empty() && (a.info.rung || !has_stage_below)) {
      throw std::logic_error(
          fmt::format("variant '{}' of family {} leaves an idea out, so it needs a stage to build on and "
                      "no rung of its own",
                      a.info.name, a.info.family));
    }
    if (!found_base) {
      throw std::logic_error(fmt::format("variant '{}' builds on '{}', which is not a variant of family {}",
                                         a.info.name, a.info.builds_on, a.info.family));
    }
  }
  return variants;
}

}  // namespace

const std::vector<RegisteredVariant>& registered_variants() {
  static const std::vector<RegisteredVariant> variants = sorted_and_checked();
  return variants;
}

const RegisteredVariant* find_variant(std::string_view family, std::string_view name) {
  for (const RegisteredVariant& registered : registered_variants()) {
    if (registered.info.family == family && registered.info.name == name) return &registered;
  }
  return nullptr;
}

VariantRegistration::VariantRegistration(const VariantInfo& info, std::unique_ptr<ConvVariant> variant) {
  entries().push_back({info, std::move(variant), nullptr});
}

}  // namespace convladder

#include "variants/convolution/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "support/registry.hpp"
#include "variants/convolution/tuned_variant.hpp"

namespace convladder {
namespace {

auto place_in_order(const VariantInfo& info) {
  return std::tuple(info.family, !info.leaves_out.empty(), info.rung.value_or(std::numeric_limits<int>::max()),
                    info.name);
}

void take_tuning_table(RegisteredVariant& registered) {
  static std::vector<std::unique_ptr<ConvVariant>> tuned;
  const TuningTable* const table = tuning_table(registered.info.family, registered.info.name);
  if (table == nullptr) return;
  tuned.push_back(tuned_variant(*registered.variant, *table));
  registered.variant = tuned.back().get();
}

void check(const std::vector<RegisteredVariant>& variants) {
  for (const RegisteredVariant& a : variants) {
    const auto named = [&](std::string_view name) {
      return std::ranges::find_if(
          variants, [&](const RegisteredVariant& b) { return b.info.family == a.info.family && b.info.name == name; });
    };
    for (const RegisteredVariant& b : variants) {
      if (a.variant == b.variant || a.info.family != b.info.family || !a.info.rung || a.info.rung != b.info.rung) {
        continue;
      }
      throw std::logic_error(
          fmt::format("variants '{}' and '{}' of family {} share a rung", a.info.name, b.info.name, a.info.family));
    }
    const auto base = named(a.info.builds_on);
    const bool has_stage_below = base != variants.end() && base->info.rung;
    if (!a.info.leaves_out.empty() && (a.info.rung || !has_stage_below)) {
      throw std::logic_error(
          fmt::format("variant '{}' of family {} leaves an idea out, so it needs a stage to build on and "
                      "no rung of its own",
                      a.info.name, a.info.family));
    }
    if (!a.info.builds_on.empty() && base == variants.end()) {
      throw std::logic_error(fmt::format("variant '{}' builds on '{}', which is not a variant of family {}",
                                         a.info.name, a.info.builds_on, a.info.family));
    }
  }
}

using Variants = Registry<RegisteredVariant>;

Variants& variants() {
  static Variants all(
      {.complete = take_tuning_table,
       .before = [](const RegisteredVariant& a,
                    const RegisteredVariant& b) { return place_in_order(a.info) < place_in_order(b.info); },
       .identity =
           [](const RegisteredVariant& one) {
             return fmt::format("variant '{}' of family {}", one.info.name, one.info.family);
           },
       .check = check});
  return all;
}

}  // namespace

const std::vector<RegisteredVariant>& registered_variants() { return variants().all(); }

const RegisteredVariant* find_variant(std::string_view family, std::string_view name) {
  return variants().find(
      [&](const RegisteredVariant& one) { return one.info.family == family && one.info.name == name; });
}

VariantRegistration::VariantRegistration(const VariantInfo& info, const ConvVariant& variant) {
  variants().add({info, &variant});
}

const ConvVariant& keep_variant(std::unique_ptr<const ConvVariant> variant) {
  static std::vector<std::unique_ptr<const ConvVariant>> kept;
  return *kept.emplace_back(std::move(variant));
}

}  // namespace convladder

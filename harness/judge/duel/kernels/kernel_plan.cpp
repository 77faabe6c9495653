// The cases of a duel between kernels, and those that only one of its sides has.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "devices/device_registry.hpp"
#include "harness/judge/duel/kernels/kernel_duel.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr const char* kCounted =
    "the simulated device counts and has no clock, so there is no time to compare ('convladder baseline check' "
    "compares its counters, exactly)";

/// Sets the verdict and the reason of a pair that cannot be measured.
void settle(KernelPair& pair, const OtherProgram& base, const OtherProgram& now) {
  for (const PlannedCase* const one : {&pair.base, &pair.now}) {
    if (!pair.runs() || one->runs()) continue;
    pair.verdict = CaseVerdict::skipped;
    pair.reason = why_not_run(*one).reason;
  }
  if (!pair.runs() || pair.now.variant.variant->compiled_stage() != nullptr) return;  // stages are in no build
  const bool in_base = base.has(pair.base.variant);
  const bool in_new = now.has(pair.now.variant);
  if (!in_base && !in_new) {
    pair.verdict = CaseVerdict::skipped;
    pair.reason = "neither build has this variant";
  } else if (!in_new) {
    pair.verdict = CaseVerdict::missing;
    pair.reason = "the new build does not have this variant";
  } else if (!in_base) {
    pair.verdict = CaseVerdict::added;
    pair.reason = "the base does not have this variant";
  }
}

/// The variant's case in the group; null if the variant is of another family.
const PlannedCase* case_of(const CaseGroup& group, const std::string& variant) {
  const auto found = std::ranges::find_if(
      group.cases, [&variant](const PlannedCase& one) { return one.variant.info.name == variant; });
  return found == group.cases.end() ? nullptr : &*found;
}

/// The case of the other folder's stage on the same size; none if that folder has no such stage.
std::optional<PlannedCase> case_in(const FolderProblem& folder, const PlannedCase& now, std::string_view name) {
  const ProblemVariant* const found = find_variant(folder, now.variant.info.family, name);
  if (found == nullptr) return std::nullopt;
  PlannedCase planned = now;
  planned.variant = *found;
  planned.does_not_compile = found->variant->does_not_compile();
  planned.unsupported = planned.does_not_compile.empty() ? found->variant->unsupported_reason(now.work.shape) : "";
  return planned;
}

/// Pairs the stages of two folders on the same size: by their names, or one against another.
KernelGroup folder_group(const CaseGroup& group, const FolderProblem& base, const std::string& base_variant,
                         const std::string& new_variant) {
  KernelGroup duel{group.work, group.device, {}};
  for (const PlannedCase& one : group.cases) {
    const std::string name(one.variant.info.name);
    const std::string of_base = base_variant.empty() ? name : base_variant;
    if (!new_variant.empty() && name != new_variant) continue;
    const std::optional<PlannedCase> other = case_in(base, one, of_base);
    duel.pairs.push_back({one.id, of_base, name, other.value_or(one), one,
                          other ? CaseVerdict::inconclusive : CaseVerdict::added,
                          other ? "" : "the base does not have this stage"});
  }
  if (!new_variant.empty()) return duel;
  for (const ProblemVariant& one : base.variants()) {
    const ProblemVariant& any = group.cases.front().variant;
    const Problem& problem = *group.work.shape.problem;
    if (one.info.family != any.info.family || find_variant(problem, one.info.family, one.info.name) != nullptr)
      continue;
    const std::string name(one.info.name);
    duel.pairs.push_back({fmt::format("{}/{}/{}/{}", group.device, name, group.work.name(), group.work.shape.batch),
                          name, name, group.cases.front(), group.cases.front(), CaseVerdict::missing,
                          "the new folder does not have this stage"});
  }
  return duel;
}

/// Adds the cases that the base has but neither the new build nor this program: they are reported as missing.
void add_lost(KernelGroup& duel, const CaseGroup& group, const RunOptions& options, const OtherProgram& base,
              const OtherProgram& now) {
  if (!options.variants.empty() || !options.case_filter.empty() || !group.work.shape.problem->is_default()) return;
  const std::string family(find_device_kind(group.device).family);
  for (const std::string& name : base.variants) {
    const std::string variant = name.substr(name.find('/') + 1);
    if (!name.starts_with(family + "/") || now.has(family, variant)) continue;
    if (find_variant(*group.work.shape.problem, family, variant) != nullptr) continue;  // it is among the cases already
    KernelPair pair{fmt::format("{}/{}/{}/{}", group.device, variant, group.work.name(), group.work.shape.batch),
                    variant,
                    variant,
                    group.cases.front(),
                    group.cases.front(),
                    CaseVerdict::missing,
                    "the new build does not have this variant"};
    duel.pairs.push_back(std::move(pair));
  }
}

}  // namespace

std::vector<KernelGroup> plan_kernel_duel(const RunOptions& all_options, const OtherProgram& base,
                                          const OtherProgram& now, const std::string& base_variant,
                                          const std::string& new_variant, const FolderProblem* base_folder) {
  RunOptions options = all_options;
  const bool of_variants = !base_variant.empty();
  if (of_variants) options.variants = {base_variant, new_variant};
  if (of_variants && base_folder != nullptr) options.variants = {new_variant};
  for (const std::string& device : options.devices) {
    if (std::ranges::any_of(device_kinds(), [&](const DeviceKind& k) { return k.name == device && !k.has_clock; })) {
      throw UserError(fmt::format("--device {}: {}", device, kCounted));
    }
  }
  std::vector<KernelGroup> groups;
  for (CaseGroup& group : make_plan(options)) {
    if (!group.has_clock) continue;
    for (PlannedCase& one : group.cases) {
      if (one.runs() && !one.untimed.empty()) one.unsupported = "not timed: " + one.untimed;
    }
    if (base_folder != nullptr) {
      groups.push_back(folder_group(group, *base_folder, base_variant, new_variant));
      for (KernelPair& pair : groups.back().pairs) settle(pair, base, now);
      continue;
    }
    KernelGroup duel{group.work, group.device, {}};
    if (of_variants) {
      const PlannedCase* const a = case_of(group, base_variant);
      const PlannedCase* const b = case_of(group, new_variant);
      if (a == nullptr || b == nullptr) continue;
      duel.pairs.push_back({fmt::format("{}/{}..{}/{}/{}", group.device, base_variant, new_variant, group.work.name(),
                                        group.work.shape.batch),
                            base_variant, new_variant, *a, *b, CaseVerdict::inconclusive, ""});
    } else {
      for (const PlannedCase& one : group.cases) {
        const std::string variant(one.variant.info.name);
        duel.pairs.push_back({one.id, variant, variant, one, one, CaseVerdict::inconclusive, ""});
      }
    }
    for (KernelPair& pair : duel.pairs) settle(pair, base, now);
    if (!of_variants) add_lost(duel, group, options, base, now);
    groups.push_back(std::move(duel));
  }
  if (groups.empty() && of_variants) {
    throw UserError(fmt::format("no case has both '{}' and '{}': they must be of one family, on a device with a clock",
                                base_variant, new_variant));
  }
  if (groups.empty()) throw UserError(kCounted);
  return groups;
}

}  // namespace convladder

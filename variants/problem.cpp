#include "variants/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <tuple>

#include "support/registry.hpp"
#include "variants/tuned_variant.hpp"
#include "variants/tuning_table.hpp"
#include "variants/variant.hpp"

namespace convladder {
namespace {

constexpr int kLargestWhole = 8;  // sums of products of such numbers stay where float32 is exact
constexpr int kLargestInteger = 1000;

std::vector<ProblemTensor> both(std::vector<ProblemTensor> first, const std::vector<ProblemTensor>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The values of a tensor unless the problem says otherwise: whole numbers from low to high, times the step.
struct UsualValues {
  int low = 0;
  int high = 0;
  double step = 1;
};

template <typename T>
UsualValues usual_values(bool whole) {
  if (whole) return {std::is_unsigned_v<T> ? 0 : -kLargestWhole, kLargestWhole};
  if (!std::is_integral_v<T>) return {-(1 << 23), 1 << 23, 0x1p-23};
  if constexpr (sizeof(T) == 1) return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  return {std::is_unsigned_v<T> ? 0 : -kLargestInteger, kLargestInteger};
}

using Problems = Registry<const Problem*>;

Problems& problems() {
  static Problems all({.before = [](const Problem* a, const Problem* b) { return a->name() < b->name(); },
                       .identity = [](const Problem* one) { return fmt::format("problem '{}'", one->name()); }});
  return all;
}

std::set<std::string_view>& kinds_of_problems() {
  static std::set<std::string_view> kinds;
  return kinds;
}

/// A variant with the name of its problem, which may be registered later than the variant.
struct VariantEntry {
  std::string_view problem;
  VariantInfo info;
  const Variant* variant = nullptr;
};

auto place_in_order(const VariantEntry& one) {
  return std::tuple(one.problem, one.info.family, !one.info.leaves_out.empty(),
                    one.info.rung.value_or(std::numeric_limits<int>::max()), one.info.name);
}

bool are_beside(const VariantEntry& a, const VariantEntry& b) {
  return a.problem == b.problem && a.info.family == b.info.family;
}

/// The error in a registration among all of its problem and family; empty if there is none.
std::string registration_error(const VariantEntry& one, const std::vector<VariantEntry>& all) {
  const VariantInfo& info = one.info;
  if (find_problem(one.problem) == nullptr && !kinds_of_problems().contains(one.problem)) {
    return fmt::format("variant '{}' is of '{}', which is not a problem", info.name, one.problem);
  }
  for (const VariantEntry& other : all) {
    if (&other != &one && are_beside(one, other) && info.rung && info.rung == other.info.rung) {
      return fmt::format("variants '{}' and '{}' of {}, family {}, share a rung", info.name, other.info.name,
                         one.problem, info.family);
    }
  }
  const auto base = std::ranges::find_if(
      all, [&](const VariantEntry& other) { return are_beside(one, other) && other.info.name == info.builds_on; });
  if (!info.leaves_out.empty() && (info.rung || base == all.end() || !base->info.rung)) {
    return fmt::format(
        "variant '{}' of family {} leaves an idea out, so it needs a stage to build on and no rung of its own",
        info.name, info.family);
  }
  if (info.builds_on.empty() || base != all.end()) return {};
  return fmt::format("variant '{}' builds on '{}', which is not a variant of {}, family {}", info.name, info.builds_on,
                     one.problem, info.family);
}

void check_variants(const std::vector<VariantEntry>& all) {
  for (const VariantEntry& one : all) {
    if (const std::string error = registration_error(one, all); !error.empty()) throw std::logic_error(error);
  }
}

/// Applies a variant's tuning table. Tables name only the variant; only the convolution has any.
void take_tuning_table(VariantEntry& one) {
  if (one.problem != kDefaultProblem) return;
  const TuningTable* const table = tuning_table(one.info.family, one.info.name);
  if (table != nullptr) one.variant = &keep_variant(tuned_variant(*one.variant, *table));
}

using Variants = Registry<VariantEntry>;

Variants& variants_of_problems() {
  static Variants all(
      {.complete = take_tuning_table,
       .before = [](const VariantEntry& a, const VariantEntry& b) { return place_in_order(a) < place_in_order(b); },
       .identity =
           [](const VariantEntry& one) {
             return fmt::format("variant '{}' of {}, family {}", one.info.name, one.problem, one.info.family);
           },
       .check = check_variants});
  return all;
}

}  // namespace

std::vector<ProblemTensor> Problem::given(const ProblemSize& size) const { return both(inputs(size), in_outs(size)); }
std::vector<ProblemTensor> Problem::results(const ProblemSize& size) const {
  return both(outputs(size), in_outs(size));
}

void Problem::fill(const ProblemSize& /*size*/, const PlacedTensor& placed, SeededRandom& random, bool whole) const {
  with_element_type(placed.tensor.type, [&]<typename T>(T) {
    const UsualValues usual = usual_values<T>(whole);
    T* const values = placed.as<T>();
    for (std::int64_t i = 0; i < placed.tensor.elements; ++i) {
      values[i] = from_double<T>(random.between(usual.low, usual.high) * usual.step);
    }
  });
}

void PlacedTensor::throw_other_type(std::optional<ElementType> asked) const {
  throw std::logic_error(fmt::format("the tensor '{}' is of {}, not of {}", tensor.name, element_name(tensor.type),
                                     asked ? element_name(*asked) : "another type"));
}

double Problem::granted_tolerance(double wanted, const ProblemSize& /*size*/) const {
  return std::min(wanted, kLargestTolerance);
}

std::string Problem::size_text(const ProblemSize& size) const {
  const std::vector<Dimension> all = dimensions();
  if (all.empty()) return std::string(kOnlySize);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].usual != size.values[i]) text += fmt::format("{}{}", all[i].letter, size.values[i]);
  }
  return text;
}

const std::vector<ProblemVariant>& Problem::variants() const {
  static std::mutex lock;
  static std::map<const Problem*, std::vector<ProblemVariant>> known;
  const std::scoped_lock locked(lock);
  const auto [at, is_new] = known.try_emplace(this);
  if (is_new) {
    at->second = variants_of_kind(kind());
    for (ProblemVariant& one : at->second) one.problem = this;
  }
  return at->second;
}

std::vector<ProblemVariant> variants_of_kind(std::string_view kind) {
  std::vector<ProblemVariant> variants;
  for (const VariantEntry& one : variants_of_problems().all()) {
    if (one.problem == kind) variants.push_back({one.info, nullptr, one.variant});
  }
  return variants;
}

const std::vector<const Problem*>& registered_problems() { return problems().all(); }

namespace {

struct OpenedProblems {
  std::mutex lock;
  std::vector<std::unique_ptr<Problem>> all;
};

OpenedProblems& opened_problems() {
  static OpenedProblems opened;
  return opened;
}

}  // namespace

const Problem& open_problem(std::unique_ptr<Problem> problem) {
  OpenedProblems& opened = opened_problems();
  const std::scoped_lock locked(opened.lock);
  return *opened.all.emplace_back(std::move(problem));
}

const Problem& built_in_problem(std::string_view name) {
  const Problem* const* const found = problems().find([name](const Problem* one) { return one->name() == name; });
  if (found == nullptr) throw std::logic_error(fmt::format("{} is not a problem of this program", name));
  return **found;
}

const Problem* find_problem(std::string_view name) {
  {
    OpenedProblems& opened = opened_problems();
    const std::scoped_lock locked(opened.lock);
    const auto last = std::find_if(opened.all.rbegin(), opened.all.rend(),
                                   [name](const std::unique_ptr<Problem>& one) { return one->name() == name; });
    if (last != opened.all.rend()) return last->get();
  }
  const Problem* const* const found = problems().find([name](const Problem* one) { return one->name() == name; });
  return found == nullptr ? nullptr : *found;
}

ProblemRegistration::ProblemRegistration(std::unique_ptr<Problem> problem) {
  const Problem* const itself = problem.get();
  problems().add(itself, std::move(problem));
}

ProblemKindRegistration::ProblemKindRegistration(std::string_view kind) { kinds_of_problems().insert(kind); }

const ProblemVariant* find_variant(const Problem& problem, std::string_view family, std::string_view name) {
  for (const ProblemVariant& one : problem.variants()) {
    if (one.info.family == family && one.info.name == name) return &one;
  }
  return nullptr;
}

const ProblemVariant* default_variant(std::string_view family, const ProblemSize& size) {
  const ProblemVariant* highest = nullptr;
  for (const ProblemVariant& one : size.problem->variants()) {
    const Variant& variant = *one.variant;
    const bool is_stage =
        one.info.family == family && one.info.rung && variant.tolerance() <= size.problem->float32_tolerance();
    if (is_stage && variant.suits(size) && variant.unsupported_reason(size).empty()) highest = &one;
  }
  return highest;
}

VariantRegistration::VariantRegistration(std::string_view problem, const VariantInfo& info, const Variant& variant) {
  variants_of_problems().add({problem, info, &variant});
}

const Variant& keep_variant(std::unique_ptr<const Variant> variant) {
  static std::vector<std::unique_ptr<const Variant>> kept;
  return *kept.emplace_back(std::move(variant));
}

}  // namespace convladder

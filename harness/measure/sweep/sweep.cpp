#include "harness/measure/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/cpu/all_cores.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/records/time_ratio.hpp"
#include "harness/measure/statistics/signed_rank.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

const SweptConfiguration* scored(const std::vector<SweptConfiguration>& results, const Configuration& configuration) {
  const auto found = std::ranges::find(results, configuration, &SweptConfiguration::configuration);
  return found == results.end() || !found->score ? nullptr : &*found;
}

}  // namespace

std::vector<const SweptConfiguration*> Sweep::ranked() const {
  std::vector<const SweptConfiguration*> verified;
  for (const SweptConfiguration& one : results) {
    if (one.score) verified.push_back(&one);
  }
  std::ranges::stable_sort(verified, {}, [](const SweptConfiguration* one) { return one->score->value; });
  return verified;
}

bool Sweep::has_model() const { return planned.variant.variant->compiled_stage() == nullptr; }

const SweptConfiguration* Sweep::default_result() const { return scored(results, found.candidates.front()); }

const SweptConfiguration* Sweep::model_result() const { return scored(results, found.by_model); }

Ratio Sweep::ratio(const SweptConfiguration& one, const SweptConfiguration& other) const {
  const Score& own = *one.score;
  const Score& of_other = *other.score;
  if (&one == &other) return kOverItself;
  if (kind == ScoreKind::counted) return *ratio_by_counts(own.value, of_other.value);
  if (kind == ScoreKind::predicted) return ratio_by_ranges(own.low, own.high, of_other.low, of_other.high);
  if (one.time && other.time) return *ratio_of_times(&*one.time, &*other.time);
  return *ratio_by_medians({.value = own.value, .low = own.low, .high = own.high},
                           {.value = of_other.value, .low = of_other.low, .high = of_other.high});
}

bool Sweep::surely_better(const SweptConfiguration& one, const SweptConfiguration& other) const {
  constexpr double kRounding = 1e-9;
  if (kind == ScoreKind::measured) return ratio(one, other).is_below(1);
  return one.score->value < other.score->value * (1 - kRounding);
}

std::vector<const SweptConfiguration*> Sweep::finalists() const {
  std::vector<const SweptConfiguration*> better;
  const SweptConfiguration* const by_model = model_result();
  if (kind != ScoreKind::measured || by_virtual_clock || by_model == nullptr) return better;
  for (const SweptConfiguration* const one : ranked()) {
    if (better.size() < Finalist::kMost && surely_better(*one, *by_model)) better.push_back(one);
  }
  return better;
}

const SweptConfiguration* Sweep::winner() const {
  const std::vector<const SweptConfiguration*> verified = ranked();
  if (verified.empty()) return nullptr;
  const SweptConfiguration* const by_model = model_result();
  if (finals && by_model != nullptr) {
    const Finalist* best = nullptr;
    for (const Finalist& one : *finals) {
      if (!one.change || !(one.change->high < 0)) continue;
      if (best == nullptr || one.change->estimate < best->change->estimate) best = &one;
    }
    return best == nullptr ? by_model : scored(results, best->configuration);
  }
  if (by_model == nullptr || surely_better(*verified.front(), *by_model)) return verified.front();
  return by_model;
}

std::optional<Sweep> plan_sweep(const PlannedCase& planned, const Configuration& wanted, int most,
                                const std::string& gpu) {
  Sweep sweep;
  sweep.planned = planned;
  sweep.kind = planned.has_clock ? ScoreKind::measured : gpu.empty() ? ScoreKind::counted : ScoreKind::predicted;
  sweep.by_virtual_clock = find_device_kind(planned.device).clock_is_virtual();
  sweep.gpu = sweep.kind == ScoreKind::predicted ? gpu : "";
  try {
    sweep.found = planned.variant.variant->configurations(planned.work.shape, wanted, most);
  } catch (const std::invalid_argument& error) {
    throw UserError(fmt::format("--configuration {}: {}: {}", wanted.text(), planned.variant.info.name, error.what()));
  }
  if (sweep.found.candidates.empty()) return std::nullopt;
  for (const Configuration& one : sweep.found.candidates) sweep.results.push_back({one});
  return sweep;
}

ConfiguredCases configured_cases(const Sweep& sweep) {
  const std::vector<Configuration>& candidates = sweep.found.candidates;
  ConfiguredCases configured;
  configured.variants.resize(candidates.size());
  // Configurations of a folder's stage are compiled by this.
  on_all_cores(candidates.size(), [&](std::size_t i) {
    configured.variants[i] =
        sweep.planned.variant.variant->configured(sweep.planned.work.shape, candidates[i], ChosenBy::request);
  });
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    PlannedCase& planned = configured.cases.emplace_back(sweep.planned);
    planned.variant.variant = configured.variants[i].get();
    planned.does_not_compile = configured.variants[i]->does_not_compile();
    planned.configuration = candidates[i].text();
    planned.id += "/" + planned.configuration;
  }
  return configured;
}

std::vector<Finalist> judged_finalists(const Sweep& sweep, const std::map<std::string, std::vector<double>>& samples) {
  std::vector<Finalist> finalists;
  const auto of_model = samples.find(sweep.found.by_model.text());
  for (const SweptConfiguration* const one : sweep.finalists()) {
    Finalist& finalist = finalists.emplace_back(Finalist{one->configuration});
    const auto own = samples.find(one->configuration.text());
    if (own == samples.end() || of_model == samples.end() || own->second.size() != of_model->second.size()) continue;
    std::vector<double> changes;
    for (std::size_t i = 0; i < own->second.size(); ++i) {
      changes.push_back(std::log(own->second[i] / of_model->second[i]));
    }
    finalist.change = signed_rank_bounds(changes, Finalist::kAlpha);
  }
  return finalists;
}

int counted_images(const std::vector<PlannedCase>& cases) {
  constexpr double kQuickFlop = 300e6;
  const ProblemSize& shape = cases.front().work.shape;
  unsigned images_of_block = 1;
  for (const PlannedCase& planned : cases) {
    for (const KernelLaunch& launch : planned.variant.variant->launch_plan(shape)) {
      images_of_block = std::max(images_of_block, launch.items ? launch.items->per_block : 1);
    }
  }
  const int fewest = 2 * static_cast<int>(images_of_block);
  const bool quick = shape.with_batch(kCountedImages).flop() <= kQuickFlop;
  return quick ? std::max(fewest, kCountedImages) : fewest;
}

}  // namespace convladder

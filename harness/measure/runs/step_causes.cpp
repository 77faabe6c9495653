#include "harness/measure/runs/step_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <vector>

#include "harness/measure/runs/cited_lines.hpp"
#include "harness/measure/runs/step_needs.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr double kWorthAWord = 0.04;   // of the predicted time
constexpr double kWorthANumber = 1.1;  // times more or less
constexpr double kAllResident = 0.99;
constexpr double kMuchResident = 0.2;   // fewer or more of the warps, to be worth mentioning
constexpr double kManyConflicts = 0.2;  // share of the passes through shared memory
constexpr double kOfTheChange = 0.6;    // a cause that explains this share of a change is named instead of it
constexpr double kNoMore = 1.1;         // times the necessary amount: as good as that
constexpr std::size_t kMostGains = 2;

/// A difference between two stages: above 0 for what the upper one saves, as a part of the time.
struct StepDifference {
  double saved = 0;
  std::string does;                        ///< "executes"
  std::string what;                        ///< "half of the instructions"
  const char* counted = "";                ///< "instructions"
  const NeedCounters* counters = nullptr;  ///< of what is counted; null where nothing is that has lines
};

/// Whether only one stage has asynchronous copies. Bytes that they move past the registers are not among the loads:
/// then the loads do not say how much was moved.
bool copies_differ(const StepNeeds& above, const StepNeeds& below) {
  return (above.count(Need::asynchronous) > 0) != (below.count(Need::asynchronous) > 0);
}

bool is_comparable(Need need, const StepNeeds& above, const StepNeeds& below) {
  if (copies_differ(above, below) && (need == Need::global_loads || need == Need::asynchronous)) {
    return false;
  }
  if (need == Need::fp32 || need == Need::tensor)
    return (above.count(Need::tensor) > 0) == (below.count(Need::tensor) > 0);
  return above.count(need) > 0 || below.count(need) > 0;
}

/// Whether conflicts between banks are most of the change, so that they are named instead.
bool by_conflicts(Need need, const StepNeeds& above, const StepNeeds& below) {
  const double passes = above.count(Need::shared) - below.count(Need::shared);
  return need == Need::shared && below.conflicts > 0 && passes != 0 &&
         (above.conflicts - below.conflicts) / passes >= kOfTheChange;
}

StepDifference difference_in(Need need, double saved, const StepNeeds& above, const StepNeeds& below) {
  const NeedWords& words = words_of(need);
  const NeedCounters& counters = counters_of(need);
  if (!(below.count(need) > 0)) return {saved, "", words.begins, words.what, &counters};
  if (!(above.count(need) > 0))
    return {saved, words.does, fmt::format("no {} any more", words.what), words.what, &counters};
  if (by_conflicts(need, above, below)) {
    constexpr const char* kConflicts = "bank conflicts in shared memory";
    const std::string what = above.conflicts > 0 ? amount_text(above.conflicts / below.conflicts, kConflicts)
                                                 : fmt::format("no {} any more", kConflicts);
    return {saved, "has", what, kConflicts, &conflict_counters()};
  }
  return {saved, words.does, amount_text(above.count(need) / below.count(need), words.what), words.what, &counters};
}

double share_of(double above, double below, double longest) { return longest > 0 ? (below - above) / longest : 0; }

/// The time saved for the need, as a fraction of the longer of the two predicted times; by how much it changed where
/// nothing is predicted.
double saved_by(Need need, const StepNeeds& above, const StepNeeds& below) {
  if (above.predicted() && below.predicted()) {
    const Range& a = above.cost(need);
    const Range& b = below.cost(need);
    return (share_of(a.low, b.low, std::max(above.longest_low, below.longest_low)) +
            share_of(a.high, b.high, std::max(above.longest_high, below.longest_high))) /
           2;
  }
  if (!(above.count(need) > 0)) return 1;
  if (!(below.count(need) > 0)) return -1;
  return std::log(below.count(need) / above.count(need));
}

std::vector<StepDifference> differences(const StepNeeds& above, const StepNeeds& below) {
  std::vector<StepDifference> list;
  for (std::size_t i = 0; i < kNeeds; ++i) {
    const auto need = static_cast<Need>(i);
    if (!is_comparable(need, above, below)) continue;
    const double times = below.count(need) > 0 ? above.count(need) / below.count(need) : 0;
    if (times < kWorthANumber && times > 1 / kWorthANumber) continue;
    const double saved = saved_by(need, above, below);
    if (std::abs(saved) < kWorthAWord) continue;
    const bool fewer = above.count(need) < below.count(need);
    if (fewer != (saved > 0)) continue;  // the GPU does better or worse at it, which the counter does not say
    list.push_back(difference_in(need, saved, above, below));
  }
  return list;
}

/// Adds a difference in resident warps: fewer hide less. Counts where latency is a relevant part of the time.
void add_residence(const CountedStage& stage, const CountedStage& below, std::vector<StepDifference>& list) {
  if (!stage.predicted() || !below.predicted()) return;
  const PredictedFigure& a = *stage.prediction;
  const PredictedFigure& b = *below.prediction;
  if (!(a.occupancy > 0) || !(b.occupancy > 0)) return;
  const double ratio = a.occupancy / b.occupancy;
  if (ratio > 1 - kMuchResident && ratio < 1 / (1 - kMuchResident)) return;
  constexpr auto kLatency = static_cast<std::size_t>(TimeTerm::latency);
  const bool fewer = ratio < 1;
  const PredictedFigure& worse = fewer ? a : b;
  const double part = worse.terms[kLatency].high / *worse.high_ns * (1 - (fewer ? ratio : 1 / ratio));
  if (part / 2 < kWorthAWord) return;
  list.push_back(
      {fewer ? -part / 2 : part / 2, "keeps",
       fmt::format("{:.0f}% of the warps resident instead of {:.0f}%{}", 100 * a.occupancy, 100 * b.occupancy,
                   fewer && !a.limited_by.empty() ? fmt::format(" (limit: {})", a.limited_by) : "")});
}

/// Adds idle multiprocessors: a launch of fewer blocks than there are multiprocessors leaves some of them idle.
void add_idle(const CountedStage& stage, const CountedStage& below, std::vector<StepDifference>& list) {
  if (!stage.predicted() || !below.predicted()) return;
  const double all = stage.gpu->multiprocessors;
  const double own = std::min(stage.blocks, all);
  const double other = std::min(below.blocks, all);
  if (!(own > 0) || !(other > 0)) return;
  const double ratio = own / other;
  if (ratio > 1 - kMuchResident && ratio < 1 / (1 - kMuchResident)) return;
  list.push_back({ratio < 1 ? ratio - 1 : 1 - 1 / ratio, "keeps",
                  fmt::format("{} of {} multiprocessors busy instead of {}", own, all, other)});
}

/// Adds the number of launches, each of which costs its own time.
void add_launches(const CountedStage& stage, const CountedStage& below, std::vector<StepDifference>& list) {
  if (!stage.predicted() || !below.predicted() || stage.prediction->launches == below.prediction->launches) return;
  const auto own = static_cast<double>(stage.prediction->launches);
  const auto other = static_cast<double>(below.prediction->launches);
  const Range& each = stage.gpu->launch_overhead_ns;
  const double saved = ((other - own) * each.low / std::max(*stage.prediction->low_ns, *below.prediction->low_ns) +
                        (other - own) * each.high / std::max(*stage.prediction->high_ns, *below.prediction->high_ns)) /
                       2;
  if (std::abs(saved) < kWorthAWord) return;
  list.push_back(
      {saved, "launches", fmt::format("{} instead of {}", plural(stage.prediction->launches, "kernel"), other)});
}

using Differences = std::span<const StepDifference>;

Differences first_of(const std::vector<StepDifference>& all, std::size_t most) {
  return Differences(all).first(std::min(most, all.size()));
}

/// Phrases for the differences; a verb is not repeated in a row.
std::vector<std::string> phrases(Differences of) {
  std::vector<std::string> list;
  std::string said;
  for (const StepDifference& one : of) {
    list.push_back(one.does.empty() || one.does == said ? one.what : fmt::format("{} {}", one.does, one.what));
    said = one.does;
  }
  return list;
}

/// The means that are new in kind, not in amount; they come first.
std::vector<StepDifference> new_means(const StepNeeds& above, const StepNeeds& below) {
  std::vector<StepDifference> list;
  for (const Need need : {Need::tensor, Need::asynchronous}) {
    if (above.count(need) > 0 && !(below.count(need) > 0)) list.push_back(difference_in(need, 0, above, below));
  }
  return list;
}

std::string sentence_of(const std::vector<std::string>& gains, const std::vector<std::string>& costs,
                        std::optional<double> factor, bool is_predicted) {
  const bool slower = factor && *factor < 1 && !is_about_the_same(*factor);
  const bool faster = factor && *factor > 1 && !is_about_the_same(*factor);
  if (slower && costs.empty()) {
    if (gains.empty()) return "The counters do not say why it is slower.";
    const bool copies = is_predicted && std::ranges::find(gains, words_of(Need::asynchronous).begins) != gains.end();
    return as_sentence(fmt::format("{}; {}", listed(gains),
                                   copies ? "the model is coarse for such copies and predicts it slower"
                                          : "the counters do not say why it is slower"));
  }
  if (slower) {
    return as_sentence(listed(costs) + (gains.empty() ? "" : fmt::format(", although it {}", listed(gains))));
  }
  if (faster && gains.empty()) {
    return costs.empty() ? "The counters do not say why it is faster."
                         : as_sentence(fmt::format("{}; the counters do not say why it is faster", listed(costs)));
  }
  if (gains.empty() && costs.empty()) return "No counter that matters for the time changes much.";
  if (gains.empty()) return as_sentence(listed(costs));
  return as_sentence(listed(gains) + (costs.empty() ? "" : fmt::format(", but {}", listed(costs))));
}

std::string dram_text(const CountedStage& stage) {
  const double bytes = needs_of(*stage.counters, nullptr, nullptr).count(Need::dram);
  if (!(stage.minimum_bytes > 0) || !(bytes > 0)) return "DRAM bandwidth";
  const double times = bytes / stage.minimum_bytes;
  if (times <= kNoMore) return "DRAM bandwidth (no more bytes than it has to move)";
  return fmt::format("DRAM bandwidth ({} the bytes it has to move)", factor_text(times));
}

std::string load_store_text(const CountedStage& stage, bool optimistic) {
  const std::string part = main_part(*stage.counters, *stage.gpu, TimeTerm::load_store, optimistic);
  if (part.empty()) return "the load/store unit";
  const StepNeeds needs = needs_of(*stage.counters, nullptr, nullptr);
  const double conflicts = needs.conflicts / needs.count(Need::shared);
  const bool many = part == words_of(Need::shared).part && conflicts >= kManyConflicts;
  return fmt::format("the load/store unit ({}{})", part,
                     many ? fmt::format(", {} of it bank conflicts", percent_text(conflicts)) : "");
}

std::string latency_text(const PredictedFigure& prediction) {
  if (prediction.occupancy > kAllResident) return "latency, though all warps are resident";
  return fmt::format("latency, with {:.0f}% of the warps resident{}", 100 * prediction.occupancy,
                     prediction.limited_by.empty() ? "" : fmt::format(" (limit: {})", prediction.limited_by));
}

std::string term_text(const CountedStage& stage, const std::string& term, bool optimistic) {
  const auto found = std::ranges::find(kTimeTermNames, term);
  if (found == kTimeTermNames.end()) return term;  // a term of another version
  switch (static_cast<TimeTerm>(found - kTimeTermNames.begin())) {
    case TimeTerm::issue:
      return "issuing instructions";
    case TimeTerm::fp32_pipe:
      return "the fp32 units";
    case TimeTerm::tensor_cores:
      return "the tensor cores";
    case TimeTerm::integer_pipe:
      return "integer instructions (addresses, loops)";
    case TimeTerm::load_store:
      return load_store_text(stage, optimistic);
    case TimeTerm::l2: {
      const std::string part = main_part(*stage.counters, *stage.gpu, TimeTerm::l2, optimistic);
      return part.empty() ? "L2 bandwidth" : fmt::format("L2 bandwidth ({})", part);
    }
    case TimeTerm::dram:
      return dram_text(stage);
    case TimeTerm::latency:
      return latency_text(*stage.prediction);
  }
  return term;
}

}  // namespace

CountedRelief counted_relief(const CountedStage& stage, const CountedStage& below, std::optional<double> factor,
                             bool is_predicted) {
  const StepNeeds above = needs_of(*stage.counters, stage.prediction, stage.gpu);
  const StepNeeds lower = needs_of(*below.counters, below.prediction, below.gpu);
  std::vector<StepDifference> all = differences(above, lower);
  add_residence(stage, below, all);
  add_idle(stage, below, all);
  add_launches(stage, below, all);
  std::ranges::stable_sort(all, std::greater<>(), [](const StepDifference& one) { return std::abs(one.saved); });
  std::vector<StepDifference> saved;
  std::vector<StepDifference> paid;
  for (StepDifference& one : all) (one.saved > 0 ? saved : paid).push_back(std::move(one));
  const std::vector<StepDifference> means = new_means(above, lower);
  const bool slower = factor && *factor < 1 && !is_about_the_same(*factor);
  const Differences gains = first_of(saved, kMostGains - std::min(means.size(), kMostGains - 1));
  const Differences costs = first_of(paid, slower ? kMostGains : 1);
  std::vector<std::string> said = phrases(means);
  std::ranges::move(phrases(gains), std::back_inserter(said));
  CountedRelief relief{.sentence = sentence_of(said, phrases(costs), factor, is_predicted), .lines = {}};
  for (const Differences some : {Differences(means), gains, costs}) {
    for (const StepDifference& one : some) {
      if (one.counters == nullptr || one.counters->is_modelled) continue;
      std::string line = cited_lines(one.counted, one.counters->names, *below.counters, *stage.counters);
      if (!line.empty()) relief.lines.push_back(std::move(line));
    }
  }
  return relief;
}

std::string predicted_bound(const CountedStage& stage) {
  if (!stage.predicted() || stage.gpu == nullptr) return {};
  const std::string low = term_text(stage, stage.prediction->binding_low, true);
  const std::string high = term_text(stage, stage.prediction->binding_high, false);
  const std::string& on = stage.gpu->name;
  if (low == high) return fmt::format("{}bound by {}.", predicted_lead(on), low);
  return fmt::format("{}bound at best by {}, at worst by {}.", predicted_lead(on), low, high);
}

std::string predicted_lead(const std::string& gpu) { return fmt::format("Predicted for {}: ", a_gpu(gpu)); }

std::string a_gpu(const std::string& name) {
  std::string shown = name;
  for (char& letter : shown) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return fmt::format("{} {}", shown.starts_with('A') || shown.starts_with('H') ? "an" : "a", shown);
}

}  // namespace convladder

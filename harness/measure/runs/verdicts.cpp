#include "harness/measure/runs/verdicts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/measure/cases/line_columns.hpp"
#include "harness/measure/runs/ladder_summary.hpp"
#include "harness/measure/runs/step_causes.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr double kMuchOfACounter = 0.3;  // for a line to be looked at next
constexpr double kMoreThanNeeded = 1.5;  // times

using Stages = std::vector<const RecordedCase*>;

/// A ladder whose stages are compared by layer times, or, where they were only counted, by predictions.
class ComparedLadder {
 public:
  ComparedLadder(const DerivedLadder& ladder, const std::vector<RecordedCase>& cases)
      : is_measured_(!ladder.rows.empty()), by_(is_measured_ ? kByLayerTimes : kByPredictions) {
    for (const RecordedCase& one : cases) {
      if (one.place() != ladder.of->place() || !by_.time_of(one)) continue;
      if (one.library()) libraries_.push_back(&one);
      if (one.rung) stages_.push_back(&one);
    }
    const auto faster = [this](const RecordedCase* a, const RecordedCase* b) {
      return *by_.time_of(*a) < *by_.time_of(*b);
    };
    std::ranges::stable_sort(stages_, faster);
    std::ranges::stable_sort(libraries_, faster);
  }

  bool is_measured() const { return is_measured_; }
  std::optional<Ratio> speedup(const RecordedCase& over, const RecordedCase& one) const {
    return by_.speedup(over, one);
  }
  const RecordedCase* find(const std::string& stage) const {
    const auto found = std::ranges::find(stages_, stage, [](const RecordedCase* one) { return one->variant; });
    return found == stages_.end() ? nullptr : *found;
  }
  /// The fastest first.
  const Stages& stages() const { return stages_; }
  const RecordedCase* first_rung() const {
    const auto lowest = std::ranges::min_element(stages_, {}, [](const RecordedCase* one) { return *one->rung; });
    return lowest == stages_.end() ? nullptr : *lowest;
  }
  /// The fastest stage but this one that is no less accurate; null without one.
  const RecordedCase* best_but(const RecordedCase& stage) const { return fastest_but(stages_, stage); }
  const RecordedCase* fastest_library(const RecordedCase& stage) const { return fastest_but(libraries_, stage); }

 private:
  static const RecordedCase* fastest_but(const Stages& among, const RecordedCase& stage) {
    const auto found = std::ranges::find_if(
        among, [&](const RecordedCase* one) { return one != &stage && one->tolerance <= stage.tolerance; });
    return found == among.end() ? nullptr : *found;
  }

  bool is_measured_;
  const Comparing& by_;
  Stages stages_;
  Stages libraries_;
};

/// "3rd".
std::string ordinal(std::size_t number) {
  const std::size_t tens = number % 100;
  const bool is_teen = tens > 10 && tens < 14;
  const char* const ending = is_teen            ? "th"
                             : number % 10 == 1 ? "st"
                             : number % 10 == 2 ? "nd"
                             : number % 10 == 3 ? "rd"
                                                : "th";
  return fmt::format("{}{}", number, ending);
}

std::string place_text(const RecordedCase& one, bool is_measured) {
  const std::string layer = one.network == "shape" ? one.layer : fmt::format("{}.{}", one.network, one.layer);
  return fmt::format("{}, batch {}, {}", printable(layer), one.batch,
                     is_measured ? "on " + printable(one.device) : "predicted for " + a_gpu(kUsualGpu));
}

/// The source's line that is worth a look: it holds much of a counter, and more of it for each access than a warp
/// needs.
std::string wasteful_line(const RecordedCase& counted) {
  struct Waste {
    const char* counter;
    double needed;  ///< for each access
    const char* what;
  };
  static constexpr Waste kWastes[] = {
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 4, "sectors a load where 4 hold a warp's 32 floats"},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 4, "sectors a store where 4 hold a warp's 32 floats"},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0, "conflicts between the banks of shared memory"},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0, "conflicts between the banks of shared memory"}};
  for (const Waste& waste : kWastes) {
    const std::optional<double> total = counter_of(counted.counters->totals, waste.counter);
    if (!total || !(*total > 0)) continue;
    for (const CountedLine& line : counted.counters->lines) {
      const auto found = line.counters.find(waste.counter);
      if (line.file.empty() || found == line.counters.end() || found->second < kMuchOfACounter * *total) continue;
      if (waste.needed == 0)
        return fmt::format("line {} of {}, {:.0f}% of the {}", line.line, line.file, 100 * found->second / *total,
                           waste.what);
      for (const LineColumn& column : line_columns()) {
        const std::optional<double> rate = column.of(line.counters);
        const bool is_its = !column.divided_by.empty() && column.counters.front() == std::string_view(waste.counter);
        if (!is_its || !rate || *rate < kMoreThanNeeded * waste.needed) continue;
        return fmt::format("line {} of {}, {:.3g} {}", line.line, line.file, *rate, waste.what);
      }
    }
  }
  return {};
}

/// The nearest stage that is surely faster, with its idea.
std::string next_faster(const RecordedCase& stage, const ComparedLadder& ladder,
                        const std::vector<RecordedVariant>& variants) {
  const auto own = std::ranges::find(ladder.stages(), &stage);
  for (auto next = own; next != ladder.stages().begin();) {
    --next;
    const std::optional<Ratio> x = ladder.speedup(stage, **next);
    if (!x || !x->is_above(1) || (*next)->tolerance > stage.tolerance) continue;
    const auto known = std::ranges::find_if(variants, [&](const RecordedVariant& one) {
      return one.family == stage.family && one.name == (*next)->variant;
    });
    const std::string idea = known == variants.end() ? std::string() : printable(known->hypothesis);
    return fmt::format("the next faster stage, {}{}{}", printable((*next)->variant),
                       idea.empty() ? "" : ", whose idea is: ", behind_colon(idea));
  }
  return {};
}

/// The case's counters on the same layer and batch, of another device if need be; null without any.
const RecordedCase* counted_beside(const RecordedCase& stage, const std::vector<RecordedCase>& cases) {
  const auto found = std::ranges::find_if(cases, [&](const RecordedCase& one) {
    return one.counters && one.variant == stage.variant && one.family == stage.family && one.network == stage.network &&
           one.layer == stage.layer;
  });
  return found == cases.end() ? nullptr : &*found;
}

std::string comparisons_of(const RecordedCase& stage, const ComparedLadder& ladder) {
  std::vector<std::string> parts;
  const auto add = [&](const RecordedCase* other, const std::string& than) {
    if (other == nullptr || other == &stage) return;
    if (const std::optional<Ratio> x = ladder.speedup(*other, stage)) parts.push_back(speed_text(*x, than));
  };
  const RecordedCase* const first = ladder.first_rung();
  const RecordedCase* const best = ladder.best_but(stage);
  if (first != nullptr && first != best)
    add(first, fmt::format("stage {}, {}", *first->rung, printable(first->variant)));
  if (best != nullptr) add(best, fmt::format("{}, the best other stage", printable(best->variant)));
  if (const RecordedCase* const library = ladder.fastest_library(stage)) add(library, printable(library->variant));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string verdict_on(const RecordedCase& stage, const DerivedLadder& derived, const ComparedLadder& ladder,
                       const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants) {
  const auto place = std::ranges::find(ladder.stages(), &stage) - ladder.stages().begin();
  std::string text =
      fmt::format("{} on {}: {} of {}", printable(stage.variant), place_text(stage, ladder.is_measured()),
                  ordinal(static_cast<std::size_t>(place) + 1), plural(ladder.stages().size(), "stage"));
  if (const std::string compared = comparisons_of(stage, ladder); !compared.empty()) text += "; " + compared;
  text += ".";
  const auto step = std::ranges::find(derived.steps, stage.variant, &Step::variant);
  if (step != derived.steps.end() && !step->binds.empty()) {
    const std::string lead = predicted_lead(kUsualGpu);  // which the place says already
    text += " " + (step->binds.starts_with(lead) ? as_sentence(step->binds.substr(lead.size())) : step->binds);
  }
  const RecordedCase* const counted = counted_beside(stage, cases);
  std::string next = counted == nullptr ? "" : wasteful_line(*counted);
  if (next.empty()) next = next_faster(stage, ladder, variants);
  if (!next.empty()) text += " To look at next: " + next + (next.ends_with('.') ? "" : ".");
  return text;
}

}  // namespace

std::vector<std::string> verdicts_on(const std::string& stage, const std::vector<DerivedLadder>& ladders,
                                     const std::vector<RecordedCase>& cases,
                                     const std::vector<RecordedVariant>& variants, std::size_t most) {
  std::vector<std::pair<double, std::string>> verdicts;
  for (const DerivedLadder& one : ladders) {
    const ComparedLadder ladder(one, cases);
    const RecordedCase* const found = ladder.find(stage);
    if (found != nullptr) verdicts.emplace_back(found->flop, verdict_on(*found, one, ladder, cases, variants));
  }
  std::ranges::stable_sort(verdicts, std::greater<>(), &std::pair<double, std::string>::first);
  std::vector<std::string> lines;
  for (const auto& [flop, text] : verdicts) {
    if (lines.size() < most) lines.push_back(text);
  }
  if (verdicts.size() > most) {
    lines.push_back(
        fmt::format("{}: {} more with --verbose", printable(stage), plural(verdicts.size() - most, "place")));
  }
  if (!lines.empty()) return lines;
  for (const RecordedCase& one : cases) {
    if (one.variant != stage || one.time || one.counters) continue;
    return {fmt::format("{}: {}: {}", printable(stage), one.status, printable(one.reason))};
  }
  return {};
}

std::string verdict_on_best(const DerivedLadder& ladder) {
  if (!ladder.summary || ladder.summary->best == nullptr) return {};
  const LadderSummary& summary = *ladder.summary;
  std::vector<std::string> parts;
  if (!summary.no_headline.empty()) {
    parts.push_back(fmt::format("by what factor cannot be told ({})", summary.no_headline));
  } else {
    if (summary.best_x_baseline && summary.baseline != summary.best) {
      parts.push_back(speed_text(*summary.best_x_baseline, fmt::format("stage {}, {}", *summary.baseline->rung,
                                                                       printable(summary.baseline->variant))));
    }
    if (summary.best_percent_of_library) {
      parts.push_back(speed_text(summary.best_percent_of_library->times(0.01), printable(summary.library->variant)));
    }
  }
  if (!summary.not_told_from_best.empty()) {
    parts.push_back(fmt::format("cannot be told from {}",
                                printable(fmt::format("{}", fmt::join(summary.not_told_from_best, ", ")))));
  }
  if (summary.best_percent_of_floor) {
    parts.push_back(fmt::format("at {} of what this machine's arithmetic and memory allow",
                                percent_text(summary.best_percent_of_floor->value / 100)));
  }
  return fmt::format("best: {}{}{}{}", printable(summary.best->variant), parts.empty() ? "" : ", ",
                     fmt::join(parts, "; "),
                     summary.best_by == "predicted" ? fmt::format(" (predicted for {})", a_gpu(summary.gpu)) : "");
}

}  // namespace convladder

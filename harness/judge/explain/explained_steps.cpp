#include "harness/judge/explain/explained_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/measure/runs/step_causes.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text_pattern.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

const char* const kWords = "A sector has 32 bytes, a pass is one over shared memory's banks. ";
const char* const kMore = "More: --all, --numbers, --layer.";

std::string layer_of(const RecordedCase& one) { return fmt::format("{}.{}", one.network, one.layer); }

bool is_measured(const LadderSteps& one) {
  return std::ranges::any_of(one.steps, [](const Step& step) { return step.kind == "measured"; });
}

/// How much is known of a ladder, for comparing: times before predictions, then the number of stages, then work.
auto knowledge(const ExplainedLadder& one) {
  return std::tuple(is_measured(one.ladder), one.ladder.steps.size(), one.ladder.of->flop);
}

const ExplainedLadder* best_known(const std::vector<const ExplainedLadder*>& of) {
  const ExplainedLadder* best = nullptr;
  for (const ExplainedLadder* one : of) {
    if (best == nullptr || knowledge(*one) > knowledge(*best)) best = one;
  }
  return best;
}

/// The layer of which most is known over all families; empty if none is offered.
std::vector<std::string> best_known_layer(const std::vector<const ExplainedLadder*>& offered) {
  std::map<std::string, std::tuple<bool, std::size_t, double>> known;
  for (const ExplainedLadder* one : offered) {
    auto& [measured, steps, flop] = known[layer_of(*one->ladder.of)];
    const auto [is_timed, count, work] = knowledge(*one);
    measured = measured || is_timed;
    steps = std::max(steps, count);
    flop = std::max(flop, work);
  }
  const auto best = std::ranges::max_element(
      known, {}, [](const auto& layer) -> const auto& { return layer.second; });
  return best == known.end() ? std::vector<std::string>() : std::vector<std::string>{best->first};
}

/// A step's title: "memory-accumulation: the first stage", "flat-vector: 7.4x faster than cached-tile".
std::string title(const Step& step) {
  const std::string variant = printable(step.variant);
  const std::string below = printable(step.builds_on);
  if (below.empty() && step.registered.empty()) return fmt::format("{}: the first stage", variant);
  if (below.empty()) return fmt::format("{}: nothing below it has a result", variant);
  const std::string gap = step.registered == step.builds_on ? "" : " (the stages between have no result)";
  if (!step.x) return fmt::format("{}: after {}{}", variant, below, gap);
  if (!step.no_headline.empty() && !step.x->holds(1)) {
    return fmt::format("{}: after {}{}, no factor: {}", variant, below, gap, step.no_headline);
  }
  if (step.kind == "predicted" && step.x->holds(1)) {
    return fmt::format("{}: faster or slower than {}{}, the prediction cannot tell", variant, below, gap);
  }
  return fmt::format("{}: {}{}{}", variant, speed_text(*step.x, below), gap,
                     step.kind == "measured" ? "" : " (predicted)");
}

/// A step's sentences without `lead`, which the heading says already.
std::string sentences(const Step& step, const std::string& lead) {
  const bool has_lead = !lead.empty() && step.binds.starts_with(lead);
  const std::string binds = has_lead ? as_sentence(step.binds.substr(lead.size())) : step.binds;
  return fmt::format("{}{}{}", step.relieved, step.relieved.empty() || binds.empty() ? "" : " ", binds);
}

std::string kind_text(const ExplainedLadder& one) {
  if (one.measured) return "measured";
  return one.gpu.empty() ? "counted on the simulated device"
                         : fmt::format("counted on the simulated device, predicted for {}", a_gpu(one.gpu));
}

std::string heading(const ExplainedLadder& one) {
  const RecordedCase& of = *one.ladder.of;
  return fmt::format("{} on {}, batch {}: {}",
                     of.family == "cpu"    ? "CPU"
                     : of.family == "cuda" ? "CUDA"
                                           : of.family,
                     printable(layer_of(of)), of.batch, kind_text(one));
}

/// The machine's measured limits, and whether it was quiet; empty if neither is known.
std::string machine_text(const ExplainedLadder& one) {
  if (!one.measured) return {};
  std::string text;
  if (one.floor_operations_ns) {
    const std::string operations = fmt::format("{} at the FMA peak", time_text(*one.floor_operations_ns));
    text = one.floor_bytes_ns ? fmt::format("What it takes at least: {}, and {} at the memory's rate.", operations,
                                            time_text(*one.floor_bytes_ns))
                              : fmt::format("What it takes at least: {}; its data fits into the cache.", operations);
  }
  if (one.not_quiet > 0) {
    text += fmt::format("{}The machine was not quiet: {} of {} times are noisy or disturbed.", text.empty() ? "" : " ",
                        one.not_quiet, one.timed);
  }
  return text;
}

/// The ladder with the facts that are printed around its steps.
ExplainedLadder explained(const ExplainedRun& run, ExplainedLadder one) {
  const std::vector<Step>& steps = one.ladder.steps;
  one.measured = is_measured(one.ladder);
  one.timed = steps.size();
  if (std::ranges::any_of(steps, [](const Step& step) { return step.kind == "predicted"; })) one.gpu = run.gpu;
  for (const RecordedCase& other : run.cases) {
    if (other.place() != one.ladder.of->place() || !other.rung) continue;
    if (other.quality && other.quality->is_marked()) ++one.not_quiet;
    if (other.time || other.counters) continue;
    one.missing.add(fmt::format("{}: {}", other.status, other.reason), printable(other.variant));
  }
  return one;
}

}  // namespace

std::vector<ExplainedLadder> ExplainedRun::chosen(const std::vector<std::string>& layers,
                                                  const std::string& filter) const {
  const TextPattern wanted("--case", filter);
  std::vector<const ExplainedLadder*> offered;
  for (const ExplainedLadder& one : ladders) {
    const auto matches = [&](const RecordedCase& other) {
      return other.place() == one.ladder.of->place() && wanted.matches(other.id);
    };
    if (filter.empty() || std::ranges::any_of(cases, matches)) offered.push_back(&one);
  }
  std::vector<std::string> known;
  std::vector<std::string> families;
  for (const ExplainedLadder* one : offered) {
    if (std::ranges::find(known, layer_of(*one->ladder.of)) == known.end()) known.push_back(layer_of(*one->ladder.of));
    if (std::ranges::find(families, one->ladder.of->family) == families.end())
      families.push_back(one->ladder.of->family);
  }
  require_known("--layer", layers, known);
  std::vector<ExplainedLadder> list;
  const auto best_of = [&](const std::string& family, const std::string& layer) {
    std::vector<const ExplainedLadder*> of;
    for (const ExplainedLadder* one : offered) {
      if (one->ladder.of->family == family && (layer.empty() || layer_of(*one->ladder.of) == layer)) of.push_back(one);
    }
    return best_known(of);
  };
  if (!filter.empty()) {
    for (const ExplainedLadder* one : offered) {
      const bool is_asked = layers.empty() || std::ranges::find(layers, layer_of(*one->ladder.of)) != layers.end();
      if (is_asked) list.push_back(explained(*this, *one));
    }
    return list;
  }
  for (const std::string& layer : layers.empty() ? best_known_layer(offered) : layers) {
    for (const std::string& family : families) {
      const ExplainedLadder* best = best_of(family, layer);
      if (best == nullptr && layers.empty()) best = best_of(family, "");  // a folder may be counted on other sizes
      if (best != nullptr) list.push_back(explained(*this, *best));
    }
  }
  return list;
}

void keep_way_to_best(std::vector<ExplainedLadder>& ladders) {
  for (ExplainedLadder& one : ladders) {
    std::vector<Step>& steps = one.ladder.steps;
    std::set<std::string> way;
    for (std::string name = one.best; !name.empty() && way.insert(name).second;) {
      const auto step = std::ranges::find(steps, name, &Step::variant);
      name = step == steps.end() ? std::string() : step->builds_on;
    }
    if (way.size() < 2) continue;
    std::vector<std::string> others;
    for (const Step& step : steps) {
      if (!way.contains(step.variant)) others.push_back(printable(step.variant));
    }
    std::erase_if(steps, [&way](const Step& step) { return !way.contains(step.variant); });
    one.missing = {};
    for (const std::string& other : others) {
      one.missing.add(fmt::format("not on the way to {}, which is best here", printable(one.best)), other);
    }
  }
}

Report steps_report(const std::vector<ExplainedLadder>& ladders) {
  Report report;
  for (const ExplainedLadder& one : ladders) {
    ReportSection& section = report.section(heading(one));
    if (const std::string machine = machine_text(one); !machine.empty()) section.paragraph(machine);
    const std::string lead = one.gpu.empty() ? "" : predicted_lead(one.gpu);
    for (const Step& step : one.ladder.steps) {
      section.item(fmt::format(". {}", sentences(step, lead)), fmt::format("{:>2} ", step.rung), title(step));
      for (const std::string& line : step.lines) section.item(line, "   ");
    }
    for (const std::string& line : one.missing.lines()) section.item(line, "   ");
  }
  const bool counted = !std::ranges::all_of(ladders, &ExplainedLadder::measured);
  report.section("", Shown::in_text).paragraph(fmt::format("{}{}", counted ? kWords : "", kMore));
  return report;
}

}  // namespace convladder

#include "harness/judge/explain/explained_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/judge/explain/explanation.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/runs/derived_ladders.hpp"
#include "harness/measure/runs/step_causes.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "support/errors.hpp"
#include "support/markdown.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text_pattern.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

const char* const kWords = "A sector has 32 bytes, a pass is one over shared memory's banks. ";
const char* const kMore = "More: --all, --numbers, --layer.";

std::string layer_of(const RecordedCase& one) { return fmt::format("{}.{}", one.network, one.layer); }

bool is_measured(const LadderSteps& one) {
  return std::ranges::any_of(one.steps, [](const Step& step) { return step.kind == "measured"; });
}

/// How much is known of a ladder, for comparing: times before predictions, then the number of stages, then work.
auto knowledge(const LadderSteps& one) { return std::tuple(is_measured(one), one.steps.size(), one.of->flop); }

const LadderSteps* best_known(const std::vector<const LadderSteps*>& of) {
  const LadderSteps* best = nullptr;
  for (const LadderSteps* one : of) {
    if (best == nullptr || knowledge(*one) > knowledge(*best)) best = one;
  }
  return best;
}

/// The layer of which most is known over all families; empty if none is offered.
std::vector<std::string> best_known_layer(const std::vector<const LadderSteps*>& offered) {
  std::map<std::string, std::tuple<bool, std::size_t, double>> known;
  for (const LadderSteps* one : offered) {
    auto& [measured, steps, flop] = known[layer_of(*one->of)];
    measured = measured || is_measured(*one);
    steps = std::max(steps, one->steps.size());
    flop = std::max(flop, one->of->flop);
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
  if (step.x && step.is_clear) {
    return fmt::format("{}: {}{}{}", variant, speed_text(*step.x, below), gap,
                       step.kind == "measured" ? "" : " (predicted)");
  }
  return step.kind == "predicted"
             ? fmt::format("{}: faster or slower than {}{}, the prediction cannot tell", variant, below, gap)
             : fmt::format("{}: after {}{}", variant, below, gap);
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

}  // namespace

ExplainedRun::ExplainedRun(const ordered_json& record, const std::string& file, const std::string& gpu)
    : ladders_(read_ladders(JsonPlace(record, file).at("ladders"))), gpu_(gpu) {
  const JsonPlace run(record, file);
  if (run.at("schema_version").text() != kRunSchemaVersion || run.at("kind").text() != "run") {
    run.fail(fmt::format("expected a run of single layers of schema version \"{}\"", kRunSchemaVersion));
  }
  cases_ = read_whole_cases(run.at("cases"));
  variants_ = read_variants(run.at("variants"));
  for (const RecordedCase& one : cases_) {
    if (one.id.size() > kLongestId) run.at("cases").fail(fmt::format("an id of more than {} bytes", kLongestId));
  }
  all_ = steps_of(cases_, variants_, ladders_, gpu_);
}

ExplainedLadder ExplainedRun::explained(const LadderSteps& one) const {
  ExplainedLadder explained{.ladder = one,
                            .floor_operations_ns = std::nullopt,
                            .floor_bytes_ns = std::nullopt,
                            .measured = is_measured(one),
                            .gpu = {},
                            .timed = one.steps.size(),
                            .not_quiet = 0,
                            .missing = {},
                            .best = {}};
  if (const RecordedLadder* const ladder = find_ladder(ladders_, *one.of)) {
    explained.floor_operations_ns = ladder->floor_operations_ns;
    explained.floor_bytes_ns = ladder->floor_bytes_ns;
    explained.best = ladder->best;
  }
  if (std::ranges::any_of(one.steps, [](const Step& step) { return step.kind == "predicted"; })) explained.gpu = gpu_;
  for (const RecordedCase& other : cases_) {
    if (other.place() != one.of->place() || !other.rung) continue;
    if (other.quality && other.quality->is_marked()) ++explained.not_quiet;
    if (other.time || other.counters) continue;
    explained.missing.add(fmt::format("{}: {}", other.status, other.reason), printable(other.variant));
  }
  return explained;
}

std::vector<ExplainedLadder> ExplainedRun::chosen(const std::vector<std::string>& layers,
                                                  const std::string& filter) const {
  const TextPattern wanted("--case", filter);
  std::vector<const LadderSteps*> offered;
  for (const LadderSteps& one : all_) {
    const auto matches = [&](const RecordedCase& other) {
      return other.place() == one.of->place() && wanted.matches(other.id);
    };
    if (filter.empty() || std::ranges::any_of(cases_, matches)) offered.push_back(&one);
  }
  std::vector<std::string> known;
  std::vector<std::string> families;
  for (const LadderSteps* one : offered) {
    if (std::ranges::find(known, layer_of(*one->of)) == known.end()) known.push_back(layer_of(*one->of));
    if (std::ranges::find(families, one->of->family) == families.end()) families.push_back(one->of->family);
  }
  require_known("--layer", layers, known);
  std::vector<ExplainedLadder> list;
  const auto best_of = [&](const std::string& family, const std::string& layer) {
    std::vector<const LadderSteps*> of;
    for (const LadderSteps* one : offered) {
      if (one->of->family == family && (layer.empty() || layer_of(*one->of) == layer)) of.push_back(one);
    }
    return best_known(of);
  };
  if (!filter.empty()) {
    for (const LadderSteps* one : offered) {
      const bool is_asked = layers.empty() || std::ranges::find(layers, layer_of(*one->of)) != layers.end();
      if (is_asked) list.push_back(explained(*one));
    }
    return list;
  }
  for (const std::string& layer : layers.empty() ? best_known_layer(offered) : layers) {
    for (const std::string& family : families) {
      const LadderSteps* best = best_of(family, layer);
      if (best == nullptr && layers.empty()) best = best_of(family, "");  // a folder may be counted on other sizes
      if (best != nullptr) list.push_back(explained(*best));
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

std::string steps_text(const std::vector<ExplainedLadder>& ladders, std::size_t columns) {
  std::string text;
  for (const ExplainedLadder& one : ladders) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", indented(heading(one), 0, columns));
    if (const std::string machine = machine_text(one); !machine.empty()) text += indented(machine, 0, columns);
    const std::string lead = one.gpu.empty() ? "" : predicted_lead(one.gpu);
    for (const Step& step : one.ladder.steps) {
      text +=
          hanging(fmt::format("{:>2} ", step.rung), fmt::format("{}. {}", title(step), sentences(step, lead)), columns);
    }
    for (const std::string& line : one.missing.lines()) text += hanging("   ", line, columns);
  }
  const bool counted = !std::ranges::all_of(ladders, &ExplainedLadder::measured);
  return fmt::format("{}\n{}", text, indented(fmt::format("{}{}", counted ? kWords : "", kMore), 0, columns));
}

std::string steps_markdown(const std::vector<ExplainedLadder>& ladders) {
  std::string text;
  for (const ExplainedLadder& one : ladders) {
    text += fmt::format("{}### {}\n\n", text.empty() ? "" : "\n", markdown_text(heading(one)));
    if (const std::string machine = machine_text(one); !machine.empty())
      text += fmt::format("{}\n\n", markdown_text(machine));
    const std::string lead = one.gpu.empty() ? "" : predicted_lead(one.gpu);
    for (const Step& step : one.ladder.steps) {
      text += fmt::format("- **{}**. {}\n", markdown_text(title(step)), markdown_text(sentences(step, lead)));
    }
    for (const std::string& line : one.missing.lines()) text += fmt::format("- {}\n", markdown_text(line));
  }
  return text;
}

ordered_json steps_json(const std::vector<ExplainedLadder>& ladders) {
  ordered_json list = ordered_json::array();
  for (const ExplainedLadder& one : ladders) {
    ordered_json& json = list.emplace_back(place_json(*one.ladder.of));
    json["steps"] = ordered_json::array();
    for (const Step& step : one.ladder.steps) json["steps"].push_back(step_json(step));
  }
  return list;
}

}  // namespace convladder

// `convladder list LADDER`: a folder, or a problem by its name: what is computed, on which sizes, by which stages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/commands/list/topics.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/json_null.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

const char* family_of(const StageSource& stage) { return stage.language == StageLanguage::cpp ? "cpu" : "cuda"; }

std::string parameter_text(const StageParameter& parameter) {
  return fmt::format("{} {}", parameter.name, fmt::join(parameter.values, " "));
}

std::string stage_text(const StageSource& stage) {
  const std::string place = stage.rung == 0 ? " -" : fmt::format("{:>2}", stage.rung);
  std::string text = fmt::format("  {} {:<5} {:<22} {}\n", place, family_of(stage), stage.name, stage.title);
  const auto line = [&text](const std::string& what) { text += hanging(fmt::format("{:11}", ""), what); };
  if (!stage.hypothesis.empty()) line(stage.hypothesis);
  for (const StageParameter& one : stage.parameters) line("parameter " + parameter_text(one));
  for (const std::string& one : stage.needs) line("requires " + one);
  if (!stage.libraries.empty()) line(fmt::format("linked with {}", fmt::join(stage.libraries, ", ")));
  return text;
}

std::string dimension_text(const LadderDimension& one) {
  const std::string usual = one.usual ? fmt::format(", usually {}", *one.usual) : "";
  return fmt::format("  {:<6} {}, {} to {}{}\n", one.letter, one.name, one.smallest, one.largest, usual);
}

std::string folder_text(const LadderFolder& folder) {
  const LadderProblem& problem = folder.problem;
  std::string text = fmt::format("{}: {}\n  solve: {}\n  checked against {}, in float64\n\ndimensions\n", problem.name,
                                 problem.title, problem.signature(false), folder.reference);
  for (const LadderDimension& one : problem.dimensions) text += dimension_text(one);
  text += fmt::format("sizes (--size)\n  {}\n", fmt::join(problem.sizes, ", "));
  if (problem.counted_sizes != problem.sizes) {
    text += fmt::format("  counted: {}\n", fmt::join(problem.counted_sizes, ", "));
  }
  text += "stages (--variant)\n";
  for (const StageSource& stage : folder.stages) text += stage_text(stage);
  return text;
}

ordered_json folder_json(const LadderFolder& folder) {
  ordered_json dimensions = ordered_json::array();
  for (const LadderDimension& one : folder.problem.dimensions) {
    dimensions.push_back({{"letter", one.letter},
                          {"name", one.name},
                          {"from", one.smallest},
                          {"to", one.largest},
                          {"usual", or_null(one.usual)}});
  }
  ordered_json stages = ordered_json::array();
  for (const StageSource& stage : folder.stages) {
    ordered_json parameters = ordered_json::object();
    for (const StageParameter& one : stage.parameters) parameters[one.name] = one.values;
    stages.push_back({{"family", family_of(stage)},
                      {"rung", stage.rung == 0 ? ordered_json() : ordered_json(stage.rung)},
                      {"name", stage.name},
                      {"file", stage.file},
                      {"title", stage.title},
                      {"builds_on", text_or_null(stage.builds_on)},
                      {"hypothesis", stage.hypothesis},
                      {"parameters", std::move(parameters)},
                      {"libraries", stage.libraries},
                      {"requires", stage.needs}});
  }
  return {{"name", folder.problem.name},
          {"title", folder.problem.title},
          {"solve", folder.problem.signature(false)},
          {"reference", folder.reference},
          {"dimensions", std::move(dimensions)},
          {"sizes", folder.problem.sizes},
          {"counted_sizes", folder.problem.counted_sizes},
          {"stages", std::move(stages)}};
}

std::string problem_text(const Problem& problem) {
  std::string text = fmt::format("{}: {}\n\ndimensions\n", problem.name(), problem.title());
  for (const Dimension& one : problem.dimensions()) {
    text += dimension_text({std::string(one.letter), std::string(one.name), one.smallest, one.largest, one.usual});
  }
  text += fmt::format("sizes (--size)\n  {}\nstages (--variant)\n", fmt::join(problem.default_sizes(), ", "));
  for (const ProblemVariant& one : problem.variants()) {
    text += fmt::format("  {} {:<5} {:<22} {}\n", one.info.rung ? fmt::format("{:>2}", *one.info.rung) : " -",
                        one.info.family, one.info.name, one.info.title);
  }
  return text;
}

ordered_json problem_json(const Problem& problem) {
  ordered_json stages = ordered_json::array();
  for (const ProblemVariant& one : problem.variants()) {
    stages.push_back({{"family", one.info.family},
                      {"rung", or_null(one.info.rung)},
                      {"name", one.info.name},
                      {"title", one.info.title},
                      {"builds_on", text_or_null(one.info.builds_on)},
                      {"hypothesis", one.info.hypothesis}});
  }
  return {{"name", problem.name()},
          {"title", problem.title()},
          {"sizes", problem.default_sizes()},
          {"stages", std::move(stages)}};
}

}  // namespace

std::string ladder_listing(const std::string& word, const std::string& format) {
  RunOptions options;
  choose_ladder(options, word);
  const bool as_json = format == "json";
  if (options.ladder.empty()) {
    const Problem& problem = problem_of(options);
    return as_json ? json_text(problem_json(problem)) : problem_text(problem);
  }
  const LadderFolder folder = read_ladder_folder(ladder_folder_of(options));
  return as_json ? json_text(folder_json(folder)) : folder_text(folder);
}

}  // namespace convladder

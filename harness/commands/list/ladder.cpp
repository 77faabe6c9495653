// `convladder list LADDER`: a folder, or a problem by its name: what is computed, on which sizes, by which stages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "harness/commands/list/topics.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/listing.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/printable.hpp"
#include "support/report.hpp"

namespace convladder {
namespace {

std::string parameter_text(const StageParameter& parameter) {
  return fmt::format("{} {}", parameter.name, fmt::join(parameter.values, " "));
}

void add_stage(ReportSection& section, const StageSource& stage) {
  const std::string place = stage.rung == 0 ? " -" : fmt::format("{:>2}", stage.rung);
  section.literal(fmt::format("  {} {:<5} {:<22} {}\n", place, stage.family(), stage.name, stage.title));
  const auto line = [&section](const std::string& what) { section.paragraph(what, std::string(11, ' ')); };
  if (!stage.hypothesis.empty()) line(stage.hypothesis);
  for (const StageParameter& one : stage.parameters) line("parameter " + parameter_text(one));
  for (const std::string& one : stage.needs) line("requires " + one);
  if (!stage.libraries.empty()) line(fmt::format("linked with {}", fmt::join(stage.libraries, ", ")));
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
  Report report;
  ReportSection& section = report.section();
  section.literal(text + "stages (--variant)\n");
  for (const StageSource& stage : folder.stages) add_stage(section, stage);
  return as_text(report);
}

std::string problem_text(const Problem& problem) {
  std::string text =
      fmt::format("{}: {}\n\n{}", problem.name(), problem.title(), problem.dimensions().empty() ? "" : "dimensions\n");
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

}  // namespace

std::string ladder_listing(const std::string& word, const std::string& format) {
  RunOptions options;
  choose_ladder(options, word);
  const bool as_json = format == "json";
  if (options.ladder.empty()) {
    const Problem& problem = problem_of(options);
    return as_json ? problem_json_text(problem) : problem_text(problem);
  }
  const LadderFolder folder = read_ladder_folder(ladder_folder_of(options));
  return as_json ? folder_json_text(folder) : folder_text(folder);
}

}  // namespace convladder

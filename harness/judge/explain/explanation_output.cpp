#include "harness/judge/explain/explanation_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/gpus/gpu_facts.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostChanges = 3;

constexpr const char* kNote =
    "PREDICTED from counters of PTX (docs/use/prediction.md), never measured: from optimistic to pessimistic, with "
    "what "
    "limits each end. Occupancy: resident warps, and the resource that limits them.";

std::string span(double low, double high) { return fmt::format("{} – {}", time_text(low), time_text(high)); }

std::string binding(const PredictedFigure& one) {
  return one.binding_low == one.binding_high ? one.binding_low
                                             : fmt::format("{} – {}", one.binding_low, one.binding_high);
}

std::string changes_text(const ExplainedStage& stage) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostChanges, stage.changes.size()); ++i) {
    text += fmt::format("{}{} x{:.3g}", i == 0 ? "" : ", ", stage.changes[i].title, stage.changes[i].ratio);
  }
  return text;
}

bool has_real_gpu(const ExplainedGroup& group) { return !group.real_gpu.empty(); }

ReportTable stage_table(const ExplainedGroup& group, const std::string& gpu) {
  ReportTable table;
  table.columns = {left("stage"), left("predicted"), left("of"), left("occupancy")};
  if (has_real_gpu(group)) {
    table.columns.push_back(right("measured"));
    table.columns.push_back(left("predicted/measured"));
  }
  for (const ExplainedStage& stage : group.stages) {
    const PredictedFigure* const one = stage.prediction_on(gpu);
    const bool runs = one != nullptr && one->runs();
    std::vector<std::string> row = {
        stage.title,
        runs             ? span(*one->low_ns, *one->high_ns)
        : one == nullptr ? "not counted"
                         : "cannot be launched",
        runs ? binding(*one) : "",
        one == nullptr ? "" : fmt::format("{:.0f}% {}", 100 * one->occupancy, one->limited_by)};
    if (has_real_gpu(group)) {
      row.push_back(stage.measured ? fmt::format("{} ({})", time_text(stage.measured->value), stage.measured_of) : "");
      // Both intervals at their worst.
      row.push_back(runs && stage.measured
                        ? fmt::format("{:.2f} – {:.2f}",
                                      *one->low_ns / stage.measured->high.value_or(stage.measured->value),
                                      *one->high_ns / stage.measured->low.value_or(stage.measured->value))
                        : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// A table of the counters' changes from stage to stage, which are the same for every GPU.
ReportTable changes_table(const ExplainedGroup& group) {
  ReportTable table;
  table.columns = {left("stage"), left("counted, divided by the stage it builds on")};
  for (const ExplainedStage& stage : group.stages) {
    table.rows.push_back({stage.title, stage.why_not.empty() ? changes_text(stage) : stage.why_not});
  }
  return table;
}

/// The speedup over the row before: as published, and by the middles of the ranges.
std::string step_text(const ExplainedGroup& group, std::size_t row) {
  if (row == 0 || group.published[row].gpu != group.published[row - 1].gpu) return "";
  const ExplainedPublished& before = group.published[row - 1];
  const ExplainedPublished& one = group.published[row];
  return fmt::format("{:.3g}x / {:.3g}x", before.ns / one.ns, before.middle_ns() / one.middle_ns());
}

ReportTable published_table(const ExplainedGroup& group) {
  ReportTable table;
  table.columns = {left("published stage"), left("our stage"), right("published"), left("predicted"), left("gpu"),
                   left("ratio"),           left("step")};
  for (std::size_t i = 0; i < group.published.size(); ++i) {
    const ExplainedPublished& one = group.published[i];
    const std::string scaled = one.batch == group.batch ? "" : fmt::format(", scaled from batch {}", one.batch);
    table.rows.push_back({fmt::format("{} ({}, {}{})", one.stage, one.source, one.what, scaled), one.variant,
                          time_text(one.ns), span(one.low_ns, one.high_ns), one.gpu,
                          fmt::format("{:.2f} – {:.2f}", one.low_ns / one.ns, one.high_ns / one.ns),
                          step_text(group, i)});
  }
  return table;
}

/// A sentence on how well the predictions agree with the published figures.
std::string published_sentence(const ExplainedGroup& group) {
  const auto inside = std::ranges::count_if(
      group.published, [](const ExplainedPublished& one) { return one.low_ns <= one.ns && one.ns <= one.high_ns; });
  const std::vector<std::string> differences = order_differences(group.published);
  std::string text =
      fmt::format("published by others for their own kernels, probably on these GPUs: {} of {} within the range",
                  inside, group.published.size());
  if (group.published.size() > 1) {
    text += differences.empty()
                ? "; the order of stages agrees"
                : fmt::format("; ordered by the middles of the ranges, these differ: {}", fmt::join(differences, ", "));
  }
  return text;
}

std::string heading(const ExplainedGroup& group, const std::string& gpu) {
  const GpuFacts* const facts = find_gpu(gpu);
  std::string text = fmt::format("{}.{}, batch {}: predicted op times on {}", group.network, group.layer, group.batch,
                                 facts == nullptr ? gpu : facts->title);
  if (has_real_gpu(group)) text += fmt::format("; measured on {}", group.real_gpu);
  return text;
}

}  // namespace

void add_explanation(Report& report, const std::vector<ExplainedGroup>& groups, const std::vector<std::string>& gpus) {
  report.section().paragraph(kNote);
  for (const ExplainedGroup& group : groups) {
    for (const std::string& gpu : gpus)
      report.section(heading(group, gpu)).blocks.emplace_back(stage_table(group, gpu));
    report.section().blocks.emplace_back(changes_table(group));
    if (group.published.empty()) continue;
    ReportSection& published = report.section();
    published.paragraph(published_sentence(group));
    published.blocks.emplace_back(published_table(group));
  }
}

}  // namespace convladder

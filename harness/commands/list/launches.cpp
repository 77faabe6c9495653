// `convladder list --launches`: which kernels one call of a CUDA variant launches, known without a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "harness/commands/list/topics.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/listing.hpp"
#include "support/errors.hpp"
#include "support/report.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

/// The one case that the options name, on whatever device.
PlannedCase chosen_case(const LaunchesOf& asked) {
  if (asked.variants.size() != 1) throw UserError("--launches: expected one --variant of the cuda family");
  if (asked.layers.size() + asked.shapes.size() != 1)
    throw UserError("--launches: expected one --layer or one --shape");
  if (asked.batches.size() > 1) throw UserError("--launches: expected one --batch");
  RunOptions options;
  options.families = {"cuda"};
  options.variants = asked.variants;
  options.layers = asked.layers;
  for (const std::string& shape : asked.shapes) options.shapes.push_back(parse_shape(shape));
  options.batches = {parse_whole_number("--batch", asked.batches.empty() ? "1" : asked.batches[0], 1, kLargestBatch)};
  const std::vector<CaseGroup> plan = make_plan(options);
  const std::string name = plan.front().work.name();
  for (const CaseGroup& group : plan) {
    if (group.work.name() == name) continue;
    throw UserError(
        fmt::format("--layer {}: {} and {}, name one of them", asked.layers.front(), name, group.work.name()));
  }
  return plan.front().cases.front();
}

std::string dim_text(const Dim3& dimensions) {
  return fmt::format("{} x {} x {}", dimensions.x, dimensions.y, dimensions.z);
}

ReportTable launches_table(const std::vector<KernelLaunch>& plan) {
  ReportTable table{{left("grid"), left("block"), right("dynamic shared", "bytes"), left("kernel")}, {}};
  for (const KernelLaunch& launch : plan) {
    table.rows.push_back({dim_text(launch.grid), dim_text(launch.block), std::to_string(launch.dynamic_shared_bytes),
                          kernel_display_name(launch.kernel)});
  }
  return table;
}

/// The table with the kernel's name first.
ReportTable kernel_first(ReportTable table) {
  std::rotate(table.columns.begin(), table.columns.end() - 1, table.columns.end());
  for (std::vector<std::string>& row : table.rows) std::rotate(row.begin(), row.end() - 1, row.end());
  return table;
}

std::string launches_text(const LayerWork& work, ReportTable table) {
  Report report;
  report
      .section(fmt::format("{}: {} per call, batch {}", work.name(), plural(table.rows.size(), "launch", "launches"),
                           work.shape.batch))
      .blocks.emplace_back(std::move(table));
  return as_text(report);
}

}  // namespace

std::string launches_listing(const LaunchesOf& asked, const std::string& format) {
  const PlannedCase chosen = chosen_case(asked);
  const std::string& variant = asked.variants.front();
  // Asks the variant itself: where there is no GPU, the plan has stopped at that.
  if (const std::string why = chosen.variant.variant->unsupported_reason(chosen.work.shape); !why.empty()) {
    throw UserError(fmt::format("{} on {}: {}", variant, chosen.work.name(), why));
  }
  const std::vector<KernelLaunch> plan = chosen.variant.variant->launch_plan(chosen.work.shape);
  if (plan.empty()) throw UserError(fmt::format("{}: the library decides for itself what it launches", variant));
  if (format == "json") return launches_json_text(plan);
  const ReportTable table = launches_table(plan);
  return format == "csv" ? as_csv(kernel_first(table), "\n") : launches_text(chosen.work, table);
}

}  // namespace convladder

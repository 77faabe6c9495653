// `convladder list --launches`: which kernels one call of a CUDA variant launches, known without a GPU.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "harness/commands/list/topics.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/listing.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include "support/text_table.hpp"

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

std::string launches_csv(const std::vector<KernelLaunch>& plan) {
  std::string text = "kernel,grid,block,dynamic shared (bytes)\n";
  for (const KernelLaunch& launch : plan) {
    text += fmt::format("{},{},{},{}\n", csv_quoted(kernel_display_name(launch.kernel)), dim_text(launch.grid),
                        dim_text(launch.block), launch.dynamic_shared_bytes);
  }
  return text;
}

std::string launches_text(const LayerWork& work, const std::vector<KernelLaunch>& plan) {
  std::vector<std::vector<std::string>> rows;
  for (const KernelLaunch& launch : plan) {
    rows.push_back({dim_text(launch.grid), dim_text(launch.block), std::to_string(launch.dynamic_shared_bytes),
                    kernel_display_name(launch.kernel)});
  }
  return fmt::format(
      "{}: {} launch{} per call, batch {}\n{}", work.name(), plan.size(), plan.size() == 1 ? "" : "es",
      work.shape.batch,
      text_table({{"grid", "", false}, {"block", "", false}, {"dynamic shared", "bytes", true}, {"kernel", "", false}},
                 rows));
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
  return format == "csv" ? launches_csv(plan) : launches_text(chosen.work, plan);
}

}  // namespace convladder

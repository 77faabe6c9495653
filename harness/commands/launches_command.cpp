#include "harness/commands/launches_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/shape_argument.hpp"
#include "support/errors.hpp"
#include "support/text_table.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr const char* kLaunchesFooter = R"(examples:
  convladder launches --variant shared-memory --layer lenet72.conv2 --batch 100
  convladder launches --variant global-memory --shape 96,27,27,256,5,1,2 --count)";

/// The one case that the options name, on whatever device.
PlannedCase chosen_case(const LaunchesArguments& arguments) {
  if (arguments.layer.empty() == arguments.shape.empty()) {
    throw UserError("expected either --layer or --shape");
  }
  RunOptions options;
  options.families = {"cuda"};
  options.variants = {arguments.variant};
  if (!arguments.layer.empty()) options.layers = {arguments.layer};
  if (!arguments.shape.empty()) options.shapes = {parse_shape(arguments.shape)};
  options.batches = {parse_whole_number("--batch", arguments.batch, 1, kLargestBatch)};
  const std::vector<CaseGroup> plan = make_plan(options);
  const std::string name = plan.front().work.name();
  for (const CaseGroup& group : plan) {
    if (group.work.name() == name) continue;
    throw UserError(fmt::format("--layer {}: {} and {}, name one of them", arguments.layer, name, group.work.name()));
  }
  return plan.front().cases.front();
}

std::string text(const Dim3& dimensions) {
  return fmt::format("{} x {} x {}", dimensions.x, dimensions.y, dimensions.z);
}

}  // namespace

void add_launches_options(CLI::App& launches, LaunchesArguments& arguments) {
  launches.footer(kLaunchesFooter);
  launches.add_option("--variant", arguments.variant, "a variant of the cuda family, from 'convladder list'")
      ->required();
  launches.add_option("--layer", arguments.layer, "lenet72.conv1");
  launches.add_option("--shape", arguments.shape, "your own layer shape C,H,W,M,K[,stride[,padding]]");
  launches.add_option("--batch", arguments.batch, "images per call (default 1)");
  launches.add_flag("--json", arguments.as_json, "as JSON");
  launches.add_flag("--count", arguments.only_count, "print only the number of launches");
}

int launches_command(const LaunchesArguments& arguments) {
  const PlannedCase chosen = chosen_case(arguments);
  if (!chosen.unsupported.empty()) {
    throw UserError(fmt::format("{} on {}: {}", arguments.variant, chosen.work.name(), chosen.unsupported));
  }
  const std::vector<KernelLaunch> plan = chosen.variant.variant->launch_plan(chosen.work.shape);
  if (plan.empty()) {
    throw UserError(fmt::format("{}: the library decides for itself what it launches", arguments.variant));
  }
  if (arguments.only_count) {
    fmt::print("{}\n", plan.size());
    return kExitOk;
  }
  ordered_json json = ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const KernelLaunch& launch : plan) {
    const std::string name = kernel_display_name(launch.kernel);
    json.push_back({{"kernel", name},
                    {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                    {"block", {launch.block.x, launch.block.y, launch.block.z}},
                    {"dynamic_shared_bytes", launch.dynamic_shared_bytes}});
    rows.push_back({text(launch.grid), text(launch.block), std::to_string(launch.dynamic_shared_bytes), name});
  }
  if (arguments.as_json) {
    fmt::print("{}\n", json.dump(1));
    return kExitOk;
  }
  fmt::print("{}: {} launch{} per call, batch {}\n", chosen.work.name(), plan.size(), plan.size() == 1 ? "" : "es",
             chosen.work.shape.batch);
  fmt::print(
      "{}",
      text_table({{"grid", "", false}, {"block", "", false}, {"dynamic shared", "bytes", true}, {"kernel", "", false}},
                 rows));
  return kExitOk;
}

}  // namespace convladder

#include "harness/measure/records/listing.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "devices/device_registry.hpp"
#include "devices/kernel_resources.hpp"
#include "harness/measure/records/case_json.hpp"
#include "network/layer_operators.hpp"
#include "network/network.hpp"
#include "network/network_problem.hpp"
#include "simulator/counters/metrics.hpp"
#include "support/json_text.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

template <typename Variants>
ordered_json variants_json(const Variants& variants) {
  ordered_json list = ordered_json::array();
  for (const auto& one : variants) list.push_back(variant_json(one.info));
  return list;
}

ordered_json operators_json() {
  ordered_json list = ordered_json::array();
  for (const ProblemVariant& one : layer_variants()) {
    list.push_back({{"family", one.info.family},
                    {"type", layer_type_of(*one.problem)},
                    {"name", one.info.name},
                    {"title", one.info.title},
                    {"library", one.info.is_library()},
                    {"default", is_default(one)},
                    {"description", one.info.hypothesis}});
  }
  return list;
}

ordered_json problems_json() {
  ordered_json list = ordered_json::array();
  for (const Problem* problem : registered_problems()) {
    ordered_json dimensions = ordered_json::array();
    for (const Dimension& one : problem->dimensions()) {
      dimensions.push_back({{"letter", one.letter}, {"name", one.name}, {"usual", or_null(one.usual)}});
    }
    ordered_json variants = ordered_json::array();
    for (const ProblemVariant& one : problem->variants()) {
      variants.push_back({{"family", one.info.family},
                          {"rung", or_null(one.info.rung)},
                          {"name", one.info.name},
                          {"title", one.info.title}});
    }
    list.push_back({{"name", problem->name()},
                    {"title", problem->title()},
                    {"dimensions", std::move(dimensions)},
                    {"default_sizes", problem->default_sizes()},
                    {"variants", std::move(variants)}});
  }
  return list;
}

ordered_json layers_json() {
  ordered_json list = ordered_json::array();
  for (const Network& network : built_in_networks()) {
    for (const std::size_t index : convolution_layers(network)) {
      const Layer& layer = network.layers[index];
      list.push_back({{"network", network.name},
                      {"layer", layer.name},
                      {"shape", size_name(layer.size)},
                      {"flop_per_image", layer.size.flop()}});
    }
  }
  return list;
}

ordered_json devices_json() {
  ordered_json list = ordered_json::array();
  for (const DeviceKind& kind : device_kinds()) {
    list.push_back({{"device", kind.name}, {"family", kind.family}, {"unavailable", kind.unavailable()}});
  }
  return list;
}

ordered_json stages_json(const LadderFolder& folder) {
  ordered_json list = ordered_json::array();
  for (const StageSource& stage : folder.stages) {
    ordered_json parameters = ordered_json::object();
    for (const StageParameter& one : stage.parameters) parameters[one.name] = one.values;
    list.push_back({{"family", stage.family()},
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
  return list;
}

}  // namespace

std::vector<ProblemVariant> layer_variants() {
  std::vector<ProblemVariant> all;
  for (const Problem* problem : layer_problems()) {
    all.insert(all.end(), problem->variants().begin(), problem->variants().end());
  }
  std::ranges::stable_sort(all, {}, [](const ProblemVariant& one) { return one.info.family; });
  return all;
}

std::vector<ProblemVariant> fused_variants() {
  std::vector<ProblemVariant> all;
  std::ranges::copy_if(fused_problem().variants(), std::back_inserter(all), fuses);
  return all;
}

bool is_default(const ProblemVariant& one) {
  const Problem& problem = *one.problem;
  const ProblemVariant* const usual =
      default_variant(one.info.family, parse_size(problem, problem.default_sizes().front()));
  return usual != nullptr && usual->variant == one.variant;
}

std::string variants_json_text() {
  return json_text({{"variants", variants_json(convolution_problem().variants())},
                    {"fused_variants", variants_json(fused_variants())},
                    {"whole_networks", variants_json(variants_of_kind(kWholeNetworks))},
                    {"operators", operators_json()},
                    {"problems", problems_json()},
                    {"layers", layers_json()},
                    {"devices", devices_json()}});
}

std::string folder_json_text(const LadderFolder& folder) {
  ordered_json dimensions = ordered_json::array();
  for (const LadderDimension& one : folder.problem.dimensions) {
    dimensions.push_back({{"letter", one.letter},
                          {"name", one.name},
                          {"from", one.smallest},
                          {"to", one.largest},
                          {"usual", or_null(one.usual)}});
  }
  return json_text({{"name", folder.problem.name},
                    {"title", folder.problem.title},
                    {"solve", folder.problem.signature(false)},
                    {"reference", folder.reference},
                    {"dimensions", std::move(dimensions)},
                    {"sizes", folder.problem.sizes},
                    {"counted_sizes", folder.problem.counted_sizes},
                    {"stages", stages_json(folder)}});
}

std::string problem_json_text(const Problem& problem) {
  ordered_json stages = ordered_json::array();
  for (const ProblemVariant& one : problem.variants()) {
    stages.push_back({{"family", one.info.family},
                      {"rung", or_null(one.info.rung)},
                      {"name", one.info.name},
                      {"title", one.info.title},
                      {"builds_on", text_or_null(one.info.builds_on)},
                      {"hypothesis", one.info.hypothesis}});
  }
  return json_text({{"name", problem.name()},
                    {"title", problem.title()},
                    {"sizes", problem.default_sizes()},
                    {"stages", std::move(stages)}});
}

std::string launches_json_text(const std::vector<KernelLaunch>& launches) {
  ordered_json list = ordered_json::array();
  for (const KernelLaunch& launch : launches) {
    list.push_back({{"kernel", kernel_display_name(launch.kernel)},
                    {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                    {"block", {launch.block.x, launch.block.y, launch.block.z}},
                    {"dynamic_shared_bytes", launch.dynamic_shared_bytes}});
  }
  return json_text(list);
}

std::string metrics_json_text() {
  ordered_json list = ordered_json::array();
  for (const simulated::Metric& metric : simulated::metrics()) {
    list.push_back({{"title", metric.title},
                    {"name", metric.name},
                    {"unit", metric.unit},
                    {"definition", metric.definition},
                    {"note", metric.note},
                    {"modelled", metric.modelled}});
  }
  return json_text({{"metrics", std::move(list)}});
}

}  // namespace convladder

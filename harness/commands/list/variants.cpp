// `convladder list`: everything that can be run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/commands/list/topics.hpp"
#include "harness/measure/records/case_json.hpp"
#include "network/layer_operators.hpp"
#include "network/network.hpp"
#include "network/whole_network.hpp"
#include "support/json_null.hpp"
#include "support/json_text.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/fused/problem.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// Whether networks take the variant where nobody names another.
bool is_default(const ProblemVariant& one) {
  const Problem& problem = *one.problem;
  const ProblemVariant* const usual =
      default_variant(one.info.family, parse_size(problem, problem.default_sizes().front()));
  return usual != nullptr && usual->variant == one.variant;
}

/// The variants of layers around the convolutions, one family after the other.
std::vector<ProblemVariant> layer_variants() {
  std::vector<ProblemVariant> all;
  for (const Problem* problem : layer_problems()) {
    all.insert(all.end(), problem->variants().begin(), problem->variants().end());
  }
  std::ranges::stable_sort(all, {}, [](const ProblemVariant& one) { return one.info.family; });
  return all;
}

/// The fused variants, each of which replaces a stage and the operators after it.
std::vector<ProblemVariant> fused_variants() {
  std::vector<ProblemVariant> all;
  std::ranges::copy_if(fused_problem().variants(), std::back_inserter(all), fuses);
  return all;
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

/// The problems of this build with their variants.
ordered_json problems_json() {
  ordered_json problems = ordered_json::array();
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
    problems.push_back({{"name", problem->name()},
                        {"title", problem->title()},
                        {"dimensions", std::move(dimensions)},
                        {"default_sizes", problem->default_sizes()},
                        {"variants", std::move(variants)}});
  }
  return problems;
}

ordered_json list_json() {
  ordered_json variants = ordered_json::array();
  for (const ProblemVariant& registered : convolution_problem().variants())
    variants.push_back(variant_json(registered.info));
  ordered_json fused = ordered_json::array();
  for (const ProblemVariant& registered : fused_variants()) fused.push_back(variant_json(registered.info));
  ordered_json whole = ordered_json::array();
  for (const RegisteredWholeNetwork& registered : registered_whole_networks())
    whole.push_back(variant_json(registered.info));
  ordered_json layers = ordered_json::array();
  for (const Network& network : built_in_networks()) {
    for (const std::size_t index : convolution_layers(network)) {
      const Layer& layer = network.layers[index];
      layers.push_back({{"network", network.name},
                        {"layer", layer.name},
                        {"shape", shape_name(layer.convolution)},
                        {"flop_per_image", layer.convolution.flop()}});
    }
  }
  ordered_json devices = ordered_json::array();
  for (const DeviceKind& kind : device_kinds()) {
    devices.push_back({{"device", kind.name}, {"family", kind.family}, {"unavailable", kind.unavailable()}});
  }
  return {{"variants", std::move(variants)}, {"fused_variants", std::move(fused)}, {"whole_networks", std::move(whole)},
          {"operators", operators_json()},   {"problems", problems_json()},        {"layers", std::move(layers)},
          {"devices", std::move(devices)}};
}

std::string variants_text() {
  std::string text;
  std::string_view family;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const VariantInfo& info = registered.info;
    if (!info.leaves_out.empty()) continue;
    if (info.family != family)
      text += fmt::format("{}variants of family {}\n", family.empty() ? "" : "\n", info.family);
    family = info.family;
    const std::string place = info.rung ? fmt::format("{:>2}", *info.rung) : " -";
    text += fmt::format("  {} {:<22} {}\n     {:<22} {}\n", place, info.name, info.title, "", info.hypothesis);
  }
  return text;
}

std::string fused_variants_text() {
  std::string text;
  std::string_view family;
  for (const ProblemVariant& registered : fused_variants()) {
    const VariantInfo& info = registered.info;
    if (info.family != family) {
      text += fmt::format("\nfused variants of family {}: convolution, activation and pooling in one\n", info.family);
    }
    family = info.family;
    text += fmt::format("     {:<22} {}\n     {:<22} {}\n", info.name, info.title, "", info.hypothesis);
  }
  return text;
}

std::string whole_networks_text() {
  std::string text;
  std::string_view family;
  for (const RegisteredWholeNetwork& registered : registered_whole_networks()) {
    const VariantInfo& info = registered.info;
    if (info.family != family) text += fmt::format("\nlibraries that do whole networks of family {}\n", info.family);
    family = info.family;
    text += fmt::format("     {:<22} {}\n     {:<22} {}\n", info.name, info.title, "", info.hypothesis);
  }
  return text;
}

/// A list of the variants beside the ladder that a run leaves out unless they are named.
std::string left_out_text() {
  std::string text;
  std::string_view stage;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const VariantInfo& info = registered.info;
    if (info.leaves_out.empty()) continue;
    if (info.builds_on != stage) {
      text += fmt::format("\n{} ({}) without one of its ideas (convladder run --leave-one-out)\n", info.builds_on,
                          info.family);
    }
    stage = info.builds_on;
    text += fmt::format("     {:<26} {}\n     {:<26} {}\n", info.name, info.leaves_out, "", info.hypothesis);
  }
  return text;
}

std::string operators_text() {
  std::string text;
  std::string_view family;
  for (const ProblemVariant& one : layer_variants()) {
    if (one.info.family != family) {
      text += fmt::format("\noperators of family {} (* used by networks)\n", one.info.family);
    }
    family = one.info.family;
    text += fmt::format("   {} {:<22} {:<22} {}\n", is_default(one) ? '*' : ' ', layer_type_of(*one.problem),
                        one.info.name, one.info.hypothesis);
  }
  return text;
}

/// A line for each problem, and one for each of its variants; those of the convolution, which have lines of their own,
/// are left out.
std::string problems_text() {
  std::string text = "\nproblems (--problem, --size)\n";
  for (const Problem* problem : registered_problems()) {
    text +=
        fmt::format("  {:<22} {}: {}\n", problem->name(), problem->title(), fmt::join(problem->default_sizes(), ", "));
    if (problem->is_default()) continue;
    for (const ProblemVariant& one : problem->variants()) {
      text += fmt::format("     {} {:<5} {:<22} {}\n", one.info.rung ? fmt::format("{:>2}", *one.info.rung) : " -",
                          one.info.family, one.info.name, one.info.title);
    }
  }
  return text;
}

std::string layers_text() {
  std::string text;
  text += "\nlayers (--network, --layer)\n";
  for (const Network& network : built_in_networks()) {
    for (const std::size_t index : convolution_layers(network)) {
      const Layer& layer = network.layers[index];
      text += fmt::format("  {:<22} {:<20} {:>8.2f} MFLOP per image\n", network.name + "." + layer.name,
                          shape_name(layer.convolution), layer.convolution.flop() / 1e6);
    }
  }
  return text;
}

std::string devices_text() {
  std::string text;
  text += "\ndevices (--device)\n";
  for (const DeviceKind& kind : device_kinds()) {
    const std::string unavailable = kind.unavailable();
    const std::vector<DeviceFact> facts = kind.facts();
    text += fmt::format("  {:<22} runs family {:<6} {}\n", kind.name, kind.family,
                        !unavailable.empty() ? unavailable : (facts.empty() ? "" : facts.front().value));
    if (const std::string remark = kind.what_to_know(); !remark.empty()) text += fmt::format("      {}\n", remark);
  }
  return text;
}

}  // namespace

std::string variants_listing(const std::string& format) {
  if (format == "json") return json_text(list_json());
  return variants_text() + fused_variants_text() + whole_networks_text() + left_out_text() + operators_text() +
         problems_text() + layers_text() + devices_text();
}

}  // namespace convladder

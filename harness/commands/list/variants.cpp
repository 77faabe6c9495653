// `convladder list`: everything that can be run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/commands/list/topics.hpp"
#include "harness/measure/records/listing.hpp"
#include "network/layer_operators.hpp"
#include "network/network.hpp"
#include "network/network_problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

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
  for (const ProblemVariant& registered : variants_of_kind(kWholeNetworks)) {
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
                          size_name(layer.size), layer.size.flop() / 1e6);
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
  if (format == "json") return variants_json_text();
  return variants_text() + fused_variants_text() + whole_networks_text() + left_out_text() + operators_text() +
         problems_text() + layers_text() + devices_text();
}

}  // namespace convladder

#include "harness/commands/list_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/catalogue.hpp"
#include "devices/device_registry.hpp"
#include "devices/simulated/counters/metrics.hpp"
#include "harness/machine/environment.hpp"
#include "harness/plan/problem_list.hpp"
#include "harness/records/case_json.hpp"
#include "network/network.hpp"
#include "support/errors.hpp"
#include "support/text_table.hpp"
#include "variants/convolution/registry.hpp"
#include "variants/fused/fused_variant.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

bool is_default(const OperatorInfo& info) { return default_operator(info.family, info.type).info.name == info.name; }

ordered_json operators_json() {
  ordered_json list = ordered_json::array();
  for (const RegisteredOperator& registered : registered_operators()) {
    const OperatorInfo& info = registered.info;
    list.push_back({{"family", info.family},
                    {"type", operator_type_name(info.type)},
                    {"name", info.name},
                    {"title", info.title},
                    {"library", info.library},
                    {"default", is_default(info)},
                    {"description", info.description}});
  }
  return list;
}

ordered_json list_json() {
  ordered_json variants = ordered_json::array();
  for (const RegisteredVariant& registered : registered_variants()) variants.push_back(variant_json(registered.info));
  ordered_json fused = ordered_json::array();
  for (const RegisteredFused& registered : registered_fused_variants()) fused.push_back(variant_json(registered.info));
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
  return {{"variants", std::move(variants)}, {"fused_variants", std::move(fused)}, {"operators", operators_json()},
          {"problems", problems_json()},     {"layers", std::move(layers)},        {"devices", std::move(devices)}};
}

void print_variants() {
  std::string_view family;
  for (const RegisteredVariant& registered : registered_variants()) {
    const VariantInfo& info = registered.info;
    if (!info.leaves_out.empty()) continue;
    if (info.family != family) fmt::print("{}variants of family {}\n", family.empty() ? "" : "\n", info.family);
    family = info.family;
    const std::string place = info.rung ? fmt::format("{:>2}", *info.rung) : " -";
    fmt::print("  {} {:<22} {}\n     {:<22} {}\n", place, info.name, info.title, "", info.hypothesis);
  }
}

void print_fused_variants() {
  std::string_view family;
  for (const RegisteredFused& registered : registered_fused_variants()) {
    const VariantInfo& info = registered.info;
    if (info.family != family) {
      fmt::print("\nfused variants of family {}: convolution, activation and pooling in one\n", info.family);
    }
    family = info.family;
    fmt::print("     {:<22} {}\n     {:<22} {}\n", info.name, info.title, "", info.hypothesis);
  }
}

/// Beside the ladder, and not part of a run that does not name them.
void print_left_out() {
  std::string_view stage;
  for (const RegisteredVariant& registered : registered_variants()) {
    const VariantInfo& info = registered.info;
    if (info.leaves_out.empty()) continue;
    if (info.builds_on != stage) {
      fmt::print("\n{} ({}) without one of its ideas (convladder leave-one-out)\n", info.builds_on, info.family);
    }
    stage = info.builds_on;
    fmt::print("     {:<26} {}\n     {:<26} {}\n", info.name, info.leaves_out, "", info.hypothesis);
  }
}

void print_operators() {
  std::string_view family;
  for (const RegisteredOperator& registered : registered_operators()) {
    const OperatorInfo& info = registered.info;
    if (info.family != family) fmt::print("\noperators of family {} (* used by networks)\n", info.family);
    family = info.family;
    const std::string_view type = operator_type_name(info.type);
    fmt::print("   {} {:<22} {:<22} {}\n", is_default(info) ? '*' : ' ', type, info.name, info.description);
  }
}

void print_layers() {
  fmt::print("\nlayers (--network, --layer)\n");
  for (const Network& network : built_in_networks()) {
    for (const std::size_t index : convolution_layers(network)) {
      const Layer& layer = network.layers[index];
      fmt::print("  {:<22} {:<20} {:>8.2f} MFLOP per image\n", network.name + "." + layer.name,
                 shape_name(layer.convolution), layer.convolution.flop() / 1e6);
    }
  }
}

void print_devices() {
  fmt::print("\ndevices (--device)\n");
  for (const DeviceKind& kind : device_kinds()) {
    const std::string unavailable = kind.unavailable();
    const std::vector<DeviceFact> facts = kind.facts();
    fmt::print("  {:<22} runs family {:<6} {}\n", kind.name, kind.family,
               !unavailable.empty() ? unavailable : (facts.empty() ? "" : facts.front().value));
  }
}

/// The words of a text in lines that fit the terminal, the first behind `lead`, the others indented as far.
void print_wrapped(std::string_view lead, std::string_view text) {
  std::string line(lead);
  const std::string indent(lead.size(), ' ');
  bool begun = false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (begun && line.size() + 1 + word.size() > kTextColumns) {
      fmt::print("{}\n", line);
      line = indent;
      begun = false;
    }
    if (begun) line += ' ';
    line += word;
    begun = true;
  }
  fmt::print("{}\n", line);
}

ordered_json metrics_json() {
  ordered_json list = ordered_json::array();
  for (const simulated::Metric& metric : simulated::metrics()) {
    list.push_back({{"title", metric.title},
                    {"name", metric.name},
                    {"unit", metric.unit},
                    {"definition", metric.definition},
                    {"note", metric.note},
                    {"modelled", metric.modelled}});
  }
  return {{"metrics", std::move(list)}};
}

/// Several metrics share a note: each is printed once, below, and named by its number.
void print_metrics() {
  std::vector<std::string_view> notes;
  fmt::print("metrics of the simulated device, by Nsight Compute's names; [n] is a note below\n");
  for (const simulated::Metric& metric : simulated::metrics()) {
    auto note = std::ranges::find(notes, metric.note);
    if (note == notes.end()) note = notes.insert(note, metric.note);
    fmt::print("\n  {}\n", metric.name);
    print_wrapped("    ",
                  fmt::format("{}, in {}{}: {} [{}]", metric.title, metric.unit, metric.modelled ? " (modelled)" : "",
                              metric.definition, note - notes.begin() + 1));
  }
  fmt::print("\nnotes\n");
  for (std::size_t i = 0; i < notes.size(); ++i) print_wrapped(fmt::format("  [{}] ", i + 1), notes[i]);
}

void print_object(const char* title, const ordered_json& object) {
  fmt::print("{}\n", title);
  for (const auto& [name, value] : object.items()) {
    fmt::print("  {:<22} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

}  // namespace

int list_command(bool as_json) {
  if (as_json) {
    fmt::print("{}\n", list_json().dump(1));
    return kExitOk;
  }
  print_variants();
  print_fused_variants();
  print_left_out();
  print_operators();
  fmt::print("{}", problem_lines());
  print_layers();
  print_devices();
  return kExitOk;
}

int list_metrics_command(bool as_json) {
  if (as_json) {
    fmt::print("{}\n", metrics_json().dump(1));
  } else {
    print_metrics();
  }
  return kExitOk;
}

int env_command(bool as_json) {
  const ordered_json environment = environment_json();
  if (as_json) {
    fmt::print("{}\n", environment.dump(1, ' ', false, ordered_json::error_handler_t::replace));
    return kExitOk;
  }
  for (const char* part : {"program", "host", "cpu", "libraries"}) print_object(part, environment.at(part));
  for (const ordered_json& device : environment.at("devices")) {
    print_object(fmt::format("device {}", device.at("kind").get<std::string>()).c_str(), device.at("facts"));
    if (!device.at("unavailable").is_null()) {
      fmt::print("  {}\n", device.at("unavailable").get<std::string>());
    }
  }
  if (environment.at("program").at("cuda_compiler").is_null()) {
    fmt::print("not in this build: the cuda family (configuration found neither nvcc nor clang)\n");
  }
  const auto cached = find_cached_folder();
  fmt::print("images on this machine\n  {}\n",
             cached ? cached->string() : "only the built-in synthetic set; scripts/fetch_datasets.sh downloads more");
  return kExitOk;
}

}  // namespace convladder

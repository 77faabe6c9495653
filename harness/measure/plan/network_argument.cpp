#include "harness/measure/plan/network_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

bool is_path(const std::string& text) { return text.find('/') != std::string::npos || text.ends_with(".json"); }

const Network& loaded_network(const std::string& path) {
  static std::map<std::string, std::unique_ptr<const Network>> loaded;
  auto& network = loaded[path];
  if (network != nullptr) return *network;
  network = std::make_unique<const Network>(load_network_file(path));
  if (std::ranges::find(built_in_networks(), network->name, &Network::name) != built_in_networks().end()) {
    throw UserError(fmt::format("{}: the name '{}' is already used by a built-in network", path, network->name));
  }
  return *network;
}

}  // namespace

const Network& find_network(const std::string& name_or_path) {
  if (is_path(name_or_path)) return loaded_network(name_or_path);
  return find_known("network", name_or_path, built_in_networks(), &Network::name);
}

std::vector<const Network*> selected_networks(const std::vector<std::string>& names,
                                              const std::vector<std::string>& layers) {
  std::vector<const Network*> networks;
  for (const std::string& name : names) {
    const Network* const network = &find_network(name);
    if (std::ranges::find(networks, network) == networks.end()) networks.push_back(network);
  }
  if (!names.empty()) return networks;
  for (const Network& network : built_in_networks()) {
    const bool layer_named = std::ranges::any_of(
        layers, [&](const std::string& layer) { return layer.starts_with(fmt::format("{}.", network.name)); });
    if (network.default_run || layer_named) networks.push_back(&network);
  }
  return networks;
}

}  // namespace convladder

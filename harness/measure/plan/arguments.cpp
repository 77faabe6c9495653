#include "harness/measure/plan/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/ladders/ladder_library.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/ladders/outside_stage.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/stage_cache.hpp"
#include "network/network_problem.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/text.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr int kLargestSide = 1 << 20;

bool is_path(const std::string& text) { return text.find('/') != std::string::npos || text.ends_with(".json"); }

const Network& loaded_network(const std::string& path) {
  static std::map<std::string, std::unique_ptr<const Network>> loaded;
  auto& network = loaded[path];
  if (network != nullptr) return *network;
  network = std::make_unique<const Network>(load_network_file(path));
  const bool is_built_in =
      std::ranges::find(built_in_networks(), network->name, &Network::name) != built_in_networks().end();
  if (is_built_in || find_problem(network->name) != nullptr) {
    throw UserError(fmt::format("{}: the name '{}' is already used by a {}", path, network->name,
                                is_built_in ? "built-in network" : "problem"));
  }
  return *network;
}

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

BuildProgress shown_on(Progress& progress) {
  return [&progress](const std::string& file, int done, int all) {
    progress.show_part(fmt::format("compiling {}", printable(file)), static_cast<double>(done) / all, std::nullopt);
  };
}

}  // namespace

const DeviceKind& find_device_kind(std::string_view name) {
  static const std::vector<DeviceKind> kinds = device_kinds();
  return find_known("device", name, kinds, &DeviceKind::name);
}

std::vector<DeviceKind> chosen_devices(const std::vector<std::string>& names, DefaultDevices otherwise) {
  for (const std::string& name : names) static_cast<void>(find_device_kind(name));
  std::vector<DeviceKind> chosen;
  std::set<std::string_view> seen;    // families
  std::set<std::string_view> served;  // families with a device that is there
  for (const DeviceKind& kind : device_kinds()) {
    if (!names.empty()) {
      if (std::ranges::find(names, kind.name) != names.end()) chosen.push_back(kind);
      continue;
    }
    const bool available = kind.unavailable().empty();
    const bool wanted = otherwise == DefaultDevices::timed
                            ? kind.has_clock && available
                            : !served.contains(kind.family) && (available || !seen.contains(kind.family));
    if (!wanted) continue;
    chosen.push_back(kind);
    seen.insert(kind.family);
    if (available) served.insert(kind.family);
  }
  return chosen;
}

std::string device_of_family(std::string_view family, const std::vector<std::string>& names) {
  std::string found;
  for (const DeviceKind& kind : chosen_devices(names, DefaultDevices::of_every_family)) {
    if (kind.family != family) continue;
    if (kind.unavailable().empty() && kind.has_clock) return std::string(kind.name);
    if (found.empty() || !kind.has_clock) found = kind.name;
  }
  return found;
}

const Network& find_network(const std::string& name_or_path) {
  if (is_path(name_or_path)) return loaded_network(name_or_path);
  return find_known("network", name_or_path, built_in_networks(), &Network::name);
}

const Problem* problem_named(const std::string& word) {
  if (const Problem* const found = find_problem(word)) return found;
  const bool is_built_in = std::ranges::find(built_in_networks(), word, &Network::name) != built_in_networks().end();
  std::error_code error;
  if (!is_built_in && !(is_path(word) && fs::is_regular_file(word, error))) return nullptr;
  const Network& network = find_network(word);
  if (const Problem* const found = find_problem(network.name)) return found;
  return &open_problem(std::make_unique<NetworkProblem>(network, word));
}

std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const Problem* const one : registered_problems()) names.emplace_back(one->name());
  for (const Network& one : built_in_networks()) names.push_back(one.name);
  return names;
}

std::string argument_of(const Problem& problem) {
  const auto* const network = dynamic_cast<const NetworkProblem*>(&problem);
  return network != nullptr ? network->argument() : std::string(problem.name());
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

ProblemSize parse_shape(const std::string& text) {
  ProblemSize shape{&convolution_problem()};
  std::vector<int>& numbers = shape.values;
  for (const std::string& part : split(text, ',')) {
    numbers.push_back(parse_whole_number("--shape " + text, part, 0, kLargestSide));
  }
  if (numbers.size() < 5 || numbers.size() > 7) {
    throw UserError(
        fmt::format("--shape {}: expected C,H,W,M,K[,stride[,padding]], got {} numbers", text, numbers.size()));
  }
  const std::vector<Dimension> dimensions = shape.problem->dimensions();
  while (numbers.size() < dimensions.size()) numbers.push_back(dimensions[numbers.size()].usual.value());
  if (const std::string error = size_error(shape); !error.empty()) {
    throw UserError(fmt::format("--shape {}: {}", text, error));
  }
  return shape;
}

void choose_ladder(RunOptions& options, const std::string& word) {
  if (word.empty()) throw UserError("expected a ladder's folder or a problem's name, got an empty string");
  const fs::path path = without_last_slash(word);
  if (is_ladder_folder(path)) {
    options.ladder = fs::absolute(path).lexically_normal().string();
    options.problem = read_ladder_problem(path).name;
    return;
  }
  if (const LibraryLadder* const ladder = find_in_library(word)) {
    options.ladder = ladder->name;
    options.problem = ladder->name;
    return;
  }
  if (const Problem* const found = problem_named(word)) {
    const bool is_file = argument_of(*found) != found->name();
    options.problem = is_file ? fs::absolute(path).lexically_normal().string() : std::string(found->name());
    return;
  }
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UserError(
        fmt::format("{}: no problem.json: 'convladder new' makes a folder that is a ladder", printable(path.string())));
  }
  std::vector<std::string> names = problem_names();
  for (const LibraryLadder& one : ladder_library()) names.push_back(one.name);
  throw UserError(fmt::format("{}: no folder with a problem.json; {}", printable(word),
                              unknown_name_message("problem", word, names)));
}

std::filesystem::path ladder_folder_of(const RunOptions& options) {
  if (options.ladder.starts_with('/')) return options.ladder;
  if (const LibraryLadder* const found = find_in_library(options.ladder)) {
    return unpacked_ladder(*found, default_stage_cache());
  }
  throw UserError(fmt::format("{}: no ladder of this program is called that", printable(options.ladder)));
}

const FolderProblem& ladder_of(const RunOptions& options) {
  static std::map<std::pair<std::string, std::vector<std::string>>, const FolderProblem*> opened;
  const auto [at, is_new] = opened.try_emplace({options.ladder, options.with}, nullptr);
  if (at->second == nullptr) {
    Progress progress(nullptr, 0);
    const fs::path folder = ladder_folder_of(options);
    at->second =
        options.with.empty()
            ? &open_ladder(folder, shown_on(progress))
            : &open_ladder_with(folder, stages_beside(read_ladder_folder(folder), options.with), shown_on(progress));
  }
  return *at->second;
}

void make_absolute(std::vector<std::string>& files) {
  for (std::string& file : files) file = fs::absolute(file).lexically_normal().string();
}

const std::vector<ProblemVariant>& stages_with(const std::vector<std::string>& files) {
  static std::map<std::vector<std::string>, std::vector<ProblemVariant>> compiled;
  const auto [at, is_new] = compiled.try_emplace(files);
  if (is_new) {
    Progress progress(nullptr, 0);
    at->second = outside_stages(files, shown_on(progress));
  }
  return at->second;
}

}  // namespace convladder

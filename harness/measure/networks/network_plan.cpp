#include "harness/measure/networks/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "network/layer_operators.hpp"
#include "network/network_variant.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/units.hpp"
#include "variants/accuracy.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

// The slowest of stages 1 to 6 takes some seconds for a pass of so many floating-point operations.
constexpr double kSelectionWork = 40e9;
constexpr double kSelectionWorkOnGpu = 4e12;
constexpr std::ptrdiff_t kSelectionBatches = 2;

/// "conv1=a,conv2=b" as pairs; a text without '=' is one pair with an empty name. Throws UserError for half a pair.
std::vector<std::pair<std::string, std::string>> assignments(const std::string& option, const std::string& text) {
  if (text.find('=') == std::string::npos) return {{"", text}};
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      throw UserError(fmt::format("{} {}: expected NAME=IMPLEMENTATION, found '{}'", option, text, part));
    }
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    from = comma + 1;
  }
  return pairs;
}

/// The implementations of convolutions: the built-in ones, and stages from outside.
class Convolutions {
 public:
  /// Compiles the files. Throws UserError.
  explicit Convolutions(const std::vector<std::string>& with) : all_(convolution_problem().variants()) {
    if (with.empty()) return;
    const std::vector<ProblemVariant>& stages = stages_with(with);
    all_.insert(all_.end(), stages.begin(), stages.end());
  }

  const std::vector<ProblemVariant>& all() const { return all_; }
  const ProblemVariant* find(std::string_view family, std::string_view name) const {
    const auto found = std::ranges::find_if(
        all_, [&](const ProblemVariant& one) { return one.info.family == family && one.info.name == name; });
    return found == all_.end() ? nullptr : &*found;
  }

 private:
  std::vector<ProblemVariant> all_;
};

/// A fused variant of the family by its name; nullptr if there is none.
const ProblemVariant* find_fused(std::string_view family, std::string_view name) {
  const ProblemVariant* const found = find_variant(fused_problem(), family, name);
  return found != nullptr && fuses(*found) ? found : nullptr;
}

/// The assignments that give every convolution its default: one for all where their defaults agree.
std::vector<std::pair<std::string, std::string>> default_choice(const Network& network, std::string_view family,
                                                                int batch, bool fused) {
  const NetworkChoice best = best_choice(network, family, batch, fused);
  std::vector<std::pair<std::string, std::string>> choice;
  for (const auto& [layer, stage] : best.convolutions) {
    const auto with_more = best.fused.find(layer);
    choice.emplace_back(network.layers[layer].name,
                        with_more != best.fused.end() ? with_more->second.info.name : stage.info.name);
  }
  const auto other = [&choice](const auto& one) { return one.second != choice.front().second; };
  if (!choice.empty() && std::ranges::none_of(choice, other)) return {{"", choice.front().second}};
  return choice;
}

void check_variant_name(const std::string& name, const Convolutions& convolutions) {
  std::vector<std::string> known{"all", std::string(kBest), std::string(kBestSeparate)};
  for (const ProblemVariant& registered : convolutions.all()) known.emplace_back(registered.info.name);
  for (const ProblemVariant& registered : fused_problem().variants()) {
    if (fuses(registered)) known.emplace_back(registered.info.name);
  }
  for (const ProblemVariant& registered : variants_of_kind(kWholeNetworks)) known.emplace_back(registered.info.name);
  require_known("variant", name, known);
}

using Choice = std::vector<std::pair<std::string, std::string>>;

/// The choices where no variant is named. By default: stages 1 to 6, the best for each layer as the variants say, and
/// the libraries; for all: every stage, the fused ones and the libraries; otherwise the best for each layer.
std::vector<Choice> unnamed_choices(const NetworkOptions& options, const Convolutions& convolutions,
                                    const Network& network, std::string_view family, int batch) {
  std::vector<Choice> choices;
  std::vector<Choice> libraries;
  const int introduction = convolution_problem().introduction_rungs();
  for (const ProblemVariant& registered : convolutions.all()) {
    const VariantInfo& info = registered.info;
    if (info.family != family || !info.leaves_out.empty() || registered.variant->compiled_stage() != nullptr) continue;
    const bool is_library = !info.rung;
    if (is_library && (options.all || options.default_selection)) libraries.push_back({{"", std::string(info.name)}});
    if (!is_library && (options.all || (options.default_selection && *info.rung <= introduction)))
      choices.push_back({{"", std::string(info.name)}});
  }
  Choice best = default_choice(network, family, batch, true);
  Choice separate = default_choice(network, family, batch, false);
  if ((options.all || options.default_selection) && separate != best && !separate.empty())
    choices.push_back(std::move(separate));
  if (!best.empty()) choices.push_back(std::move(best));
  for (const ProblemVariant& registered : fused_problem().variants()) {
    if (options.all && registered.info.family == family && fuses(registered))
      choices.push_back({{"", std::string(registered.info.name)}});
  }
  for (const ProblemVariant& registered : variants_of_kind(kWholeNetworks)) {
    if ((options.all || options.default_selection) && registered.info.family == family)
      libraries.push_back({{"", std::string(registered.info.name)}});
  }
  choices.insert(choices.end(), libraries.begin(), libraries.end());
  for (const ProblemVariant& one : convolutions.all()) {
    if (one.info.family == family && one.variant->compiled_stage() != nullptr)
      choices.push_back({{"", std::string(one.info.name)}});
  }
  return choices;
}

/// The assignments that `--variant` asks for, once for each choice: by layer name, "" for every convolution.
std::vector<Choice> variant_choices(const NetworkOptions& options, const Convolutions& convolutions,
                                    const Network& network, std::string_view family, int batch) {
  std::vector<Choice> choices;
  if (options.variants.empty()) return unnamed_choices(options, convolutions, network, family, batch);
  for (const std::string& text : options.variants) {
    if (text == "all") {
      for (const ProblemVariant& registered : convolutions.all()) {
        if (registered.info.family != family || !registered.info.leaves_out.empty()) continue;
        choices.push_back({{"", std::string(registered.info.name)}});
      }
      continue;
    }
    if (text == kBest || text == kBestSeparate) {
      Choice best = default_choice(network, family, batch, text == kBest);
      if (!best.empty()) choices.push_back(std::move(best));
      continue;
    }
    choices.push_back(assignments("--variant", text));
    for (const auto& [layer, variant] : choices.back()) check_variant_name(variant, convolutions);
  }
  return choices;
}

/// Fuses the convolution `index` with the layers after it, where that is possible. `planned.unsupported` says why not
/// where the layer was named, or where no other is fused (`choose_convolutions` clears it).
void choose_fused(NetworkCase& planned, std::size_t index, const ProblemVariant& fused) {
  const std::string error = fusion_error(*planned.network, index, *fused.variant);
  if (error.empty()) {
    planned.choice.fused[index] = fused;
  } else if (planned.unsupported.empty()) {
    planned.unsupported = fmt::format("{} ({}): {}", planned.network->layers[index].name, fused.info.name, error);
  }
}

/// Whether a library was asked for the whole network; it becomes the choice then. Throws UserError where it was asked
/// for one layer.
bool choose_whole(const Choice& wanted, NetworkChoice& choice) {
  for (const auto& [layer, variant] : wanted) {
    const std::optional<ProblemVariant> found = library_network(choice.family, variant);
    if (!found) continue;
    if (!layer.empty()) {
      throw UserError(fmt::format("--variant {}={}: it does whole networks, and no layer of one", layer, variant));
    }
    choice.whole = found;
    return true;
  }
  return false;
}

/// Fills the choice's convolutions and fused layers. Returns false if the family lacks one of the variants.
bool choose_convolutions(const Network& network, const std::vector<std::pair<std::string, std::string>>& wanted,
                         const Convolutions& convolutions, NetworkCase& planned) {
  NetworkChoice& choice = planned.choice;
  std::vector<std::string> layers;
  for (const std::size_t index : convolution_layers(network)) layers.push_back(network.layers[index].name);
  const std::set<std::string_view> known(layers.begin(), layers.end());
  // In the order in which they were named; "" is for every layer.
  std::map<std::string_view, std::vector<std::size_t>> by_layer;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string& layer = wanted[i].first;
    if (!layer.empty() && !known.contains(layer)) {
      require_known(fmt::format("convolution of {}", network.name), layer, layers, "--variant: ");
    }
    by_layer[layer].push_back(i);
  }
  if (choose_whole(wanted, choice)) return true;
  for (const std::size_t index : convolution_layers(network)) {
    const ProblemSize size = network.layers[index].size.with_batch(planned.batch);
    const ProblemVariant* chosen = default_variant(choice.family, size);  // for layers that are not named
    std::vector<std::size_t> of_layer = by_layer[""];
    const std::vector<std::size_t>& named = by_layer[network.layers[index].name];
    of_layer.insert(of_layer.end(), named.begin(), named.end());
    std::ranges::sort(of_layer);
    for (const std::size_t i : of_layer) {
      const std::string& variant = wanted[i].second;
      const ProblemVariant* const fused = find_fused(choice.family, variant);
      if (fused != nullptr) choose_fused(planned, index, *fused);
      // Where a fused variant cannot take a convolution, the stage on which it builds does.
      chosen = convolutions.find(choice.family, fused == nullptr ? variant : convolution_of(*fused).info.name);
    }
    if (chosen == nullptr) return false;
    choice.convolutions[index] = *chosen;
  }
  // One name for all layers means those that can be fused.
  if (wanted.size() == 1 && wanted.front().first.empty() && !choice.fused.empty()) planned.unsupported.clear();
  return true;
}

void choose_operators(const NetworkOptions& options, NetworkChoice& choice) {
  for (const std::string& text : options.operators) {
    for (const auto& [type_name, name] : assignments("--operator", text)) {
      std::vector<std::string> types;
      std::vector<std::string> names;
      bool found = false;
      for (const Problem* problem : layer_problems()) {
        types.emplace_back(layer_type_of(*problem));
        if (types.back() != type_name) continue;
        for (const ProblemVariant& one : problem->variants()) {
          names.emplace_back(one.info.name);
          if (one.info.name != name) continue;
          found = true;
          if (one.info.family == choice.family) choice.operators[type_name] = one;
        }
      }
      if (names.empty()) throw UserError(unknown_name_message("operator", type_name, types));
      if (!found) throw UserError(unknown_name_message(fmt::format("{} operator", type_name), name, names));
    }
  }
}

std::vector<int> batches_of(const NetworkOptions& options, const Network& network, const DeviceKind& kind) {
  std::vector<int> batches = options.batches;
  const double flop = network_flop(network);
  if (batches.empty() && !kind.has_clock) {
    batches.push_back(kCountedBatch * flop <= kCountedNetworkWorkLimit ? kCountedBatch : 1);
  }
  if (batches.empty()) {
    const double limit = !options.default_selection ? kNetworkWorkLimit
                         : kind.family == "cuda"    ? kSelectionWorkOnGpu
                                                    : kSelectionWork;
    for (const int batch : network.batches) {
      // A GPU runs them all.
      if (batches.empty() || (kind.family == "cuda" && !options.default_selection) || batch * flop <= limit)
        batches.push_back(batch);
    }
    // A sweep of many small batches has to be asked for.
    if (options.default_selection && batches.size() > kSelectionBatches)
      batches.erase(batches.begin(), batches.end() - kSelectionBatches);
  }
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

/// Records why a stage from outside cannot be run.
void look_at_stages(const DeviceKind& kind, NetworkCase& planned) {
  for (const auto& [layer, registered] : planned.choice.convolutions) {
    const CompiledStage* const stage = registered.variant->compiled_stage();
    if (stage == nullptr) continue;
    if (planned.skipped.empty()) planned.skipped = registered.variant->not_here();
    if (planned.does_not_compile.empty()) planned.does_not_compile = registered.variant->does_not_compile();
    if (!planned.unsupported.empty() || kind.has_clock) continue;
    planned.unsupported = why_not_executed(*stage);
  }
}

std::string unsupported_on(const DeviceKind& kind, const NetworkCase& planned) {
  const std::vector<NetworkStep> steps = network_steps(*planned.network, planned.choice);
  std::string reason = unsupported_reason(steps, planned.batch);
  if (planned.choice.whole) {
    const NetworkProblem problem(*planned.network);
    reason = planned.choice.whole->variant->unsupported_reason(problem.size(planned.batch));
  }
  if (reason.empty() && kind.has_clock) reason = why_untimed(steps);
  if (reason.empty() && !kind.has_clock) reason = without_own_kernels(steps, planned.batch);
  return reason;
}

void add_cases(const NetworkOptions& options, const Convolutions& convolutions, const std::string& argument,
               const DeviceKind& kind, std::vector<NetworkCase>& cases) {
  const Network& network = find_network(argument);
  const std::string unavailable = kind.unavailable();
  for (const int batch : batches_of(options, network, kind)) {
    for (const auto& wanted : variant_choices(options, convolutions, network, kind.family, batch)) {
      NetworkCase planned;
      planned.network = &network;
      planned.network_argument = argument;
      planned.choice.family = kind.family;
      planned.device = kind.name;
      planned.batch = batch;
      planned.has_clock = kind.has_clock;
      planned.skipped = unavailable;
      if (!choose_convolutions(network, wanted, convolutions, planned)) continue;
      choose_operators(options, planned.choice);
      for (const auto& [layer, variant] : wanted) {
        planned.variants +=
            fmt::format("{}{}{}{}", planned.variants.empty() ? "" : ",", layer, layer.empty() ? "" : "=", variant);
      }
      planned.id = fmt::format("{}/{}/{}/{}", kind.name, planned.variants, network.name, batch);
      look_at_stages(kind, planned);
      if (!planned.skipped.empty() || !planned.does_not_compile.empty()) planned.unsupported.clear();
      if (planned.runs()) planned.unsupported = unsupported_on(kind, planned);
      if (std::ranges::find(cases, planned.id, &NetworkCase::id) == cases.end()) cases.push_back(std::move(planned));
    }
  }
}

}  // namespace

std::string why_no_room(const NetworkCase& planned) {
  // The run's own images, and those that a pass gets.
  const double of_image = 2 * sizeof(float) * static_cast<double>(planned.network->input.elements());
  const double needed = of_image * planned.batch;
  const auto available = static_cast<double>(available_memory_bytes());
  if (!planned.has_clock || needed <= available) return {};
  return fmt::format(
      "the images of batch {} need {} of memory, {} are available; the largest batch that fits is about {}",
      planned.batch, memory_text(needed), memory_text(available), std::max<long>(1, long(available / of_image)));
}

std::vector<NetworkCase> make_network_plan(const NetworkOptions& options) {
  const Convolutions convolutions(options.with);
  std::vector<NetworkCase> cases;
  for (const std::string& argument : options.networks) {
    for (const DeviceKind& kind : chosen_devices(options.devices, DefaultDevices::timed))
      add_cases(options, convolutions, argument, kind, cases);
  }
  if (cases.empty()) {
    throw UserError("no case remains: none of the chosen devices runs these variants (see 'convladder list')");
  }
  return cases;
}

}  // namespace convladder

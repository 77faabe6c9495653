#include "harness/measure/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "network/layer_operators.hpp"
#include "network/network_problem.hpp"
#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/report/libraries_without_ptx.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text_pattern.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

bool selected(const std::vector<std::string>& filter, std::string_view name) {
  return filter.empty() || std::ranges::find(filter, name) != filter.end();
}

void check_all_names(const RunOptions& options, const Problem& problem, const std::vector<ProblemVariant>& all) {
  if (!options.ladder.empty() && !(options.networks.empty() && options.layers.empty())) {
    throw UserError(fmt::format("{}: a folder has no networks and no layers; --size names a size of {}",
                                options.layers.empty() ? "--network" : "--layer", problem.name()));
  }
  if (dynamic_cast<const NetworkProblem*>(&problem) != nullptr && !options.layers.empty()) {
    throw UserError(fmt::format("--layer {}: {} is taken as a whole", options.layers.front(), problem.name()));
  }
  std::vector<std::string> families;
  std::vector<std::string> variants;
  for (const ProblemVariant& registered : all) {
    families.emplace_back(registered.info.family);
    variants.emplace_back(registered.info.name);
  }
  std::vector<std::string> layers;
  for (const Network* network : selected_networks(options.networks, options.layers)) {
    for (const ProblemLayer& layer : problem_layers(*network, problem)) {
      layers.push_back(network->layers[layer.index].name);
      layers.push_back(network->name + "." + layers.back());
    }
  }
  for (const Network& network : built_in_networks()) {
    for (const ProblemLayer& layer : problem_layers(network, problem)) {
      layers.push_back(network.name + "." + network.layers[layer.index].name);
    }
  }
  require_known("family", options.families, families);
  require_known("variant", options.variants, variants);
  require_known("layer", options.layers, layers);
}

std::vector<int> batches_of(const RunOptions& options, const DeviceKind& kind, const ProblemSize& shape) {
  std::vector<int> batches = options.batches;
  const double most_flop = options.default_selection ? kSelectionWorkLimit : kDefaultWorkLimit;
  if (batches.empty()) {
    for (const int batch : shape.problem->default_batches()) {
      if (batches.empty() || shape.with_batch(batch).flop() <= most_flop) batches.push_back(batch);
    }
  }
  // Counts of one batch hold for the others; at the largest a GPU is full.
  if (options.default_selection && options.batches.empty() && !kind.has_clock) batches = {std::ranges::max(batches)};
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

ProblemSize size_of(const Problem& problem, const std::string& text) {
  try {
    return parse_size(problem, text);
  } catch (const std::invalid_argument& error) {
    throw UserError(fmt::format("--size {}", error.what()));
  }
}

/// Adds the layers of networks that belong to the problem and were asked for.
void add_layers(std::vector<LayerWork>& works, const Problem& problem, const RunOptions& options) {
  for (const Network* network : selected_networks(options.networks, options.layers)) {
    for (const ProblemLayer& of_problem : problem_layers(*network, problem)) {
      const Layer& layer = network->layers[of_problem.index];
      if (!selected(options.layers, layer.name) && !selected(options.layers, network->name + "." + layer.name)) {
        continue;
      }
      works.push_back({network->name, layer.name, network, of_problem.index, of_problem.size});
    }
  }
}

/// Layers of networks and sizes of the problem, for a batch of 1. Where nothing is named these are, for the
/// convolution, the layers of the default networks; for another problem its default sizes.
std::vector<LayerWork> sizes_of(const Problem& problem, const DeviceKind& kind, const RunOptions& options) {
  const bool convolves = problem.is_default();
  if (!convolves && !options.shapes.empty()) {
    throw UserError(fmt::format("--shape is for the convolution; a size of {} is given by --size", problem.name()));
  }
  const bool sizes_named = !options.shapes.empty() || !options.sizes.empty();
  const bool layers_named = !options.networks.empty() || !options.layers.empty();
  std::vector<LayerWork> works;
  if (layers_named || (convolves && !sizes_named)) add_layers(works, problem, options);
  if (layers_named && options.layers.empty() && works.empty()) {
    throw UserError(fmt::format("no layer of these networks is of the problem {}", problem.name()));
  }
  for (const ProblemSize& shape : options.shapes) works.push_back({"shape", size_name(shape), nullptr, 0, shape});
  const bool by_default = !convolves && !sizes_named && !layers_named;
  const std::vector<std::string> usual = kind.has_clock ? problem.default_sizes() : problem.counted_sizes();
  for (const std::string& text : by_default ? usual : options.sizes) {
    const ProblemSize size = size_of(problem, text);
    works.push_back({convolves ? "shape" : std::string(problem.name()), size_name(size), nullptr, 0, size});
  }
  return works;
}

/// Every size with every batch.
std::vector<LayerWork> layer_works(const Problem& problem, const DeviceKind& kind, const RunOptions& options) {
  std::vector<LayerWork> works;
  for (const LayerWork& layer : sizes_of(problem, kind, options)) {
    for (const int batch : batches_of(options, kind, layer.shape)) {
      works.push_back(layer);
      works.back().shape.batch = batch;
      if (const std::string error = size_error(works.back().shape); !error.empty()) {
        throw UserError(fmt::format("{}: {}", layer.name(), error));
      }
    }
  }
  return works;
}

/// Why the device cannot run the problem; empty if it can. The launches of a folder's own stages run on the stand-in,
/// and need no PTX of this build.
std::string why_unavailable(const DeviceKind& kind, const Problem& problem) {
  const bool is_folder = dynamic_cast<const FolderProblem*>(&problem) != nullptr;
  if (!is_folder || kind.family != "cuda" || kind.has_clock) return kind.unavailable();
  return stand_in::find_libraries().empty() ? "this build has no stand-in for the CUDA runtime" : "";
}

/// Why a device cannot run a stage that launches its kernels itself; empty if it can.
std::string unsupported_stage(const DeviceKind& kind, const CompiledStage& stage, const Variant& variant,
                              const ProblemSize& shape) {
  constexpr double kMostCountedFlop = 1e9;  // of a batch, all of which the stage launches
  if (!kind.has_clock) {
    if (shape.problem->items_are_alike() && shape.flop() > kMostCountedFlop) {
      return "a stage from outside is executed whole, and this batch is more than 1 GFLOP";
    }
    if (std::string why = why_not_executed(stage); !why.empty()) return why;
  }
  return variant.unsupported_reason(shape);
}

/// Why the variant cannot run the shape on that kind of device; empty if it can.
std::string unsupported_on(const DeviceKind& kind, const Variant& variant, const ProblemSize& shape) {
  if (const CompiledStage* const stage = variant.compiled_stage())
    return unsupported_stage(kind, *stage, variant, shape);
  if (!kind.has_clock && variant.launch_plan(shape).empty()) {
    const std::string reason = variant.unsupported_reason(shape);
    return reason.empty() ? "its kernels come from a library, so there is no PTX to execute" : reason;
  }
  return variant.unsupported_reason(shape);
}

/// Whether a case contends: above stages 1 to 6 only the fastest is of interest.
bool is_contender(const RunOptions& options, const ProblemVariant& registered, const DeviceKind& kind) {
  const int introduction = registered.problem->introduction_rungs();
  return options.default_selection && kind.has_clock && introduction > 0 &&
         registered.info.rung.value_or(0) > introduction;
}

CaseGroup make_group(const RunOptions& options, const std::vector<ProblemVariant>& all, const TextPattern& filter,
                     const LayerWork& work, const DeviceKind& kind, const std::string& unavailable) {
  CaseGroup group{work, std::string(kind.name), {}, kind.has_clock};
  for (const ProblemVariant& registered : all) {
    if (registered.info.family != kind.family || !selected(options.families, registered.info.family) ||
        !selected(options.variants, registered.info.name)) {
      continue;
    }
    if (options.variants.empty() && !registered.info.leaves_out.empty()) continue;  // only if asked for by name
    PlannedCase planned{
        .id = fmt::format("{}/{}/{}/{}", kind.name, registered.info.name, work.name(), work.shape.batch),
        .variant = registered,
        .device = group.device,
        .work = work,
        .skipped = unavailable,
        .unsupported = {},
        .has_clock = kind.has_clock};
    if (!filter.matches(planned.id)) continue;
    if (planned.skipped.empty()) planned.skipped = registered.variant->not_here();
    if (planned.skipped.empty()) planned.does_not_compile = registered.variant->does_not_compile();
    if (planned.skipped.empty() && planned.does_not_compile.empty())
      planned.unsupported = unsupported_on(kind, *registered.variant, work.shape);
    if (kind.has_clock && planned.runs()) planned.untimed = registered.variant->why_untimed();
    planned.contends = is_contender(options, registered, kind);
    group.cases.push_back(std::move(planned));
  }
  return group;
}

}  // namespace

const Problem& problem_of(const RunOptions& options) {
  if (!options.ladder.empty()) return ladder_of(options);
  if (const Problem* const found = problem_named(options.problem)) return *found;
  throw UserError(unknown_name_message("problem", options.problem, problem_names()));
}

namespace {

/// The problem's variants, and those from outside.
std::vector<ProblemVariant> variants_with(const Problem& problem, const RunOptions& options) {
  std::vector<ProblemVariant> all = problem.variants();
  if (options.with.empty()) return all;
  if (!options.ladder.empty()) {  // the folder was opened with them; they are its last
    for (std::size_t i = all.size() - options.with.size(); i < all.size(); ++i) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
      const auto below = std::find_if(std::make_reverse_iterator(at), all.rend(), [&](const ProblemVariant& one) {
        return one.info.family == at->info.family && one.info.rung;
      });
      std::rotate(below.base(), at, at + 1);
    }
    return all;
  }
  if (!problem.is_default()) {
    throw UserError(fmt::format("--with: a stage from outside is for the convolution, not for {}", problem.name()));
  }
  for (const ProblemVariant& outside : stages_with(options.with)) {
    const auto below = std::find_if(all.rbegin(), all.rend(), [&](const ProblemVariant& one) {
      return one.info.family == outside.info.family && one.info.rung;
    });
    all.insert(below.base(), outside);
  }
  return all;
}

}  // namespace

std::vector<ProblemVariant> planned_variants(const RunOptions& options) {
  return variants_with(problem_of(options), options);
}

bool takes_convolution_data(const LayerWork& work) {
  const Problem* const problem = work.shape.problem;
  return problem == &convolution_problem() || (work.source != nullptr && problem == &fused_problem());
}

const NetworkProblem* network_of(const LayerWork& work) {
  return dynamic_cast<const NetworkProblem*>(work.shape.problem);
}

std::string input_kind(const LayerWork& work) {
  if (network_of(work) != nullptr) return "images";
  if (!takes_convolution_data(work)) return "random";
  if (work.source == nullptr) return work.shape.at("in_channels") == 1 ? "images" : "random";
  return work.layer_index == 0 ? "images" : "upstream activations";
}

double case_bytes(const ProblemSize& shape) {
  // The host's copy of the input, and twice the tensors: a variant with its own layout holds both.
  const double between = 4.0 * shape.batch * static_cast<double>(shape.problem->intermediate_elements(shape));
  return shape.input_bytes() + 2.0 * shape.tensor_bytes() + between;
}

std::vector<CaseGroup> make_plan(const RunOptions& options) { return make_plan(problem_of(options), options); }

std::vector<CaseGroup> make_plan(const Problem& problem, const RunOptions& options) {
  return make_plan(problem, variants_with(problem, options), options);
}

std::vector<CaseGroup> make_plan(const Problem& problem, const std::vector<ProblemVariant>& all,
                                 const RunOptions& options) {
  check_all_names(options, problem, all);
  const TextPattern filter("--benchmark_filter", options.case_filter);
  std::vector<CaseGroup> groups;
  for (const DeviceKind& kind : chosen_devices(options.devices, DefaultDevices::of_every_family)) {
    const std::string unavailable = why_unavailable(kind, problem);
    for (const LayerWork& work : layer_works(problem, kind, options)) {
      CaseGroup group = make_group(options, all, filter, work, kind, unavailable);
      if (group.cases.empty()) continue;
      groups.push_back(std::move(group));
    }
  }
  if (groups.empty()) throw UserError("no case remains: the filters exclude each other (see 'convladder list')");
  return groups;
}

}  // namespace convladder

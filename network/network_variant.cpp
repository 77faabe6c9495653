#include "network/network_variant.hpp"

#include <algorithm>
#include <functional>

#include "devices/cpu/other_threads.hpp"
#include "network/layer_operators.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// The last step that moves the activations elsewhere; the steps behind it work in place.
const NetworkStep* last_moving_step(const std::vector<NetworkStep>& steps) {
  const auto last =
      std::find_if(steps.rbegin(), steps.rend(), [](const NetworkStep& step) { return !step.in_place(); });
  return last == steps.rend() ? nullptr : &*last;
}

/// Every step bound to its tensors. Activations go to and fro between two buffers, as large as the largest of them.
class PreparedSteps final : public PreparedVariant {
 public:
  PreparedSteps(Device& device, const NetworkProblem& problem, std::vector<NetworkStep> steps, int images,
                const ProblemTensors& tensors)
      : steps_(std::move(steps)) {
    const ProblemSize whole = problem.size(images);
    const std::size_t largest = static_cast<std::size_t>(problem.intermediate_elements(whole) / 2 * images);
    for (DeviceBuffer& buffer : activations_) buffer = device.allocate(largest * sizeof(float), "activations");
    const NetworkStep* const last_moving = last_moving_step(steps_);
    const float* from = tensors.input();
    for (const NetworkStep& step : steps_) {
      // The caller's input may not be overwritten, so a first step that works in place is given another place.
      float* to = outputs_.empty() || !step.in_place() ? other_than(from) : outputs_.back();
      const bool is_last = last_moving == nullptr ? &step == &steps_.front() : &step == last_moving;
      if (is_last) to = tensors.output();
      const ProblemSize size = step.size.with_batch(images);
      const LayerConstants constants = problem.constants_of(step.layer, tensors.constants);
      prepared_.push_back(step.variant->prepare(device, size, step_tensors(size, constants, from, to)));
      outputs_.push_back(to);
      from = to;
    }
  }

  std::vector<std::string> parts() const override { return step_names(steps_); }
  void run_part(std::size_t part) override {
    PreparedVariant& prepared = *prepared_[part];
    prepared.load_input();
    prepared.run();
    prepared.store_output();
    if (steps_[part].kind == StepKind::convolution) OtherThreads::rest();  // the next layer is OpenMP's
  }
  void run() override {
    for (std::size_t part = 0; part < prepared_.size(); ++part) run_part(part);
  }
  float* part_output(std::size_t part) override { return outputs_[part]; }

 private:
  float* other_than(const float* from) const { return activations_[from == activations_[0].floats() ? 1 : 0].floats(); }

  std::vector<NetworkStep> steps_;
  DeviceBuffer activations_[2];
  std::vector<float*> outputs_;
  std::vector<std::unique_ptr<PreparedVariant>> prepared_;  // destroyed before the buffers they use
};

/// A network computed step by step, each by a variant of its own.
class LayeredNetwork final : public Variant {
 public:
  /// The choice may depend on the network and the batch. One without convolutions says that there is none.
  using Choose = std::function<NetworkChoice(const Network& network, int batch)>;
  explicit LayeredNetwork(Choose choose) : choose_(std::move(choose)) {}
  /// As far as the network does not matter, it has the properties of that stage.
  LayeredNetwork(Choose choose, const Variant& stage) : choose_(std::move(choose)), stage_(&stage) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    const Network& network = network_problem(size).network();
    if (choose_(network, size.batch).convolutions.empty() && !convolution_layers(network).empty()) {
      return "no stage of the family can run one of its convolutions";
    }
    return convladder::unsupported_reason(steps(size), size.batch);
  }
  std::string why_untimed() const override { return stage_ == nullptr ? "" : stage_->why_untimed(); }
  double tolerance() const override {
    return stage_ == nullptr ? kFloat32Tolerance : std::max(kFloat32Tolerance, stage_->tolerance());
  }
  double rate_over_fma() const override { return stage_ == nullptr ? 1 : stage_->rate_over_fma(); }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedSteps>(device, network_problem(size), steps(size), size.batch, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    std::vector<KernelLaunch> plan;
    const std::vector<NetworkStep> all = steps(size);
    if (!without_own_kernels(all, size.batch).empty()) return {};
    for (const NetworkStep& step : all) {
      for (KernelLaunch& launch : step.variant->launch_plan(step.size.with_batch(size.batch))) {
        plan.push_back(std::move(launch));
      }
    }
    return plan;
  }
  std::vector<VariantPart> parts(const ProblemSize& size) const override {
    return network_parts(network_problem(size), steps(size));
  }
  double saved_operations(const ProblemSize& size) const override {
    double made = 0;
    for (const NetworkStep& step : steps(size))
      made += step.size.least_flop() / step.variant->saved_operations(step.size);
    const double all = size.problem->least_flop(size);
    return made > 0 ? std::max(1.0, all / made) : 1;
  }

 private:
  std::vector<NetworkStep> steps(const ProblemSize& size) const {
    const Network& network = network_problem(size).network();
    return network_steps(network, choose_(network, size.batch));
  }

  Choose choose_;
  const Variant* stage_ = nullptr;
};

const ProblemVariant* best_fused(const Network& network, std::size_t layer, std::string_view family, int batch) {
  const std::optional<FusedLayers> layers = fused_layers(network, layer);
  const ProblemVariant* const found = layers ? default_variant(family, layers->size.with_batch(batch)) : nullptr;
  return found != nullptr && fuses(*found) && fusion_error(network, layer, *found->variant).empty() ? found : nullptr;
}

LayeredNetwork::Choose same_everywhere(const ProblemVariant& stage) {
  return [stage](const Network& network, int /*batch*/) {
    NetworkChoice choice{.family = std::string(stage.info.family), .convolutions = {}, .operators = {}};
    for (const std::size_t layer : convolution_layers(network)) choice.convolutions[layer] = stage;
    return choice;
  };
}

struct BestOfLayers {
  VariantInfo info;
  bool fused;
};

/// Above the stages of a family: what suits each layer.
std::vector<BestOfLayers> best_of_layers(std::string_view family, int highest_rung) {
  return {{{.family = family,
            .rung = highest_rung + 1,
            .name = kBestSeparate,
            .title = "Best of each layer",
            .builds_on = "",
            .hypothesis = "Each convolution takes the stage that suits it."},
           false},
          {{.family = family,
            .rung = highest_rung + 2,
            .name = kBest,
            .title = "Best of each layer, fused",
            .builds_on = kBestSeparate,
            .hypothesis = "Activations stay in registers and caches where one kernel computes several layers."},
           true}};
}

}  // namespace

std::shared_ptr<const Variant> network_variant(const NetworkChoice& choice) {
  if (choice.whole) return {choice.whole->variant, [](const Variant* /*lives as long as the program*/) {}};
  return std::make_shared<LayeredNetwork>([choice](const Network& /*network*/, int /*batch*/) { return choice; });
}

NetworkChoice best_choice(const Network& network, std::string_view family, int batch, bool fused) {
  NetworkChoice choice{.family = std::string(family), .convolutions = {}, .operators = {}};
  for (const std::size_t layer : convolution_layers(network)) {
    const ProblemVariant* const stage = default_variant(family, network.layers[layer].size.with_batch(batch));
    if (stage == nullptr) return {.family = std::string(family), .convolutions = {}, .operators = {}};
    choice.convolutions[layer] = *stage;
    const ProblemVariant* const with_more = fused ? best_fused(network, layer, family, batch) : nullptr;
    if (with_more != nullptr) choice.fused[layer] = *with_more;
  }
  return choice;
}

std::vector<ProblemVariant> layered_networks(const NetworkProblem& problem) {
  std::vector<ProblemVariant> variants;
  const auto add = [&](const VariantInfo& info, std::unique_ptr<LayeredNetwork> variant) {
    variants.push_back({info, &problem, &keep_variant(std::move(variant))});
  };
  const std::vector<ProblemVariant>& stages = convolution_problem().variants();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const VariantInfo& info = stages[i].info;
    const bool is_last_rung = info.rung && std::none_of(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                                        stages.end(), [&](const ProblemVariant& one) {
                                                          return one.info.family == info.family && one.info.rung;
                                                        });
    if (info.leaves_out.empty())
      add(info, std::make_unique<LayeredNetwork>(same_everywhere(stages[i]), *stages[i].variant));
    if (!is_last_rung) continue;
    for (const BestOfLayers& best : best_of_layers(info.family, *info.rung)) {
      const auto choose = [family = std::string(info.family), fused = best.fused](const Network& network, int batch) {
        return best_choice(network, family, batch, fused);
      };
      add(best.info, std::make_unique<LayeredNetwork>(choose));
    }
  }
  return variants;
}

std::optional<ProblemVariant> library_network(std::string_view family, std::string_view name) {
  for (const ProblemVariant& one : variants_of_kind(kWholeNetworks)) {
    if (one.info.family == family && one.info.name == name) return one;
  }
  return std::nullopt;
}

std::vector<VariantPart> network_parts(const NetworkProblem& problem, const std::vector<NetworkStep>& steps) {
  std::vector<VariantPart> parts;
  for (const NetworkStep& step : steps) {
    VariantPart& part = parts.emplace_back(VariantPart{step.name, step.size, {}, step.tolerance()});
    for (const ProblemTensor& constant : step.size.problem->constants(step.size)) {
      const NetworkProblem::Places& places = problem.places_of(step.layer);
      part.constants.push_back((constant.name == "bias" ? places.bias : places.weights).value());
    }
  }
  return parts;
}

}  // namespace convladder

// The stages below the fused variants: a stage of the convolution and the operators of a network, one after the other.
// They have all the costs that fusing saves.
#include <fmt/format.h>

#include <deque>
#include <utility>

#include "devices/cpu/other_threads.hpp"
#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// A layer behind the convolution, and whether it has the bias.
struct Follower {
  const char* name;
  ProblemSize size;
  bool has_bias = false;
};

/// The layers that follow the shape's convolution, in order.
std::vector<Follower> followers_of(const FusedShape& shape) {
  const ConvShape& s = shape.convolution;
  const std::vector<int> sums{s.out_channels, s.out_height(), s.out_width()};
  std::vector<Follower> all;
  if (shape.has_bias) all.push_back({"bias", {find_problem("bias"), s.batch, sums}, true});
  const char* const activation = shape.activation == Activation::tanh ? "tanh" : "relu";
  all.push_back({activation, {find_problem(activation), s.batch, sums}});
  std::vector<int> pooling = sums;
  pooling.insert(pooling.end(), {shape.pool_size, shape.pool_stride});
  all.push_back({"max_pool", {find_problem("max-pooling"), s.batch, pooling}});
  return all;
}

/// The layers, prepared and bound as the network runner binds them: all but the pooling work in place.
class PreparedSeparate final : public PreparedVariant {
 public:
  PreparedSeparate(Device& device, const ProblemVariant& stage, const FusedShape& shape, const ProblemTensors& tensors)
      : output_(tensors.output()),
        sums_(device.allocate(static_cast<std::size_t>(shape.convolution.output_elements()) * sizeof(float), "sums")) {
    convolution_ =
        stage.variant->prepare(device, shape.convolution,
                               conv_tensors(shape.convolution, tensors.input(), tensors.constant(), sums_.floats()));
    for (const Follower& one : followers_of(shape)) {
      const Problem& problem = *one.size.problem;
      ProblemTensors of_one;
      of_one.inputs = {{problem.inputs(one.size).front(), sums_.address()}};
      of_one.outputs = {
          {problem.outputs(one.size).front(), problem.works_in_place() ? sums_.address() : tensors.output()}};
      if (one.has_bias) of_one.constants = {tensors.constants.at(1)};
      names_.emplace_back(one.name);
      followers_.push_back(default_variant(stage.info.family, one.size)->variant->prepare(device, one.size, of_one));
    }
  }

  std::vector<std::string> parts() const override { return names_; }
  void run_part(std::size_t part) override {
    if (part > 0) return followers_[part - 1]->run();
    convolution_->load_input();
    convolution_->run();
    convolution_->store_output();
    OtherThreads::rest();  // the following operators use OpenMP's threads
  }
  void run() override {
    for (std::size_t part = 0; part < names_.size(); ++part) run_part(part);
  }
  float* part_output(std::size_t part) override { return part + 1 == names_.size() ? output_ : sums_.floats(); }
  std::string choice() const override { return convolution_->choice(); }

 private:
  float* output_;
  DeviceBuffer sums_;
  std::vector<std::string> names_{"convolution"};
  std::unique_ptr<PreparedVariant> convolution_;
  std::vector<std::unique_ptr<PreparedVariant>> followers_;
};

class SeparateOperators final : public Variant {
 public:
  SeparateOperators(std::string_view family, std::string_view stage) : family_(family), stage_(stage) {}

  const ProblemVariant& stage() const { return *find_variant(convolution_problem(), family_, stage_); }

  std::string unsupported_reason(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size);
    std::string reason = variant().unsupported_reason(shape.convolution);
    if (!reason.empty()) return fmt::format("{}: {}", stage_, reason);
    for (const Follower& one : followers_of(shape)) {
      if (default_variant(family_, one.size) == nullptr) return fmt::format("no variant can run {}", one.name);
    }
    return {};
  }
  /// Never suits: a network does the same in steps of its own.
  bool suits(const ProblemSize& /*size*/) const override { return false; }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedSeparate>(device, stage(), fused_shape(size), tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size);
    if (!unsupported_reason(size).empty()) return {};
    std::vector<KernelLaunch> plan = variant().launch_plan(shape.convolution);
    if (plan.empty()) return {};
    for (const Follower& one : followers_of(shape)) {
      const auto more = default_variant(family_, one.size)->variant->launch_plan(one.size);
      plan.insert(plan.end(), more.begin(), more.end());
    }
    return plan;
  }
  std::vector<VariantPart> parts(const ProblemSize& size) const override {
    const FusedShape shape = fused_shape(size.with_batch(1));
    std::vector<VariantPart> parts{{"convolution", shape.convolution, {0}, tolerance()}};
    for (const Follower& one : followers_of(shape)) {
      const ProblemVariant& chosen = *default_variant(family_, one.size);
      parts.push_back({one.name, one.size, {}, chosen.variant->tolerance()});
      if (one.has_bias) parts.back().constants = {1};
    }
    return parts;
  }
  double tolerance() const override { return variant().tolerance(); }
  double saved_operations(const ProblemSize& size) const override {
    return variant().saved_operations(fused_shape(size).convolution);
  }
  double rate_over_fma() const override { return variant().rate_over_fma(); }
  std::string why_untimed() const override { return variant().why_untimed(); }

 private:
  const Variant& variant() const { return *stage().variant; }

  std::string_view family_;
  std::string_view stage_;
};

/// Registers a separate variant below each stage that has a fused variant.
struct Registrations {
  Registrations() {
    add("cpu", 1, "separate-register-tile", "Separate: Register tile");
    add("cpu", 3, "separate-shifted-rows", "Separate: Shifted rows");
    add("cpu", 5, "separate-image-lanes", "Separate: Images in lanes");
    add("cpu", 7, "separate-winograd", "Separate: Winograd 2x2");
    add("cpu", 9, "separate-winograd-map-lanes", "Separate: Winograd, maps in lanes");
    add("cuda", 1, "separate-register-tile", "Separate: Register tile");
  }
  void add(std::string_view family, int rung, std::string_view name, std::string_view title) {
    constexpr std::string_view kPrefix = "separate-";
    all.emplace_back(
        "fused-convolution",
        VariantInfo{.family = family,
                    .rung = rung,
                    .name = name,
                    .title = title,
                    .builds_on = "",
                    .hypothesis = "The stage and the operators of a network, one after the other: all that fusing "
                                  "saves is here."},
        separate_variant(family, name.substr(kPrefix.size())));
  }
  std::deque<VariantRegistration> all;
};

const Registrations registrations;

}  // namespace

const Variant& separate_variant(std::string_view family, std::string_view stage) {
  return keep_variant(std::make_unique<SeparateOperators>(family, stage));
}

bool fuses(const ProblemVariant& variant) { return dynamic_cast<const SeparateOperators*>(variant.variant) == nullptr; }

const ProblemVariant& convolution_of(const ProblemVariant& variant) {
  const ProblemVariant* const separate =
      fuses(variant) ? find_variant(fused_problem(), variant.info.family, variant.info.builds_on) : &variant;
  return dynamic_cast<const SeparateOperators&>(*separate->variant).stage();
}

}  // namespace convladder

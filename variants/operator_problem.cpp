#include "variants/operator_problem.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "variants/variant.hpp"

namespace convladder {
namespace {

/// An operator that is ready, with the constants it was prepared with, on the device.
class PreparedOperatorVariant final : public PreparedVariant {
 public:
  PreparedOperatorVariant(std::vector<DeviceBuffer> constants, std::unique_ptr<PreparedOperator> prepared)
      : constants_(std::move(constants)), prepared_(std::move(prepared)) {}
  void run() override { prepared_->run(); }
  std::string choice() const override { return prepared_->choice(); }

 private:
  std::vector<DeviceBuffer> constants_;
  std::unique_ptr<PreparedOperator> prepared_;
};

class OperatorVariant final : public Variant {
 public:
  OperatorVariant(const OperatorProblem& problem, const LayerOperator& implementation)
      : problem_(problem), implementation_(implementation) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return implementation_.unsupported_reason(problem_.operator_shape(size));
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    const OperatorShape shape = problem_.operator_shape(size);
    std::vector<DeviceBuffer> constants;
    std::size_t next = 0;
    const auto copied = [&](std::size_t elements, const char* label) -> const float* {
      if (elements == 0) return nullptr;
      DeviceBuffer& buffer = constants.emplace_back(device.allocate(elements * sizeof(float), label));
      device.copy_to_device(buffer.address(), tensors.constant(next++), buffer.bytes());
      return buffer.floats();
    };
    const float* const weights = copied(shape.weight_elements(), "weights");
    const float* const bias = copied(shape.bias_elements(), "bias");
    auto prepared = implementation_.prepare(device, shape, {tensors.input(), weights, bias, tensors.output()});
    return std::make_unique<PreparedOperatorVariant>(std::move(constants), std::move(prepared));
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    return implementation_.launch_plan(problem_.operator_shape(size));
  }
  double tolerance() const override { return implementation_.tolerance(); }

 private:
  const OperatorProblem& problem_;
  const LayerOperator& implementation_;
};

}  // namespace

ProblemSize OperatorProblem::size_of(const OperatorShape& shape) const {
  ProblemSize size{this, shape.batch, {shape.input.channels, shape.input.height, shape.input.width}};
  const std::vector<int> others = other_values(shape);
  size.values.insert(size.values.end(), others.begin(), others.end());
  return size;
}

std::string OperatorProblem::own_size_error(const ProblemSize& size) const {
  const OperatorShape shape = operator_shape(size);
  std::string error = own_shape_error(shape);  // says more than that an output has no rows
  return error.empty() ? operator_shape_error(shape) : error;
}

std::int64_t OperatorProblem::input_elements(const ProblemSize& size) const {
  return static_cast<std::int64_t>(operator_shape(size).input.elements());
}

std::int64_t OperatorProblem::output_elements(const ProblemSize& size) const {
  return static_cast<std::int64_t>(operator_shape(size).output.elements());
}

std::vector<ProblemTensor> OperatorProblem::constants(const ProblemSize& size) const {
  const OperatorShape shape = operator_shape(size);
  std::vector<ProblemTensor> tensors;
  if (shape.weight_elements() > 0) tensors.push_back({"weights", static_cast<std::int64_t>(shape.weight_elements())});
  if (shape.bias_elements() > 0) tensors.push_back({"bias", static_cast<std::int64_t>(shape.bias_elements())});
  return tensors;
}

std::vector<ReferenceOutput> OperatorProblem::reference(const ProblemSize& size, const ProblemTensors& item) const {
  const OperatorShape shape = operator_shape(size);
  const bool has_weights = shape.weight_elements() > 0;
  const std::size_t bias = has_weights ? 1 : 0;
  return {own_reference(shape, item.input(), has_weights ? item.constant() : nullptr,
                        shape.bias_elements() > 0 ? item.constant(bias) : nullptr)};
}

const std::vector<ProblemVariant>& OperatorProblem::variants() const {
  static std::map<const OperatorProblem*, std::vector<ProblemVariant>> known;
  static std::vector<std::unique_ptr<Variant>> owned;
  static std::mutex lock;
  const std::scoped_lock locked(lock);
  const auto [at, is_new] = known.try_emplace(this);
  if (!is_new) return at->second;
  std::map<std::string_view, int> rungs;  // of each family
  for (const RegisteredOperator& one : registered_operators()) {
    if (one.info.type != type_) continue;
    owned.push_back(std::make_unique<OperatorVariant>(*this, *one.implementation));
    const std::optional<int> rung = one.info.library ? std::nullopt : std::optional(++rungs[one.info.family]);
    at->second.push_back({{.family = one.info.family,
                           .rung = rung,
                           .name = one.info.name,
                           .title = one.info.title,
                           .builds_on = "",
                           .hypothesis = one.info.description},
                          this,
                          owned.back().get()});
  }
  return at->second;
}

const OperatorProblem& operator_problem(OperatorType type) {
  static const std::map<OperatorType, const OperatorProblem*> known = [] {
    std::map<OperatorType, const OperatorProblem*> found;
    for (const Problem* problem : registered_problems()) {
      if (const auto* const one = dynamic_cast<const OperatorProblem*>(problem)) found[one->type()] = one;
    }
    return found;
  }();
  const auto found = known.find(type);
  if (found != known.end()) return *found->second;
  throw std::logic_error(fmt::format("this build has no problem {}", operator_type_name(type)));
}

std::vector<Dimension> image_dimensions() {
  return {{"C", "channels", std::nullopt}, {"H", "height", 1}, {"W", "width", 1}};
}

ActivationShape image_of(const ProblemSize& size) { return {size.at("C"), size.at("H"), size.at("W")}; }

std::string SameShapeProblem::own_shape_error(const OperatorShape& shape) const {
  if (shape.output == shape.input) return {};
  const auto text = [](const ActivationShape& one) {
    return fmt::format("C{}H{}W{}", one.channels, one.height, one.width);
  };
  return fmt::format("{} does not change the shape {} to {}", operator_type_name(shape.type), text(shape.input),
                     text(shape.output));
}

}  // namespace convladder

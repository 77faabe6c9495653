// The product and then tanh, each by a variant of its own; and a variant that is wrong between them and right at the
// end, which only a look at the parts finds.
#include "variants/problem.hpp"
#include "variants/variant.hpp"

#include <cmath>

namespace convladder {
namespace {

ProblemSize product_of(const ProblemSize& size) {
  return {&built_in_problem("matrix-vector"), size.batch, size.values};
}
ProblemSize tanh_of(const ProblemSize& size) { return {&built_in_problem("tanh"), size.batch, {size.at("R"), 1, 1}}; }

class PreparedParts final : public PreparedVariant {
 public:
  PreparedParts(Device& device, std::string_view family, const ProblemSize& size, const ProblemTensors& tensors)
      : between_(device.allocate(static_cast<std::size_t>(size.output_elements()) * sizeof(float), "between")),
        output_(tensors.output()) {
    ProblemTensors of_product = tensors;
    of_product.outputs = {{tensors.outputs.front().tensor, between_.address()}};
    parts_.push_back(find_variant(built_in_problem("matrix-vector"), family, "rows")
                         ->variant->prepare(device, product_of(size), of_product));
    ProblemTensors of_tanh;
    of_tanh.inputs = {{tensors.outputs.front().tensor, between_.address()}};
    of_tanh.outputs = tensors.outputs;
    parts_.push_back(default_variant(family, tanh_of(size))->variant->prepare(device, tanh_of(size), of_tanh));
  }

  std::vector<std::string> parts() const override { return {"product", "tanh"}; }
  void run_part(std::size_t part) override { parts_[part]->run(); }
  void run() override {
    for (const auto& part : parts_) part->run();
  }
  float* part_output(std::size_t part) override { return part == 0 ? between_.floats() : output_; }

 private:
  DeviceBuffer between_;
  float* output_;
  std::vector<std::unique_ptr<PreparedVariant>> parts_;
};

class Parts : public Variant {
 public:
  explicit Parts(std::string_view family) : family_(family) {}

  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedParts>(device, family_, size, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    if (family_ != "cuda") return {};
    const Variant& product = *find_variant(built_in_problem("matrix-vector"), family_, "rows")->variant;
    std::vector<KernelLaunch> plan = product.launch_plan(product_of(size));
    for (KernelLaunch& one : default_variant(family_, tanh_of(size))->variant->launch_plan(tanh_of(size))) {
      plan.push_back(std::move(one));
    }
    return plan;
  }
  std::vector<VariantPart> parts(const ProblemSize& size) const override {
    const double of_tanh = default_variant(family_, tanh_of(size))->variant->tolerance();
    return {{"product", product_of(size).with_batch(1), {0}}, {"tanh", tanh_of(size).with_batch(1), {}, of_tanh}};
  }

 private:
  std::string_view family_;
};

/// Minus the product, and minus its tanh.
class PreparedTwiceWrong final : public PreparedVariant {
 public:
  PreparedTwiceWrong(const ProblemSize& size, const ProblemTensors& tensors)
      : rows_(size.at("R")),
        columns_(size.at("C")),
        batch_(size.batch),
        input_(tensors.input()),
        matrix_(tensors.constant(), tensors.constant() + static_cast<std::ptrdiff_t>(rows_) * columns_),
        between_(static_cast<std::size_t>(size.output_elements())),
        output_(tensors.output()) {}

  std::vector<std::string> parts() const override { return {"product", "tanh"}; }
  void run_part(std::size_t part) override { part == 0 ? multiply() : activate(); }
  void run() override {
    multiply();
    activate();
  }
  float* part_output(std::size_t part) override { return part == 0 ? between_.data() : output_; }

 private:
  void multiply() {
    for (int item = 0; item < batch_; ++item) {
      for (int row = 0; row < rows_; ++row) {
        float sum = 0;
        for (int column = 0; column < columns_; ++column) {
          sum -= matrix_[static_cast<std::size_t>(row * columns_ + column)] * input_[item * columns_ + column];
        }
        between_[static_cast<std::size_t>(item * rows_ + row)] = sum;
      }
    }
  }
  void activate() {
    for (std::size_t i = 0; i < between_.size(); ++i) output_[i] = -std::tanh(between_[i]);
  }

  int rows_;
  int columns_;
  int batch_;
  const float* input_;
  std::vector<float> matrix_;
  std::vector<float> between_;
  float* output_;
};

class TwiceWrong final : public Parts {
 public:
  TwiceWrong() : Parts("cpu") {}
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedTwiceWrong>(size, tensors);
  }
};

const Parts on_cpu("cpu");
const Parts on_cuda("cuda");
const TwiceWrong twice_wrong;

constexpr VariantInfo info_of(std::string_view family, int rung, std::string_view name, std::string_view title) {
  return {.family = family, .rung = rung, .name = name, .title = title, .builds_on = "", .hypothesis = "For a test."};
}

const VariantRegistration registrations[] = {
    {"two-layers", info_of("cpu", 1, "parts", "Parts"), on_cpu},
    {"two-layers", info_of("cuda", 1, "parts", "Parts"), on_cuda},
    {"two-layers", info_of("cpu", 90, "twice-wrong", "Twice wrong"), twice_wrong}};

}  // namespace
}  // namespace convladder

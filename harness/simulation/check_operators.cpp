#include "harness/simulation/check_operators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/all_cores.hpp"
#include "devices/ptx_images.hpp"
#include "harness/plan/network_argument.hpp"
#include "network/layer_operators.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/seeded_random.hpp"
#include "variants/operator_reference.hpp"

namespace convladder {
namespace {

/// Input, weights and bias, and what should come of them.
struct OperatorProblem {
  std::vector<float> input;
  std::vector<float> weights;
  std::vector<float> bias;
  std::vector<OperatorReference> references;  ///< an image each
};

/// Numbers in -1 to 1; or whole ones in -8 to 8, on which products and sums are exact.
OperatorProblem make_problem(const OperatorShape& shape, bool whole) {
  SeededRandom random(kCheckSeed, whole ? 1 : 0);
  OperatorProblem problem{std::vector<float>(shape.input_elements()),
                          std::vector<float>(shape.weight_elements()),
                          std::vector<float>(shape.bias_elements()),
                          {}};
  for (std::vector<float>* values : {&problem.input, &problem.weights, &problem.bias}) {
    for (float& value : *values) {
      value = whole ? static_cast<float>(random.between(-8, 8))
                    : static_cast<float>(random.between(-(1 << 20), 1 << 20)) / (1 << 20);
    }
  }
  for (int image = 0; image < shape.batch; ++image) {
    const float* const input = problem.input.data() + image * shape.input.elements();
    problem.references.push_back(reference_operator(shape, input, problem.weights.data(), problem.bias.data()));
  }
  return problem;
}

DeviceBuffer uploaded(Device& device, const std::vector<float>& values, const char* label) {
  if (values.empty()) return {};
  DeviceBuffer buffer = device.allocate(values.size() * sizeof(float), label);
  device.copy_to_device(buffer.address(), values.data(), buffer.bytes());
  return buffer;
}

/// Empty if the operator solves the problem, otherwise what is wrong.
std::string solve(Device& device, const LayerOperator& implementation, const OperatorShape& shape,
                  const OperatorProblem& problem, double tolerance) {
  const DeviceBuffer input = uploaded(device, problem.input, "input");
  const DeviceBuffer weights = uploaded(device, problem.weights, "weights");
  const DeviceBuffer bias = uploaded(device, problem.bias, "bias");
  // Not poisoned: the host would have written it, and initcheck is to see that the kernel does.
  std::vector<float> result(shape.output_elements());
  const DeviceBuffer output = device.allocate(result.size() * sizeof(float), "output");
  implementation.prepare(device, shape, {input.floats(), weights.floats(), bias.floats(), output.floats()})->run();
  device.copy_to_host(result.data(), output.address(), output.bytes());
  for (int image = 0; image < shape.batch; ++image) {
    const std::string mismatch =
        operator_mismatch(problem.references[image], result.data() + image * shape.output.elements(), tolerance);
    if (!mismatch.empty()) return fmt::format("image {}: {}", image, mismatch);
  }
  return {};
}

void check_types(const std::vector<std::string>& types) {
  std::vector<std::string> known;
  for (const RegisteredOperator& registered : registered_operators()) {
    const std::string name(operator_type_name(registered.info.type));
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
  }
  for (const std::string& type : types) {
    if (std::ranges::find(known, type) == known.end()) throw UserError(unknown_name_message("operator", type, known));
  }
}

}  // namespace

std::vector<OperatorWork> operator_works(const std::vector<std::string>& networks,
                                         const std::vector<std::string>& types, const std::vector<int>& batches) {
  check_types(types);
  std::vector<OperatorWork> works;
  for (const Network* network : selected_networks(networks, {})) {
    for (const Layer& layer : network->layers) {
      for (const int batch : batches) {
        for (const OperatorShape& shape : layer_operators(layer, batch)) {
          if (!types.empty() && std::ranges::find(types, operator_type_name(shape.type)) == types.end()) continue;
          if (std::ranges::find(works, shape, &OperatorWork::shape) != works.end()) continue;
          works.push_back({fmt::format("{}.{}", network->name, layer.name), shape});
        }
      }
    }
  }
  return works;
}

std::vector<CheckedCase> check_operators(const OperatorWork& work, const CheckSettings& settings) {
  const OperatorShape& shape = work.shape;
  std::vector<CheckedCase> cases;
  std::vector<const LayerOperator*> implementations;
  for (const RegisteredOperator& registered : registered_operators()) {
    const LayerOperator& implementation = *registered.implementation;
    if (registered.info.family != "cuda" || registered.info.type != shape.type || registered.info.library) continue;
    const std::string unsupported = implementation.unsupported_reason(shape);
    const std::string id = fmt::format("simulated/{}/{}/{}/{}", operator_type_name(shape.type), registered.info.name,
                                       work.layer, shape.batch);
    if (!settings.takes(id)) continue;
    for (const PtxImages& images : ptx_images()) {
      cases.push_back({.id = id,
                       .compiler = images.compiler,
                       .status = unsupported.empty() ? std::nullopt : std::optional(Status::unsupported),
                       .reason = unsupported,
                       .findings = {}});
      implementations.push_back(&implementation);
    }
  }
  if (cases.empty() || settings.dry_run) return cases;
  const OperatorProblem real = make_problem(shape, false);
  const OperatorProblem whole = make_problem(shape, true);
  on_all_cores(cases.size(), [&](std::size_t index) {
    CheckedCase& checked = cases[index];
    if (checked.status) return;
    const LayerOperator& implementation = *implementations[index];
    run_checked(checked, settings.checkers, [&](simulated::SimulatedDevice& device) {
      const double tolerance = implementation.tolerance();
      std::string wrong = solve(device, implementation, shape, real, tolerance);
      const bool exact = shape.type == OperatorType::fully_connected || shape.type == OperatorType::bias;
      return !wrong.empty() ? wrong : solve(device, implementation, shape, whole, exact ? 0 : tolerance);
    });
  });
  return cases;
}

}  // namespace convladder

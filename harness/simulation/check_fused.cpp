#include "harness/simulation/check_fused.hpp"

#include <fmt/format.h>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/all_cores.hpp"
#include "devices/ptx_images.hpp"
#include "harness/cases/workload.hpp"
#include "harness/fused/fused_problem.hpp"
#include "harness/plan/network_argument.hpp"
#include "network/layer_operators.hpp"

namespace convladder {
namespace {

/// What is wrong with the output, empty if nothing is. Throws DeviceError.
std::string run_fused(simulated::SimulatedDevice& device, const FusedVariant& variant, const FusedProblem& problem,
                      const ExpectedOutput& expected, double tolerance) {
  const std::span<const float> pixels = problem.convolution.input;
  const DeviceBuffer input = device.allocate(pixels.size_bytes(), "input");
  device.copy_to_device(input.address(), pixels.data(), pixels.size_bytes());
  // Not poisoned: the host would have written it, and initcheck is to see that the kernel does.
  const DeviceBuffer output = device.allocate(problem.shape.output_elements() * sizeof(float), "output");
  variant
      .prepare(device, problem.shape,
               {input.floats(), problem.convolution.weights.data(),
                problem.bias.empty() ? nullptr : problem.bias.data(), output.floats()})
      ->run();
  std::vector<float> found;
  const ReadOutput read = [&](std::int64_t first, std::int64_t count) {
    found.resize(static_cast<std::size_t>(count));
    device.copy_to_host(found.data(), output.floats() + first, found.size() * sizeof(float));
    return found.data();
  };
  return check_fused_output(problem, expected, read, static_cast<std::int64_t>(problem.shape.output_elements()), {},
                            tolerance)
      .failure;
}

}  // namespace

std::vector<FusedWork> fused_works(const std::vector<std::string>& networks, const std::vector<int>& batches) {
  std::vector<FusedWork> works;
  for (const Network* network : selected_networks(networks, {})) {
    for (const std::size_t index : convolution_layers(*network)) {
      const std::optional<FusedShape> shape = fused_shape(*network, index);
      if (!shape) continue;
      for (const int batch : batches) {
        works.push_back(
            {{network->name, network->layers[index].name, network, index, shape->convolution.with_batch(batch)},
             shape->with_batch(batch)});
      }
    }
  }
  return works;
}

std::vector<CheckedCase> check_fused(const FusedWork& work, const CheckSettings& settings) {
  std::vector<CheckedCase> cases;
  std::vector<const FusedVariant*> variants;
  for (const RegisteredFused& registered : registered_fused_variants()) {
    if (registered.info.family != "cuda") continue;
    const std::string unsupported = registered.variant->unsupported_reason(work.shape);
    const std::string id =
        fmt::format("simulated/{}/{}/{}", registered.info.name, work.convolution.name(), work.shape.convolution.batch);
    if (!settings.takes(id)) continue;
    for (const PtxImages& images : ptx_images()) {
      cases.push_back({.id = id,
                       .compiler = images.compiler,
                       .status = unsupported.empty() ? std::nullopt : std::optional(Status::unsupported),
                       .reason = unsupported,
                       .findings = {}});
      variants.push_back(registered.variant);
    }
  }
  if (cases.empty() || settings.dry_run) return cases;
  const Workload workload(work.convolution, synthetic_images(work.shape.convolution.batch, kCheckSeed), kCheckSeed);
  const FusedProblem real = make_fused_problem(work.shape, conv_problem(workload.real()), false);
  const FusedProblem whole = make_fused_problem(work.shape, conv_problem(workload.integers()), true);
  on_all_cores(cases.size(), [&](std::size_t index) {
    if (cases[index].status) return;
    run_checked(cases[index], settings.checkers, [&](simulated::SimulatedDevice& device) {
      std::string wrong = run_fused(device, *variants[index], real, workload.expected_convolution(ProblemKind::real),
                                    granted_tolerance(variants[index]->tolerance(), work.shape.convolution));
      return !wrong.empty()
                 ? wrong
                 : run_fused(device, *variants[index], whole, workload.expected_convolution(ProblemKind::integers), 0);
    });
  });
  return cases;
}

}  // namespace convladder

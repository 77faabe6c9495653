#include "harness/measure/cases/case_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/cases/loaded_stages.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/ladders/outside_stage.hpp"
#include "harness/measure/plan/arguments.hpp"

namespace convladder {

namespace {

std::unique_ptr<Device> open_device(const PlannedCase& planned) {
  const DeviceKind& kind = find_device_kind(planned.device);
  const CompiledStage* const stage = planned.variant.variant->compiled_stage();
  if (stage == nullptr) return kind.open();
  if (runs_beside(*stage)) return std::make_unique<StageDevice>(planned.id, stage->build.library.string());
  return open_for_stages(kind, {stage});
}

std::unique_ptr<CaseClient> case_here(const PlannedCase& planned, const Workload& workload,
                                      const SharedMemory& window) {
  return std::make_unique<CaseSession>(planned.id, open_device(planned), planned.variant, workload, window);
}

/// A window with room for a whole image, however large.
std::unique_ptr<SharedMemory> window_for(const ProblemSize& shape) {
  std::size_t most = 0;
  for (const ProblemTensor& tensor : shape.problem->results(shape)) most = std::max(most, tensor.bytes());
  return output_window(most);
}

}  // namespace

OpenCase start_case_process(const PlannedCase& planned, const Workload& workload,
                            const std::vector<std::string>& google_benchmark_flags, double timeout_seconds,
                            const std::string& program) {
  to_case::Hello hello{.id = planned.id,
                       .device = planned.device,
                       .family = std::string(planned.variant.info.family),
                       .variant = std::string(planned.variant.info.name),
                       .google_benchmark_flags = google_benchmark_flags,
                       .problem = std::nullopt,
                       .stage = std::nullopt,
                       .configuration = std::nullopt,
                       .workload = workload.header()};
  if (!planned.variant.problem->is_default()) hello.problem = argument_of(*planned.variant.problem);
  Trust trust = Trust::own;
  if (const CompiledStage* const stage = planned.variant.variant->compiled_stage()) {
    StageToLoad to_load = stage_to_load(*stage);
    hello.family = std::move(to_load.family);
    hello.variant = std::move(to_load.variant);
    hello.stage = to_case::StageLibrary{std::move(to_load.library), std::move(to_load.choice), runs_beside(*stage)};
    if (!hello.stage->beside) trust = Trust::foreign;
  }
  // Only a sweep sets a variant's configuration, and it asks no other build: the protocol between builds is unchanged.
  if (!planned.configuration.empty()) hello.configuration = planned.configuration;
  return start_session<CaseMessages>({.what = planned.id,
                                      .command = "serve-case",
                                      .timeout_seconds = timeout_seconds,
                                      .program = program,
                                      .trust = trust},
                                     workload.descriptor(), window_for(workload.real().shape), std::move(hello));
}

OpenCase start_case_here(const PlannedCase& planned, const Workload& workload) {
  std::unique_ptr<SharedMemory> window = window_for(workload.real().shape);
  auto client = session_or_failure<CaseMessages>([&] { return case_here(planned, workload, *window); });
  return {std::move(window), std::move(client)};
}

namespace {

/// Gives up what the stage must not have. Where the stage has a process of its own (StageDevice), this process runs no
/// untrusted code.
void confine_stage(const CompiledStage& stage, const to_case::Hello& hello) {
  StageDevice::set_possible(hello.stage->beside);
  if (!hello.stage->beside) confine_for_stages(find_device_kind(hello.device), {&stage});
}

int serve_case(int socket, int workload_descriptor, int window_descriptor) {
  std::unique_ptr<Variant> configured;  // outlive the case
  std::unique_ptr<Variant> stage;
  const auto make = [&](const to_case::Hello& hello, const Workload& workload,
                        const SharedMemory& window) -> std::unique_ptr<CaseClient> {
    initialize_google_benchmark(hello.google_benchmark_flags);
    const Problem* const problem = problem_named(hello.problem.value_or(std::string(kDefaultProblem)));
    if (problem == nullptr) return nullptr;
    const auto here = [&](const ProblemVariant& variant) {
      return case_here({hello.id, variant, hello.device, {}, {}, {}}, workload, window);
    };
    if (hello.stage) {
      const StageToLoad to_load{hello.family, hello.variant, hello.stage->library, hello.stage->choice};
      const auto* const folder = dynamic_cast<const FolderProblem*>(problem);
      stage = folder != nullptr ? served_stage(*folder, to_load) : served_outside_stage(to_load);
      confine_stage(*stage->compiled_stage(), hello);
      return here({info_of(*stage->compiled_stage(), {}), problem, stage.get()});
    }
    const ProblemVariant* const variant = find_variant(*problem, hello.family, hello.variant);
    if (variant == nullptr) return nullptr;
    ProblemVariant told = *variant;
    if (hello.configuration) {
      configured = told.variant->configured(workload.real().shape.with_batch(workload.planned_batch()),
                                            Configuration::parse(*hello.configuration), ChosenBy::request);
      told.variant = configured.get();
    }
    return here(told);
  };
  return serve_session<CaseMessages, Workload>(socket, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_case_registration("serve-case", serve_case);

}  // namespace

}  // namespace convladder

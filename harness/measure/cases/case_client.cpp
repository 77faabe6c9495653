#include "harness/measure/cases/case_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
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
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::unique_ptr<Device> open_device(const PlannedCase& planned) {
  const DeviceKind& kind = find_device_kind(planned.device);
  const FolderVariant* const stage = planned.variant.variant->compiled_stage();
  if (stage == nullptr) return kind.open();
  if (runs_beside(*stage)) return std::make_unique<StageDevice>(planned.id, stage->build().library.string());
  return open_for_stages(kind, {stage});
}

std::unique_ptr<CaseClient> case_here(const PlannedCase& planned, const Workload& workload,
                                      const SharedMemory& window) {
  return std::make_unique<CaseSession>(planned.id, open_device(planned), planned.variant, workload, window);
}

constexpr std::size_t kWindowBytes = 4 << 20;

/// A window with room for a whole image, however large.
std::unique_ptr<SharedMemory> window_for(const ProblemSize& shape) {
  std::size_t most = 0;
  for (const ProblemTensor& tensor : shape.problem->results(shape)) most = std::max(most, tensor.bytes());
  return output_window(most);
}

}  // namespace

ordered_json OpenCase::ask(const ordered_json& request) const {
  ordered_json reply = client->ask(request);
  if (!reply.contains("status")) return reply;
  const std::optional<Status> status = status_from_name(reply.at("status").get<std::string>());
  // Whether it can be skipped or is right is not for the case to say.
  if (!status || *status == Status::ok || *status == Status::skipped) {
    throw CaseFailure(Status::crashed,
                      fmt::format("its answers are invalid: status {}", short_json(reply.at("status"))));
  }
  CaseFailure failure(*status, reply.at("reason").get<std::string>());
  failure.out_of_device_memory = reply.contains(kOutOfDeviceMemory);
  throw failure;
}

ReadTensor OpenCase::tensors() const {
  return [this](std::string_view tensor, std::int64_t first, std::int64_t count) {
    ask({{"do", "read"}, {"tensor", tensor}, {"first", first}, {"count", count}});
    return window->data();
  };
}

ordered_json stage_hello(const StageToLoad& stage) {
  return {{"family", stage.family}, {"variant", stage.variant}, {"library", stage.library}, {"choice", stage.choice}};
}

StageToLoad read_stage_hello(const ordered_json& hello) {
  return {hello.at("family"), hello.at("variant"), hello.at("library"), hello.at("choice")};
}

std::unique_ptr<SharedMemory> output_window(std::size_t bytes) {
  return std::make_unique<SharedMemory>(std::max(kWindowBytes, bytes));
}

OpenCase start_session(const SessionStart& start, const char* command, std::unique_ptr<SharedMemory> window,
                       ordered_json hello) {
  hello["window_bytes"] = window->bytes();
  hello["workload"] = start.workload_header;
  auto client = std::make_unique<ChildProcess>(start.id, command, std::vector{start.workload, window->descriptor()},
                                               start.timeout_seconds, hello, start.program, start.trust);
  return {std::move(window), std::move(client)};
}

OpenCase start_case_process(const PlannedCase& planned, const Workload& workload,
                            const std::vector<std::string>& google_benchmark_flags, double timeout_seconds,
                            const std::string& program) {
  ordered_json hello{{"id", planned.id},
                     {"device", planned.device},
                     {"family", planned.variant.info.family},
                     {"variant", planned.variant.info.name},
                     {"google_benchmark_flags", google_benchmark_flags}};
  if (!planned.variant.problem->is_default()) hello["problem"] = planned.variant.problem->name();
  Trust trust = Trust::own;
  if (const FolderVariant* const stage = planned.variant.variant->compiled_stage()) {
    hello.update(stage_hello(stage_to_load(*stage)));
    hello["beside"] = runs_beside(*stage);
    if (!runs_beside(*stage)) trust = Trust::foreign;
  }
  // Only a sweep sets a variant's configuration, and it asks no other build: the protocol between builds is unchanged.
  if (!planned.configuration.empty()) hello["configuration"] = planned.configuration;
  return start_session({planned.id, workload.descriptor(), workload.header(), timeout_seconds, program, trust},
                       "serve-case", window_for(workload.real().shape), std::move(hello));
}

OpenCase start_case_here(const PlannedCase& planned, const Workload& workload) {
  std::unique_ptr<SharedMemory> window = window_for(workload.real().shape);
  auto client = session_or_failure([&] { return case_here(planned, workload, *window); });
  return {std::move(window), std::move(client)};
}

namespace {

/// Gives up what the stage must not have. Where the stage has a process of its own (StageDevice), this process runs no
/// untrusted code.
void confine_stage(const FolderVariant& stage, const ordered_json& hello) {
  const bool runs_beside = hello.at("beside").get<bool>();
  StageDevice::set_possible(runs_beside);
  if (runs_beside) return;
  confine_for_stages(find_device_kind(hello.at("device").get<std::string>()), {&stage});
}

int serve_case(int socket_descriptor, int workload_descriptor, int window_descriptor) {
  std::unique_ptr<Variant> configured;  // outlive the case
  std::unique_ptr<FolderVariant> stage;
  std::unique_ptr<OutsideStage> outside;
  const auto make = [&](const ordered_json& hello, const Workload& workload,
                        const SharedMemory& window) -> std::unique_ptr<CaseClient> {
    initialize_google_benchmark(hello.at("google_benchmark_flags").get<std::vector<std::string>>());
    const Problem* const problem = find_problem(hello.value("problem", std::string(kDefaultProblem)));
    if (problem == nullptr) return nullptr;
    if (const auto* const folder = dynamic_cast<const FolderProblem*>(problem)) {
      stage = served_stage(*folder, read_stage_hello(hello));
      confine_stage(*stage, hello);
      return case_here({hello.at("id").get<std::string>(),
                        {info_of(*stage, {}), problem, stage.get()},
                        hello.at("device").get<std::string>(),
                        {},
                        {},
                        {}},
                       workload, window);
    }
    if (hello.contains("library")) {
      outside = served_outside_stage(read_stage_hello(hello));
      confine_stage(outside->stage(), hello);
      return case_here({hello.at("id").get<std::string>(),
                        {info_of(outside->stage(), {}), problem, outside.get()},
                        hello.at("device").get<std::string>(),
                        {},
                        {},
                        {}},
                       workload, window);
    }
    const ProblemVariant* const variant =
        find_variant(*problem, hello.at("family").get<std::string>(), hello.at("variant").get<std::string>());
    if (variant == nullptr) return nullptr;
    ProblemVariant told = *variant;
    if (hello.contains("configuration")) {
      configured = told.variant->configured(workload.real().shape.with_batch(workload.planned_batch()),
                                            Configuration::parse(hello.at("configuration").get<std::string>()),
                                            ChosenBy::request);
      told.variant = configured.get();
    }
    return case_here({hello.at("id").get<std::string>(), told, hello.at("device").get<std::string>(), {}, {}, {}},
                     workload, window);
  };
  return serve_session<Workload>(socket_descriptor, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_case_registration("serve-case", serve_case);

}  // namespace

}  // namespace convladder

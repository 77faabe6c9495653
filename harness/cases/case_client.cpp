#include "harness/cases/case_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "devices/device_error.hpp"
#include "devices/device_registry.hpp"
#include "harness/cases/case_session.hpp"
#include "harness/cases/google_engine.hpp"
#include "harness/isolation/served_process.hpp"
#include "harness/plan/device_argument.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

class CaseHere final : public CaseClient {
 public:
  CaseHere(const PlannedCase& planned, const Workload& workload, const SharedMemory& window)
      : session_(planned.id, find_device_kind(planned.device).open(), planned.variant, workload, window) {}
  ordered_json ask(const ordered_json& request) override { return session_.answer(request); }

 private:
  CaseSession session_;
};

std::unique_ptr<CaseClient> case_here(const PlannedCase& planned, const Workload& workload,
                                      const SharedMemory& window) {
  try {
    return std::make_unique<CaseHere>(planned, workload, window);
  } catch (const DeviceError& error) {
    return failed_client(error.what());
  }
}

constexpr std::size_t kWindowBytes = 4 << 20;

/// Room for a whole map, however large.
std::unique_ptr<SharedMemory> window_for(const ConvShape& shape) {
  return output_window(std::int64_t{shape.out_height()} * shape.out_width());
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
  throw CaseFailure(*status, reply.at("reason").get<std::string>());
}

ReadOutput OpenCase::output(const ordered_json& which) const {
  return [this, which](std::int64_t first, std::int64_t count) {
    ordered_json request{{"do", "read"}, {"first", first}, {"count", count}};
    request.update(which);
    ask(request);
    return reinterpret_cast<const float*>(window->data());
  };
}

std::unique_ptr<SharedMemory> output_window(std::int64_t elements) {
  return std::make_unique<SharedMemory>(std::max(kWindowBytes, static_cast<std::size_t>(elements) * sizeof(float)));
}

OpenCase start_case_process(const PlannedCase& planned, const Workload& workload, const RunOptions& options,
                            double timeout_seconds, const std::string& program) {
  std::unique_ptr<SharedMemory> window = window_for(workload.real().shape);
  ordered_json hello{{"id", planned.id},
                     {"device", planned.device},
                     {"family", planned.variant.info.family},
                     {"variant", planned.variant.info.name},
                     {"workload", workload.header()},
                     {"window_bytes", window->bytes()},
                     {"google_benchmark_flags", options.google_benchmark_flags}};
  // Only a sweep tells a variant what to take, and it asks no other build: the protocol between builds is as before.
  if (!planned.configuration.empty()) hello["configuration"] = planned.configuration;
  auto client =
      std::make_unique<ChildProcess>(planned.id, "serve-case", std::vector{workload.descriptor(), window->descriptor()},
                                     timeout_seconds, hello, program);
  return {std::move(window), std::move(client)};
}

OpenCase start_case_here(const PlannedCase& planned, const Workload& workload) {
  std::unique_ptr<SharedMemory> window = window_for(workload.real().shape);
  auto client = case_here(planned, workload, *window);
  return {std::move(window), std::move(client)};
}

namespace {

int serve_case(int socket_descriptor, int workload_descriptor, int window_descriptor) {
  std::unique_ptr<SharedMemory> window;  // outlives the case
  std::optional<Workload> workload;      // outlives the case
  std::unique_ptr<ConvVariant> configured;
  return serve_requests(socket_descriptor, [&](const ordered_json& hello) -> std::unique_ptr<CaseClient> {
    initialize_google_benchmark(hello.at("google_benchmark_flags").get<std::vector<std::string>>());
    const RegisteredVariant* const variant =
        find_variant(hello.at("family").get<std::string>(), hello.at("variant").get<std::string>());
    if (variant == nullptr) return nullptr;
    workload.emplace(hello.at("workload"), workload_descriptor);
    window = std::make_unique<SharedMemory>(window_descriptor, hello.at("window_bytes").get<std::size_t>(),
                                            SharedMemory::Access::write);
    RegisteredVariant told = *variant;
    if (hello.contains("configuration")) {
      configured = told.variant->configured(workload->real().shape.with_batch(workload->planned_batch()),
                                            Configuration::parse(hello.at("configuration").get<std::string>()),
                                            ChosenBy::request);
      told.variant = configured.get();
    }
    return case_here({hello.at("id").get<std::string>(), told, hello.at("device").get<std::string>(), {}, {}, {}},
                     *workload, *window);
  });
}

const ServedRegistration serve_case_registration("serve-case", serve_case);

}  // namespace

}  // namespace convladder

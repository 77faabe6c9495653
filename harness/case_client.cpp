#include "harness/case_client.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "devices/device_error.hpp"
#include "devices/device_registry.hpp"
#include "harness/case_session.hpp"
#include "harness/device_argument.hpp"
#include "harness/google_engine.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

class CaseHere final : public CaseClient {
 public:
  CaseHere(const PlannedCase& planned, const Workload& workload)
      : session_(planned.id, find_device_kind(planned.device).open(), planned.variant, workload) {}
  ordered_json ask(const ordered_json& request) override { return session_.answer(request); }

 private:
  CaseSession session_;
};

}  // namespace

std::unique_ptr<CaseClient> start_case_process(const PlannedCase& planned, const Workload& workload,
                                               const RunOptions& options, double timeout_seconds,
                                               const std::string& program) {
  ordered_json hello{{"id", planned.id},
                     {"device", planned.device},
                     {"family", planned.variant.info.family},
                     {"variant", planned.variant.info.name},
                     {"workload", workload.header()},
                     {"google_benchmark_flags", options.google_benchmark_flags}};
  // Only a sweep tells a variant what to take, and it asks no other build: the protocol between builds is as before.
  if (!planned.configuration.empty()) hello["configuration"] = planned.configuration;
  return std::make_unique<ChildProcess>(planned.id, "serve-case", workload.descriptor(), timeout_seconds, hello,
                                        program);
}

std::unique_ptr<CaseClient> start_case_here(const PlannedCase& planned, const Workload& workload) {
  try {
    return std::make_unique<CaseHere>(planned, workload);
  } catch (const DeviceError& error) {
    return failed_client(error.what());
  }
}

int serve_case(int socket_descriptor, int workload_descriptor) {
  std::optional<Workload> workload;  // outlives the case
  std::unique_ptr<ConvVariant> configured;
  return serve_requests(socket_descriptor, [&](const ordered_json& hello) -> std::unique_ptr<CaseClient> {
    initialize_google_benchmark(hello.at("google_benchmark_flags").get<std::vector<std::string>>());
    const RegisteredVariant* const variant =
        find_variant(hello.at("family").get<std::string>(), hello.at("variant").get<std::string>());
    if (variant == nullptr) return nullptr;
    workload.emplace(hello.at("workload"), workload_descriptor);
    RegisteredVariant told = *variant;
    if (hello.contains("configuration")) {
      configured = told.variant->configured(workload->real().shape.with_batch(workload->planned_batch()),
                                            Configuration::parse(hello.at("configuration").get<std::string>()),
                                            ChosenBy::request);
      told.variant = configured.get();
    }
    return start_case_here({hello.at("id").get<std::string>(), told, hello.at("device").get<std::string>(), {}, {}, {}},
                           *workload);
  });
}

}  // namespace convladder

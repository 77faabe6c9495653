// One network case, run where it is: verified layer by layer, then passes. Runs inside the case's own process.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/child_process.hpp"
#include "harness/network_plan.hpp"
#include "harness/network_workload.hpp"
#include "network/network_runner.hpp"

namespace convladder {

/// How passes are to be made.
struct PassWish {
  std::optional<int> chunk;  ///< images at once; none: as many as fit, or a quarter of the batch to overlap copies with
  bool overlap = false;      ///< copies beside computing
};

/// Answers
///   {"do": "verify"}  -> {"steps": [{"name", "type", "implementation", "verification"}], "chunk"}: a few images
///   {"do": "pass", "record": bool} -> {"total_ns", "activities": [[group, name, start_ns, duration_ns]], "program",
///                        "can_record", "cannot_record_because"}; "record" asks the device itself for its activities as
///                        well, which takes time of its own
///   {"do": "classes"} -> {"classes": [int], "not_finite"}: of the last pass, and how many scores were NaN or infinite
///   {"do": "counters"} -> {"counters": [counters of each step]}: of the last pass, on devices that count
/// A failure is {"status", "reason"}.
class NetworkSession final : public CaseClient {
 public:
  /// Opens the device. Throws DeviceError.
  NetworkSession(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish);
  nlohmann::ordered_json ask(const nlohmann::ordered_json& request) override;

 private:
  nlohmann::ordered_json carry_out(const nlohmann::ordered_json& request);
  nlohmann::ordered_json verify();
  nlohmann::ordered_json pass(bool record);
  nlohmann::ordered_json classes() const;
  nlohmann::ordered_json counters() const;

  const NetworkWorkload& workload_;
  int batch_;
  NetworkWeights weights_;
  std::vector<NetworkStep> steps_;
  std::unique_ptr<Device> device_;
  int chunk_ = 1;
  bool overlap_;
  PassResult last_;
};

/// "activities" of a reply.
std::vector<Activity> activities_from_json(const nlohmann::ordered_json& json);

/// Runs the case in a process of its own.
std::unique_ptr<CaseClient> start_network_process(const NetworkCase& planned, const NetworkWorkload& workload,
                                                  const PassWish& wish, double timeout_seconds);

/// Runs it in this one, for debuggers and profilers. A device that cannot be opened answers with a status.
std::unique_ptr<CaseClient> start_network_here(const NetworkCase& planned, const NetworkWorkload& workload,
                                               const PassWish& wish);

/// The other end of `start_network_process`. Returns the exit code.
int serve_network(int socket_descriptor, int workload_descriptor);

}  // namespace convladder

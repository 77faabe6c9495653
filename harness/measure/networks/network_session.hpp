// One network case in the process that runs it: passes, recorded or timed. This is the case's own process, which
// compares nothing: the harness's side (network_verifier.hpp) does.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/networks/network_plan.hpp"
#include "harness/measure/networks/network_workload.hpp"
#include "harness/measure/networks/step_recorder.hpp"
#include "network/loaded_network.hpp"
#include "network/network_runner.hpp"

namespace convladder {

/// How passes are to be run.
struct PassWish {
  std::optional<int> chunk;  ///< images at once; none: as many as fit, or a quarter of the batch to overlap copies with
  bool overlap = false;      ///< copies beside computing
};

/// Answers
///   {"do": "set", "rotation", "of"} -> {"chunk"}: the images of the next passes. The pass's image i is the workload's
///                        image (i + rotation) % of. A pass takes `chunk` images at once
///   {"do": "record", "first", "count", "seed"} -> {}: a pass in chunks as they are timed, with every output filled
///                        before; every step's outputs for those images, into the window (step_recorder.hpp)
///   {"do": "pass", "record": bool} -> {"total_ns", "steps_apart", "program"}; "steps_apart": the steps' times are of a
///                        run of their own, made before the one that took total_ns. "record" asks the device itself for
///                        its activities as well, which takes time of its own
///   {"do": "activities"} -> {"activities": [[group, name, start_ns, duration_ns]]}: of the last "pass"
///   {"do": "recorder"} -> {"can_record", "cannot_record_because"}: whether the device can be asked for its activities.
///                        Finding out attaches the profiler's library, which from then on costs time in every launch:
///                        to be asked when all passes are measured
///   {"do": "read", "first", "count"} -> {}: so many scores, as the last "pass" left them, into the window
///   {"do": "repeat", "passes"} -> {}: so many passes, one after the other
///   {"do": "keep"} -> {}: makes the network ready once, for the batches of the next requests
///   {"do": "loaded", "first", "step", "of", "batches", "most_ns"} -> {"total_ns", "batches"}: so many batches through
///                        the loaded network, one after the other, or fewer if they take longer than "most_ns". Batch b
///                        has the workload's images from (first + b * step) % of on, as in "set". "read" then reads the
///                        scores of all of them, batch after batch
///   {"do": "let go"} -> {}: frees the loaded network
///   {"do": "counters"} -> {"counters": [counters of each step]}: those of the last "pass", on devices that count
/// A failure is {"status", "reason"}.
class NetworkSession final : public Session {
 public:
  /// Opens the device. Throws DeviceError.
  NetworkSession(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                 const SharedMemory& window);

 private:
  nlohmann::ordered_json carry_out(const std::string& what, const nlohmann::ordered_json& request) override;
  nlohmann::ordered_json set(int rotation, int of);
  void forget_activations();
  nlohmann::ordered_json record(const PassImages& wanted, std::uint32_t seed);
  nlohmann::ordered_json pass(bool record);
  nlohmann::ordered_json activities() const;
  nlohmann::ordered_json recorder() const;
  nlohmann::ordered_json repeat(int passes);
  nlohmann::ordered_json keep();
  nlohmann::ordered_json loaded(const ImageRing& images, int step, int batches, double most_ns);
  nlohmann::ordered_json let_go();
  nlohmann::ordered_json read(std::size_t first, std::size_t count) const;
  nlohmann::ordered_json counters() const;

  const NetworkWorkload& workload_;
  const SharedMemory& window_;
  int batch_;
  NetworkWeights weights_;
  std::vector<NetworkStep> steps_;
  int chunk_ = 1;
  bool overlap_;
  std::vector<float> images_;  ///< for the next passes
  PassResult last_;
  std::optional<LoadedNetwork> loaded_;
};

/// "activities" of a reply.
std::vector<Activity> activities_from_json(const nlohmann::ordered_json& json);

/// Runs the case in a process of its own.
OpenCase start_network_process(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                               double timeout_seconds);

/// Runs the case in this process, for debuggers and profilers. A device that cannot be opened answers with a status.
OpenCase start_network_here(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish);

}  // namespace convladder

// One network case in the process that runs it: passes, recorded or timed. This is the case's own process, which
// compares nothing: the harness's side (network_verifier.hpp) does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/networks/network_messages.hpp"
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

class NetworkSession final : public Session<NetworkMessages> {
 public:
  /// Opens the device. Throws DeviceError.
  NetworkSession(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                 const SharedMemory& window);

 private:
  Answer carry_out(const Request& request) override;
  Answer answer(const to_network::Set& wanted);
  Done answer(const to_network::Record& wanted);
  to_network::PassTimes answer(const to_network::Pass& wanted);
  to_network::PassActivities answer(const to_network::Activities& wanted) const;
  to_network::RecorderFound answer(const to_network::Recorder& wanted) const;
  to_network::Repeated answer(const to_network::Repeat& wanted);
  Done answer(const to_network::Load& wanted);
  to_network::RowTaken answer(const to_network::Loaded& wanted);
  Done answer(const to_network::LetGo& wanted);
  to_network::CountedSteps answer(const to_network::Counters& wanted) const;
  Done answer(const ReadElements& wanted) const;
  void forget_activations();

  const NetworkWorkload& workload_;
  const SharedMemory& window_;
  int batch_;
  NetworkWeights weights_;
  std::vector<NetworkStep> steps_;
  NetworkProblem problem_;
  std::shared_ptr<const Variant> variant_;
  RunnableNetwork network_;
  int chunk_ = 1;
  bool overlap_;
  std::vector<float> images_;  ///< for the next passes
  PassResult last_;
  std::optional<LoadedNetwork> loaded_;
};

/// Runs the case in a process of its own.
OpenNetwork start_network_process(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                                  double timeout_seconds);

/// Runs the case in this process, for debuggers and profilers. Where the device cannot be opened, all answers are that
/// ending.
OpenNetwork start_network_here(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish);

}  // namespace convladder

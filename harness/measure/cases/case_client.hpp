// The harness's side of a case: it sends requests and always gets an answer or a status.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// A case ended early; the message is the reason.
struct CaseFailure : std::runtime_error {
  CaseFailure(Status its_status, const std::string& reason) : std::runtime_error(reason), status(its_status) {}
  Status status;
  bool out_of_device_memory = false;  ///< others may have had it: alone the case may do better
};

/// A case that has been started, and the memory in which it hands out its output.
struct OpenCase {
  std::unique_ptr<SharedMemory> window;
  std::unique_ptr<CaseClient> client;  ///< destroyed before the window

  /// The case's answer. Throws CaseFailure where the answer is a status, or a status with which no case can end.
  nlohmann::ordered_json ask(const nlohmann::ordered_json& request) const;
  /// Reads the case's tensors: {"do": "read", "tensor", "first", "count"}.
  ReadTensor tensors() const;
  std::int64_t window_bytes() const { return static_cast<std::int64_t>(window->bytes()); }
  /// The size of the window in float32 elements.
  std::int64_t window_elements() const { return static_cast<std::int64_t>(window->bytes() / sizeof(float)); }
};

/// A compiled stage in the hello of its process.
nlohmann::ordered_json stage_hello(const StageToLoad& stage);
StageToLoad read_stage_hello(const nlohmann::ordered_json& hello);

/// Memory for outputs: what the caches hold for both sides, and at least `bytes`.
std::unique_ptr<SharedMemory> output_window(std::size_t bytes);

/// Everything that a case of any kind needs to be started in a process of its own.
struct SessionStart {
  std::string id;    ///< names the case in errors
  int workload = 0;  ///< the descriptor of the workload's memory
  nlohmann::ordered_json workload_header;
  double timeout_seconds = 0;  ///< estimate.hpp
  std::string program = kThisProgram;
  Trust trust = Trust::own;
};

/// Starts the process now. Its other end is serve_session (session.hpp) under `command`, which gets `hello` with the
/// workload and the window.
OpenCase start_session(const SessionStart& start, const char* command, std::unique_ptr<SharedMemory> window,
                       nlohmann::ordered_json hello);

/// Runs the case in a process of its own, started now; it answers as CaseSession does. A case that crashes answers
/// {"status": "crashed"}, one that takes longer than `timeout_seconds` for a request is killed and answers
/// {"status": "timeout"}. `program` is this one or another build that speaks the same protocol (case_protocol.hpp).
OpenCase start_case_process(const PlannedCase& planned, const Workload& workload,
                            const std::vector<std::string>& google_benchmark_flags, double timeout_seconds,
                            const std::string& program = kThisProgram);

/// Runs the case in this process, for debuggers and profilers: nothing protects from a crash or a hang.
OpenCase start_case_here(const PlannedCase& planned, const Workload& workload);

}  // namespace convladder

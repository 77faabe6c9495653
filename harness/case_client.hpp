// The harness's side of a case: it asks, and gets an answer or a status, whatever the case does.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "harness/plan.hpp"
#include "harness/workload.hpp"

namespace convladder {

/// A case at the other end. Requests and replies are those of CaseSession::answer; a reply with a "status" is the end:
/// the case failed, and "reason" says how.
class CaseClient {
 public:
  CaseClient() = default;
  CaseClient(const CaseClient&) = delete;
  CaseClient& operator=(const CaseClient&) = delete;
  virtual ~CaseClient() = default;
  virtual nlohmann::ordered_json ask(const nlohmann::ordered_json& request) = 0;
};

/// Runs the case in a process of its own, started now. A case that crashes answers {"status": "crashed"}, one that
/// takes longer than `timeout_seconds` for a request is killed and answers {"status": "timeout"}.
std::unique_ptr<CaseClient> start_case_process(const PlannedCase& planned, const Workload& workload,
                                               const RunOptions& options, double timeout_seconds);

/// Runs the case in this process, for debuggers and profilers: nothing protects from a crash or a hang.
std::unique_ptr<CaseClient> start_case_here(const PlannedCase& planned, const Workload& workload);

/// The other end of `start_case_process`: serves one case on a socket until it is closed. Returns the exit code.
int serve_case(int socket_descriptor, int workload_descriptor);

}  // namespace convladder

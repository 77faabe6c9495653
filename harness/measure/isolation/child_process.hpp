// A part of this program, or of another build of it, in a process of its own. It is queried over a socket, and there is
// always an answer, whatever happens to the process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/measure/isolation/message_socket.hpp"
#include "harness/measure/isolation/processor_turns.hpp"
#include "harness/measure/isolation/status.hpp"

namespace convladder {

/// Answers requests, {"do": …}, one after the other. A reply with a "status" is the end: "reason" says what failed.
class CaseClient {
 public:
  CaseClient() = default;
  CaseClient(const CaseClient&) = delete;
  CaseClient& operator=(const CaseClient&) = delete;
  virtual ~CaseClient() = default;
  virtual nlohmann::ordered_json ask(const nlohmann::ordered_json& request) = 0;
  /// How long the last answer took, by the clocks of the process that asked; all 0 where that was not looked at.
  virtual ObservedAnswer last_answer() const { return {}; }
};

/// A process ended, or did something that is not allowed, while nothing was asked of it.
struct EndedProcess : std::runtime_error {
  EndedProcess(Status its_status, const std::string& reason) : std::runtime_error(reason), status(its_status) {}
  Status status;
};

/// Whose code runs in a process. Whatever untrusted code does is never the machine's fault, since it can say and do
/// whatever looks like one; it may not work while nobody asks it anything, nor leave processes behind.
enum class Trust { own, foreign };

/// The program that runs, whatever it is called.
inline constexpr const char* kThisProgram = "/proc/self/exe";

/// A child process as a client. A process that crashes answers {"status": "crashed"}, one that takes longer than
/// `timeout_seconds` for a request {"status": "timeout"}; after either it is over. The process ends with this object. A
/// failure of the machine is no answer: `ask` throws MachineFault, also for a process that was killed from outside. A
/// process with foreign code is stopped between its answers, and answers {"status": "refused"} where it answered
/// without being asked or has started processes.
class ChildProcess final : public CaseClient {
 public:
  /// Starts `program` as `convladder <command> SOCKET MEMORY...`, where each MEMORY is one of `memory` in the child,
  /// and sends it `hello`. `what` names it in errors. Throws MachineFault if no process can be started.
  ChildProcess(std::string what, const std::string& command, const std::vector<int>& memory, double timeout_seconds,
               const nlohmann::ordered_json& hello, const std::string& program = kThisProgram,
               Trust trust = Trust::own);
  ~ChildProcess() override;

  nlohmann::ordered_json ask(const nlohmann::ordered_json& asked_for) override;
  ObservedAnswer last_answer() const override { return last_answer_; }

  // For a caller that goes on with the process without asking it anything.
  pid_t process() const { return process_; }
  bool has_ended() const;
  /// How the process ended, as an answer, once it has; a process that still runs is ended.
  nlohmann::ordered_json end();
  /// Stops all threads of the process. One with foreign code is stopped whenever it has answered.
  void stop() const;
  void go_on() const;

 private:
  [[noreturn]] void cannot_start(int error);
  void start(const std::string& program, const std::string& command, int socket_end, const std::vector<int>& memory);
  nlohmann::ordered_json without_machine_fault(nlohmann::ordered_json reply) const;
  nlohmann::ordered_json death();
  nlohmann::ordered_json end_refused(const std::string& reason);
  void end_process();
  void limit_output() const;
  std::string last_words() const;

  std::string what_;
  double timeout_seconds_;
  Trust trust_;
  ObservedAnswer last_answer_;
  int errors_ = -1;
  pid_t process_ = -1;
  std::unique_ptr<MessageSocket> socket_;
};

/// Shuts other processes of the same user out of this one's memory and descriptors, above all those that it starts: the
/// references for outputs are there. Under root, also removes that right from the processes that it starts.
void keep_to_ourselves();

/// The child's side: receives the hello, makes the client that answers from it, and serves requests until the socket is
/// closed. `make` returns null for an invalid hello. The process ends with its parent. Returns the exit code.
int serve_requests(int socket_descriptor,
                   const std::function<std::unique_ptr<CaseClient>(const nlohmann::ordered_json& hello)>& make);

/// The reply in the form by which the asking process recognises it as the answer to that request.
nlohmann::ordered_json answer_to(const nlohmann::ordered_json& request, nlohmann::ordered_json reply);

/// Stands for a case whose device could not even be opened: answers everything with {"status": "launch failed"}.
std::unique_ptr<CaseClient> failed_client(const std::string& reason);

/// {"status": status, "reason": reason}: the reply that ends a case.
nlohmann::ordered_json ending(Status status, const std::string& reason);
/// The field of an ending that says that the device had no memory left.
inline constexpr const char* kOutOfDeviceMemory = "out_of_device_memory";

/// The reply that ends a case after an exception: "launch failed" where the device refused, otherwise "crashed". Throws
/// MachineFault where the machine is to blame: no thread can be started, or a limit is set on the memory.
nlohmann::ordered_json ending_of(const std::exception& error);

}  // namespace convladder

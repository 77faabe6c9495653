// A part of this program, or of another build of it, in a process of its own. It is queried over a socket, and there is
// always an answer, whatever happens to the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/measure/isolation/ending.hpp"
#include "harness/measure/isolation/message_socket.hpp"
#include "harness/measure/isolation/processor_turns.hpp"

namespace convladder {

/// Whose code runs in a process. Whatever untrusted code does is never the machine's fault, since it can say and do
/// whatever looks like one; it may not work while nobody asks it anything, nor leave processes behind.
enum class Trust { own, foreign };

/// The program that runs, whatever it is called.
inline constexpr const char* kThisProgram = "/proc/self/exe";

/// How a process is started: `program` as `convladder <command> SOCKET MEMORY...`, where each MEMORY is one of `memory`
/// in the child.
struct ProcessStart {
  std::string what;  ///< names it in errors
  std::string command;
  std::vector<int> memory = {};  ///< descriptors
  double timeout_seconds = 0;
  std::string program = kThisProgram;
  Trust trust = Trust::own;
  std::map<std::string, std::string> variables = {};  ///< of its environment, besides this program's
  /// Whether it gets only those variables of this program's that decide how it is measured; so for foreign code.
  bool is_environment_emptied = false;
};

/// A request on its way to a process.
struct RequestText {
  std::string_view name;
  std::string text;
  /// Sent while threads of another case may still be spinning, because it disturbs nobody.
  bool at_once = false;
};

/// A child process that answers requests, which are texts of one line. One that crashes ends as "crashed", one that
/// takes longer than `timeout_seconds` for a request as "timeout"; after either it is over. The process ends with this
/// object. A failure of the machine is no answer: `ask` throws MachineFault, also for a process that was killed from
/// outside. A process with foreign code is stopped between its answers, and ends as "refused" where it answered without
/// being asked or has started processes.
class ChildProcess {
 public:
  /// Starts the process and sends it `hello`. Throws MachineFault if no process can be started.
  ChildProcess(const ProcessStart& start, const std::string& hello);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// The answer, or how it came to none.
  std::variant<Ending, std::string> ask(const RequestText& request);
  /// How long the last answer took.
  ObservedAnswer last_answer() const { return last_answer_; }

  // For a caller that goes on with the process without asking it anything.
  pid_t process() const { return process_; }
  bool has_ended() const;
  /// How the process ended, once it has; a process that still runs is ended.
  Ending end();
  /// Stops all threads of the process. One with foreign code is stopped whenever it has answered.
  void stop() const;
  void go_on() const;

 private:
  [[noreturn]] void cannot_start(int error);
  void start(const ProcessStart& start, int socket_end);
  std::variant<Ending, std::string> checked(std::string answer, std::uint64_t nonce);
  Ending death();
  Ending end_refused(const std::string& reason);
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

}  // namespace convladder

// A worker: a program that stays, reads a line, works, and answers with a line. docs/use/duel.md
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/judge/duel/duel_side.hpp"

namespace convladder {

struct WorkerStart {
  std::vector<std::string> words;
  std::string folder;                    ///< empty: the current one
  std::vector<std::string> environment;  ///< "NAME=value"
  double timeout_seconds = 60;           ///< for each answer
};

/// A worker that runs as long as this object lives, and all that it starts as well.
class WorkerProcess {
 public:
  /// Throws UserError if no process can be started.
  explicit WorkerProcess(const WorkerStart& start);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  struct Answer {
    std::string line;
    double seconds = 0;  ///< from the request to the answer
  };
  /// Sends a line, and returns the next one that the worker prints. Throws UserError, with the last line of its
  /// standard error, where it ends or prints too much; TimedOut; Killed.
  Answer ask(const std::string& request);

  /// Whether the program has one thread, and has started no other process, right now; false where the system does not
  /// tell.
  bool has_one_thread() const;

  struct TimedOut : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  /// Something outside has killed it.
  struct Killed : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

 private:
  std::string last_words() const;
  [[noreturn]] void fail_ended();

  double timeout_seconds_;
  pid_t keeper_ = -1;
  int requests_ = -1;
  int answers_ = -1;
  int report_ = -1;
  int messages_ = -1;
  std::string rest_;  ///< what was read behind the last line
};

}  // namespace convladder

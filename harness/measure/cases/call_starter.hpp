// A thread that gives a call its input and starts its clock, for a stage in a process of its own (StageDevice).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "harness/measure/isolation/handshake.hpp"

namespace convladder {

/// Bytes to be copied into the other process: they stay where they are until the call has ended.
struct InputForCall {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

/// A call's input comes when its process has said that it is ready and waits: before, there is nothing to work on, so
/// that no work can be done before the clock starts. The thread is on the called process's processors. So the input is
/// in their caches, where it would be if the process had written it, and while it is written the process does not run
/// there. Where there is one processor of the called process, it runs when this thread waits again.
class CallStarter {
 public:
  using Clock = std::chrono::steady_clock;

  /// `apart`: the called process has processors of its own. Otherwise `start` does everything in its caller's thread.
  explicit CallStarter(bool apart);
  CallStarter(const CallStarter&) = delete;
  CallStarter& operator=(const CallStarter&) = delete;
  ~CallStarter();

  /// Writes the inputs into the process, reads the clock, and raises `begun` to `call`. Returns when that is done, and
  /// when it was. Throws DeviceError if the process cannot be reached.
  Clock::time_point start(pid_t process, HandshakeNumber& begun, std::uint32_t call,
                          const std::vector<InputForCall>& inputs);

 private:
  void serve();
  void write_and_begin();

  pid_t process_ = 0;
  HandshakeNumber* begun_ = nullptr;
  std::uint32_t call_ = 0;
  const std::vector<InputForCall>* inputs_ = nullptr;
  Clock::time_point time_;
  int error_ = 0;  ///< errno of a copy that failed
  std::uint32_t jobs_ = 0;
  bool ends_ = false;
  HandshakeNumber job_;
  HandshakeNumber started_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace convladder

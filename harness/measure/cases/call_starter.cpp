#include "harness/measure/cases/call_starter.hpp"

#include <fmt/format.h>

#include "devices/device_error.hpp"
#include "harness/measure/isolation/process_memory.hpp"
#include "harness/measure/isolation/processor_split.hpp"
#include "support/errors.hpp"

namespace convladder {

namespace {

// The thread is woken on another processor and may have megabytes to write: the caller, who has one of its own, looks
// for as long as that usually takes.
constexpr HandshakeNumber::Patience kForStart{.spin_ns = 20e6, .alone_ns = 20e6};

}  // namespace

CallStarter::CallStarter(bool apart) {
  if (apart) thread_ = std::jthread([this] { serve(); });
}

CallStarter::~CallStarter() {
  if (!thread_.joinable()) return;
  ends_ = true;
  job_.set(++jobs_);
}

CallStarter::Clock::time_point CallStarter::start(pid_t process, HandshakeNumber& begun, std::uint32_t call,
                                                  const std::vector<InputForCall>& inputs) {
  process_ = process;
  begun_ = &begun;
  call_ = call;
  inputs_ = &inputs;
  error_ = 0;
  if (thread_.joinable()) {
    job_.set(++jobs_);
    started_.wait(jobs_, kForStart, [] { return true; });
  } else {
    write_and_begin();
  }
  if (error_ != 0) throw DeviceError(fmt::format("its memory cannot be reached: {}", system_error_text(error_)));
  return time_;
}

void CallStarter::serve() {
  use_called_ones_processors();
  for (std::uint32_t job = 1;; ++job) {
    // Without patience: this thread would keep the processor from the call that it has started.
    job_.wait(job, {}, [] { return true; });
    if (ends_) return;
    write_and_begin();
  }
}

void CallStarter::write_and_begin() {
  for (const InputForCall& one : *inputs_) {
    error_ = write_to_process(process_, one.to, one.from, one.bytes);
    if (error_ != 0) break;
  }
  time_ = Clock::now();
  // A process whose code says that it is done before it has begun is waited for until here.
  started_.set(jobs_);
  if (error_ == 0) begun_->set(call_);
}

}  // namespace convladder

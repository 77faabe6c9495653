#include "harness/measure/isolation/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "harness/measure/isolation/message_text.hpp"
#include "support/confinement/left_processes.hpp"
#include "support/confinement/system_call_filter.hpp"
#include "support/errors.hpp"
#include "support/kept_environment.hpp"
#include "support/text.hpp"

namespace convladder {

namespace {

// The descriptors where the child finds its ends: the memory comes after the socket.
constexpr int kSocketDescriptor = 3;
constexpr int kFirstMemoryDescriptor = 4;

// docs/how/measuring.md has this list: what decides how code runs and is found, and how the harness itself is set.
constexpr std::array<std::string_view, 29> kMeasuring{"OMP_*",
                                                      "GOMP_*",
                                                      "KMP_*",
                                                      "OPENBLAS_NUM_THREADS",
                                                      "MKL_*",
                                                      "DNNL_*",
                                                      "ONEDNN_*",
                                                      "LANG",
                                                      "LC_*",
                                                      "TZ",
                                                      "LD_LIBRARY_PATH",
                                                      "CUDA_VISIBLE_DEVICES",
                                                      "CUDA_DEVICE_ORDER",
                                                      "CUDA_DEVICE_MAX_CONNECTIONS",
                                                      "CUDA_MODULE_LOADING",
                                                      "CUDA_CACHE_DISABLE",
                                                      "CUDA_LAUNCH_BLOCKING",
                                                      "CUDA_HOME",
                                                      "CUDA_PATH",
                                                      "CUDNN_*",
                                                      "CUBLAS_*",
                                                      "NVIDIA_TF32_OVERRIDE",
                                                      "CONVLADDER_*",
                                                      "MALLOC_*",
                                                      "GLIBC_TUNABLES",
                                                      "ASAN_OPTIONS",
                                                      "LSAN_OPTIONS",
                                                      "TSAN_OPTIONS",
                                                      "UBSAN_OPTIONS"};

/// This process's environment with the given variables, all of it or what measuring needs, and how long idle OpenMP
/// threads spin: the default is many milliseconds, in which a case that has just answered would take a core from the
/// next one.
std::vector<std::string> child_environment(const ProcessStart& start) {
  constexpr std::array<std::string_view, 1> everything{"*"};
  const bool is_emptied = start.trust == Trust::foreign || start.is_environment_emptied;
  std::vector<std::string> variables =
      is_emptied ? kept_environment(kMeasuring, start.variables) : kept_environment(everything, start.variables);
  if (getenv("GOMP_SPINCOUNT") == nullptr && getenv("OMP_WAIT_POLICY") == nullptr) {
    variables.emplace_back("GOMP_SPINCOUNT=20000");
  }
  return variables;
}

constexpr auto kSettlingTime = std::chrono::milliseconds(1);  // longer than idle OpenMP threads spin

constexpr double kWaitingShare = 0.5;  // of its time: a process that sleeps waits for nobody

constexpr off_t kMostOutput = 1 << 20;

std::uint64_t fresh_nonce() {
  std::random_device source;
  return std::uint64_t{source()} << 32U | source();
}

/// Whether the signal is one that a process does not raise itself: these come from a person, a limit, or the system
/// when memory runs out.
bool comes_from_outside(int signal) {
  constexpr std::array<int, 6> signals{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU};
  return std::ranges::find(signals, signal) != signals.end();
}

/// Whether a process that ended without a signal did so for a reason that is the machine's fault, not its own code's.
bool blames_the_machine(const std::string& last_words) {
  const auto says = [&](const char* text) { return last_words.find(text) != std::string::npos; };
  return says("libgomp: Thread creation failed") || says("error while loading shared libraries") ||
         (says("bad_alloc") && memory_is_limited());
}

/// The reading end of a pipe that nobody writes to: an empty standard input, also where there is no /dev/null.
int empty_input() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  close(ends[1]);
  return ends[0];
}

}  // namespace

void keep_to_ourselves() {
  // Where the system refuses either, the memory is as open to others of the same user as any program's.
  static_cast<void>(prctl(PR_SET_DUMPABLE, 0));
  static_cast<void>(prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE));
}

ChildProcess::ChildProcess(const ProcessStart& its_start, const std::string& hello)
    : what_(its_start.what),
      timeout_seconds_(its_start.timeout_seconds),
      trust_(its_start.trust),
      errors_(memfd_create("stderr of a case", MFD_CLOEXEC)) {
  keep_to_ourselves();
  if (trust_ == Trust::foreign) adopt_orphans();
  std::array<int, 2> ends{};
  if (errors_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) cannot_start(errno);
  socket_ = std::make_unique<MessageSocket>(ends[0]);
  start(its_start, ends[1]);
  socket_->send(hello);
}

void ChildProcess::cannot_start(int error) {
  if (errors_ >= 0) close(errors_);
  throw MachineFault(fmt::format("cannot start a process for {}: {}", what_, system_error_text(error)));
}

ChildProcess::~ChildProcess() {
  socket_.reset();  // the end of the stream tells the child to end
  close(errors_);
  if (process_ > 0) end_process();
}

/// Kills the process. It has nothing left to lose: freeing gigabytes page by page would only delay the next case.
void ChildProcess::end_process() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  remove_own_child(process_);
  // A case's own processes (StageDevice) end with it, and nobody else has to answer for them.
  end_left_processes(process_);
  process_ = -1;
}

Ending ChildProcess::end_refused(const std::string& reason) {
  end_process();
  return {Status::refused, reason};
}

bool ChildProcess::has_ended() const {
  siginfo_t information{};
  return process_ <= 0 || (waitid(P_PID, static_cast<id_t>(process_), &information, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                           information.si_pid == process_);
}

Ending ChildProcess::end() {
  if (process_ <= 0) return {Status::crashed, "it has ended"};
  if (trust_ == Trust::foreign && !has_ended() && end_left_processes(process_) > 0) {
    return end_refused("it started other processes");
  }
  return death();
}

void ChildProcess::go_on() const {
  if (process_ > 0) kill(process_, SIGCONT);
}

std::variant<Ending, std::string> ChildProcess::ask(const RequestText& request) {
  if (!request.at_once) std::this_thread::sleep_for(kSettlingTime);
  if (process_ <= 0) return Ending{Status::crashed, "it has ended"};
  std::string text = request.text;
  std::uint64_t nonce = 0;
  if (trust_ == Trust::foreign) {
    // While stopped it can have sent nothing: data that is there came with the last answer.
    if (socket_->has_more()) return end_refused("it answers what it was not asked");
    // If it sent two answers, one may come only after the next request. That one has another nonce, or none.
    nonce = fresh_nonce();
    text = with_nonce(std::move(text), nonce);
    kill(process_, SIGCONT);
  }
  const ProcessorTurns before = processor_turns(process_);
  const ProcessorTurns ours_before = processor_turns(getpid());
  const double waited_before = waited_by_all_ns(process_);
  const auto asked = std::chrono::steady_clock::now();
  if (!socket_->send(text)) return death();
  std::string answer;
  const MessageSocket::Received received = socket_->receive(answer, timeout_seconds_);
  last_answer_.ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - asked).count();
  if (trust_ == Trust::foreign) stop();
  const ProcessorTurns after = processor_turns(process_);
  const ProcessorTurns ours_after = processor_turns(getpid());
  last_answer_.waited_by_all_ns = std::max(waited_by_all_ns(process_) - waited_before, 0.0);
  last_answer_.used_ns = after.used_ns - before.used_ns;
  last_answer_.worked_ns = after.worked_ns - before.worked_ns;
  last_answer_.waited_ns = after.waited_ns - before.waited_ns + ours_after.waited_ns - ours_before.waited_ns;
  switch (received) {
    case MessageSocket::Received::message:
      return checked(std::move(answer), nonce);
    case MessageSocket::Received::timed_out:
      return Ending{.status = Status::timeout,
                    .reason = fmt::format("no answer to '{}' within {:g} s", request.name, timeout_seconds_),
                    .was_kept_waiting = last_answer_.waited_ns > kWaitingShare * timeout_seconds_ * 1e9};
    case MessageSocket::Received::closed:
      break;
  }
  return death();
}

/// The answer, where it is one and answers what was asked. Throws MachineFault for one that says that the machine is to
/// blame, which untrusted code may not.
std::variant<Ending, std::string> ChildProcess::checked(std::string answer, std::uint64_t nonce) {
  Envelope envelope;
  try {
    envelope = read_envelope(answer);
  } catch (const InvalidMessage&) {
    return death();
  }
  limit_output();
  if (trust_ == Trust::foreign) {
    if (envelope.nonce != nonce) return end_refused("it answers what it was not asked");
    if (end_left_processes(process_) > 0) return end_refused("it started other processes");
  } else if (envelope.blames_machine) {
    throw MachineFault(fmt::format("{} cannot run here: {}", what_, envelope.ending->reason));
  }
  if (envelope.ending) return *std::move(envelope.ending);
  return answer;
}

void ChildProcess::start(const ProcessStart& its_start, int socket_end) {
  const std::vector<int>& memory = its_start.memory;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Duplicated high first: a descriptor to be copied may itself be one of the child's.
  std::vector<int> copies;
  const auto give = [&](int descriptor, int as) {
    copies.push_back(fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstMemoryDescriptor + static_cast<int>(memory.size())));
    posix_spawn_file_actions_adddup2(&actions, copies.back(), as);
  };
  // A Python finds the packages of its environment by the name that it is started with.
  const std::string name = its_start.program == kThisProgram ? "convladder" : its_start.program;
  std::vector<std::string> arguments{name, its_start.command, std::to_string(kSocketDescriptor)};
  give(socket_end, kSocketDescriptor);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const int as = kFirstMemoryDescriptor + static_cast<int>(i);
    give(memory[i], as);
    arguments.push_back(std::to_string(as));
  }
  const int input = empty_input();
  give(input, STDIN_FILENO);
  give(errors_, STDOUT_FILENO);
  give(errors_, STDERR_FILENO);
  close(socket_end);
  if (input >= 0) close(input);
  std::vector<std::string> environment = child_environment(its_start);
  // Duplicated to high numbers first: a descriptor to be copied may itself be one of the child's.
  int failed = EMFILE;
  if (std::ranges::min(copies) >= 0) {
    start_own_child([&] {
      failed = posix_spawn(&process_, its_start.program.c_str(), &actions, nullptr, null_terminated(arguments).data(),
                           null_terminated(environment).data());
      return failed == 0 ? process_ : -1;
    });
  }
  posix_spawn_file_actions_destroy(&actions);
  for (const int copy : copies) {
    if (copy >= 0) close(copy);
  }
  if (failed == 0) return;
  if (failed == EMFILE) cannot_start(failed);
  close(errors_);
  const bool no_proc = failed == ENOENT && its_start.program == kThisProgram;
  throw MachineFault(fmt::format("cannot start {}: {}", its_start.program,
                                 no_proc ? "it does not exist; is /proc mounted?" : system_error_text(failed)));
}

/// Stops the process. Returns when it is stopped, or has ended.
void ChildProcess::stop() const {
  if (process_ <= 0) return;  // kill(-1) would stop every process
  kill(process_, SIGSTOP);
  siginfo_t what{};
  while (waitid(P_PID, static_cast<id_t>(process_), &what, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

/// How the process ended, and the last line that it printed.
Ending ChildProcess::death() {
  int status = 0;
  bool is_ended = false;  // by us
  if (trust_ == Trust::foreign) kill(process_, SIGCONT);
  // It may have closed its socket and gone on: it gets a moment to end.
  for (int attempt = 0; attempt < 100 && waitpid(process_, &status, WNOHANG) == 0; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (attempt == 99) {
      kill(process_, SIGKILL);
      waitpid(process_, &status, 0);
      is_ended = true;
    }
  }
  remove_own_child(process_);
  const int of_its_own = end_left_processes(process_);
  const int left = trust_ == Trust::foreign ? of_its_own : 0;
  process_ = -1;
  if (left > 0) return {Status::refused, "it started other processes"};
  const std::string last = last_words();
  const bool may_blame = trust_ == Trust::own;
  if (!may_blame && is_ended) return {Status::crashed, "it shut its socket, or sent what is no message"};
  if (WIFSIGNALED(status) && comes_from_outside(WTERMSIG(status))) {
    const int signal = WTERMSIG(status);
    const std::string killed = fmt::format("was killed from outside by signal {} ({}){}", signal, strsignal(signal),
                                           signal == SIGKILL ? "; was there enough memory?" : "");
    if (may_blame) throw MachineFault(fmt::format("the process of {} {}", what_, killed));
    // Confined code cannot send itself such a signal.
    if (SystemCallFilter::missing().empty()) return {Status::not_judged, "its process " + killed};
  }
  if (may_blame && blames_the_machine(last)) throw MachineFault(fmt::format("{} cannot run here: {}", what_, last));
  std::string how = WIFSIGNALED(status)
                        ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                        : fmt::format("ended with exit code {} before it answered", WEXITSTATUS(status));
  if (!last.empty()) how += ": " + last;
  return {Status::crashed, how};
}

/// Truncates the output of a case: it is kept in memory, and a case is called thousands of times.
void ChildProcess::limit_output() const {
  if (lseek(errors_, 0, SEEK_END) < kMostOutput || ftruncate(errors_, 0) != 0) return;
  lseek(errors_, 0, SEEK_SET);  // the child writes at the same offset
}

std::string ChildProcess::last_words() const {
  std::array<char, 4096> buffer{};
  const off_t size = lseek(errors_, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(buffer.size()));
  const ssize_t count = pread(errors_, buffer.data(), buffer.size(), from);
  std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  text = text.substr(text.find_last_of('\n') + 1, 200);
  std::erase_if(text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  return text;
}

}  // namespace convladder

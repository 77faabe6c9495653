#include "harness/measure/simulation/program_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "harness/measure/simulation/program_environment.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::atomic<pid_t> running = 0;

/// Hands a signal on to the program. A terminal sends its signals to the program as well; other senders send theirs
/// only to us.
void hand_on(int signal, siginfo_t* information, void* /*context*/) {
  const int before = errno;
  if (information->si_code <= 0 && running > 0) ::kill(running, signal);
  errno = before;
}

constexpr std::array<int, 4> kHandedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// While it lives, signals that would end this program go to the one that runs. They wait until `hand_on_to`.
class HandedOnSignals {
 public:
  HandedOnSignals() {
    sigset_t waiting;
    sigemptyset(&waiting);
    for (const int signal : kHandedOn) sigaddset(&waiting, signal);
    ::pthread_sigmask(SIG_BLOCK, &waiting, &mask_before_);
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      struct sigaction action {};
      action.sa_sigaction = hand_on;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      ::sigaction(kHandedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(kHandedOn[i], &action, nullptr);
    }
  }
  ~HandedOnSignals() {
    running = 0;
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) ::sigaction(kHandedOn[i], &before_[i], nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);  // signals that waited for a program that never ran are
                                                             // this one's
  }
  HandedOnSignals(const HandedOnSignals&) = delete;
  HandedOnSignals& operator=(const HandedOnSignals&) = delete;

  /// Hands signals on to `process` from now on. It may have been at work for a while: a signal that came meanwhile is
  /// handed on now.
  void hand_on_to(pid_t process) const {
    running = process;
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  /// Undoes all of this in the program's process, as if it had been started without us.
  void undo_in_child() const {
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      if (before_[i].sa_handler != SIG_IGN) ::signal(kHandedOn[i], SIG_DFL);
    }
    ::signal(SIGPIPE, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  sigset_t mask_before_{};
  std::array<struct sigaction, kHandedOn.size()> before_{};
};

/// Becomes the program, in the child, or hands the error to `failed`.
[[noreturn]] void become(const ProgramFile& program, const std::vector<char*>& words,
                         const std::vector<char*>& environment, int failed) {
  // A shell takes files without #! for scripts, and so does execvpe.
  static_cast<void>(::personality(static_cast<unsigned long>(::personality(0xffffffff)) | ADDR_NO_RANDOMIZE));
  ::execvpe(program.path.c_str(), words.data(), environment.data());
  const int error = errno;
  static_cast<void>(!::write(failed, &error, sizeof error));
  ::_exit(kExitError);
}

}  // namespace

ProgramEnd run_program(const ProgramFile& program, const std::vector<std::string>& words,
                       const stand_in::Settings& settings) {
  std::vector<std::string> own_words = words;
  std::vector<std::string> environment = environment_with(program_variables(settings));
  const std::vector<char*> word_pointers = null_terminated(own_words);
  const std::vector<char*> environment_pointers = null_terminated(environment);
  std::array<int, 2> failed{};
  if (::pipe2(failed.data(), O_CLOEXEC) != 0) {
    throw UserError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  const HandedOnSignals signals;
  const pid_t process = ::fork();
  if (process == 0) {
    signals.undo_in_child();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would read the program's report
    if (::getppid() != parent) ::_exit(kExitError);
    become(program, word_pointers, environment_pointers, failed[1]);
  }
  const int fork_error = errno;
  signals.hand_on_to(process);
  ::close(failed[1]);
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(failed[0], &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  ::close(failed[0]);
  int status = 0;
  while (process > 0 && ::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (process < 0) error = fork_error;
  if (process < 0 || count > 0) {
    throw UserError(fmt::format("{} cannot be started: {}", words[0], std::strerror(error)));
  }
  if (WIFSIGNALED(status)) return {.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status)};
}

std::string signal_text(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace convladder

#include "ladders/process_family.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace convladder {
namespace {

constexpr int kNotStarted = 127;
constexpr long kCloseRange = 436;  // since Linux 5.9, on every architecture

/// Kills the children that the system lists; their orphans become ours and are killed the next time.
void kill_children() {
  const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return;
  std::array<char, 4096> text{};
  pid_t process = 0;
  for (ssize_t count = 0; (count = read(list, text.data(), text.size())) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      const char one = text[static_cast<std::size_t>(i)];
      if (one >= '0' && one <= '9') {
        process = process * 10 + (one - '0');
      } else {
        if (process > 1) kill(process, SIGKILL);
        process = 0;
      }
    }
  }
  close(list);
}

std::int64_t in_ns(const timeval& time) { return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1000LL; }

/// Collects children that have ended; returns whether `program` was among them.
bool take_ended(pid_t program, FamilyReport& report) {
  bool found = false;
  int now = 0;
  rusage used{};
  for (pid_t ended = 0; (ended = wait4(-1, &now, WNOHANG, &used)) > 0;) {
    if (ended != program) continue;
    report.at_ns = family_clock_ns();
    report.cpu_ns = in_ns(used.ru_utime) + in_ns(used.ru_stime);
    report.value = now;
    found = true;
  }
  return found;
}

/// Kills the whole family; returns how many besides `program` there were, at least. Where the system lists no children,
/// the others are not found.
int end_family(pid_t program, bool program_ended, int& status) {
  int left = 0;
  for (bool first = true;; first = false) {
    if (!program_ended) kill(program, SIGKILL);
    kill_children();
    int now = 0;
    const pid_t ended = waitpid(-1, &now, first ? WNOHANG : 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return left;
    if (ended == 0) {
      if (access("/proc/thread-self/children", R_OK) != 0 && program_ended) return left + 1;
      continue;
    }
    if (ended == program) {
      status = now;
      program_ended = true;
    } else {
      ++left;
    }
  }
}

}  // namespace

std::int64_t family_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void keep_family(int report, void (*start)(void* of), void* of) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t awaited;
  sigset_t before;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  std::signal(SIGCHLD, SIG_DFL);
  FamilyReport result;
  const pid_t program = fork();
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    start(of);
    _exit(kNotStarted);
  }
  // Closes everything else that this program has open: others may wait for the far ends to be closed.
  syscall(kCloseRange, 0, report - 1, 0);
  syscall(kCloseRange, report + 1, ~0U, 0);
  if (program < 0) {
    result.what = FamilyReport::not_started;
    result.value = errno;
  } else {
    bool told_to_end = false;
    bool has_ended = false;
    while (!told_to_end && !has_ended) {
      told_to_end = sigwaitinfo(&awaited, nullptr) == SIGTERM;
      has_ended = take_ended(program, result);
    }
    const int left = end_family(program, has_ended, result.value);
    result.left_processes = has_ended ? left : 0;
  }
  static_cast<void>(write(report, &result, sizeof result) == 0);
  _exit(0);
}

}  // namespace convladder

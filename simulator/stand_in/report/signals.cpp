#include "simulator/stand_in/report/signals.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "simulator/stand_in/host_accesses.hpp"
#include "simulator/stand_in/machine.hpp"
#include "simulator/stand_in/report/call_places.hpp"
#include "simulator/stand_in/report/running_kernel.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr unsigned kMostSeconds = 3;  // for the report: the interrupted code may hold locks that it needs

std::atomic<int> ending_by = 0;

/// The program's own handler of faults, in front of which ours stands.
struct sigaction handler_of_program {};
std::atomic<bool> has_handler_of_program = false;

void set(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

void unblock(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void call_in_time(void (*handler)(int)) {
  set(SIGALRM, handler);
  unblock(SIGALRM);
  alarm(kMostSeconds);
}

/// Ends the process because the report has taken too long.
void end_without_report(int /*signal*/) { end_by_signal(ending_by); }

/// The places at which the signal interrupted the program, innermost first.
CallPlaces interrupted_places(const ucontext_t* context) {
  if (python_caller().line > 0) return calling_places();
#if defined(__x86_64__)
  Frames frames;
  frames.take();
  return interrupted_places(frames, static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RIP]));
#else
  static_cast<void>(context);
  return calling_places();
#endif
}

void write_at_last(int signal, std::uint64_t touched, const CallPlaces& places) {
  if (Machine::is_lost_by_fork()) return;
  call_in_time(end_without_report);
  try {
    Machine::get().finish_by_signal(name_of_signal(signal), touched, places);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to be told
  }
  alarm(0);
}

/// Writes the report without the kernel that runs, because it has not stopped.
void end_without_kernel(int /*signal*/) {
  const int signal = signal_for_kernel();
  int none = 0;
  if (!ending_by.compare_exchange_strong(none, signal)) return;
  write_at_last(signal, 0, nullptr);
  end_by_signal(signal);
}

/// Whether somebody has sent the signal; else the code that runs has made a fault. A terminal's signals come from the
/// kernel of the system.
bool is_sent(int signal, const siginfo_t* information) {
  const bool is_of_terminal = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  return information->si_code <= 0 || is_of_terminal;
}

void end_with_report(int signal, siginfo_t* information, void* context) {
  const bool is_access = signal == SIGSEGV && !is_sent(signal, information);
  if (is_access && HostAccesses::take_fault(reinterpret_cast<std::uint64_t>(information->si_addr), context)) return;
  if (signal == SIGSEGV && has_handler_of_program.exchange(false)) {
    sigaction(SIGSEGV, &handler_of_program, nullptr);  // a fault happens again, now for that one
    if (!is_access) raise(SIGSEGV);
    return;
  }
  // A thread that calls abort() cannot go on, and the others can. If the one that runs the kernel calls it, this is the
  // simulator's own end.
  const bool aborts = signal == SIGABRT && information->si_code == SI_TKILL && information->si_pid == getpid();
  if (signal_for_kernel() != 0 ||
      (is_sent(signal, information) && does_kernel_run() && !(aborts && does_kernel_run_here()))) {
    if (leave_for_kernel(signal)) call_in_time(end_without_kernel);
    while (aborts) pause();  // NOLINT(bugprone-infinite-loop): until the process ends
    if (is_sent(signal, information)) return;
  }
  int none = 0;
  if (!ending_by.compare_exchange_strong(none, signal)) {
    for (;;) pause();  // another thread is writing the report
  }
  const bool is_fault = !is_sent(signal, information) && (signal == SIGSEGV || signal == SIGBUS);
  const auto touched = is_fault ? reinterpret_cast<std::uint64_t>(information->si_addr) : 0;
  write_at_last(signal, touched, interrupted_places(static_cast<const ucontext_t*>(context)));
  set(signal, SIG_DFL);
  // A fault happens again in its place, where a debugger sees it; a signal that was sent is sent again.
  if (is_sent(signal, information)) raise(signal);
}

}  // namespace

void take_faults_first() {
  struct sigaction now {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == end_with_report) return;
  handler_of_program = now;
  has_handler_of_program = true;
  struct sigaction action {};
  action.sa_sigaction = end_with_report;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
}

void end_with_report_on_signals() {
  constexpr std::size_t kStackBytes = 256 * 1024;
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
    stack = {.ss_sp = std::malloc(kStackBytes), .ss_flags = 0, .ss_size = kStackBytes};  // the program's may be full
    if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);
  }
  calling_places();  // loads now whatever the first call loads
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_sigaction = end_with_report;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace convladder::stand_in

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

#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::array<std::pair<int, const char*>, 8> kSignals = {{{SIGSEGV, "SIGSEGV"},
                                                                  {SIGBUS, "SIGBUS"},
                                                                  {SIGABRT, "SIGABRT"},
                                                                  {SIGILL, "SIGILL"},
                                                                  {SIGFPE, "SIGFPE"},
                                                                  {SIGINT, "SIGINT"},
                                                                  {SIGTERM, "SIGTERM"},
                                                                  {SIGHUP, "SIGHUP"}}};
constexpr unsigned kMostSeconds = 3;  // for the report: the interrupted code may hold locks that it needs

std::atomic<int> ending_by = 0;

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

/// Ends the process because the report has taken too long.
void end_without_report(int /*signal*/) {
  const int signal = ending_by;
  set(signal, SIG_DFL);
  unblock(signal);
  raise(signal);
}

/// The places at which the signal interrupted the program, innermost first.
CallPlaces interrupted_places(const ucontext_t* context) {
  std::vector<CallPlace> places = *calling_places();
#if defined(__x86_64__)
  // A fault is at the very instruction, not after a call.
  const auto at = static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  const std::optional<CallPlace> first = place_of(at);
  // The frames before this one belong to the signal.
  for (std::size_t i = 0; i < places.size() && first; ++i) {
    if (places[i].file != first->file || places[i].offset + 1 != first->offset) continue;
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(i));
    places[0] = *first;
    break;
  }
#else
  static_cast<void>(context);
#endif
  return std::make_shared<const std::vector<CallPlace>>(std::move(places));
}

const char* name_of(int signal) {
  for (const auto& [number, name] : kSignals) {
    if (number == signal) return name;
  }
  return "";
}

void end_with_report(int signal, siginfo_t* information, void* context) {
  int none = 0;
  if (!ending_by.compare_exchange_strong(none, signal)) {
    for (;;) pause();  // another thread is writing the report
  }
  if (!Machine::is_lost_by_fork()) {
    set(SIGALRM, end_without_report);
    unblock(SIGALRM);
    alarm(kMostSeconds);
    const bool is_fault = information->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS);
    const auto touched = is_fault ? reinterpret_cast<std::uint64_t>(information->si_addr) : 0;
    try {
      Machine::get().finish_by_signal(name_of(signal), touched,
                                      interrupted_places(static_cast<const ucontext_t*>(context)));
    } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to be told
    }
    alarm(0);
  }
  set(signal, SIG_DFL);
  // A fault happens again in its place, where a debugger sees it; a signal that was sent is sent again.
  if (information->si_code <= 0) raise(signal);
}

}  // namespace

void end_with_report_on_signals() {
  constexpr std::size_t kStackBytes = 256 * 1024;
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
    stack = {.ss_sp = std::malloc(kStackBytes), .ss_flags = 0, .ss_size = kStackBytes};  // the program's may be full
    if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);
  }
  calling_places();  // loads now whatever the first call loads
  for (const auto& [signal, name] : kSignals) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_sigaction = end_with_report;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace convladder::stand_in

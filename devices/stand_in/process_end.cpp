#include "devices/stand_in/process_end.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "devices/stand_in/machine.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder::stand_in {
namespace {

void (*work_at_end)() = nullptr;

/// A library's destructors run when nothing of the program is left to run that was linked with it.
__attribute__((destructor)) void library_ends() {
  if (work_at_end != nullptr) work_at_end();
}

/// A failed assertion and an exception that nobody catches end a process without its destructors.
void at_abort(int number) {
  signal(number, SIG_DFL);
  if (work_at_end != nullptr) work_at_end();
  raise(number);
}

std::string program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

bool append_to(const std::string& file, const std::string& line) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  const bool whole = append_line(descriptor, line);
  return close(descriptor) == 0 && whole;
}

}  // namespace

void on_process_end(void (*work)()) {
  work_at_end = work;
  struct sigaction present {};
  if (sigaction(SIGABRT, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;  // the program has its own
  signal(SIGABRT, at_abort);
}

void write_report(Machine& machine) {
  const Settings& settings = machine.settings;
  if (!settings.report.empty()) {
    nlohmann::ordered_json json = {{"process", getpid()}, {"program", program()}, {"gpu", machine.gpu().name}};
    json.update(machine.report.json(machine.timeline));
    if (!append_to(settings.report, json_line(json) + '\n')) {
      fmt::print(stderr, "convladder: {} cannot be written: {}\n", settings.report, std::strerror(errno));
    }
  }
  if (settings.print) {
    for (const std::string& line : machine.report.lines()) fmt::print(stderr, "convladder: {}\n", line);
  }
  if (settings.error_exitcode != 0 && machine.report.has_findings()) {
    std::fflush(nullptr);
    _exit(settings.error_exitcode);
  }
}

void say_and_exit(const std::string& text) {
  fmt::print(stderr, "convladder: {}\n", text);
  std::fflush(nullptr);
  _exit(kExitError);
}

}  // namespace convladder::stand_in

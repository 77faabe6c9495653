#include "simulator/stand_in/report/process_end.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "simulator/stand_in/machine.hpp"
#include "simulator/stand_in/report/report_json.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

void (*work_at_end)() = nullptr;
int exit_status = 0;

/// A library's destructors run after all code of the program that was linked with it.
__attribute__((destructor)) void library_ends() {
  if (work_at_end != nullptr) work_at_end();
}

std::string program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

/// Prints a line, whether or not there is a standard error.
void say(const std::string& line) { std::fputs(fmt::format("convladder: {}\n", line).c_str(), stderr); }

bool append_to(const std::string& file, const std::string& line) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  const bool whole = append_line(descriptor, line);
  return close(descriptor) == 0 && whole;
}

/// The command line of this process.
std::vector<std::string> arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

ProcessName this_process(const Settings& settings) { return {getpid(), program(), arguments(), settings.gpu}; }

void append(const Settings& settings, const ProcessReport& process) {
  if (append_to(settings.report, report_line(process))) return;
  say(fmt::format("{} cannot be written: {}", settings.report, std::strerror(errno)));
}

double seconds_of_process() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
const double begin_seconds = seconds_of_process();

}  // namespace

void on_process_end(void (*work)()) {
  work_at_end = work;
  on_exit([](int status, void* /*unused*/) { exit_status = status; }, nullptr);
}

void process_ends(int status) {
  exit_status = status;
  if (work_at_end != nullptr) work_at_end();
}

void write_begin(const Settings& settings) {
  if (settings.report.empty()) return;
  ProcessReport process;
  static_cast<ProcessName&>(process) = this_process(settings);
  process.begins = true;
  append(settings, process);
}

void write_report(Machine& machine, const std::string& signal) {
  const Settings& settings = machine.settings;
  if (!settings.report.empty()) {
    ProcessReport process = machine.report.finish(machine.timeline);
    static_cast<ProcessName&>(process) = this_process(settings);
    process.signal = signal;
    process.mutants = machine.take_mutants();
    // Libraries on the host give the host results that no copy brings.
    if (!process.library_calls.empty()) process.mutants.host_reads.clear();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    process.seconds = seconds_of_process() - begin_seconds;
    process.most_resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    append(settings, process);
  }
  if (settings.print) {
    for (const std::string& line : machine.report.lines()) say(line);
  }
  if (!signal.empty() || exit_status != 0 || settings.error_exitcode == 0) return;
  const bool has_findings = machine.report.has_findings();
  if (has_findings || machine.report.is_incomplete()) {
    std::fflush(nullptr);
    _exit(has_findings ? settings.error_exitcode : kExitInconclusive);
  }
}

void say_and_exit(const std::string& text) {
  say(text);
  std::fflush(nullptr);
  _exit(kExitError);
}

}  // namespace convladder::stand_in

#include "ladders/program_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "ladders/process_family.hpp"
#include "support/confinement/left_processes.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

/// A pipe that is closed when its owner is destroyed.
class Pipe {
 public:
  explicit Pipe(const std::string& for_what) {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw UserError(fmt::format("{}: {}", for_what, system_error_text(errno)));
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  int to_read() const { return ends_[0]; }
  int to_write() const { return ends_[1]; }
  void close_writing() { close(std::exchange(ends_[1], -1)); }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Everything that the child needs before it becomes the program, made before the fork: after that nothing may be
/// allocated.
struct Start {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const char* folder;  ///< null for the current folder
  int output;
  int messages;
  int report;
  PreparedConfinement* confinement;  ///< null for none
};

void tell(int report, FamilyReport::What what, int error) {
  const FamilyReport told{.what = what, .value = error, .at_ns = family_clock_ns()};
  static_cast<void>(write(report, &told, sizeof told) == 0);
}

/// Makes the child the program.
void start_program(void* of) {
  const Start& start = *static_cast<const Start*>(of);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(start.output, STDOUT_FILENO) < 0 ||
      dup2(start.messages, STDERR_FILENO) < 0 || (start.folder != nullptr && chdir(start.folder) != 0)) {
    return tell(start.report, FamilyReport::not_started, errno);
  }
  if (start.confinement != nullptr) {
    const int error = start.confinement->enforce();
    if (error != 0) return tell(start.report, FamilyReport::not_confined, error);
  }
  tell(start.report, FamilyReport::starting, 0);
  execve(start.path, start.arguments, start.environment);
  tell(start.report, FamilyReport::not_started, errno);
}

/// Reads until all ends are closed; has `keeper` end its family if that takes too long. Returns whether it did.
bool read_all(const std::array<std::pair<int, std::string*>, 3>& ends, pid_t keeper, std::optional<double> seconds) {
  std::array<pollfd, 3> readers{};
  for (std::size_t i = 0; i < readers.size(); ++i) readers[i] = {ends[i].first, POLLIN, 0};
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds.value_or(0));
  bool timed_out = false;
  std::size_t open = readers.size();
  std::array<char, 65536> buffer;
  while (open > 0) {
    int wait = -1;
    if (seconds && !timed_out) {
      const std::chrono::duration<double, std::milli> left = deadline - Clock::now();
      wait = static_cast<int>(std::clamp(left.count() + 1, 0.0, 1e6));
      if (left.count() <= 0) {
        timed_out = true;
        kill(keeper, SIGTERM);
        continue;
      }
    }
    if (poll(readers.data(), readers.size(), wait) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < readers.size(); ++i) {
      pollfd& reader = readers[i];
      if (reader.fd < 0 || reader.revents == 0) continue;
      std::string& into = *ends[i].second;
      const ssize_t count = read(reader.fd, buffer.data(), buffer.size());
      if (count <= 0 && !(count < 0 && errno == EINTR)) {
        reader.fd = -1;
        --open;
      }
      if (count > 0 && into.size() < kMostProgramOutput) into.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  return timed_out;
}

}  // namespace

bool ProgramOutput::succeeded() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !timed_out; }

ProgramOutput run_program(const std::vector<std::string>& words, const ProgramSettings& settings) {
  Pipe text(words[0]);
  Pipe messages(words[0]);
  Pipe report(words[0]);
  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = settings.environment.value_or(std::vector<std::string>());
  const std::vector<char*> argument_list = null_terminated(arguments);
  const std::vector<char*> variable_list = null_terminated(variables);
  std::optional<PreparedConfinement> confinement;
  ProgramOutput output;
  if (settings.confinement) {
    confinement.emplace(*settings.confinement);
    output.confinement = confinement->confinement();
  }
  Start start{.path = arguments[0].c_str(),
              .arguments = argument_list.data(),
              .environment = settings.environment ? variable_list.data() : environ,
              .folder = settings.folder.empty() ? nullptr : settings.folder.c_str(),
              .output = text.to_write(),
              .messages = messages.to_write(),
              .report = report.to_write(),
              .confinement = confinement ? &*confinement : nullptr};
  const pid_t keeper = start_own_child([&] {
    const pid_t process = fork();
    if (process == 0) keep_family(start.report, start_program, &start);
    return process;
  });
  if (keeper < 0) throw UserError(fmt::format("{}: cannot be started: {}", words[0], system_error_text(errno)));
  for (Pipe* const one : {&text, &messages, &report}) one->close_writing();

  std::string reports;
  output.timed_out =
      read_all({{{text.to_read(), &output.text}, {messages.to_read(), &output.messages}, {report.to_read(), &reports}}},
               keeper, settings.seconds);
  while (waitpid(keeper, &output.status, 0) < 0 && errno == EINTR) {
  }
  remove_own_child(keeper);
  std::int64_t started_ns = 0;
  for (std::size_t at = 0; at + sizeof(FamilyReport) <= reports.size(); at += sizeof(FamilyReport)) {
    FamilyReport one;
    std::memcpy(&one, reports.data() + at, sizeof one);
    if (one.what == FamilyReport::not_confined) {
      throw MachineFault(fmt::format("{}: cannot be confined: {}", words[0], std::strerror(one.value)));
    }
    if (one.what == FamilyReport::not_started) {
      throw UserError(fmt::format("{}: cannot be started: {}", words[0], system_error_text(one.value)));
    }
    if (one.what == FamilyReport::starting) {
      started_ns = one.at_ns;
      continue;
    }
    output.status = one.value;
    output.left_processes = one.left_processes;
    output.wall_ns = static_cast<double>(one.at_ns - started_ns);
    output.cpu_ns = static_cast<double>(one.cpu_ns);
  }
  return output;
}

}  // namespace convladder

#include "harness/judge/duel/programs/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "harness/judge/duel/programs/told_figures.hpp"
#include "harness/measure/machine/machine_load.hpp"
#include "ladders/process_family.hpp"
#include "support/confinement/left_processes.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostAnswer = std::size_t{1} << 20;
constexpr off_t kMostWords = 4096;  // of the standard error's end

/// Everything that the child needs before it becomes the program: after the fork nothing may be allocated.
struct Start {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const char* folder;
  int input;
  int output;
  int messages;
  int report;
};

void tell(int report, FamilyReport::What what, int error) {
  const FamilyReport told{.what = what, .value = error, .at_ns = family_clock_ns()};
  static_cast<void>(write(report, &told, sizeof told) == 0);
}

void start_program(void* of) {
  const Start& start = *static_cast<const Start*>(of);
  if (dup2(start.input, STDIN_FILENO) < 0 || dup2(start.output, STDOUT_FILENO) < 0 ||
      dup2(start.messages, STDERR_FILENO) < 0 || (start.folder != nullptr && chdir(start.folder) != 0)) {
    return tell(start.report, FamilyReport::not_started, errno);
  }
  std::signal(SIGPIPE, SIG_DFL);
  execve(start.path, start.arguments, start.environment);
  tell(start.report, FamilyReport::not_started, errno);
}

void close_one(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerStart& start) : timeout_seconds_(start.timeout_seconds) {
  std::array<int, 2> requests{-1, -1};
  std::array<int, 2> answers{-1, -1};
  std::array<int, 2> report{-1, -1};
  messages_ = memfd_create("worker's messages", MFD_CLOEXEC);
  const bool made = messages_ >= 0 && pipe2(requests.data(), O_CLOEXEC) == 0 && pipe2(answers.data(), O_CLOEXEC) == 0 &&
                    pipe2(report.data(), O_CLOEXEC) == 0;
  requests_ = requests[1];
  answers_ = answers[0];
  report_ = report[0];
  std::vector<std::string> words = start.words;
  std::vector<std::string> variables = start.environment;
  const std::vector<char*> arguments = null_terminated(words);
  const std::vector<char*> environment = null_terminated(variables);
  Start child{.path = words.front().c_str(),
              .arguments = arguments.data(),
              .environment = environment.data(),
              .folder = start.folder.empty() ? nullptr : start.folder.c_str(),
              .input = requests[0],
              .output = answers[1],
              .messages = messages_,
              .report = report[1]};
  if (made) {
    keeper_ = start_own_child([&] {
      const pid_t process = fork();
      if (process == 0) keep_family(child.report, start_program, &child);
      return process;
    });
  }
  const int error = errno;
  for (int* const end : {requests.data(), &answers[1], &report[1]}) close_one(*end);
  if (keeper_ >= 0) return;
  for (int* const end : {&requests_, &answers_, &report_, &messages_}) close_one(*end);
  throw UserError(fmt::format("{}: cannot be started: {}", printable(words.front()), system_error_text(error)));
}

WorkerProcess::~WorkerProcess() {
  close_one(requests_);  // asks the worker to end
  kill(keeper_, SIGTERM);
  while (waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
  remove_own_child(keeper_);
  for (int* const end : {&answers_, &report_, &messages_}) close_one(*end);
}

bool WorkerProcess::has_one_thread() const {
  const auto children_of = [](const std::string& process) {
    return std::string(trimmed(system_text(fmt::format("/proc/{0}/task/{0}/children", process))));
  };
  const std::string program = children_of(std::to_string(keeper_));
  if (program.empty() || program.find_first_not_of("0123456789") != std::string::npos) return false;
  if (!children_of(program).empty()) return false;
  return system_text(fmt::format("/proc/{}/status", program)).find("\nThreads:\t1\n") != std::string::npos;
}

std::string WorkerProcess::last_words() const {
  const off_t end = lseek(messages_, 0, SEEK_END);
  const off_t from = std::max<off_t>(end - kMostWords, 0);
  std::string text(static_cast<std::size_t>(std::max<off_t>(end - from, 0)), '\0');
  const ssize_t count = pread(messages_, text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  const std::string last = last_words_of(text);
  return last.empty() ? std::string() : ": " + printable(last);
}

void WorkerProcess::fail_ended() {
  FamilyReport report;
  pollfd reader{report_, POLLIN, 0};
  const bool told = poll(&reader, 1, 1000) > 0 && read(report_, &report, sizeof report) == ssize_t{sizeof report};
  if (told && report.what == FamilyReport::not_started) {
    throw UserError(fmt::format("cannot be started: {}", system_error_text(report.value)));
  }
  if (told && WIFSIGNALED(report.value) && WTERMSIG(report.value) == SIGKILL) throw Killed("killed from outside");
  if (told && WIFSIGNALED(report.value)) {
    throw UserError(fmt::format("the worker ended by signal {} ({}){}", WTERMSIG(report.value),
                                strsignal(WTERMSIG(report.value)), last_words()));
  }
  throw UserError(fmt::format("the worker ended{} before it answered{}",
                              told ? fmt::format(" with exit code {}", WEXITSTATUS(report.value)) : "", last_words()));
}

WorkerProcess::Answer WorkerProcess::ask(const std::string& request) {
  const std::string line = request + '\n';
  const auto begin = Clock::now();
  // A worker that has ended is no reason to end this program.
  void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);
  const ssize_t written = write(requests_, line.data(), line.size());
  std::signal(SIGPIPE, before);
  if (written != static_cast<ssize_t>(line.size())) fail_ended();
  const auto deadline = begin + std::chrono::duration<double>(timeout_seconds_);
  std::array<char, 65536> buffer;
  for (;;) {
    if (const std::size_t end = rest_.find('\n'); end != std::string::npos) {
      Answer answer{rest_.substr(0, end), std::chrono::duration<double>(Clock::now() - begin).count()};
      rest_.erase(0, end + 1);
      return answer;
    }
    if (rest_.size() > kMostAnswer) throw UserError("the worker prints a line of more than 1 MiB");
    pollfd reader{answers_, POLLIN, 0};
    const std::chrono::duration<double, std::milli> left = deadline - Clock::now();
    if (left.count() <= 0) throw TimedOut(fmt::format("no answer within {:g} s{}", timeout_seconds_, last_words()));
    if (poll(&reader, 1, static_cast<int>(std::min(left.count() + 1, 1e6))) <= 0) continue;
    const ssize_t count = read(answers_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_ended();
    rest_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace convladder

#include "ladders/program_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "support/errors.hpp"
#include "support/machine_fault.hpp"

namespace convladder {

bool ProgramOutput::succeeded() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

ProgramOutput run_program(const std::vector<std::string>& words) {
  std::array<std::array<int, 2>, 2> pipes{};  // the standard output and the standard error
  if (pipe2(pipes[0].data(), O_CLOEXEC) != 0) throw UserError(fmt::format("{}: no pipe is left", words[0]));
  if (pipe2(pipes[1].data(), O_CLOEXEC) != 0) {
    for (const int end : pipes[0]) close(end);
    throw UserError(fmt::format("{}: no pipe is left", words[0]));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[0][1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failed = posix_spawn(&process, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (const auto& ends : pipes) close(ends[1]);

  ProgramOutput output;
  std::array<pollfd, 2> readers = {{{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}}};
  while (failed == 0 && (readers[0].fd >= 0 || readers[1].fd >= 0)) {
    if (poll(readers.data(), readers.size(), -1) < 0 && errno != EINTR) break;
    for (pollfd& reader : readers) {
      if (reader.fd < 0 || reader.revents == 0) continue;
      std::string& into = &reader == readers.data() ? output.text : output.messages;
      std::array<char, 65536> buffer;
      const ssize_t count = read(reader.fd, buffer.data(), buffer.size());
      if (count <= 0 && !(count < 0 && errno == EINTR)) reader.fd = -1;
      if (count > 0 && into.size() < kMostProgramOutput) into.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  for (const auto& ends : pipes) close(ends[0]);
  if (failed != 0) throw UserError(fmt::format("{}: cannot be started: {}", words[0], system_error_text(failed)));
  while (waitpid(process, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

}  // namespace convladder

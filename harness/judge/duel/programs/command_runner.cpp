#include "harness/judge/duel/programs/command_runner.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "harness/judge/duel/programs/told_figures.hpp"
#include "harness/measure/machine/quality.hpp"
#include "ladders/program_output.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> environment_of(const ProgramSide& side) {
  std::vector<std::string> variables;
  const auto replaced = [&](std::string_view one) {
    return std::ranges::any_of(side.variables, [&](const std::string& own) {
      return one.starts_with(std::string_view(own).substr(0, own.find('=') + 1));
    });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!replaced(*variable)) variables.emplace_back(*variable);
  }
  variables.insert(variables.end(), side.variables.begin(), side.variables.end());
  return variables;
}

/// The last line of the text that is not blank, after a colon.
std::string last_line(const std::string& text) {
  const std::string last = last_words_of(text);
  return last.empty() ? std::string() : ": " + printable(last);
}

}  // namespace

std::string CommandRunner::json_file() const { return ring_->scratch.file(fmt::format("{}.json", role_name(role_))); }

CommandWords CommandRunner::words(const char* option, const std::string& command) const {
  return command_words(option, with_value(with_value(command, "{}", case_), "{json}", json_file()));
}

CommandWords CommandRunner::words() const {
  return words(role_ == Role::base ? "--base-command" : "--new-command", side().command);
}

WorkerStart CommandRunner::worker() const {
  CommandWords taken = words();
  if (!taken.has_shell) taken.words.front() = program_of(taken);
  return {taken.words, side().folder, environment_of(side()), timeout()};
}

ProgramRun CommandRunner::run() const {
  std::error_code error;
  fs::remove(json_file(), error);
  ProgramRun done = run(words(), "");
  seen(done.has_several_threads());
  return done;
}

ProgramRun CommandRunner::run(const char* option, const std::string& command, const std::string& what) const {
  return run(words(option, command), what);
}

void CommandRunner::seen(bool several_threads) const {
  seen_->any_seen = true;
  seen_->several = seen_->several || several_threads;
}

void CommandRunner::fail(const std::string& reason, bool is_the_machines) const {
  throw SideFailure(fmt::format("{}: {}", role_name(role_), reason), is_the_machines);
}

void CommandRunner::fail_as_killed(const std::string& what) const {
  fail(what + "killed from outside, as the system does where memory runs out", true);
}

void CommandRunner::fail_by_time(const std::string& reason, Clock::time_point begin) const {
  const std::string busy = busy_text(ring_->machine.load_since(begin), 1);
  if (busy.empty()) fail(reason);
  fail(fmt::format("{}; not judged: {}", reason, busy), true);
}

std::string CommandRunner::program_of(const CommandWords& taken) const {
  const std::string program = taken.program(side().folder);
  if (program.empty()) fail(fmt::format("{}: no such program", printable(taken.words.front())));
  return fs::absolute(program).string();
}

ProgramRun CommandRunner::run(const CommandWords& command, const std::string& what) const {
  ring_->machine.look();
  const auto begin = Clock::now();
  CommandWords taken = command;
  if (!taken.has_shell) taken.words.front() = program_of(taken);
  ProgramSettings settings;
  settings.folder = side().folder;
  settings.environment = environment_of(side());
  settings.seconds = timeout();
  ProgramOutput output;
  try {
    output = run_program(taken.words, settings);
  } catch (const MachineFault&) {
    throw;
  } catch (const UserError& error) {
    fail(what + error.what());
  }
  if (output.timed_out) fail_by_time(fmt::format("{}timeout: not done within {:g} s", what, timeout()), begin);
  if (WIFSIGNALED(output.status)) {
    const int signal = WTERMSIG(output.status);
    if (signal == SIGKILL) fail_as_killed(what);
    fail(fmt::format("{}signal {} ({}){}", what, signal, strsignal(signal), last_line(output.messages)));
  }
  if (!output.succeeded()) {
    fail(fmt::format("{}exit code {}{}", what, WEXITSTATUS(output.status),
                     last_line(output.messages.empty() ? output.text : output.messages)));
  }
  if (output.left_processes > 0) {
    ring_->notes.insert(
        fmt::format("{}: it left processes behind, which were killed after every run", role_name(role_)));
  }
  return {output.wall_ns, output.cpu_ns, std::move(output.text)};
}

}  // namespace convladder

// A command of the program is a file in this folder that registers itself; command_line.cpp builds the program from the
// registrations.
//
//   const CommandRegistration example_registration({.name = "example",
//                                                   .group = CommandGroup::look,
//                                                   .help = "one line for 'convladder --help'",
//                                                   .footer = "examples:\n  convladder example",
//                                                   .add = command_of<Arguments, add_options, run_example>});
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// Where a command stands in the help, in this order. What is hidden is for scripts and installers: no help lists it.
enum class CommandGroup { look, measure, in_parts, without_a_gpu, judge, hidden };

/// The words after the program's name, as they were typed.
using CommandLine = std::vector<std::string>;

/// Does what was asked for, with the options as they were parsed; returns the exit code. Throws what ends a command.
using CommandRun = std::function<int(const CommandLine&)>;

struct CommandInfo {
  const char* name;
  CommandGroup group;
  const char* help;              ///< one line
  const char* footer;            ///< examples and exit codes, below the options
  CommandRun (*add)(CLI::App&);  ///< adds the options; what it returns runs after they were parsed
  /// Starts this program again, or asks the system what machine it is: needs /proc.
  bool needs_proc = false;
  /// Words that are no option of this command but its own business, such as --benchmark_*. Null: none are.
  bool (*takes_word)(const std::string&) = nullptr;
  /// The exit code of errors where it is not kExitError, for the words as they were typed. Null: it always is.
  int (*exit_of_errors)(const CommandLine&) = nullptr;
};

/// A static object of it makes the command known. The texts must outlive the program's use of them.
class CommandRegistration {
 public:
  explicit CommandRegistration(const CommandInfo& command);
};

/// By group, and by name within a group. Throws std::logic_error if two share a name.
const std::vector<CommandInfo>& registered_commands();

/// CommandInfo::add of a command whose options go into an `Arguments`.
template <class Arguments, void add_options(CLI::App&, Arguments&), int run(Arguments&, const CommandLine&)>
CommandRun command_of(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  add_options(app, *arguments);
  return [arguments](const CommandLine& command_line) { return run(*arguments, command_line); };
}

}  // namespace convladder

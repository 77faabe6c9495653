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

/// The place of a command in the help, in this order. Hidden commands are for scripts and installers: no help lists
/// them.
enum class CommandGroup { look, folders, measure, in_parts, without_a_gpu, judge, hidden };

/// The words after the program's name, as they were typed.
using CommandLine = std::vector<std::string>;

/// Runs the command with its parsed options; returns the exit code. Throws whatever ends the command.
using CommandRun = std::function<int(const CommandLine&)>;

struct CommandInfo {
  const char* name;
  CommandGroup group;
  const char* help;              ///< one line
  const char* footer;            ///< examples and exit codes, below the options
  CommandRun (*add)(CLI::App&);  ///< adds the options; the returned function runs after they were parsed
  /// Whether it starts this program again, or asks the system about the machine: that needs /proc.
  bool needs_proc = false;
  /// Whether a word that is no option, such as --benchmark_*, is for this command to handle. Null: none is.
  bool (*takes_word)(const std::string&) = nullptr;
  /// The exit code of errors where it is not kExitError, for the words as they were typed. Null: always kExitError.
  int (*exit_of_errors)(const CommandLine&) = nullptr;
};

/// A static object of this type registers a command. The texts must outlive the program's use of them.
class CommandRegistration {
 public:
  explicit CommandRegistration(const CommandInfo& command);
};

/// All commands by group, and by name within a group. Throws std::logic_error if two share a name.
const std::vector<CommandInfo>& registered_commands();

/// The CommandInfo::add of a command whose options go into an `Arguments`.
template <class Arguments, void add_options(CLI::App&, Arguments&), int run(Arguments&, const CommandLine&)>
CommandRun command_of(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  add_options(app, *arguments);
  return [arguments](const CommandLine& command_line) { return run(*arguments, command_line); };
}

}  // namespace convladder

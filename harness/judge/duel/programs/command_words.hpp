// Commands as people type them, taken apart into the words that a process is started with.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// A command, ready to be started.
struct CommandWords {
  std::vector<std::string> words;  ///< the first is the program
  bool has_shell = false;          ///< a shell takes it apart: the words are "/bin/sh", "-c" and the command

  /// The path of the program's file where it is started in `folder` (empty: the current one): for a name without a
  /// slash, the one on the path. Empty if there is none, and for a shell.
  std::string program(const std::string& folder) const;
};

/// Takes a command apart at blanks, outside of single and double quotes; a backslash takes the next character as it is.
/// Where it uses more of the shell's language (pipes, variables, patterns, …), the shell runs it. Throws UserError for
/// an empty command and for quotes without an end; `option` is what messages call it.
CommandWords command_words(const std::string& option, const std::string& command);

/// The command with `value` in place of each `place`, such as "{}".
std::string with_value(std::string command, const std::string& place, const std::string& value);

}  // namespace convladder

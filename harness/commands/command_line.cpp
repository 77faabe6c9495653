#include "harness/commands/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "harness/commands/command.hpp"
#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/ladders/ladder_library.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/standard_streams.hpp"
#include "support/text.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

constexpr const char* kMainFooter = R"(examples:
  convladder list                      variants, layers and devices
  convladder run --batch 100,1000      runs the ladder, writes results/<host>-<time>/run.json
  convladder report RUN.json           one HTML page of records: ladder, counters, networks, changes

'convladder help COMMAND' says more, with examples.

exit codes:
  0    everything asked for was done, and every case that ran is verified
  1    a case failed, is slower, or a counter moved
  2    nothing like that, but something cannot be told: too few samples, or a case without a baseline
  3    bad input or bad usage: one line says what
  4    a comparison that is not complete: a case is missing, or the control moved
  5    'simulate --expect': a kernel did not compute what was expected
  130  interrupted)";

const char* group_title(CommandGroup group) {
  switch (group) {
    case CommandGroup::look:
      return "Look";
    case CommandGroup::folders:
      return "Problems and kernels of anybody's";
    case CommandGroup::measure:
      return "Measure";
    case CommandGroup::in_parts:
      return "Measure in parts, on many machines";
    case CommandGroup::without_a_gpu:
      return "Without a GPU";
    case CommandGroup::judge:
      return "Judge what was measured";
    case CommandGroup::hidden:
      return "";
  }
  return "";
}

/// A command of the program, with the object that its options are parsed into.
struct KnownCommand {
  CommandInfo info;
  CLI::App* app;
  CommandRun run;
};

std::vector<KnownCommand> add_commands(CLI::App& app) {
  std::vector<KnownCommand> commands;
  for (const CommandInfo& info : registered_commands()) {
    CLI::App* const command = app.add_subcommand(info.name, info.help)->group(group_title(info.group));
    command->footer(info.footer);
    command->allow_extras();  // refuse_extra_words() gives better messages than CLI11
    commands.push_back({info, command, info.add(*command)});
  }
  return commands;
}

std::vector<std::string> names_of(const std::vector<KnownCommand>& commands) {
  std::vector<std::string> names;
  for (const KnownCommand& command : commands) names.emplace_back(command.info.name);
  return names;
}

/// The list option whose value stands before this word, as in "--batch 10 100"; null if there is none.
const CLI::Option* list_before(const KnownCommand& command, const CommandLine& words, const std::string& word) {
  const CLI::Option* option = nullptr;
  for (const std::string& one : words) {
    if (one.starts_with("--")) {
      option = command.app->get_option_no_throw(one.substr(0, one.find('=')));
    } else if (one == word && option != nullptr && option->get_delimiter() != '\0') {
      return option;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse_without_comma(const CLI::Option& list, const std::string& word) {
  throw UserError(fmt::format("unexpected '{}': separate the values of {} with commas: {} {},{}", word, list.get_name(),
                              list.get_name(), fmt::join(list.results(), ","), word));
}

/// Refuses the 100 of "--batch 10 100" as a ladder, although the command takes one there.
void refuse_value_as_ladder(const KnownCommand& command, const CommandLine& words) {
  const CLI::Option* const ladder = command.app->get_option_no_throw("LADDER");
  if (ladder == nullptr || ladder->count() == 0) return;
  const std::string word = ladder->results().front();
  const CLI::Option* const list = list_before(command, words, word);
  if (list == nullptr || is_ladder_folder(word)) return;
  if (find_in_library(word) == nullptr && problem_named(word) == nullptr) refuse_without_comma(*list, word);
}

/// Throws for the first word that the command cannot take.
void refuse_extra_words(const KnownCommand& command, const CommandLine& words) {
  refuse_value_as_ladder(command, words);
  for (const std::string& word : command.app->remaining()) {
    if (word == "--") continue;  // the words after it are no options
    if (command.info.takes_word != nullptr && command.info.takes_word(word)) continue;
    const std::string name = word.substr(0, word.find('='));
    if (const CLI::Option* const list = list_before(command, words, word)) refuse_without_comma(*list, word);
    std::vector<std::string> known;
    for (const CLI::Option* option : command.app->get_options()) known.push_back(option->get_name());
    throw UserError(
        fmt::format("{} (see 'convladder {} --help')", unknown_name_message("option", name, known), command.info.name));
  }
}

/// Throws UserError where there is no /proc, which starting this program again and asking about the machine need.
void require_proc() {
  if (access(kThisProgram, F_OK) != 0) {
    throw MachineFault(fmt::format("{} is not there: is /proc mounted?", kThisProgram));
  }
}

/// Refuses an empty path: it is usually an unset shell variable, and never intended.
void refuse_empty_paths(const CLI::App& command) {
  constexpr std::array<std::string_view, 12> paths{"--output",     "--resume",  "--data",  "--tables",
                                                   "--repository", "--folder",  "--index", "--base",
                                                   "--new",        "--weights", "LADDER",  "FOLDER"};
  for (const CLI::Option* const option : command.get_options()) {
    if (std::ranges::find(paths, option->get_name()) == paths.end() || option->count() == 0) continue;
    if (std::ranges::find(option->results(), "") != option->results().end()) {
      throw UserError(fmt::format("{}: expected a path, got an empty string", option->get_name()));
    }
  }
}

/// Throws UserError for a name that no command has.
void refuse_unknown_command(const std::vector<KnownCommand>& commands, const std::string& name) {
  std::vector<std::string> known = names_of(commands);
  known.emplace_back("help");
  if (std::ranges::find(known, name) != known.end()) return;
  throw UserError(fmt::format("{} (see 'convladder --help')", unknown_name_message("command", name, known)));
}

/// Prints the help of `convladder help [COMMAND]`.
int print_help(const CLI::App& app, const std::vector<KnownCommand>& commands, const std::string& name) {
  if (!name.empty()) refuse_unknown_command(commands, name);
  const CLI::App* const command = name.empty() ? nullptr : app.get_subcommand(name);
  fmt::print("{}", command == nullptr ? app.help() : command->help("convladder"));
  return kExitOk;
}

/// The command that was parsed; null for help. Throws UserError.
const KnownCommand* parsed_command(CLI::App& app, const std::vector<KnownCommand>& commands, const CommandLine& words) {
  const auto chosen = [&]() -> const KnownCommand* {
    const auto found = std::ranges::find_if(commands, [](const KnownCommand& one) { return one.app->parsed(); });
    return found == commands.end() ? nullptr : &*found;
  };
  try {
    CommandLine reversed(words.rbegin(), words.rend());  // the order that CLI11 expects
    app.parse(reversed);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    const KnownCommand* const command = chosen();
    if (command != nullptr) refuse_extra_words(*command, words);
    throw UserError(fmt::format("{} (see 'convladder {}--help')", error.what(),
                                command == nullptr ? "" : fmt::format("{} ", command->info.name)));
  }
  return chosen();
}

int execute(const CommandLine& words) {
  CLI::App app{"convladder optimizes one kernel step by step: every stage is verified, measured and compared.",
               "convladder"};
  app.set_version_flag("--version", fmt::format("convladder {} ({})", build::version, build::commit));
  app.footer(kMainFooter);
  app.require_subcommand(1);
  const std::vector<KnownCommand> commands = add_commands(app);
  std::string helped;
  CLI::App* const help =
      app.add_subcommand("help", "this, or what a command does")->group(group_title(CommandGroup::look));
  help->add_option("COMMAND", helped, "a command's name");

  if (words.empty()) return print_help(app, commands, "");
  if (words.front() == "help" && words.size() == 1) return print_help(app, commands, "");  // before CLI11 knows of it
  if (!words.front().starts_with("-")) refuse_unknown_command(commands, words.front());
  const KnownCommand* command = nullptr;
  try {
    command = parsed_command(app, commands, words);
  } catch (const CLI::Success& asked) {  // help or version
    std::ostringstream text;
    const int exit_code = app.exit(asked, text, text);
    fmt::print("{}", text.str());
    return exit_code;
  }
  if (command == nullptr) return print_help(app, commands, helped);
  refuse_extra_words(*command, words);
  refuse_empty_paths(*command->app);
  if (command->info.needs_proc) require_proc();
  return command->run(words);
}

bool came_to_its_end = false;
int exit_of_errors = kExitError;

/// The exit code of errors, for the command that the words name.
int exit_of_errors_of(const CommandLine& words) {
  for (const CommandInfo& info : registered_commands()) {
    if (!words.empty() && words.front() == info.name && info.exit_of_errors != nullptr)
      return info.exit_of_errors(words);
  }
  return kExitError;
}

/// Ends the program where a library calls exit(), as OpenMP's does if it gets no threads: that is neither success nor a
/// failed case.
void end_of_another() {
  if (came_to_its_end) return;
  if (!anything_on_standard_error()) print_error("a library or a variant has ended the program");
  std::_Exit(exit_of_errors);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  try {
    if (argc == 4 || argc == 5) {
      if (const Serve serve = find_served(argv[1])) {
        const int socket = parse_whole_number(argv[1], argv[2], 0, 1 << 20);
        const int memory = parse_whole_number(argv[1], argv[3], 0, 1 << 20);
        return serve(socket, memory, argc == 5 ? parse_whole_number(argv[1], argv[4], 0, 1 << 20) : -1);
      }
    }
    print_without_failing();
    exit_of_errors = exit_of_errors_of({argv + 1, argv + argc});
    take_interrupts();
    static_cast<void>(std::atexit(end_of_another));
    const int exit_code = execute({argv + 1, argv + argc});
    require_output();
    came_to_its_end = true;
    return exit_code;
  } catch (const std::bad_alloc&) {
    print_error(out_of_memory_text());
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  came_to_its_end = true;
  return exit_of_errors;
}

}  // namespace convladder

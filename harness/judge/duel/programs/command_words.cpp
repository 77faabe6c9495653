#include "harness/judge/duel/programs/command_words.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "ladders/compilers.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kOfTheShell = "|&;<>()$`*?[]#~!{}\n";  // outside of quotes
constexpr std::string_view kInDoubleQuotes = "$`";

/// Whether the word sets a variable, as "NAME=value" does before a command.
bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 && word.find('/') > equals;
}

}  // namespace

std::string CommandWords::program(const std::string& folder) const {
  if (has_shell) return {};
  namespace fs = std::filesystem;
  const std::string& name = words.front();
  if (name.find('/') == std::string::npos) return on_the_path(name);
  const fs::path path = fs::path(name).is_absolute() ? fs::path(name) : fs::path(folder) / name;
  return is_program(path.string()) ? path.string() : std::string();
}

CommandWords command_words(const std::string& option, const std::string& command) {
  CommandWords taken;
  std::string word;
  bool in_word = false;
  char quote = 0;
  bool needs_shell = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char one = command[i];
    if (quote == 0 && kBlanks.find(one) != std::string_view::npos) {
      if (one == '\n') needs_shell = true;
      if (in_word) taken.words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (quote == 0 && (one == '\'' || one == '"')) {
      quote = one;
    } else if (quote != 0 && one == quote) {
      quote = 0;
    } else if (one == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
    } else {
      const std::string_view special = quote == 0 ? kOfTheShell : quote == '"' ? kInDoubleQuotes : std::string_view();
      needs_shell = needs_shell || special.find(one) != std::string_view::npos;
      word += one;
    }
  }
  if (quote != 0) throw UserError(fmt::format("{} '{}': a quote has no end", option, printable(command)));
  if (in_word) taken.words.push_back(std::move(word));
  if (taken.words.empty()) throw UserError(fmt::format("{}: expected a command, got an empty text", option));
  if (needs_shell || is_assignment(taken.words.front())) taken = {{"/bin/sh", "-c", command}, true};
  return taken;
}

std::string with_value(std::string command, const std::string& place, const std::string& value) {
  for (std::size_t at = command.find(place); at != std::string::npos; at = command.find(place, at + value.size())) {
    command.replace(at, place.size(), value);
  }
  return command;
}

}  // namespace convladder

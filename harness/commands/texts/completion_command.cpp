// `convladder completion bash`: a script for the shell, which asks this program how a word may go on (`convladder
// completion words -- run --dev`). No help lists either.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/texts/completed_words.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

constexpr const char* kCompletionFooter = R"(examples:
  source <(convladder completion bash)                              now, in bash
  convladder completion zsh >~/.zfunc/_convladder                   for zsh, in a folder of $fpath
  convladder completion fish >~/.config/fish/completions/convladder.fish

A package brings all three. The scripts ask the program, so they fit every version of it.
exit codes: 0 printed - 3 bad input)";

struct Shell {
  std::string name;
  const char* script;
};

// The words are those of the line up to the cursor, separated by blanks: bash itself also separates them at '=', and
// then replaces only the part after it.
constexpr const char* kBash = R"(# bash completion of convladder; convladder itself says what may follow
_convladder() {
  local line=${COMP_LINE:0:COMP_POINT} word typed kept='' files=false
  local -a words
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=('')
  typed=${words[-1]}
  [[ $COMP_WORDBREAKS != *=* || $typed != -*=* ]] || kept="${typed%%=*}="
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then files=true; else COMPREPLY+=("${word#"$kept"}"); fi
  done < <("$1" completion words -- "${words[@]:1}" 2>/dev/null)
  if $files; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${typed#"$kept"}")
  fi
}
complete -F _convladder convladder
)";

constexpr const char* kZsh = R"(#compdef convladder
# zsh completion of convladder; convladder itself says what may follow
_convladder() {
  local line files=
  local -a found
  for line in "${(@f)$(${words[1]} completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then files=1; elif [[ -n $line ]]; then found+=("${${line//:/\\:}/$'\t'/:}"); fi
  done
  (( ! $#found )) || _describe -V convladder found
  [[ -z $files ]] || _files
}
if [[ ${funcstack[1]} == _convladder ]]; then _convladder "$@"; else compdef _convladder convladder; fi
)";

constexpr const char* kFish = R"(# fish completion of convladder; convladder itself says what may follow
function __convladder_words
    set -l words (commandline -opc) (commandline -ct)
    for line in (command $words[1] completion words -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c convladder -f -a '(__convladder_words)'
)";

const std::vector<Shell> kShells = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

struct CompletionArguments {
  CLI::App* program = nullptr;
  std::string shell;
  std::vector<std::string> words;  ///< read from the command line itself, where an empty one counts
};

void add_completion_options(CLI::App& command, CompletionArguments& a) {
  a.program = command.get_parent();
  command.add_option("SHELL", a.shell, "bash, zsh or fish; or words, for what the last of the words may become")
      ->required();
  command.add_option("WORDS", a.words, "the words of a command line, behind --")->allow_extra_args();
}

void print_words(CLI::App& program, const CommandLine& words) {
  const auto separator = std::ranges::find(words, "--");
  if (separator == words.end()) throw UserError("completion: words stand behind --");
  const CompletedWords found = completed_words(program, {separator + 1, words.end()});
  for (const CompletedWord& one : found.words) {
    fmt::print("{}{}{}\n", one.word, one.description.empty() ? "" : "\t", one.description);
  }
  if (found.or_file) fmt::print(":files\n");
}

int run_completion(CompletionArguments& a, const CommandLine& command_line) {
  if (a.shell == "words") {
    print_words(*a.program, command_line);
  } else {
    fmt::print("{}", find_known("shell", a.shell, kShells, &Shell::name).script);
  }
  return kExitOk;
}

const CommandRegistration completion_registration(
    {.name = "completion",
     .group = CommandGroup::hidden,
     .help = "a script that completes words in a shell",
     .footer = kCompletionFooter,
     .add = command_of<CompletionArguments, add_completion_options, run_completion>});

}  // namespace
}  // namespace convladder

// Completions of a word on the command line, from the commands and options as they are registered. The shells' scripts
// (completion_command.cpp) know nothing but how to ask.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

struct CompletedWord {
  std::string word;         ///< the whole word: "--device=cpu", "cpu,cuda"
  std::string description;  ///< a few words; may be empty
};

struct CompletedWords {
  std::vector<CompletedWord> words;
  bool or_file = false;  ///< the name of a file or folder may stand there as well
};

/// Completes the last of `words`, which follow the program's name; it is being typed and may be empty.
CompletedWords completed_words(CLI::App& program, const std::vector<std::string>& words);

}  // namespace convladder

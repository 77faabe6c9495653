// What a word of a command line may become, from the commands and options as they are registered. The shells' scripts
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

/// `words` are those behind the program's name; the last is being typed and may be empty.
CompletedWords completed_words(CLI::App& program, const std::vector<std::string>& words);

}  // namespace convladder

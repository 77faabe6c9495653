// `convladder new`: makes a folder that is a ladder, and works as it is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/measure/ladders/ladder_library.hpp"
#include "ladders/problem_file.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr const char* kNewFooter = R"(examples:
  convladder new my-softmax && convladder run my-softmax
  convladder new my-gemm --from matrix-multiplication    a copy of a ladder that comes with the program
  convladder new my-sum --python                         its reference is Python instead of C++

exit codes: 0 the folder is there - 3 bad input, or nothing could be written)";

struct NewArguments {
  std::string folder;
  std::string from;
  bool python = false;
};

void add_new_options(CLI::App& command, NewArguments& a) {
  command.add_option("FOLDER", a.folder, "the folder to be made; its last part is the problem's name")->required();
  command.add_option("--from", a.from, "a ladder that comes with the program, from 'convladder list'");
  command.add_flag("--python", a.python, "a reference.py with NumPy instead of a reference.cpp");
}

/// The folder's name in the form of a problem's name: "My softmax" becomes "my-softmax".
std::string problem_name_of(const std::filesystem::path& folder) {
  std::string name;
  for (const char one : folder.filename().string()) {
    if (is_small_letter(one) || is_digit(one)) {
      name += one;
    } else if (is_capital(one)) {
      name += static_cast<char>(one - 'A' + 'a');
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  if (name.empty() || !is_small_letter(name[0]) || name.size() > kLongestLadderName) {
    throw UserError(fmt::format("{}: expected a name that begins with a letter, at most {} letters, digits and '-'",
                                printable(folder.string()), kLongestLadderName));
  }
  return name;
}

/// The ladder under another name.
LibraryLadder renamed(LibraryLadder ladder, const std::string& name) {
  const std::string before = fmt::format("\"name\": \"{}\"", ladder.name);
  for (EmbeddedFile& file : ladder.files) {
    if (file.name != "problem.json") continue;
    const std::size_t at = file.content.find(before);
    if (at != std::string::npos) file.content.replace(at, before.size(), fmt::format("\"name\": \"{}\"", name));
  }
  ladder.name = name;
  return ladder;
}

const LibraryLadder& chosen_ladder(const std::string& from) {
  if (from.empty()) return ladder_template();
  if (const LibraryLadder* const found = find_in_library(from)) return *found;
  std::vector<std::string> names;
  for (const LibraryLadder& one : ladder_library()) names.push_back(one.name);
  throw UserError(fmt::format("--from: {}", unknown_name_message("ladder", from, names)));
}

int run_new(NewArguments& a, const CommandLine& /*command_line*/) {
  while (a.folder.size() > 1 && a.folder.ends_with('/')) a.folder.pop_back();
  const std::filesystem::path folder = a.folder;
  LibraryLadder ladder = renamed(chosen_ladder(a.from), problem_name_of(folder));
  const auto has = [&](const char* name) {
    return std::ranges::find(ladder.files, name, &EmbeddedFile::name) != ladder.files.end();
  };
  if (a.python && !has("reference.py")) throw UserError(fmt::format("--python: {} has no reference.py", a.from));
  // A folder has one reference.
  if (has("reference.cpp") && has("reference.py")) {
    const char* const other = a.python ? "reference.cpp" : "reference.py";
    std::erase_if(ladder.files, [other](const EmbeddedFile& file) { return file.name == other; });
  }
  write_ladder(ladder, folder);
  std::vector<std::string> names;
  for (const EmbeddedFile& file : ladder.files) names.push_back(file.name);
  std::ranges::sort(names);
  const std::string shown = printable(folder.string());
  for (const std::string& name : names) fmt::print("{}/{}\n", shown, name);
  fmt::print("\n'convladder run {}' compiles, verifies and measures it.\n", shown);
  return kExitOk;
}

const CommandRegistration new_registration({.name = "new",
                                            .group = CommandGroup::folders,
                                            .help = "make a folder for a ladder of your own, which works as it is",
                                            .footer = kNewFooter,
                                            .add = command_of<NewArguments, add_new_options, run_new>});

}  // namespace
}  // namespace convladder

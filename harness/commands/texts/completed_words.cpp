#include "harness/commands/texts/completed_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "harness/measure/ladders/ladder_library.hpp"
#include "network/network.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

using Names = std::vector<std::string>;

Names networks() { return names_of(built_in_networks(), &Network::name); }

Names layers() {
  Names names;
  for (const Network& network : built_in_networks()) {
    for (const std::size_t index : convolution_layers(network)) {
      names.push_back(network.name + "." + network.layers[index].name);
    }
  }
  return names;
}

Names variants() {
  return names_of(convolution_problem().variants(), [](const ProblemVariant& one) { return one.info.name; });
}

Names problems() {
  return names_of(registered_problems(), [](const Problem* one) { return one->name(); });
}

Names gpus() { return names_of(gpu_facts(), &GpuFacts::name); }

Names library() { return names_of(ladder_library(), &LibraryLadder::name); }

Names problems_and_library() {
  Names names = problems();
  for (std::string& name : library()) names.push_back(std::move(name));
  return names;
}

/// Values that are names of the program's own things, by the option that they are given to.
struct OwnNames {
  std::string_view option;
  Names (*names)();
  bool or_file = false;
};
constexpr std::array kOwnNames = {
    OwnNames{"--network", networks, true},
    OwnNames{"--layer", layers},
    OwnNames{"--variant", variants},
    OwnNames{"--problem", problems},
    OwnNames{"--gpu", gpus},
    OwnNames{"--from", library},
    OwnNames{"LADDER", problems_and_library, true},
    OwnNames{"--device",
             [] {
               return Names{"cpu", "cuda", "simulated"};
             }},
    OwnNames{"--family",
             [] {
               return Names{"cpu", "cuda"};
             }},
    OwnNames{"--compiler",
             [] {
               return Names{"nvcc", "clang"};
             }},
};

/// The words of "...{one,two}...".
Names in_braces(const std::string& text) {
  const std::size_t from = text.find('{');
  const std::size_t to = text.find('}', from);
  return to == std::string::npos ? Names() : split(text.substr(from + 1, to - from - 1), ',');
}

/// The words that an option takes, from its type name in the help or the name of its check; empty for any other option.
Names choices(CLI::Option& option) {
  if (Names names = in_braces(option.get_type_name()); !names.empty()) return names;
  try {
    return in_braces(option.get_validator(0)->get_name());
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

/// The values of an option. One without fixed words may take a path: of a folder, of weights, of a network.
struct Values {
  Names names;
  bool or_file = false;
};

Values values_of(CLI::Option& option) {
  const auto* const own = std::ranges::find(kOwnNames, option.get_name(), &OwnNames::option);
  if (own != kOwnNames.end()) return {own->names(), own->or_file};
  Names names = choices(option);
  const bool or_file = names.empty() && option.get_type_name() == "TEXT";  // and not a number
  return {std::move(names), or_file};
}

/// Completions of an option's value, with `before` in front of each: "--device=".
CompletedWords completed_value(CLI::Option& option, const std::string& before, const std::string& typed) {
  CompletedWords found;
  // Completes the last element of a list.
  const std::size_t comma = option.get_delimiter() == '\0' ? std::string::npos : typed.rfind(',');
  const std::string earlier = comma == std::string::npos ? "" : typed.substr(0, comma + 1);
  Values values = values_of(option);
  for (const std::string& value : values.names) {
    const std::string word = earlier + value;
    if (word.starts_with(typed)) found.words.push_back({before + word, ""});
  }
  found.or_file = values.or_file;
  return found;
}

/// The first words of a help text.
std::string in_short(const std::string& description) {
  constexpr std::size_t most = 60;
  const std::string first = description.substr(0, description.find_first_of(";(\n"));
  if (first.size() <= most) return first.substr(0, first.find_last_not_of(' ') + 1);
  return first.substr(0, first.rfind(' ', most)) + " …";
}

CompletedWords completed_command(CLI::App& program, const std::string& typed) {
  CompletedWords found;
  for (const CLI::App* const command : program.get_subcommands({})) {
    if (command->get_group().empty() || !command->get_name().starts_with(typed)) continue;
    found.words.push_back({command->get_name(), in_short(command->get_description())});
  }
  return found;
}

CompletedWords completed_option(CLI::App& app, const std::string& typed) {
  CompletedWords found;
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      const std::string word = "--" + name;
      if (word.starts_with(typed)) found.words.push_back({word, in_short(option->get_description())});
    }
  }
  return found;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

CLI::Option* named_option(CLI::App& command, const std::string& word) {
  return word.starts_with("--") ? command.get_option_no_throw(word) : nullptr;
}

CLI::App* named_command(CLI::App& program, const std::string& name) {
  for (CLI::App* const command : program.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

}  // namespace

CompletedWords completed_words(CLI::App& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string& typed = words.back();
  if (words.size() == 1)
    return typed.starts_with("-") ? completed_option(program, typed) : completed_command(program, typed);
  if (words.front() == "help") return words.size() == 2 ? completed_command(program, typed) : CompletedWords();
  CLI::App* const command = named_command(program, words.front());
  if (command == nullptr) return {};

  const bool only_positionals = std::find(words.begin(), words.end() - 1, "--") != words.end() - 1;
  if (!only_positionals) {
    CLI::Option* const before = named_option(*command, words[words.size() - 2]);
    if (before != nullptr && takes_value(*before)) return completed_value(*before, "", typed);
    if (const std::size_t equals = typed.find('='); equals != std::string::npos) {
      CLI::Option* const named = named_option(*command, typed.substr(0, equals));
      if (named == nullptr || !takes_value(*named)) return {};
      return completed_value(*named, typed.substr(0, equals + 1), typed.substr(equals + 1));
    }
    if (typed.starts_with("-")) return completed_option(*command, typed);
  }
  for (CLI::Option* const option : command->get_options()) {
    if (option->get_positional()) return completed_value(*option, "", typed);
  }
  return {};
}

}  // namespace convladder

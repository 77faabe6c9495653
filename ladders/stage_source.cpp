#include "ladders/stage_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "ladders/problem_file.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::string_view kLibraryPrefix = "library_";
constexpr std::size_t kMostParameters = 16;
constexpr std::size_t kMostValues = 64;
constexpr std::size_t kMostLibraries = 16;
constexpr std::size_t kMostNeeds = 16;
constexpr std::size_t kMostLaunches = 64;

bool is_of_library(char one) { return is_of_identifier(one) || one == '+' || one == '-' || one == '.'; }

constexpr std::array<std::pair<std::string_view, StageLanguage>, 4> kEndings{{{".cpp", StageLanguage::cpp},
                                                                              {".cu", StageLanguage::cuda},
                                                                              {".ptx", StageLanguage::ptx},
                                                                              {".py", StageLanguage::python}}};

/// Whether the text is like "sm_80", "sm_90a" or "sm_100f".
bool is_target(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) && std::ranges::all_of(text, is_digit);
}

/// Takes off and returns the first word.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

/// Takes a file's name apart: language, rung and name. False if it is not the name of a stage.
bool take_apart(std::string_view file, StageSource& stage) {
  const auto ending = std::ranges::find_if(kEndings, [&](const auto& one) { return file.ends_with(one.first); });
  if (ending == kEndings.end()) return false;
  stage.language = ending->second;
  std::string_view name = file.substr(0, file.size() - ending->first.size());
  if (name.starts_with(kLibraryPrefix)) {
    name.remove_prefix(kLibraryPrefix.size());
  } else {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), stage.rung);
    if (error != std::errc() || stage.rung < 1 || stage.rung > 9999) return false;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (!name.starts_with('_')) return false;
    name.remove_prefix(1);
  }
  if (name.empty() || name.size() > kLongestLadderName || !std::ranges::all_of(name, is_of_identifier)) return false;
  stage.name = name;
  std::ranges::replace(stage.name, '_', '-');
  return true;
}

/// The lines of the comment at the beginning, one by one, without their comment marks.
class Head {
 public:
  Head(std::string_view text, StageLanguage language)
      : text_(text), mark_(language == StageLanguage::python ? "#" : "//") {}

  /// Takes the next line; false behind the last one.
  bool next(std::string_view& line) {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      line = trimmed(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++number_;
      if (inside_) {
        if (const std::size_t last = line.find("*/"); last != std::string_view::npos) {
          line = line.substr(0, last);
          inside_ = false;
        }
        if (line.starts_with('*')) line.remove_prefix(1);
      } else if (line.starts_with(mark_)) {
        line.remove_prefix(mark_.size());
      } else if (line.starts_with("/*") && mark_ != "#") {
        line.remove_prefix(2);
        const std::size_t last = line.find("*/");
        inside_ = last == std::string_view::npos;
        if (!inside_) line = line.substr(0, last);
      } else if (line.empty() && number_ == 1) {
        continue;
      } else {
        return false;
      }
      line = trimmed(line);
      return true;
    }
    return false;
  }

  int number() const { return number_; }

 private:
  std::string_view text_;
  std::string_view mark_;  ///< begins a comment of one line
  int number_ = 0;
  bool inside_ = false;  ///< within a comment of several lines
};

class StageReader {
 public:
  StageReader(StageSource& stage, const std::string& place) : stage_(stage), place_(place) {}

  void read(std::string_view text) {
    Head head(text, stage_.language);
    for (std::string_view line; head.next(line);) {
      number_ = head.number();
      if (line.starts_with('@')) {
        line.remove_prefix(1);
        const std::string_view word = take_word(line);
        read_word(word, line);
      } else if (!line.empty() || !stage_.description.empty()) {
        stage_.description += fmt::format("{}\n", printable(line));
      }
    }
    while (stage_.description.ends_with('\n')) stage_.description.pop_back();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}:{}: {}", place_, number_, what));
  }

  void read_word(std::string_view word, std::string_view rest) {
    if (word == "title") return set(stage_.title, word, rest);
    if (word == "hypothesis") return set(stage_.hypothesis, word, rest);
    if (word == "builds-on") return set_builds_on(rest);
    if (word == "parameter") return add_parameter(rest);
    if (word == "libraries") return add_libraries(rest);
    if (word == "requires") return add_need(rest);
    if (word == "launch") return add_launch(rest);
    if (word == "target") return set_target(rest);
    fail(unknown_name_message(
        "word", "@" + std::string(word),
        {"@title", "@hypothesis", "@builds-on", "@parameter", "@libraries", "@requires", "@launch", "@target"}));
  }

  void set(std::string& field, std::string_view word, std::string_view text) const {
    if (text.empty()) fail(fmt::format("@{} says nothing", word));
    if (!field.empty()) fail(fmt::format("@{} stands there twice", word));
    field = printable(text);
  }

  /// Takes a stage's name, or its file's with or without the ending.
  void set_builds_on(std::string_view text) const {
    StageSource other;
    std::string file(text);
    if (file.find('.') == std::string::npos) file += ".cpp";
    std::string name(text);
    if (take_apart(file, other)) name = other.name;
    set(stage_.builds_on, "builds-on", name);
  }

  void add_libraries(std::string_view text) const {
    if (text.empty()) fail("@libraries says nothing");
    while (!text.empty()) {
      const std::string_view name = take_word(text);
      const bool is_good = name.size() <= kLongestLadderName && std::ranges::all_of(name, is_of_library);
      if (!is_good) fail(fmt::format("@libraries: expected names as in -lNAME, found {}", in_quotes(name)));
      if (stage_.libraries.size() == kMostLibraries) fail(fmt::format("more than {} libraries", kMostLibraries));
      stage_.libraries.emplace_back(name);
    }
  }

  /// Takes a condition as text; it is parsed with the problem's dimensions (ladder_folder.cpp).
  void add_need(std::string_view text) const {
    if (text.empty()) fail("@requires says nothing: expected a condition, such as mod(M, 128) == 0");
    if (stage_.needs.size() == kMostNeeds) fail(fmt::format("more than {} conditions", kMostNeeds));
    stage_.needs.push_back(printable(text));
  }

  /// Takes a launch; its expressions and names are parsed with the problem's (launch_plan.cpp).
  void add_launch(std::string_view text) const {
    if (stage_.language == StageLanguage::cpp) fail("@launch: a stage in C++ has no kernels: it defines solve");
    if (stage_.launches.size() == kMostLaunches) fail(fmt::format("more than {} launches", kMostLaunches));
    try {
      stage_.launches.push_back(parse_launch(text, stage_.language == StageLanguage::ptx ? LaunchedLanguage::ptx
                                                   : stage_.language == StageLanguage::python
                                                       ? LaunchedLanguage::python
                                                       : LaunchedLanguage::cuda));
    } catch (const std::invalid_argument& error) {
      fail(fmt::format("@launch: {}", error.what()));
    }
    stage_.launches.back().line = number_;
  }

  void set_target(std::string_view text) {
    const bool is_compiled = stage_.language == StageLanguage::cuda || stage_.language == StageLanguage::python;
    if (!is_compiled) fail("@target: only CUDA C++ and Python are compiled for a GPU");
    if (has_target_) fail("@target stands there twice");
    if (!is_target(text))
      fail(fmt::format("@target: expected an architecture such as sm_90a, found {}", in_quotes(text)));
    stage_.target = text;
    has_target_ = true;
  }

  void add_parameter(std::string_view text) const {
    StageParameter parameter;
    parameter.name = take_word(text);
    if (parameter.name.empty() || is_digit(parameter.name[0]) ||
        !std::ranges::all_of(parameter.name, is_of_identifier)) {
      fail("@parameter: expected a name of letters, digits and '_', and its values: @parameter TILE 8 16 32");
    }
    if (std::ranges::find(stage_.parameters, parameter.name, &StageParameter::name) != stage_.parameters.end()) {
      fail(fmt::format("@parameter {} stands there twice", parameter.name));
    }
    while (!text.empty()) {
      const std::string_view word = take_word(text);
      int value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size()) {
        fail(fmt::format("@parameter {}: expected whole numbers, found {}", parameter.name, in_quotes(word)));
      }
      parameter.values.push_back(value);
    }
    if (parameter.values.empty()) fail(fmt::format("@parameter {} has no values", parameter.name));
    if (parameter.values.size() > kMostValues)
      fail(fmt::format("@parameter {} has more than 64 values", parameter.name));
    if (stage_.parameters.size() == kMostParameters) fail("more than 16 parameters");
    stage_.parameters.push_back(std::move(parameter));
  }

  StageSource& stage_;
  const std::string& place_;
  int number_ = 0;
  bool has_target_ = false;
};

}  // namespace

std::vector<std::string> stage_languages() {
  std::vector<std::string> words;
  for (const auto& [ending, language] : kEndings) words.emplace_back(ending.substr(1));
  return words;
}

std::optional<StageLanguage> stage_language(std::string_view word) {
  const auto* const found =
      std::ranges::find_if(kEndings, [&](const auto& one) { return one.first.substr(1) == word; });
  return found == kEndings.end() ? std::nullopt : std::optional(found->second);
}

bool is_stage_name(std::string_view file) {
  StageSource stage;
  return take_apart(file, stage);
}

bool is_meant_as_stage(std::string_view file) {
  const bool is_source = std::ranges::any_of(kEndings, [&](const auto& one) { return file.ends_with(one.first); });
  return is_source && (is_digit(file[0]) || file.starts_with(kLibraryPrefix));
}

StageSource parse_stage(std::string_view text, const std::string& file, const std::string& place) {
  StageSource stage;
  stage.file = file;
  if (!take_apart(file, stage)) {
    throw UserError(
        fmt::format("{}: a stage is called 01_name.cu, 02_name.cpp, 03_name.ptx, 04_name.py or, beside the ladder, "
                    "library_name.cpp",
                    place));
  }
  StageReader(stage, place).read(text);
  if (stage.title.empty()) {
    stage.title = stage.name;
    std::ranges::replace(stage.title, '-', ' ');
  }
  return stage;
}

}  // namespace convladder

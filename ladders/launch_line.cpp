#include "ladders/launch_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "support/json_text.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::size_t kLongestKernel = 1000;  // characters: mangled names are long
constexpr std::size_t kMostArguments = 256;
constexpr const char* kExample = "@launch scale grid(div(N + 255, 256)) block(256)";

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

/// Takes off the parentheses that `text` begins with, and returns what is between them.
std::string_view take_parentheses(std::string_view& text, std::string_view word) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] != ')' || --depth > 0) continue;
    const std::string_view inside = text.substr(1, at - 1);
    text = trimmed(text.substr(at + 1));
    return inside;
  }
  fail(fmt::format("{}( is not closed", word));
}

/// The pieces of a text between commas that are outside of parentheses; none for an empty text.
std::vector<std::string> pieces(std::string_view text, std::string_view word) {
  std::vector<std::string> found;
  if (trimmed(text).empty()) return found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '(') ++depth;
    if (at < text.size() && text[at] == ')') --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    found.push_back(printable(trimmed(text.substr(begin, at - begin))));
    if (found.back().empty()) fail(fmt::format("{}: nothing stands between two commas", word));
    if (found.size() > kMostArguments) fail(fmt::format("{}: more than {}", word, kMostArguments));
    begin = at + 1;
  }
  return found;
}

/// Whether the name is like "of::tile<16, float>", with nothing in it that C++ could read as anything else.
bool is_cuda_name(std::string_view name) {
  const std::size_t angle = std::min(name.find('<'), name.size());
  const auto is_of_name = [](char one) { return is_of_identifier(one) || one == ':'; };
  const auto is_of_angles = [&](char one) {
    return is_of_name(one) || one == ',' || one == ' ' || one == '<' || one == '>' || one == '-';
  };
  if (angle == 0 || is_digit(name[0]) || !std::ranges::all_of(name.substr(0, angle), is_of_name)) return false;
  return angle == name.size() || (name.ends_with('>') && std::ranges::all_of(name.substr(angle), is_of_angles));
}

bool is_python_name(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, is_of_identifier);
}

bool is_ptx_name(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) &&
         std::ranges::all_of(name, [](char one) { return is_of_identifier(one) || one == '$' || one == '%'; });
}

/// Takes off and returns the text up to the first space outside of angle brackets.
std::string_view take_kernel(std::string_view& text) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < text.size() && (depth > 0 || (text[end] != ' ' && text[end] != '\t')); ++end) {
    if (text[end] == '<') ++depth;
    if (text[end] == '>') --depth;
  }
  const std::string_view kernel = text.substr(0, end);
  text = trimmed(text.substr(end));
  return kernel;
}

std::vector<std::string> sizes(std::string_view inside, std::string_view word) {
  std::vector<std::string> found = pieces(inside, word);
  if (found.empty() || found.size() > 3)
    fail(fmt::format("{}: expected one to three sizes, found {}", word, found.size()));
  return found;
}

}  // namespace

namespace {

bool is_name(std::string_view kernel, LaunchedLanguage language) {
  if (kernel.size() > kLongestKernel) return false;
  return language == LaunchedLanguage::ptx      ? is_ptx_name(kernel)
         : language == LaunchedLanguage::python ? is_python_name(kernel)
                                                : is_cuda_name(kernel);
}

/// Throws where a size that the launch needs is missing.
void require_sizes(const StageLaunch& launch, LaunchedLanguage language) {
  if (!launch.threads.empty()) {
    if (!launch.grid.empty() || !launch.block.empty()) fail("threads(…) stands there instead of grid(…) and block(…)");
    return;
  }
  if (launch.grid.empty()) fail(fmt::format("there is no grid(…): {}", kExample));
  if (launch.block.empty() && language != LaunchedLanguage::python) {
    fail(fmt::format("there is no block(…): {}", kExample));
  }
}

}  // namespace

StageLaunch parse_launch(std::string_view text, LaunchedLanguage language) {
  StageLaunch launch;
  text = trimmed(text);
  const std::string_view kernel = take_kernel(text);
  if (!is_name(kernel, language)) {
    fail(fmt::format("expected the name of a kernel, found {}: {}", in_quotes(kernel), kExample));
  }
  launch.kernel = kernel;
  const auto only_once = [](bool is_there, std::string_view word) {
    if (is_there) fail(fmt::format("{} stands there twice", word));
  };
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && is_of_identifier(text[end])) ++end;
    const std::string_view word = text.substr(0, end);
    text = trimmed(text.substr(end));
    if (!text.starts_with('(')) {
      fail(fmt::format("expected grid(…), block(…), shared(…) or args(…), found {}",
                       in_quotes(word.empty() ? text : word)));
    }
    const std::string_view inside = take_parentheses(text, word);
    if (word == "grid") {
      only_once(!launch.grid.empty(), word);
      launch.grid = sizes(inside, word);
    } else if (word == "block") {
      only_once(!launch.block.empty(), word);
      launch.block = sizes(inside, word);
    } else if (word == "threads" && language == LaunchedLanguage::python) {
      only_once(!launch.threads.empty(), word);
      launch.threads = sizes(inside, word);
    } else if (word == "shared") {
      only_once(!launch.shared.empty(), word);
      const std::vector<std::string> found = pieces(inside, word);
      if (found.size() != 1) fail(fmt::format("shared: expected one number of bytes, found {}", found.size()));
      launch.shared = found[0];
    } else if (word == "args") {
      only_once(launch.arguments.has_value(), word);
      launch.arguments = pieces(inside, word);
    } else {
      std::vector<std::string> known{"grid", "block", "shared", "args"};
      if (language == LaunchedLanguage::python) known.emplace_back("threads");
      fail(unknown_name_message("word", word, known));
    }
  }
  require_sizes(launch, language);
  if (launch.shared.empty()) launch.shared = "0";
  return launch;
}

}  // namespace convladder

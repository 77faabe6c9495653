#include "ladders/compilers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "support/printable.hpp"
#include "support/text.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::size_t kShownMessage = 300;
constexpr int kNewestClang = 25;
constexpr int kOldestClang = 14;

}  // namespace

bool is_program(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string on_the_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin" : path, ':')) {
    const std::filesystem::path program = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_program(program.string())) return program.string();
  }
  return "";
}

std::string find_nvcc() {
  if (std::string found = on_the_path("nvcc"); !found.empty()) return found;
  const char* const home = std::getenv("CUDA_HOME");
  for (const char* const folder : {home == nullptr ? "" : home, "/usr/local/cuda"}) {
    const std::filesystem::path program = std::filesystem::path(folder) / "bin/nvcc";
    if (is_program(program.string())) return program.string();
  }
  return "";
}

std::string find_clang() {
  if (std::string found = on_the_path("clang++"); !found.empty()) return found;
  for (int version = kNewestClang; version >= kOldestClang; --version) {
    if (std::string found = on_the_path(fmt::format("clang++-{}", version)); !found.empty()) return found;
  }
  return "";
}

std::string python() {
  const char* const chosen = std::getenv("PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : kSystemPython;
}

std::string find_python() {
  const std::string chosen = python();
  return chosen.find('/') == std::string::npos ? on_the_path(chosen) : is_program(chosen) ? chosen : "";
}

std::string first_compiler_error(std::string_view messages) {
  std::vector<std::string> lines;
  for (const std::string& line : split(messages, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  }
  if (lines.empty()) return "it failed and said nothing";
  std::string shown;
  // The linker names what is missing, and the compiler that called it only says that it failed.
  for (const char* const word : {"undefined reference", "undefined symbol", "cannot find", "multiple definition",
                                 "duplicate symbol", "error:", "error", "fatal"}) {
    const auto found = std::ranges::find_if(lines, [&](const std::string& line) {
      return line.find(word) != std::string::npos && !line.starts_with("collect2: ");
    });
    if (shown.empty() && found != lines.end()) shown = *found;
  }
  if (shown.empty()) shown = lines.front();
  return printable(shown, kShownMessage) +
         (lines.size() > 1 ? fmt::format(" ({} more)", plural(lines.size() - 1, "line")) : "");
}

}  // namespace convladder

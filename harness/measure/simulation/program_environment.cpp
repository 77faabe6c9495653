#include "harness/measure/simulation/program_environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "simulator/stand_in/libraries.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The folder in which programs keep what they made, apart from what they keep for a GPU; empty if the user has none.
fs::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "convladder";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fs::path(home) / ".cache/convladder" : fs::path();
}

/// The list with the value in front, and nowhere else.
std::string in_front(const std::string& value, const std::string& list) {
  std::string text = value;
  if (list.empty()) return text;
  for (const std::string& one : split(list, ':')) text += one == value ? "" : ":" + one;
  return text;
}

}  // namespace

std::vector<ProgramVariable> program_variables(const stand_in::Settings& settings) {
  const fs::path folder = stand_in::libraries();
  std::vector<ProgramVariable> variables = {
      {"LD_LIBRARY_PATH", folder.string(), Setting::in_front},
      {stand_in::kSettingsVariable, stand_in::settings_text(settings), Setting::set}};
  if (const fs::path library = stand_in::find_redirection(folder); !library.empty()) {
    variables.push_back({"LD_AUDIT", library.string(), Setting::in_list});
  }
  const fs::path python = folder / "python";
  std::error_code error;
  if (!fs::exists(python / "sitecustomize.py", error)) return variables;
  variables.push_back({"PYTHONPATH", python.string(), Setting::in_front});
  variables.push_back({"TRITON_PTXAS_PATH", (python / "ptxas").string(), Setting::unless_set});
  variables.push_back({"TRITON_PTXAS_BLACKWELL_PATH", (python / "ptxas-blackwell").string(), Setting::unless_set});
  // Each tensor has memory of its own, so that memcheck sees where it ends.
  variables.push_back({"PYTORCH_NO_CUDA_MEMORY_CACHING", "1", Setting::unless_set});
  // Its machine code then holds PTX.
  variables.push_back({"CUTE_DSL_LINEINFO", "1", Setting::unless_set});
  // It keeps PTX where it keeps machine code for a GPU.
  if (const fs::path cache = cache_folder(); !cache.empty()) {
    variables.push_back({"CUPY_CACHE_DIR", (cache / "cupy").string(), Setting::unless_set});
  }
  return variables;
}

std::vector<std::string> environment_with(const std::vector<ProgramVariable>& variables) {
  std::vector<std::string> environment;
  const auto is_ours = [&variables](std::string_view text) {
    return std::ranges::any_of(variables, [text](const ProgramVariable& one) {
      return text.size() > one.name.size() && text.starts_with(one.name) && text[one.name.size()] == '=';
    });
  };
  for (char** one = environ; *one != nullptr; ++one) {
    if (!is_ours(*one)) environment.emplace_back(*one);
  }
  for (const ProgramVariable& one : variables) {
    const char* const before = std::getenv(one.name.c_str());
    std::string value = one.value;
    if (before != nullptr && one.setting == Setting::unless_set) value = before;
    const bool is_list = one.setting == Setting::in_front || one.setting == Setting::in_list;
    if (before != nullptr && is_list) value = in_front(one.value, before);
    environment.push_back(one.name + "=" + value);
  }
  return environment;
}

std::string shell_text(const std::vector<ProgramVariable>& variables) {
  std::string text;
  for (const auto& [name, value, setting] : variables) {
    const std::string quoted = shell_quoted(value);
    switch (setting) {
      case Setting::set:
        text += fmt::format("export {}={}\n", name, quoted);
        break;
      case Setting::in_front:
        text +=
            fmt::format("case \"${{{0}-}}:\" in {1}:*) ;; *) export {0}={1}\"${{{0}:+:${0}}}\";; esac\n", name, quoted);
        break;
      case Setting::in_list:
        text += fmt::format("case \":${{{0}-}}:\" in *:{1}:*) ;; *) export {0}={1}\"${{{0}:+:${0}}}\";; esac\n", name,
                            quoted);
        break;
      case Setting::unless_set:
        text += fmt::format("[ \"${{{0}+set}}\" ] || export {0}={1}\n", name, quoted);
        break;
    }
  }
  return text;
}

}  // namespace convladder

#include "simulator/stand_in/libraries/nvrtc/compiler.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has programs declare it

namespace convladder::stand_in::nvrtc {
namespace {

namespace fs = std::filesystem;

/// A folder for the time of a compilation.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "convladder-nvrtc-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// Runs a command whose whole output goes to a file; false if it failed.
bool run(const std::vector<std::string>& command, const fs::path& output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Options that NVRTC has and nvcc lacks, as it takes for granted what they say.
bool is_of_nvrtc_only(const std::string& option) {
  return option == "--device-as-default-execution-space" || option == "-default-device" ||
         option == "--builtin-move-forward";
}

std::string without_spaces(const std::string& text) {
  std::string result;
  std::ranges::remove_copy(text, std::back_inserter(result), ' ');
  return result;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

Compiled compile(const fs::path& compiler, const SourceText& source, const std::vector<SourceText>& headers,
                 const std::vector<std::string>& options, const std::vector<std::string>& names) {
  const Folder folder;
  for (const SourceText& header : headers)
    write(folder.path() / "include" / fs::path(header.name).relative_path(), header.text);
  // The folder is not the program's, so that messages name the source as it is called.
  std::string text = "#line 1 \"" + source.name + "\"\n" + source.text + "\n#line 1 \"names\"\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_address = !names[i].empty() && names[i].front() == '&';
    text +=
        "static void* convladder_name_" + std::to_string(i) + " = (void*)" + (is_address ? "" : "&") + names[i] + ";\n";
  }
  write(folder.path() / "program.cu", text);
  const fs::path made = folder.path() / "program.ptx";
  const fs::path log = folder.path() / "log";
  std::vector<std::string> command = {compiler.string(), "-ptx", "-o",
                                      made.string(),     "-I",   (folder.path() / "include").string()};
  for (const std::string& option : options) {
    if (!is_of_nvrtc_only(option)) command.push_back(option);
  }
  command.push_back((folder.path() / "program.cu").string());
  Compiled compiled;
  compiled.succeeded = run(command, log);
  compiled.log = content_of(log);
  if (compiled.succeeded) compiled.ptx = content_of(made);
  return compiled;
}

std::string lowered_name(const std::string& ptx, const std::string& expression) {
  std::string wanted = without_spaces(expression);
  wanted.erase(0, wanted.find_first_not_of("&("));
  wanted.erase(wanted.find_last_not_of(')') + 1);
  if (wanted.starts_with("::")) wanted.erase(0, 2);
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::string name;
    if (const std::size_t at = line.find(".entry "); at != std::string::npos) {
      name = line.substr(at + 7);
    } else if (line.starts_with(".global ") || line.starts_with(".const ") || line.starts_with(".visible .")) {
      name = line.substr(line.rfind(' ') + 1);
    }
    name = name.substr(0, name.find_first_of("([;= \r"));
    if (name.empty()) continue;
    std::string plain = without_spaces(demangled(name));
    // "void f<int>(int*)": without the type of a template's result, and without the parameters.
    std::string text = demangled(name);
    if (const std::size_t open = plain.rfind('('); open != std::string::npos && plain.back() == ')') plain.erase(open);
    if (text.starts_with("void ")) plain.erase(0, 4);
    if (plain == wanted) return name;
  }
  return {};
}

std::pair<std::vector<std::string>, bool> for_ptx(const std::vector<std::string>& options) {
  std::vector<std::string> result = options;
  bool is_changed = false;
  bool is_value = false;  // of the option before
  for (std::string& option : result) {
    const std::size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const bool is_architecture = name == "--gpu-architecture" || name == "-arch" || name == "--gpu-arch";
    const bool has_value = is_value || (is_architecture && equals != std::string::npos);
    const std::size_t begin = is_value ? 0 : equals + 1;
    is_value = is_architecture && equals == std::string::npos;
    if (!has_value || !option.substr(begin).starts_with("sm_")) continue;
    option.replace(begin, 3, "compute_");
    is_changed = true;
  }
  // Findings name the line. The code stays as it is.
  const bool has_lines = std::ranges::any_of(result, [](const std::string& option) {
    return option == "-lineinfo" || option == "--generate-line-info" || option == "-G" || option == "--device-debug" ||
           option == "-dlto" || option == "--dlink-time-opt";
  });
  if (!has_lines) result.emplace_back("-lineinfo");
  return {std::move(result), is_changed};
}

}  // namespace convladder::stand_in::nvrtc

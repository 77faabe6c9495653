#include "harness/simulation/cuda_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "support/embedded_file.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/machine_fault.hpp"
#include "support/printable.hpp"
#include "support/split.hpp"
#include "support/text_table.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_cuda_language();  // by cmake/EmbedFiles.cmake

namespace {

constexpr std::size_t kMostCompilerOutput = std::size_t{64} << 20;  // bytes of PTX, and of messages
constexpr std::size_t kShownMessage = 300;
constexpr int kNewestClang = 25;
constexpr int kOldestClang = 14;

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// The program's path; empty if it is nowhere on the path.
std::string on_the_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin" : path, ':')) {
    const std::filesystem::path program = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_program(program)) return program.string();
  }
  return "";
}

std::string find_nvcc() {
  if (std::string found = on_the_path("nvcc"); !found.empty()) return found;
  const char* const home = std::getenv("CUDA_HOME");
  for (const char* const folder : {home == nullptr ? "" : home, "/usr/local/cuda"}) {
    const std::filesystem::path program = std::filesystem::path(folder) / "bin/nvcc";
    if (is_program(program)) return program.string();
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

struct FoundCompiler {
  std::string program;
  bool is_clang = false;
};

FoundCompiler find_compiler(const std::string& file, const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!is_program(name)) throw UserError(fmt::format("--compiler {}: no such program", name));
    return {name, std::filesystem::path(name).filename().string().starts_with("clang")};
  }
  if (!name.empty() && name != "nvcc" && name != "clang") {
    throw UserError(fmt::format("--compiler {}: expected nvcc, clang, or the path of one of them", name));
  }
  FoundCompiler found;
  if (name != "clang") found = {find_nvcc(), false};
  if (found.program.empty() && name != "nvcc") found = {find_clang(), true};
  if (found.program.empty()) {
    throw UserError(
        fmt::format("{}: CUDA C++ needs a compiler, and {} found; make PTX elsewhere with 'nvcc -ptx "
                    "-lineinfo {}'",
                    file, name.empty() ? "neither nvcc nor clang was" : name + " was not", file));
  }
  return found;
}

/// A file in memory that a child process can read and write by its name in /dev/fd.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& content) : descriptor_(memfd_create("convladder", 0)) {
    if (descriptor_ < 0 || write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
      throw UserError("a file of the compiler cannot be kept in memory");
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  std::string name() const { return fmt::format("/dev/fd/{}", descriptor_); }
  /// What it holds now, up to kMostCompilerOutput bytes.
  std::string content() const {
    std::string text;
    std::array<char, 65536> buffer;
    while (text.size() < kMostCompilerOutput) {
      const ssize_t count = pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int descriptor_;
};

struct CompilerOutput {
  int status = 0;        ///< as of waitpid
  std::string text;      ///< of the standard output
  std::string messages;  ///< of the standard error
};

/// Runs a program to its end. Throws UserError if it cannot be started.
CompilerOutput run_compiler(const std::vector<std::string>& words) {
  std::array<std::array<int, 2>, 2> pipes{};  // the standard output and the standard error
  if (pipe2(pipes[0].data(), O_CLOEXEC) != 0) throw UserError(fmt::format("{}: no pipe is left", words[0]));
  if (pipe2(pipes[1].data(), O_CLOEXEC) != 0) {
    for (const int end : pipes[0]) close(end);
    throw UserError(fmt::format("{}: no pipe is left", words[0]));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[0][1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failed = posix_spawn(&process, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (const auto& ends : pipes) close(ends[1]);

  CompilerOutput output;
  std::array<pollfd, 2> readers = {{{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}}};
  while (failed == 0 && (readers[0].fd >= 0 || readers[1].fd >= 0)) {
    if (poll(readers.data(), readers.size(), -1) < 0 && errno != EINTR) break;
    for (pollfd& reader : readers) {
      if (reader.fd < 0 || reader.revents == 0) continue;
      std::string& into = &reader == readers.data() ? output.text : output.messages;
      std::array<char, 65536> buffer;
      const ssize_t count = read(reader.fd, buffer.data(), buffer.size());
      if (count <= 0 && !(count < 0 && errno == EINTR)) reader.fd = -1;
      if (count > 0 && into.size() < kMostCompilerOutput) into.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  for (const auto& ends : pipes) close(ends[0]);
  if (failed != 0) throw UserError(fmt::format("{}: cannot be started: {}", words[0], system_error_text(failed)));
  while (waitpid(process, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

/// The first line with an error, and how many lines more there are; any other first line where none says so.
std::string first_error(const std::string& messages) {
  std::vector<std::string> lines;
  for (const std::string& line : split(messages, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  }
  if (lines.empty()) return "it failed and said nothing";
  std::string shown;
  for (const char* const word : {"error:", "error", "fatal"}) {
    const auto found =
        std::ranges::find_if(lines, [&](const std::string& line) { return line.find(word) != std::string::npos; });
    if (shown.empty() && found != lines.end()) shown = *found;
  }
  if (shown.empty()) shown = lines.front();
  return printable(shown, kShownMessage) +
         (lines.size() > 1 ? fmt::format(" ({} more)", plural(lines.size() - 1, "line")) : "");
}

bool has_flag(const std::vector<std::string>& flags, std::string_view begin) {
  return std::ranges::any_of(flags, [begin](const std::string& flag) { return flag.starts_with(begin); });
}

}  // namespace

bool is_cuda_source(std::string_view file) { return file.ends_with(".cu"); }

std::string compile_to_ptx(const std::string& file, const CudaCompiler& compiler) {
  static_cast<void>(read_file_bytes(file));  // what cannot be read is said as of any other file
  std::vector<std::string> flags;
  for (std::string& flag : split(compiler.flags, ' ')) {
    if (!flag.empty()) flags.push_back(std::move(flag));
  }
  const FoundCompiler found = find_compiler(file, compiler.name);
  std::vector<std::string> words = {found.program};
  std::optional<MemoryFile> header;
  if (found.is_clang) {
    header.emplace(embedded_cuda_language().front().content);
    // PTX 7.0 is the newest in which clang 14 knows every instruction that it makes.
    words.insert(words.end(), {"-x", "cuda", "--cuda-device-only", "--cuda-path=/nonexistent", "-nocudainc",
                               "-nocudalib", "-std=c++17", "-include", header->name(), "-O3", "-gline-tables-only",
                               "-S", "-Xclang", "-target-feature", "-Xclang", "+ptx70"});
    if (!has_flag(flags, "--cuda-gpu-arch") && !has_flag(flags, "--offload-arch")) {
      words.emplace_back("--cuda-gpu-arch=sm_70");
    }
  } else {
    words.insert(words.end(), {"-ptx", "-lineinfo"});
  }
  words.insert(words.end(), flags.begin(), flags.end());
  // nvcc reads its output again where flags name an architecture: from a pipe it would wait for ever.
  const MemoryFile ptx("");
  words.insert(words.end(), {"-o", found.is_clang ? "-" : ptx.name(), file.starts_with('-') ? "./" + file : file});
  CompilerOutput output = run_compiler(words);
  if (!found.is_clang) output.text = ptx.content();
  const bool ended_well = WIFEXITED(output.status) && WEXITSTATUS(output.status) == 0;
  if (ended_well && output.text.find(".version") != std::string::npos) return std::move(output.text);
  const std::string why = ended_well ? "it made no PTX" : first_error(output.messages);
  throw UserError(fmt::format("{}: {}: {}", file, std::filesystem::path(found.program).filename().string(), why));
}

}  // namespace convladder

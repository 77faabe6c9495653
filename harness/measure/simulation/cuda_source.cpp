#include "harness/measure/simulation/cuda_source.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "devices/ptxas_report.hpp"
#include "ladders/compilers.hpp"
#include "ladders/program_output.hpp"
#include "simulator/ptx/parser.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/text.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_cuda_language();  // by cmake/EmbedFiles.cmake

namespace {

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
  /// The file's present content, up to kMostProgramOutput bytes.
  std::string content() const {
    std::string text;
    std::array<char, 65536> buffer;
    while (text.size() < kMostProgramOutput) {
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

bool has_flag(const std::vector<std::string>& flags, std::string_view begin) {
  return std::ranges::any_of(flags, [begin](const std::string& flag) { return flag.starts_with(begin); });
}

}  // namespace

bool is_cuda_source(std::string_view file) { return file.ends_with(".cu"); }

std::string compile_to_ptx(const std::string& file, const CudaCompiler& compiler) {
  static_cast<void>(read_file_bytes(file));  // a file that cannot be read gives the usual error
  std::vector<std::string> flags;
  for (std::string& flag : split(compiler.flags, ' ')) {
    if (!flag.empty()) flags.push_back(std::move(flag));
  }
  const FoundCompiler found = find_compiler(file, compiler.name);
  std::vector<std::string> words = {found.program};
  std::optional<MemoryFile> header;
  if (found.is_clang) {
    header.emplace(embedded_cuda_language().front().content);
    // PTX 7.0 is the newest for which clang 14 knows every instruction that it makes.
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
  // nvcc reads its output again where flags name an architecture: with a pipe it would wait for ever.
  const MemoryFile ptx("");
  words.insert(words.end(), {"-o", found.is_clang ? "-" : ptx.name(), file.starts_with('-') ? "./" + file : file});
  ProgramOutput output = run_program(words);
  if (!found.is_clang) output.text = ptx.content();
  const bool ended_well = output.succeeded();
  if (ended_well && output.text.find(".version") != std::string::npos) return std::move(output.text);
  const std::string why = ended_well ? "it made no PTX" : first_compiler_error(output.messages);
  throw UserError(fmt::format("{}: {}: {}", file, std::filesystem::path(found.program).filename().string(), why));
}

std::string ptx_text(const std::string& file, const CudaCompiler& compiler) {
  constexpr std::uint64_t kLargestPtx = 64 << 20;  // bytes; what compilers make has a few
  return is_cuda_source(file) ? compile_to_ptx(file, compiler) : read_file_text(file, kLargestPtx);
}

ptx::Module parse_ptx_of(const std::string& file, const std::string& text) {
  return ptx::parse_module(text, is_cuda_source(file) ? file + " (PTX)" : file);  // lines of the PTX are not the file's
}

std::vector<KernelResources> ptxas_resources(const std::string& ptx, const std::string& architecture) {
  const std::string nvcc = find_nvcc();
  const std::filesystem::path ptxas = std::filesystem::path(nvcc).parent_path() / "ptxas";
  if (nvcc.empty() || !is_program(ptxas.string())) return {};
  const MemoryFile text(ptx);
  const MemoryFile made("");
  const ProgramOutput output =
      run_program({ptxas.string(), "-v", "-arch", architecture, "-o", made.name(), text.name()});
  try {
    return output.succeeded() ? parse_ptxas_report(output.messages) : std::vector<KernelResources>();
  } catch (const PtxasReportError&) {
    return {};
  }
}

}  // namespace convladder

#include "harness/measure/simulation/program_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/redirection/runtime_symbols.hpp"
#include "simulator/stand_in/report/libraries_without_ptx.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// The bytes of a file, mapped while this object lives; empty if it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* const place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (place != MAP_FAILED) text_ = {static_cast<const char*>(place), size};
    }
    if (descriptor >= 0) ::close(descriptor);
  }
  ~MappedFile() {
    if (!text_.empty()) ::munmap(const_cast<char*>(text_.data()), text_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// `count` structures at a place of the file; none where the file ends before them.
template <typename T>
std::vector<T> structures(std::string_view file, std::uint64_t offset, std::uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {};
  std::vector<T> all(count);
  if (count > 0) std::memcpy(all.data(), file.data() + offset, count * sizeof(T));
  return all;
}

/// The string at `offset`, up to its NUL.
std::string_view string_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return "";
  strings.remove_prefix(offset);
  return strings.substr(0, strings.find('\0'));
}

std::string_view part(std::string_view file, std::uint64_t offset, std::uint64_t bytes) {
  return offset > file.size() ? std::string_view() : file.substr(offset, bytes);
}

void read_sections(std::string_view file, const Elf64_Ehdr& header, ProgramFile& program) {
  const auto sections = structures<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
  if (header.e_shstrndx >= sections.size()) return;
  const Elf64_Shdr& of_names = sections[header.e_shstrndx];
  const std::string_view names = part(file, of_names.sh_offset, of_names.sh_size);
  for (const Elf64_Shdr& section : sections) {
    if (string_at(names, section.sh_name) == ".nv_fatbin") program.has_kernels = true;
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& of_strings = sections[section.sh_link];
    const std::string_view strings = part(file, of_strings.sh_offset, of_strings.sh_size);
    for (const Elf64_Dyn& entry : structures<Elf64_Dyn>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Dyn))) {
      const std::string text(string_at(strings, entry.d_un.d_val));
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) program.needed.push_back(text);
    }
  }
}

bool needs(const ProgramFile& program, std::string_view begin) {
  return std::ranges::any_of(program.needed, [begin](const std::string& one) { return one.starts_with(begin); });
}

void read_program(ProgramFile& program) {
  const MappedFile mapped(program.path);
  const std::string_view file = mapped.text();
  program.is_elf = file.starts_with(ELFMAG);
  const auto header = structures<Elf64_Ehdr>(file, 0, 1);
  if (!program.is_elf || header.empty() || header[0].e_ident[EI_CLASS] != ELFCLASS64) return;
  read_sections(file, header[0], program);
  program.has_names = stand_in::has_runtime(stand_in::FileSymbols(file));
  // A runtime without its names is known by the one by which it asks the driver for tables: no program and no compiler
  // writes it.
  program.has_static_runtime = program.has_names || (program.has_kernels && !needs(program, "libcudart.so") &&
                                                     file.find("cuGetExportTable") != std::string_view::npos);
  const auto segments = structures<Elf64_Phdr>(file, header[0].e_phoff, header[0].e_phnum);
  program.is_static = std::ranges::find(segments, Elf64_Word{PT_INTERP}, &Elf64_Phdr::p_type) == segments.end();
}

}  // namespace

ProgramFile find_program_file(const std::string& name) {
  if (name.empty()) throw UserError("the name of the program is empty");
  std::vector<std::string> candidates{name};
  std::error_code error;
  const bool on_path = name.find('/') == std::string::npos;
  if (on_path) {
    candidates.clear();
    const char* const path = std::getenv("PATH");
    for (const std::string& folder : split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
      candidates.push_back((folder.empty() ? "." : folder) + "/" + name);
    }
  }
  std::string problem =
      on_path ? fmt::format("not found on PATH{}",
                            fs::is_regular_file(name, error) ? fmt::format("; did you mean ./{}?", name) : "")
              : "no such file";
  for (const std::string& candidate : candidates) {
    struct stat status {};
    if (::stat(candidate.c_str(), &status) != 0) {
      if (!on_path && errno != ENOENT) problem = std::strerror(errno);
      continue;
    }
    if (!S_ISREG(status.st_mode)) {
      if (!on_path) problem = "not a file";
    } else if (::access(candidate.c_str(), X_OK) != 0) {
      problem = "not executable";
    } else {
      ProgramFile program;
      program.path = candidate;
      program.is_privileged = ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid()) ||
                              ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid());
      read_program(program);
      return program;
    }
  }
  throw UserError(fmt::format("{}: {}", name, problem));
}

std::string why_not_simulated(const ProgramFile& program, const fs::path& stand_in) {
  if (program.has_static_runtime && program.is_static) {
    return fmt::format("{} is linked with -static, so nothing can stand in for its CUDA: link it without",
                       program.path);
  }
  if (program.has_static_runtime && !program.has_names) {
    return fmt::format(
        "{} has the CUDA runtime linked into it, whose functions cannot be found since it is stripped of its symbols: "
        "do "
        "not strip it, or link it with nvcc -cudart shared (CMake: set the property CUDA_RUNTIME_LIBRARY to Shared)",
        program.path);
  }
  if (program.has_static_runtime && stand_in::find_redirection(stand_in).empty()) {
    return fmt::format(
        "{} has the CUDA runtime linked into it, which is redirected on x86-64 only: link it with nvcc -cudart shared "
        "(CMake: set the property CUDA_RUNTIME_LIBRARY to Shared)",
        program.path);
  }
  if (program.is_privileged) {
    return fmt::format("{} is setuid or setgid, so the loader takes libraries of the system only: run a copy without",
                       program.path);
  }
  for (const std::string& library : program.needed) {
    if (!library.starts_with("libcudart.so.") || fs::exists(stand_in / library)) continue;
    return fmt::format("{} needs {}, which nothing here stands in for: compile it with CUDA 11, 12 or 13", program.path,
                       library);
  }
  return "";
}

std::vector<std::string> needed_without_ptx(const ProgramFile& program) {
  std::vector<std::string> libraries;
  std::ranges::copy_if(program.needed, std::back_inserter(libraries), stand_in::holds_no_ptx);
  return libraries;
}

}  // namespace convladder

#include "ladders/compiler_settings.hpp"

#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "support/kept_environment.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

// The limit for each process of a compiler: nvcc's and g++'s take a few hundred megabytes for a kernel with many
// templates.
constexpr std::uint64_t kMostMemory = std::uint64_t{8} << 30U;
constexpr std::uint64_t kMostFile = std::uint64_t{512} << 20U;  // intermediate files of nvcc are large
constexpr std::uint64_t kMostThreads = 4096;

/// The environment variables that tell a compiler where to look beyond its own folders.
constexpr const char* kLists[] = {"CPATH",           "C_INCLUDE_PATH",  "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
                                  "LD_LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH",      "CUDA_HOME",
                                  "CUDA_PATH",       "NVCC_CCBIN",      "PYTHONPATH"};

/// The folder that holds the compiler's bin and lib; bin alone where that folder is a home or the root.
fs::path installation(const fs::path& program) {
  const fs::path bin = program.parent_path();
  const fs::path root = bin.parent_path();
  const char* const home = std::getenv("HOME");
  const bool is_wide = root == root.root_path() || (home != nullptr && root == fs::path(home));
  return bin.filename() == "bin" && !is_wide ? root : bin;
}

/// The variables that compilers, their wrappers and their licences are set by, besides the lists above. The code that
/// is compiled may read the environment (`.incbin "/proc/self/environ"`), so it holds nothing else.
constexpr std::array<std::string_view, 25> kKept{"PATH",
                                                 "HOME",
                                                 "LANG",
                                                 "CPATH",
                                                 "C_INCLUDE_PATH",
                                                 "CPLUS_INCLUDE_PATH",
                                                 "LIBRARY_PATH",
                                                 "LD_LIBRARY_PATH",
                                                 "LD_RUN_PATH",
                                                 "GCC_EXEC_PREFIX",
                                                 "COMPILER_PATH",
                                                 "SOURCE_DATE_EPOCH",
                                                 "CUDA_HOME",
                                                 "CUDA_PATH",
                                                 "NVCC_*",
                                                 "NIX_*",
                                                 "SPACK_*",
                                                 "CONDA_PREFIX",
                                                 "CONDA_BUILD_SYSROOT",
                                                 "SYSROOT",
                                                 "PYTHONPATH",
                                                 "TRITON_PTXAS_*",
                                                 "LM_LICENSE_FILE",
                                                 "INTEL_LICENSE_FILE",
                                                 "ASAN_OPTIONS"};

}  // namespace

std::vector<std::string> program_folders() { return {"/usr", "/bin", "/lib", "/lib64", "/nix/store", "/gnu/store"}; }

ProgramSettings compiler_settings(const std::string& compiler, const std::vector<fs::path>& readable,
                                  const fs::path& scratch) {
  ConfinementWish wish;
  wish.calls = {.may_start_programs = true,
                .may_start_processes = true,
                .may_pin_threads = true,
                .may_change_attributes = true};  // a linker makes what it wrote a program
  for (const std::string& one : program_folders()) wish.files.start.push_back(one);
  std::error_code error;
  if (const fs::path program = fs::canonical(compiler, error); !error) {
    wish.files.start.push_back(installation(program));
    // A virtual environment's Python is a link to another, and finds its packages beside the link.
    wish.files.start.push_back(installation(fs::absolute(compiler)));
  }
  for (const char* const name : kLists) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    for (const std::string& one : split(value, ':')) {
      if (one.starts_with('/') && fs::path(one).lexically_normal() != "/") wish.files.start.push_back(one);
    }
  }
  wish.files.read = {"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/alternatives",
                     "/etc/localtime",   "/dev/urandom",       "/dev/zero",
                     "/proc/cpuinfo",    "/proc/meminfo",      "/sys/devices/system/cpu"};
  for (const fs::path& one : readable) wish.files.read.push_back(one);
  wish.files.write = {scratch};
  wish.files.devices = {"/dev/null"};
  wish.memory_bytes = kMostMemory;
  wish.file_bytes = kMostFile;
  wish.processor_seconds = static_cast<std::uint64_t>(kMostCompilingSeconds);
  wish.more_threads = kMostThreads;
  wish.is_shut_to_others = false;  // a program that is started anew is open again anyway
  // A compiler cache would keep its files elsewhere.
  return {
      .folder = scratch,
      .environment = kept_environment(kKept, {{"TMPDIR", scratch.string()}, {"CCACHE_DISABLE", "1"}, {"LC_ALL", "C"}}),
      .seconds = kMostCompilingSeconds,
      .confinement = std::move(wish)};
}

}  // namespace convladder

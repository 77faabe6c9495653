// A checksum of everything that decides how a compiler compiles the same sources.

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <system_error>

#include "harness/judge/builds/commit_build.hpp"
#include "ladders/compilers.hpp"
#include "ladders/program_output.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyDigits = 12;

/// The environment variables from which cmake and the compilers take options and paths.
constexpr const char* kVariables[] = {"CC",
                                      "CXX",
                                      "CUDACXX",
                                      "CUDAHOSTCXX",
                                      "CFLAGS",
                                      "CXXFLAGS",
                                      "CUDAFLAGS",
                                      "CPPFLAGS",
                                      "LDFLAGS",
                                      "CPATH",
                                      "C_INCLUDE_PATH",
                                      "CPLUS_INCLUDE_PATH",
                                      "LIBRARY_PATH",
                                      "CMAKE_PREFIX_PATH",
                                      "CMAKE_TOOLCHAIN_FILE",
                                      "CUDA_HOME",
                                      "CUDA_PATH",
                                      "NVCC_PREPEND_FLAGS",
                                      "NVCC_APPEND_FLAGS"};

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string find_compiler() {
  if (const std::string named = value_of("CXX"); !named.empty()) return is_program(named) ? named : on_the_path(named);
  for (const char* const name : {"c++", "g++", "clang++"}) {
    if (std::string found = on_the_path(name); !found.empty()) return found;
  }
  return {};
}

/// A program's path and version; "none" for an empty path.
std::string program_facts(const std::string& path) {
  if (path.empty()) return "none\n";
  ProgramSettings settings;
  settings.environment = environment_for_builds();
  std::error_code error;
  return fmt::format("{}\n{}\n", fs::canonical(path, error).string(), run_program({path, "--version"}, settings).text);
}

/// The processor's features: programs are compiled for this very processor, and machines that differ may share a home.
std::string processor_facts() {
  std::ifstream file("/proc/cpuinfo");
  std::string facts;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features"))
      facts += line + '\n';
  }
  return facts;
}

}  // namespace

std::string toolchain_key(const BuildSettings& settings) {
  const std::string cmake = on_the_path("cmake");
  const std::string compiler = find_compiler();
  if (cmake.empty()) {
    throw UserError("cmake was not found on the path, so no commit can be built ('scripts/setup.sh' installs it)");
  }
  if (compiler.empty() && value_of("CXX").empty()) {
    throw UserError(
        "no C++ compiler was found on the path, so no commit can be built ('scripts/setup.sh' installs one)");
  }
  std::string facts = "preset release\n";
  for (const std::string& option : settings.options) facts += option + '\n';
  for (const char* const name : kVariables) facts += fmt::format("{}={}\n", name, value_of(name));
  for (const std::string& path : {cmake, compiler, find_nvcc(), find_clang()}) facts += program_facts(path);
  facts += processor_facts();
  return sha256_hex(facts).substr(0, kKeyDigits);
}

}  // namespace convladder

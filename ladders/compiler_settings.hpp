// Confinement of a compiler while it compiles untrusted code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ladders/program_output.hpp"

namespace convladder {

/// The time limit of one compilation: nvcc takes seconds for a small source, and many times that on a busy machine.
inline constexpr double kMostCompilingSeconds = 300;

/// The folders of the system's programs, with what these read: for a process that may start some.
std::vector<std::string> program_folders();

/// The settings for running the compiler at the path `compiler`. It can read the headers, libraries and programs of
/// this machine, the files installed with the compiler, the paths in the usual variables (CPATH, LIBRARY_PATH,
/// CUDA_HOME, …) and `readable`; so `#include "/etc/passwd"` and .incbin find nothing that an error message could show.
/// It writes to `scratch` only, which holds its temporary files too. It has no network, and limits of time, memory and
/// file size.
ProgramSettings compiler_settings(const std::string& compiler, const std::vector<std::filesystem::path>& readable,
                                  const std::filesystem::path& scratch);

}  // namespace convladder

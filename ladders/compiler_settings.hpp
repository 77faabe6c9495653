// What a compiler gets to see where it compiles what a stranger wrote.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ladders/program_output.hpp"

namespace convladder {

/// nvcc takes seconds for what is small, and many times that on a machine that is busy with others.
inline constexpr double kMostCompilingSeconds = 300;

/// It can read the headers, libraries and programs of this machine, what stands with the compiler, what the usual
/// variables name (CPATH, LIBRARY_PATH, CUDA_HOME, …) and `readable`; so `#include "/etc/passwd"` and .incbin find
/// nothing to be told in an error. It writes to `scratch` only, which holds its temporary files too. It has no network,
/// and limits of time, memory and the size of a file. `compiler` is its path.
ProgramSettings compiler_settings(const std::string& compiler, const std::vector<std::filesystem::path>& readable,
                                  const std::filesystem::path& scratch);

}  // namespace convladder

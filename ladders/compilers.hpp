// The compilers of this machine, and their error messages.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// Whether the path is a file that can be started.
bool is_program(const std::string& path);
/// The program's path; empty if it is nowhere on the path.
std::string on_the_path(const std::string& name);

/// The path of nvcc, found on the path, in CUDA_HOME or in /usr/local/cuda; empty if it is in none of them.
std::string find_nvcc();
/// The path of clang++, or of clang++-14 or later, found on the path; empty if there is none.
std::string find_clang();

/// The system's Python. Others on the path may be without packages.
inline constexpr const char* kSystemPython = "/usr/bin/python3";
/// The Python that the environment variable PYTHON names, or /usr/bin/python3: a path, or a name on the path.
std::string python();
/// Its path; empty if it is nowhere.
std::string find_python();

/// The first line with an error, and how many more lines there are; without such a line the first line of all.
std::string first_compiler_error(std::string_view messages);

}  // namespace convladder

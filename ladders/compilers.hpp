// The compilers of this machine, and what they say.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// Whether it is a file that can be started.
bool is_program(const std::string& path);
/// The program's path; empty if it is nowhere on the path.
std::string on_the_path(const std::string& name);

/// On the path, in CUDA_HOME and in /usr/local/cuda; empty if it is in none of them.
std::string find_nvcc();
/// clang++, or clang++-14 and later, on the path; empty if there is none.
std::string find_clang();

/// The first line with an error, and how many lines more there are; any other first line where none says so.
std::string first_compiler_error(std::string_view messages);

}  // namespace convladder

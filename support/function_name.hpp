// The names of functions as a person wrote them.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// The name without the return type, the parameters, and additions of compilers: "int (anonymous
/// namespace)::find<4>(char) const" is "(anonymous namespace)::find<4>". Takes the output of a demangler; the name of a
/// variable, or a text that is a name already, comes back unchanged.
std::string function_name(std::string_view demangled);

/// A name in PTX without the prefix by which nvcc distinguishes static kernels of several files.
std::string_view without_file_prefix(std::string_view mangled);

}  // namespace convladder

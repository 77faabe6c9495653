// The names of functions as a person wrote them.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// Without the return type, the parameters, and what compilers add: "int (anonymous namespace)::find<4>(char) const" is
/// "(anonymous namespace)::find<4>". Takes what a demangler gives; the name of a variable, or what is a name already,
/// comes back unchanged.
std::string function_name(std::string_view demangled);

/// A name in PTX without what nvcc puts before it to tell static kernels of several files apart.
std::string_view without_file_prefix(std::string_view mangled);

}  // namespace convladder

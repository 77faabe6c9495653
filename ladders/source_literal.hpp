// A text as a literal of C++.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// The text as C++ writes it, in as many pieces as keep lines readable for a compiler.
std::string source_literal(std::string_view text);

}  // namespace convladder

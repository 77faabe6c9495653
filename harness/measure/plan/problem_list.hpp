// The problems of this build with their variants, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace convladder {

/// [{"name", "title", "dimensions", "default_sizes", "variants": [{"family", "rung", "name", "title"}]}]
nlohmann::ordered_json problems_json();

/// The problems as text: a line for each problem, and one for each of its variants; those of the convolution, which
/// have lines of their own, are left out.
std::string problem_lines();

}  // namespace convladder

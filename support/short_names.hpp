// Names of templates for tables and messages: without what is the same in all of them.
#pragma once

#include <map>
#include <set>
#include <string>

namespace convladder {

/// Short forms of those names that are longer than `most` characters, each different from the others: of instances of
/// one template only the arguments stay in which they differ, "gemm<…, float, …>", and of a template with one instance
/// none, "gemm<…>". Shorter names are not in the result.
std::map<std::string, std::string> short_names(const std::set<std::string>& names, std::size_t most = 60);

}  // namespace convladder

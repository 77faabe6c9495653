// Lines of source, for people who look at figures of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace convladder {

/// The lines of a text file; empty where it cannot be read, and for one that is too large for a source.
std::vector<std::string> source_lines(const std::filesystem::path& path);

/// The line without its indentation and control characters; one of more than `most` bytes is cut and ends in "...".
std::string short_source(const std::string& line, std::size_t most);

}  // namespace convladder

// The ladders that come with the program as folders, and the template of a new one: their files are built in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/embedded_file.hpp"

namespace convladder {

/// A folder as it would lie on a disk; the files' names are without it.
struct LibraryLadder {
  std::string name;   ///< its problem's: "matrix-multiplication"
  std::string title;  ///< likewise
  std::vector<EmbeddedFile> files;
};

/// By name.
const std::vector<LibraryLadder>& ladder_library();
/// nullptr if none is called that.
const LibraryLadder* find_in_library(std::string_view name);

/// What `convladder new` begins with.
const LibraryLadder& ladder_template();

/// Writes all files of it into a folder that is made for them. Throws UserError if there is something of that name.
void write_ladder(const LibraryLadder& ladder, const std::filesystem::path& folder);

/// A folder with exactly these files, in `cache`, written where it is missing. Throws UserError.
std::filesystem::path unpacked_ladder(const LibraryLadder& ladder, const std::filesystem::path& cache);

}  // namespace convladder

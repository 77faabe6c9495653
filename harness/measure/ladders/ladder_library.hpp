// The ladders that come with the program as folders, and the template of a new one: their files are built in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_bytes.hpp"

namespace convladder {

/// A folder as it would lie on a disk; the files' names are without it.
struct LibraryLadder {
  std::string name;   ///< its problem's name: "matrix-multiplication"
  std::string title;  ///< its problem's title
  std::vector<EmbeddedFile> files;
};

/// The ladders, by name.
const std::vector<LibraryLadder>& ladder_library();
/// The ladder of that name; nullptr if there is none.
const LibraryLadder* find_in_library(std::string_view name);

/// The ladder whose files `convladder new` copies.
const LibraryLadder& ladder_template();

/// Writes all of the ladder's files into a new folder. Throws UserError if the name is taken.
void write_ladder(const LibraryLadder& ladder, const std::filesystem::path& folder);

/// A folder in `cache` with exactly these files, written where it is missing. Throws UserError.
std::filesystem::path unpacked_ladder(const LibraryLadder& ladder, const std::filesystem::path& cache);

}  // namespace convladder

// Where compiled stages are kept.
#pragma once

#include <filesystem>

namespace convladder {

/// $XDG_CACHE_HOME/convladder/stages, or ~/.cache/convladder/stages. Where there is no home, or none that will do, a
/// folder below the one for temporary files. What is in it is loaded, so it belongs to this user, the folders above it
/// to this user or root, and nobody else can write in any of them; sticky folders above it aside. It is made if it is
/// not there. Throws UserError where that is not so of the folder that XDG_CACHE_HOME names, or of the last resort.
std::filesystem::path default_stage_cache();

/// Whether a file in the cache is there, and this user's.
bool is_file_of_ones_own(const std::filesystem::path& file);

}  // namespace convladder

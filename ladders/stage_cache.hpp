// Where compiled stages are kept.
#pragma once

#include <filesystem>

namespace convladder {

/// $XDG_CACHE_HOME/convladder/stages, or ~/.cache/convladder/stages. Where there is no home, or nothing can be written
/// in it, a folder below the one for temporary files that belongs to this user alone: the libraries in it are loaded.
/// Throws UserError if somebody else owns a folder of that name.
std::filesystem::path default_stage_cache();

}  // namespace convladder

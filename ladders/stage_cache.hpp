// Where compiled stages are kept.
#pragma once

#include <filesystem>

namespace convladder {

/// $XDG_CACHE_HOME/convladder/stages, or ~/.cache/convladder/stages. Where there is no home, or nothing can be written
/// in it, a folder in that for temporary files, which is the user's own and nobody else's: what lies there is loaded.
/// Throws UserError if somebody else has one of its name.
std::filesystem::path default_stage_cache();

}  // namespace convladder

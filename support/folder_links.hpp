// Symbolic links in a folder that somebody else may have made: they may lead to other places in it, and nowhere else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convladder {

/// Whether `path` is `folder` or lies below it; both are canonical.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Why a path may not be followed, as it follows "FILE: ", or empty where it may: all links followed, it has to lead
/// into one of the canonical `folders`.
std::string why_not_followed(const std::filesystem::path& path, const std::vector<std::filesystem::path>& folders);

/// Throws UserError, one line, for the first link below `folder` that leads out of it and of `others`, nowhere or in a
/// circle, or for a folder with more than 100,000 entries. Hidden folders are left aside, and so are hidden links that
/// lead nowhere, such as editors make.
void require_links_inside(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& others = {});

}  // namespace convladder

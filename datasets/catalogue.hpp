// The data sets that are known by checksum, and the folders they are found in.
#pragma once

#include <filesystem>
#include <optional>

#include "datasets/image_set.hpp"

namespace convladder {

/// Which half of a data set.
enum class Split { test, train };

/// Loads a pair of IDX files (see idx_reader.hpp), gzip or plain:
///     *-images-idx3-ubyte[.gz]  with its  *-labels-idx1-ubyte[.gz]      (or "images.idx3-ubyte", "labels.idx1-ubyte")
/// Split::test takes the pair "t10k", or "train" where there is none; Split::train takes "train" only. A folder without
/// either may hold one pair of another name, which then serves as both.
///
/// `name` and `class_names` come from the catalogue, by the checksum of the image file; a file it does not know is
/// called "unknown IDX files" and has no class names. Known images with other labels than their own are refused.
/// Throws UserError, one line: what is wrong with a file, or which names were looked for in vain.
ImageSet load_image_folder(const std::filesystem::path& folder, Split split = Split::test);

/// $XDG_CACHE_HOME/convladder, or ~/.cache/convladder. Empty if neither variable is an absolute path.
std::filesystem::path user_cache_folder();

/// Where scripts/fetch_datasets.sh puts its downloads, a folder per set:
/// `datasets` in user_cache_folder(), or empty if there is none.
std::filesystem::path default_cache_folder();

/// The first of <cache>/fashion-mnist and <cache>/mnist that holds IDX image files.
/// Throws UserError if one is there but cannot be read.
std::optional<std::filesystem::path> find_cached_folder(const std::filesystem::path& cache = default_cache_folder());

}  // namespace convladder

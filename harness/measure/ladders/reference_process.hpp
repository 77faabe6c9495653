// A folder's reference, in a process of its own: what it is wrong about, or crashes with, is said in one line, and no
// case's process ever holds it.
#pragma once

#include <filesystem>

#include "ladders/folder_problem.hpp"

namespace convladder {

/// `file` is the reference.py, or the library that was built of a reference.cpp; `name` is what messages call it. The
/// process starts with the first call and lasts as long as what is returned. `cache` is a folder for what is needed on
/// the way. Calls throw UserError.
LadderReference reference_process(const std::filesystem::path& file, const std::string& name,
                                  const std::filesystem::path& cache);

}  // namespace convladder

// A folder's reference, in a process of its own: its errors and crashes are reported in one line, and no case's process
// ever holds it.
#pragma once

#include <filesystem>

#include "harness/measure/isolation/child_process.hpp"
#include "ladders/folder_problem.hpp"

namespace convladder {

/// Starts a reference. `file` is the reference.py, or the library that was built from a reference.cpp; `name` is what
/// messages call it. The process starts with the first call and lasts as long as the returned object. `cache` is a
/// folder for the files that are needed on the way. With `Trust::foreign` the process is confined as that of a stage
/// is: somebody else has written the reference. Calls throw UserError.
LadderReference reference_process(const std::filesystem::path& file, const std::string& name,
                                  const std::filesystem::path& cache, Trust trust = Trust::own);

}  // namespace convladder

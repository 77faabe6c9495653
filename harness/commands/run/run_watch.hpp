// `convladder run FOLDER --watch`: a verdict on each stage as soon as it is saved.
#pragma once

#include "harness/measure/plan/options.hpp"

namespace convladder {

/// Watches the folder until an interrupt. A stage that was saved is compiled, verified and timed in turns with its
/// last right version, on the quickest of the sizes; a line says what became of it. A change of another source in the
/// folder does the same for all stages, without a version before. Returns the exit code. Throws UserError for options
/// without a folder.
int watch_ladder(const RunOptions& options);

}  // namespace convladder

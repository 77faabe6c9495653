// The ladder that a command is given: a folder of the user's own, or a problem by its name.
#pragma once

#include <string>

#include "harness/plan/options.hpp"
#include "ladders/folder_problem.hpp"

namespace convladder {

/// What `convladder run LADDER` says, into the options: a folder with a problem.json, or the name of a problem that is
/// built in. Throws UserError for what is neither.
void choose_ladder(RunOptions& options, const std::string& word);

/// The folder that the options name, opened when it is first asked for: everything in it is compiled then, with its
/// progress on the terminal. Throws UserError.
const FolderProblem& ladder_of(const RunOptions& options);

}  // namespace convladder

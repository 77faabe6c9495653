// The ladder argument of a command: a folder of the user's own, or a problem by its name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/measure/plan/options.hpp"
#include "ladders/folder_problem.hpp"

namespace convladder {

/// The argument's description in every command's help.
inline constexpr const char* kLadderHelp = "a folder of yours with a problem.json, or the name of a problem";

/// Sets the options for `convladder run LADDER`, where LADDER is a folder with a problem.json, or the name of a problem
/// that is built in. Throws UserError for anything else.
void choose_ladder(RunOptions& options, const std::string& word);

/// The path of the folder that the options name. A ladder that comes with the program is written to a place where its
/// files can be compiled. Throws UserError.
std::filesystem::path ladder_folder_of(const RunOptions& options);

/// The problem of the folder that the options name, opened when it is first asked for: then everything in it is
/// compiled, with progress on the terminal. Throws UserError.
const FolderProblem& ladder_of(const RunOptions& options);

/// Makes the files of --with absolute, as records have them: wherever a run is resumed, they are the same.
void make_absolute(std::vector<std::string>& files);

/// The stages from outside (--with), compiled when they are first asked for. Throws UserError.
const std::vector<ProblemVariant>& stages_with(const std::vector<std::string>& files);

}  // namespace convladder

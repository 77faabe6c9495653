// A folder of submissions: one entry a person, NAME.cpp, NAME.cu, or NAME/ with a source that is a stage. What people
// are called and what their sources say is theirs: nothing of it is run or compiled here, and no name of a file that
// they chose for a source comes onto a command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ladders/problem_file.hpp"
#include "ladders/stage_source.hpp"

namespace convladder {

struct Submission {
  std::string name;              ///< printable; no other of its family has it
  std::string family;            ///< "cpu" or "cuda"; empty if it cannot be said
  std::string file;              ///< its source below the folder of submissions, printable; empty if it has none
  std::string content;           ///< SHA-256 of all its sources with their names; empty if they could not be read
  std::filesystem::path folder;  ///< a copy of its sources, by `content`, of which `source.file` is the stage
  StageSource source;            ///< called `name`
  std::string broken;            ///< why there is nothing to compile, in one line; empty if there is
};

struct Submissions {
  std::vector<Submission> all;          ///< by name
  std::vector<std::string> left_alone;  ///< entries that are neither a source nor a folder, printable
};

/// Reads them and copies each one's sources below `copies`, where they stand alone: a submission cannot include
/// another. Of a folder, sources and headers below it are copied, hidden folders are not. A stage is solve.cpp or
/// solve.cu, otherwise what is called like one (02_tiles.cpp), otherwise the only source. One who has a C++ and a CUDA
/// stage has two submissions. Links to what lies outside of the entry make it broken. Throws UserError for a folder
/// that cannot be read or holds none, and where nothing can be copied.
Submissions read_submissions(const std::filesystem::path& folder, const LadderProblem& problem,
                             const std::filesystem::path& copies);

/// SHA-256 of a stage of the ladder with what it may include: the folder's sources that are neither stages nor the
/// reference, wherever the folder lies. Empty where they cannot be read, or are too many.
std::string content_of_stage(const std::filesystem::path& ladder, const StageSource& stage);

}  // namespace convladder

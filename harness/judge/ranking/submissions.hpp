// A folder of submissions: one entry per person, NAME.cpp, NAME.cu, or NAME/ with a source that is a stage. Names and
// sources are untrusted: nothing is run or compiled here, and no file name that a person chose for a source gets onto a
// command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ladders/problem_file.hpp"
#include "ladders/stage_source.hpp"

namespace convladder {

struct Submission {
  std::string name;              ///< printable, and unique in its family
  std::string family;            ///< "cpu" or "cuda"; empty if unknown
  std::string file;              ///< its source below the folder of submissions, printable; empty if it has none
  std::string content;           ///< SHA-256 of all its sources with their names; empty if they could not be read
  std::filesystem::path folder;  ///< a copy of its sources, by `content`; `source.file` in it is the stage
  StageSource source;            ///< has the name `name`
  std::string broken;            ///< why there is nothing to compile, in one line; empty if there is
};

struct Submissions {
  std::vector<Submission> all;          ///< by name
  std::vector<std::string> left_alone;  ///< entries that are neither a source nor a folder, printable
};

/// Reads the submissions and copies each one's sources below `copies`, where they stand alone: a submission cannot
/// include another. From a folder, the sources and headers below it are copied, except hidden folders. A stage is
/// solve.cpp or solve.cu, otherwise a source with a stage's name (02_tiles.cpp), otherwise the only source. A person
/// with a C++ and a CUDA stage has two submissions. Links within the entry are
/// followed; one that leads out of it, nowhere or in a circle makes it broken. Throws UserError for a folder that
/// cannot be read or holds none, and where nothing can be copied.
Submissions read_submissions(const std::filesystem::path& folder, const LadderProblem& problem,
                             const std::filesystem::path& copies);

/// The SHA-256 of a stage of the ladder with everything it may include: the folder's sources that are neither stages
/// nor the reference, wherever the folder lies. Empty where they cannot be read, or are too many.
std::string content_of_stage(const std::filesystem::path& ladder, const StageSource& stage);

}  // namespace convladder

// A folder that is a ladder: problem.json, a float64 reference, and stages.
//
//   softmax/
//     problem.json       what is computed
//     reference.cpp      or reference.py: in float64, by the definition
//     01_naive.cu        stages, by their rungs
//     02_rows.cpp
//     library_onednn.cpp what stands beside the ladder
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ladders/problem_file.hpp"
#include "ladders/stage_source.hpp"

namespace convladder {

struct LadderFolder {
  std::filesystem::path path;
  LadderProblem problem;
  std::string reference;                                    ///< the file's name
  std::vector<StageSource> stages;                          ///< by language, then rung; libraries last
  std::vector<std::filesystem::path> include_folders = {};  ///< the problem's, absolute
};

/// Whether the folder has a problem.json, of whatever kind.
bool is_ladder_folder(const std::filesystem::path& path);

/// Reads the folder's problem.json alone. Throws UserError as `read_ladder_folder` does.
LadderProblem read_ladder_problem(const std::filesystem::path& path);

/// Whether a folder needs stages of its own; it does not where stages are added from elsewhere.
enum class OwnStages { required, optional };

/// Reads the whole folder; nothing is compiled. Other files are the user's own and are left alone. Throws UserError,
/// one line that names the file, for what is missing, contradicts itself or lies outside of the folder. Only its
/// include folders lie outside, beside it.
LadderFolder read_ladder_folder(const std::filesystem::path& path, OwnStages own = OwnStages::required);

}  // namespace convladder

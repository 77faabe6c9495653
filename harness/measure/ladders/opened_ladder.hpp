// A folder as a problem of this process: read, compiled, and known by its name from then on.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladders/compiled_stage.hpp"
#include "ladders/folder_problem.hpp"

namespace convladder {

/// The progress of compiling: the file that is compiled now, and how many are done of how many.
using BuildProgress = std::function<void(const std::string& file, int done, int all)>;

/// Reads the folder, compiles its stages and its reference on all cores, unless they are compiled already, and makes
/// the problem known (open_problem). Stages that do not compile are there with the reason. Throws UserError for a
/// folder that holds no problem, and for a reference that does not compile.
const FolderProblem& open_ladder(const std::filesystem::path& folder, const BuildProgress& progress);

/// A stage from another folder, for a folder's problem. Its texts are written by untrusted people.
struct AddedStage {
  std::filesystem::path folder;
  StageSource source;  ///< its needs are expressions of the problem's dimensions; its name differs from all others of
                       ///< its family
  std::string builds_on = {};  ///< the folder's stage below it, where it stands on the ladder
  std::vector<std::filesystem::path> include_folders = {};  ///< absolute, besides its own
};

/// As `open_ladder`, with such stages after the folder's own; then the folder may have none of its own.
const FolderProblem& open_ladder_with(const std::filesystem::path& folder, const std::vector<AddedStage>& added,
                                      const BuildProgress& progress);

/// As `open_ladder`, without any stage: only the reference is compiled.
const FolderProblem& open_ladder_alone(const std::filesystem::path& folder, const BuildProgress& progress);

/// Opens, in a case's process, the problem of that text, without reference and stages.
const FolderProblem& open_ladder_text(const std::string& text);

/// From what a case's process opens its stage.
struct StageToLoad {
  std::string family;   ///< "cpu" or "cuda"
  std::string variant;  ///< the stage's name
  std::string library;  ///< its file
  std::string choice;
  static void each_field(auto&& field, auto& its) {
    field("family", its.family, "variant", its.variant, "library", its.library, "choice", its.choice);
  }
};
StageToLoad stage_to_load(const CompiledStage& stage);
/// The stage, in a case's process.
std::unique_ptr<Variant> served_stage(const FolderProblem& folder, const StageToLoad& stage);

/// Why a device that executes PTX cannot run the stage, in one line; empty if it can.
std::string why_not_executed(const CompiledStage& stage);

}  // namespace convladder

// A folder as a problem of this process: read, compiled, and known by its name from then on.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ladders/folder_problem.hpp"
#include "ladders/folder_variant.hpp"

namespace convladder {

/// How far compiling is: what is compiled now, and how many are done of how many.
using BuildProgress = std::function<void(const std::string& file, int done, int all)>;

/// Reads the folder, compiles its stages and its reference on all cores, as far as they are not compiled already, and
/// makes the problem known (open_problem). Stages that do not compile are there with the reason. Throws UserError for a
/// folder that is none, and for a reference that does not compile.
const FolderProblem& open_ladder(const std::filesystem::path& folder, const BuildProgress& progress);

/// A stage that lies elsewhere, for a folder's problem. Its texts are of people who are not asked.
struct AddedStage {
  std::filesystem::path folder;
  StageSource source;  ///< its needs are expressions of the problem's dimensions; its name is of no other of its family
};

/// The same with such stages, behind the folder's own; it needs none of its own then.
const FolderProblem& open_ladder_with(const std::filesystem::path& folder, const std::vector<AddedStage>& added,
                                      const BuildProgress& progress);

/// In a case's process: the same problem from its text, without reference and stages.
const FolderProblem& open_ladder_text(const std::string& text);

/// What a case's process needs to know of the stage that it is of, and the stage there.
nlohmann::ordered_json stage_hello(const FolderVariant& stage);
std::unique_ptr<FolderVariant> served_stage(const FolderProblem& folder, const nlohmann::ordered_json& hello);

/// Why a device that executes PTX cannot run the stage, in one line; empty if it can.
std::string why_not_executed(const FolderVariant& stage);

}  // namespace convladder

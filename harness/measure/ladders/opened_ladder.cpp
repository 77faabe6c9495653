#include "harness/measure/ladders/opened_ladder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/all_cores.hpp"
#include "harness/measure/ladders/reference_process.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/stage_build.hpp"
#include "ladders/stage_cache.hpp"
#include "simulator/stand_in/libraries.hpp"
#include "simulator/stand_in/report/libraries_without_ptx.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "variants/problem_size.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// Compiles the folder's stages, those that are added, and last the reference, if that is C++.
std::vector<StageBuild> build_all(const LadderFolder& folder, const std::vector<AddedStage>& added,
                                  const fs::path& cache, const BuildProgress& progress) {
  const StageBuilder builder(cache);
  const bool with_reference = folder.reference.ends_with(".cpp");
  const std::size_t own = folder.stages.size();
  const std::size_t stages = own + added.size();
  const std::size_t count = stages + (with_reference ? 1 : 0);
  std::vector<StageBuild> builds(count);
  std::mutex lock;
  int done = 0;
  on_all_cores(count, [&](std::size_t at) {
    // The reference first: it is needed for everything.
    const std::size_t which = with_reference ? (at + count - 1) % count : at;
    {
      const std::scoped_lock locked(lock);
      const std::string& what = which < own      ? folder.stages[which].file
                                : which < stages ? added[which - own].source.name
                                                 : folder.reference;
      progress(what, done, static_cast<int>(count));
    }
    if (which < own) {
      builds[which] = builder.build(folder, folder.stages[which], {});
    } else if (which < stages) {
      const AddedStage& one = added[which - own];
      builds[which] = builder.build({one.folder, folder.problem, {}, {}, one.include_folders}, one.source, {});
    } else {
      builds[which] = builder.build_reference(folder);
    }
    const std::scoped_lock locked(lock);
    ++done;
  });
  return builds;
}

/// The name of the stage below: the one that the head names, or the one before.
std::string_view below(const LadderFolder& folder, std::size_t which, const std::vector<const CompiledStage*>& built) {
  const StageSource& stage = folder.stages[which];
  const StageSource* found = nullptr;
  for (const CompiledStage* const one : built) {
    const StageSource& other = one->source;
    if (other.is_cuda() != stage.is_cuda() || other.rung == 0) continue;
    const bool is_below = stage.builds_on.empty() ? stage.rung > 0 && other.rung < stage.rung &&
                                                        (found == nullptr || other.rung > found->rung)
                                                  : other.name == stage.builds_on;
    if (is_below) found = &other;
  }
  return found == nullptr ? std::string_view() : std::string_view(found->name);
}

/// Checks the sizes that are run by default, before anything is compiled for them.
void require_sizes(const Problem& problem, const std::vector<std::string>& sizes, const std::string& place) {
  for (const std::string& size : sizes) {
    try {
      static_cast<void>(parse_size(problem, size));
    } catch (const std::invalid_argument& error) {
      throw UserError(fmt::format("{}: {}", place, error.what()));
    }
  }
}

/// The parameters that a stage takes if none are chosen: "TILE=8,WIDTH=2".
std::string first_values(const StageSource& stage) {
  std::vector<Parameter> values;
  for (const StageParameter& one : stage.parameters) values.push_back({one.name, one.values.front()});
  return Configuration(std::move(values)).text();
}

/// Whether another user than this program's could have written what is there.
bool belongs_to_another(const fs::path& path) {
  struct stat state {};
  return stat(path.c_str(), &state) == 0 && state.st_uid != getuid();
}

const FolderProblem& open_folder(const LadderFolder& folder, const std::vector<AddedStage>& added,
                                 const BuildProgress& progress) {
  const fs::path& path = folder.path;
  const std::string file = (path / "problem.json").string();
  auto problem = std::make_unique<FolderProblem>(read_file_text(file), file);
  require_sizes(*problem, problem->default_sizes(), printable(file) + ": sizes");
  require_sizes(*problem, problem->counted_sizes(), printable(file) + ": counted_sizes");
  const fs::path cache = default_stage_cache();
  std::vector<StageBuild> builds = build_all(folder, added, cache, progress);

  const fs::path reference = path / folder.reference;
  fs::path served = fs::absolute(reference);
  const bool has_built = builds.size() > folder.stages.size() + added.size();
  std::string identity = has_built ? content_of(builds.back()) : sha256_hex(read_file_text(reference.string()));
  if (has_built) {
    const StageBuild& build = builds.back();
    if (build.library.empty()) {
      const std::string& why = build.missing.empty() ? build.error : build.missing;
      throw UserError(fmt::format("{}: {}", printable(reference.string()), why));
    }
    served = build.library;
  }
  const Trust trust = belongs_to_another(path) || belongs_to_another(reference) ? Trust::foreign : Trust::own;
  problem->set_reference(reference_process(served, printable(reference.string()), cache, trust),
                         fmt::format("float64, by {}", folder.reference), std::move(identity));

  const auto shared = std::make_shared<const LadderFolder>(folder);
  std::vector<const Variant*> kept;
  std::vector<const CompiledStage*> built;
  const auto keep = [&](CompiledStage stage, StageBuilds builds_of_stage) {
    kept.push_back(&keep_variant(stage_variant(std::move(stage), std::move(builds_of_stage))));
    built.push_back(kept.back()->compiled_stage());
  };
  for (std::size_t i = 0; i < folder.stages.size(); ++i) {
    const StageSource& source = folder.stages[i];
    keep({problem.get(), source, std::move(builds[i]), first_values(source), folder.path},
         [shared, i, cache](const StageDefinitions& definitions) {
           return StageBuilder(cache).build(*shared, shared->stages[i], definitions);
         });
  }
  std::vector<ProblemVariant> variants;
  for (std::size_t i = 0; i < built.size(); ++i) {
    variants.push_back({info_of(*built[i], below(folder, i, built)), problem.get(), kept[i]});
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    keep({problem.get(), added[i].source, std::move(builds[folder.stages.size() + i]), {}, added[i].folder}, {});
    const auto below = std::ranges::find_if(built, [&](const CompiledStage* one) {
      return one->source.name == added[i].builds_on && one->source.is_cuda() == added[i].source.is_cuda();
    });
    const std::string_view builds_on = below == built.end() ? std::string_view() : (*below)->source.name;
    variants.push_back({info_of(*built.back(), builds_on), problem.get(), kept.back()});
  }
  problem->set_variants(std::move(variants));
  return dynamic_cast<const FolderProblem&>(open_problem(std::move(problem)));
}

}  // namespace

const FolderProblem& open_ladder(const fs::path& path, const BuildProgress& progress) {
  return open_folder(read_ladder_folder(path), {}, progress);
}

const FolderProblem& open_ladder_with(const fs::path& path, const std::vector<AddedStage>& added,
                                      const BuildProgress& progress) {
  return open_folder(read_ladder_folder(path, OwnStages::optional), added, progress);
}

const FolderProblem& open_ladder_alone(const fs::path& path, const BuildProgress& progress) {
  LadderFolder folder = read_ladder_folder(path, OwnStages::optional);
  folder.stages.clear();
  return open_folder(folder, {}, progress);
}

const FolderProblem& open_ladder_text(const std::string& text) {
  return dynamic_cast<const FolderProblem&>(open_problem(std::make_unique<FolderProblem>(text, "problem.json")));
}

StageToLoad stage_to_load(const CompiledStage& stage) {
  return {.family = stage.source.family(),
          .variant = stage.source.name,
          .library = stage.build.library.string(),
          .choice = stage.choice};
}

std::unique_ptr<Variant> served_stage(const FolderProblem& folder, const StageToLoad& stage) {
  StageSource source;
  source.name = stage.variant;
  source.language = stage.family == "cpu" ? StageLanguage::cpp : StageLanguage::cuda;
  return stage_variant({&folder, std::move(source), {.library = stage.library}, stage.choice});
}

std::string why_not_executed(const CompiledStage& stage) {
  if (!stage.source.is_cuda()) return {};
  for (const std::string& library : stage.source.libraries) {
    if (!stand_in::holds_no_ptx("lib" + library)) continue;
    return fmt::format("it uses lib{}: NVIDIA's libraries hold no PTX to execute", library);
  }
  return stand_in::find_libraries().empty() ? "this build has no stand-in for the CUDA runtime" : "";
}

}  // namespace convladder

#include "harness/judge/ranking/rank_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "harness/measure/plan/arguments.hpp"
#include "ladders/ladder_folder.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// A message without the path of a copy's folder, which means nothing to its reader.
std::string without_folder(std::string message, const fs::path& folder) {
  const std::string prefix = folder.string() + "/";
  for (std::size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix, at)) {
    message.erase(at, prefix.size());
  }
  return message;
}

/// The family of most submissions, for a broken one of unknown language.
std::string usual_family(const std::vector<Submission>& all) {
  const auto of_cuda = std::ranges::count(all, "cuda", &Submission::family);
  return of_cuda > std::ranges::count(all, "cpu", &Submission::family) ? "cuda" : "cpu";
}

/// The checksum of a stage's sources, or of its library where those cannot be read.
std::string content_of(const fs::path& ladder, const CompiledStage& stage) {
  const fs::path& library = stage.build.library;
  if (library.empty()) return {};
  std::string content = content_of_stage(ladder, stage.source);
  return content.empty() ? sha256_hex(read_file_text(library.string())) : content;
}

RankEntry entry_of(const fs::path& ladder, const CompiledStage& stage, const Submission* submission) {
  const StageSource& source = stage.source;
  RankEntry entry;
  if (submission == nullptr) {
    entry = {.role = source.rung == 0 ? RankRole::library : RankRole::stage,
             .name = source.name,
             .file = source.file,
             .content = content_of(ladder, stage),
             .broken = {},
             .cases = {}};
  } else {
    // The library's name shows how it was compiled, and what its source was called.
    const std::string how = stage.build.library.stem().string();
    entry = {.role = RankRole::submission,
             .name = submission->name,
             .file = submission->file,
             .content = sha256_hex(submission->content + how),
             .broken = {},
             .cases = {}};
  }
  if (!stage.build.error.empty()) {
    entry.broken = submission == nullptr ? stage.build.error : without_folder(stage.build.error, submission->folder);
  }
  return entry;
}

/// Assigns the cases of the plan's groups to the entries of the rankings.
class Rankings {
 public:
  Rankings(RankPlan& plan, fs::path ladder, const std::vector<Submission>& submissions, std::string usual_family)
      : plan_(plan), ladder_(std::move(ladder)), submissions_(submissions), usual_family_(std::move(usual_family)) {}

  void add_ranking(const std::string& family, const std::string& device) {
    const DeviceKind& kind = find_device_kind(device);
    RankingPlan ranking;
    ranking.family = family;
    ranking.device = device;
    ranking.has_clock = kind.has_clock;
    ranking.virtual_clock = kind.clock_is_virtual();
    const std::vector<ProblemVariant>& variants = plan_.problem->variants();
    std::size_t built = 0;  // counts submissions that are variants; these follow the folder's own variants
    const std::size_t own = variants.size() - count_compiled();
    for (std::size_t i = 0; i < own; ++i) {
      if (variants[i].info.family != family) continue;
      places_[variants[i].variant] = {plan_.rankings.size(), false, ranking.own.size()};
      ranking.own.push_back(entry_of(ladder_, *variants[i].variant->compiled_stage(), nullptr));
    }
    for (const Submission& one : submissions_) {
      const Variant* const variant = one.broken.empty() ? variants[own + built++].variant : nullptr;
      if ((one.family.empty() ? usual_family_ : one.family) != family) continue;
      if (variant == nullptr) {
        ranking.submissions.push_back({RankRole::submission, one.name, one.file, {}, one.broken, {}});
        continue;
      }
      places_[variant] = {plan_.rankings.size(), true, ranking.submissions.size()};
      ranking.submissions.push_back(entry_of(ladder_, *variant->compiled_stage(), &one));
    }
    plan_.rankings.push_back(std::move(ranking));
  }

  void add_group(const CaseGroup& group) {
    for (const PlannedCase& planned : group.cases) {
      const auto place = places_.find(planned.variant.variant);
      if (place == places_.end()) continue;
      RankingPlan& ranking = plan_.rankings[place->second.ranking];
      if (ranking.device != group.device) continue;
      if (ranking.sizes.empty() || ranking.sizes.back().name() != group.work.name()) {
        ranking.sizes.push_back(group.work);
      }
      auto& entries = place->second.is_submission ? ranking.submissions : ranking.own;
      RankEntry& entry = entries[place->second.entry];
      PlannedCase of_entry = planned;
      of_entry.id = fmt::format("{}/{}/{}/{}", ranking.device, role_name(entry.role), entry.name, group.work.layer);
      entry.cases.push_back(std::move(of_entry));
    }
  }

 private:
  struct Place {
    std::size_t ranking;
    bool is_submission;
    std::size_t entry;
  };

  std::size_t count_compiled() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(submissions_, [](const Submission& one) { return one.broken.empty(); }));
  }

  RankPlan& plan_;
  fs::path ladder_;
  const std::vector<Submission>& submissions_;
  std::string usual_family_;
  std::map<const Variant*, Place> places_;
};

}  // namespace

const char* role_name(RankRole role) {
  if (role == RankRole::submission) return "submission";
  return role == RankRole::stage ? "stage" : "library";
}

RankPlan make_rank_plan(const RankOptions& options, const BuildProgress& progress) {
  const fs::path path = options.run.ladder;
  const LadderFolder folder = read_ladder_folder(path, OwnStages::optional);
  Submissions submissions =
      read_submissions(options.submissions, folder.problem, default_stage_cache() / "submissions");
  std::vector<AddedStage> added;
  for (const Submission& one : submissions.all) {
    if (one.broken.empty()) added.push_back({one.folder, one.source});
  }

  RankPlan plan;
  plan.problem = &open_ladder_with(path, added, progress);
  plan.problem_hash = sha256_hex(read_file_text((path / "problem.json").string()) + '\n' +
                                 read_file_text((path / folder.reference).string()));
  plan.left_alone = std::move(submissions.left_alone);

  const std::string usual = usual_family(submissions.all);
  Rankings rankings(plan, path, submissions.all, usual);
  RunOptions run = options.run;
  run.devices.clear();
  for (const char* const family : {"cpu", "cuda"}) {
    const bool any = std::ranges::any_of(
        submissions.all, [&](const Submission& one) { return (one.family.empty() ? usual : one.family) == family; });
    if (!any) continue;
    const std::string device = device_of_family(family, options.run.devices);
    if (device.empty()) continue;  // not among the devices that were asked for
    rankings.add_ranking(family, device);
    run.devices.push_back(device);
  }
  if (run.devices.empty()) throw UserError("none of the submissions is for the devices that --device names");
  if (!plan.problem->variants().empty()) {
    for (const CaseGroup& group : make_plan(*plan.problem, run)) rankings.add_group(group);
  }
  return plan;
}

std::vector<std::string> planned_ids(const RankPlan& plan) {
  std::vector<std::string> ids;
  for (const RankingPlan& ranking : plan.rankings) {
    for (const auto* const entries : {&ranking.own, &ranking.submissions}) {
      for (const RankEntry& entry : *entries) {
        for (const PlannedCase& planned : entry.cases) ids.push_back(planned.id);
      }
    }
  }
  return ids;
}

}  // namespace convladder

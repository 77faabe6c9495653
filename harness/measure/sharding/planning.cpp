#include "harness/measure/sharding/planning.hpp"

#include <fmt/format.h>

#include <set>

#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/sharding/sentinels.hpp"
#include "harness/measure/sharding/shard_json.hpp"
#include "support/sha256.hpp"

namespace convladder {

std::string group_id(const CaseGroup& group) {
  return fmt::format("{}/{}/{}", group.device, group.work.name(), group.work.shape.batch);
}

std::string sources_of(const std::vector<CaseGroup>& plan) {
  std::set<std::string> parts;
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) {
      if (std::string own = made_of(planned); !own.empty()) {
        parts.insert(fmt::format("{} {}", planned.variant.info.name, own));
      }
    }
  }
  if (parts.empty()) return {};
  std::string all;
  for (const std::string& part : parts) all += part + '\n';
  return sha256_hex(all);
}

RunPlan make_run_plan(const RunOptions& options, const std::vector<CaseGroup>& plan, const std::vector<double>& seconds,
                      const ImageSet& images, int shards) {
  const RecordContent content = RunRecord::content(options, {}, plan, images);
  RunPlan made{.file = {},
               .id = {},
               .program = planned_program(),
               .options = options,
               .dataset = dataset_text(images),
               .variants = variants_text(content),
               .made_of = sources_of(plan),
               .shards = shards,
               .sentinels = choose_sentinels(plan),
               .groups = {}};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    GroupOfPlan group{.id = group_id(plan[i]), .shard = 0, .predicted_seconds = seconds.at(i), .cases = {}};
    group.shard = shard_of(group.id, shards);
    for (const PlannedCase& planned : plan[i].cases) group.cases.push_back(planned.id);
    made.groups.push_back(std::move(group));
  }
  made.id = id_of_plan(made);
  return made;
}

}  // namespace convladder

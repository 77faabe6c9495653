#include "harness/sharding/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "harness/machine/environment.hpp"
#include "harness/runs/run_record.hpp"
#include "harness/runs/unchanged_cases.hpp"
#include "harness/sharding/sentinels.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_null.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

constexpr const char* kVersion = "1.0";
constexpr const char* kProgramFile = "/proc/self/exe";
constexpr std::uint64_t kLargestProgram = std::uint64_t{4} << 30;
constexpr std::uint64_t kLargestPlan = std::uint64_t{1} << 30;

/// Everything but the id, which follows from it.
ordered_json content_json(const RunPlan& plan) {
  ordered_json groups = ordered_json::array();
  for (const GroupOfPlan& group : plan.groups) {
    groups.push_back({{"id", group.id},
                      {"shard", group.shard},
                      {"predicted_seconds", group.predicted_seconds},
                      {"cases", group.cases}});
  }
  const SecondsOfPlan seconds = seconds_of(plan);
  return {{"program", plan.program},
          {"options", plan.options},
          {"dataset", plan.dataset},
          {"variants", plan.variants},
          {"made_of", text_or_null(plan.made_of)},
          {"shards", plan.shards},
          {"predicted_seconds", {{"all", seconds.all}, {"longest_shard", seconds.longest}}},
          {"sentinels", plan.sentinels},
          {"groups", std::move(groups)}};
}

std::string id_of(const ordered_json& content) { return sha256_hex(json_line(content)); }

GroupOfPlan read_group(const JsonPlace& place, int shards) {
  GroupOfPlan group;
  group.id = place.at("id").name();
  group.shard = place.at("shard").whole(0, shards - 1);
  group.predicted_seconds = place.at("predicted_seconds").number(kNotNegative);
  for (const JsonPlace& one : place.at("cases").list()) group.cases.push_back(one.name());
  if (group.cases.empty()) place.at("cases").expected("at least one");
  const int expected = shard_of(group.id, shards);
  if (group.shard != expected) place.at("shard").expected(fmt::format("{}, by the group's id", expected));
  return group;
}

void refuse_repeated(const RunPlan& plan) {
  std::set<std::string_view> ids;
  for (const GroupOfPlan& group : plan.groups) {
    for (const std::string& id : group.cases) {
      if (!ids.insert(id).second) throw UserError(fmt::format("{}: {} is planned twice", plan.file.string(), id));
    }
  }
  for (const std::string& id : plan.sentinels) {
    if (!ids.contains(id)) throw UserError(fmt::format("{}: sentinel {} is not planned", plan.file.string(), id));
  }
}

}  // namespace

fs::path RunPlan::folder() const { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

fs::path RunPlan::shard_folder(int shard) const { return folder() / "shards" / fmt::format("{:05}", shard); }

int shard_of(std::string_view group, int shards) {
  constexpr std::size_t digits = 16;
  const std::string hex = sha256_hex(group).substr(0, digits);
  std::uint64_t number = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return static_cast<int>(number % static_cast<std::uint64_t>(shards));
}

std::string group_id(const CaseGroup& group) {
  return fmt::format("{}/{}/{}", group.device, group.work.name(), group.work.shape.batch);
}

ordered_json planned_program() {
  ordered_json program = program_json();
  program["sha256"] = sha256_hex(read_file_text(kProgramFile, kLargestProgram));
  return program;
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
               .options = content.options,
               .dataset = content.dataset,
               .variants = content.fields.at("variants"),
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
  // As it will be read: a figure may lose digits on its way through the file.
  made.id = id_of(ordered_json::parse(json_line(content_json(made))));
  return made;
}

std::string run_plan_text(const RunPlan& plan) {
  ordered_json json = {{"schema_version", kVersion}, {"kind", "plan"}, {"id", plan.id}};
  json.update(content_json(plan));
  return json_text(json);
}

RunPlan read_run_plan(const fs::path& file) {
  std::error_code ignored;
  RunPlan plan;
  plan.file = fs::is_directory(file, ignored) ? file / "plan.json" : file;
  const std::string name = plan.file.string();
  const ordered_json json = parse_json(read_file_text(name, kLargestPlan), name, "a plan of convladder");
  const JsonPlace place(json, name);
  if (place.at("kind").text_or_empty() != "plan") place.fail("not a plan of convladder ('convladder plan' writes one)");
  if (place.at("schema_version").text() != kVersion) {
    place.at("schema_version").expected(fmt::format("\"{}\"", kVersion));
  }
  plan.id = place.at("id").name();
  plan.program = place.at("program").object();
  plan.options = place.at("options").object();
  plan.dataset = place.at("dataset").json();
  static_cast<void>(variant_figures(place.at("variants")));
  plan.variants = place.at("variants").json();
  plan.made_of = place.at("made_of").text_or_empty();
  plan.shards = place.at("shards").whole(1, kMostShards);
  for (const JsonPlace& one : place.at("sentinels").list()) plan.sentinels.push_back(one.name());
  for (const JsonPlace& one : place.at("groups").list()) plan.groups.push_back(read_group(one, plan.shards));
  refuse_repeated(plan);
  if (id_of(content_json(plan)) != plan.id) place.at("id").fail("does not follow from the plan: somebody changed it");
  return plan;
}

SecondsOfPlan seconds_of(const RunPlan& plan) {
  SecondsOfPlan seconds;
  std::vector<double> of_shard(static_cast<std::size_t>(plan.shards));
  for (const GroupOfPlan& group : plan.groups) {
    seconds.all += group.predicted_seconds;
    of_shard.at(static_cast<std::size_t>(group.shard)) += group.predicted_seconds;
  }
  seconds.longest = std::ranges::max(of_shard);
  return seconds;
}

}  // namespace convladder

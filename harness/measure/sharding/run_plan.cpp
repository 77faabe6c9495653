#include "harness/measure/sharding/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/measure/plan/options_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

constexpr const char* kVersion = "1.0";
constexpr const char* kKind = "plan";
constexpr const char* kChanged = "somebody changed the plan";
constexpr std::uint64_t kLargestPlan = std::uint64_t{1} << 30;

/// The plan as its file has it, with that id.
ordered_json plan_json(const RunPlan& plan) {
  ordered_json groups = ordered_json::array();
  for (const GroupOfPlan& group : plan.groups) {
    groups.push_back({{"id", group.id},
                      {"shard", group.shard},
                      {"predicted_seconds", group.predicted_seconds},
                      {"cases", group.cases}});
  }
  const SecondsOfPlan seconds = seconds_of(plan);
  return {{"schema_version", kVersion},
          {"kind", kKind},
          {"id", plan.id},
          {"program", ordered_json::parse(plan.program)},
          {"options", options_json(plan.options)},
          {"dataset", ordered_json::parse(plan.dataset)},
          {"variants", ordered_json::parse(plan.variants)},
          {"made_of", text_or_null(plan.made_of)},
          {"shards", plan.shards},
          {"predicted_seconds", {{"all", seconds.all}, {"longest_shard", seconds.longest}}},
          {"sentinels", plan.sentinels},
          {"groups", std::move(groups)}};
}

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

/// SHA-256 of a plan's file without white space and without the id: of every field, also of those that nobody reads.
std::string id_of(ordered_json json) {
  json.erase("id");
  return sha256_hex(json_line(json));
}

/// The file's JSON. Throws UserError as parse_json does; what is there twice was not there when the plan was written.
ordered_json parse_plan(std::string_view text, const std::string& name) {
  constexpr std::string_view twice = "occurs twice";
  try {
    return parse_json(text, name, "a plan of convladder");
  } catch (const UserError& error) {
    const std::string what = error.what();
    if (!what.ends_with(twice)) throw;
    throw UserError(fmt::format("{}: {}", what, kChanged));
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

std::string id_of_plan(const RunPlan& plan) { return id_of(plan_json(plan)); }

std::string run_plan_text(const RunPlan& plan) { return json_text(plan_json(plan)); }

RunPlan read_run_plan(const fs::path& file) {
  std::error_code ignored;
  const fs::path path = fs::is_directory(file, ignored) ? file / "plan.json" : file;
  return parse_run_plan(read_file_text(path.string(), kLargestPlan), path);
}

RunPlan parse_run_plan(std::string_view text, const fs::path& file) {
  RunPlan plan;
  plan.file = file;
  const std::string name = file.string();
  const ordered_json json = parse_plan(text, name);
  const JsonPlace place(json, name);
  if (place.at("kind").text_or_empty() != kKind) place.fail("not a plan of convladder ('convladder plan' writes one)");
  plan.id = place.at("id").text_or_empty();
  if (id_of(json) != plan.id) place.at("id").fail(fmt::format("it does not follow from the rest: {}", kChanged));
  if (place.at("schema_version").text() != kVersion) {
    place.at("schema_version").expected(fmt::format("\"{}\"", kVersion));
  }
  plan.program = json_line(place.at("program").object());
  plan.dataset = json_line(place.at("dataset").json());
  for (const JsonPlace& one : place.at("variants").list()) {
    static_cast<void>(one.at("family").name());
    static_cast<void>(one.at("name").name());
  }
  plan.variants = json_line(place.at("variants").json());
  plan.made_of = place.at("made_of").text_or_empty();
  plan.shards = place.at("shards").whole(1, kMostShards);
  for (const JsonPlace& one : place.at("sentinels").list()) plan.sentinels.push_back(one.name());
  for (const JsonPlace& one : place.at("groups").list()) plan.groups.push_back(read_group(one, plan.shards));
  refuse_repeated(plan);
  plan.options = read_run_options(place.at("options"));
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

#include "harness/measure/sharding/shard_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/record_file.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kProgramFile = "/proc/self/exe";
constexpr std::uint64_t kLargestProgram = std::uint64_t{4} << 30;

ordered_json program_of(const RunPlan& plan) {
  ordered_json program = ordered_json::parse(plan.program);
  program.erase("sha256");
  return program;
}

ordered_json shard_json(const RunPlan& plan, int shard) {
  return {{"plan", plan.id}, {"number", shard}, {"of", plan.shards}};
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The scheduler's job that a session belongs to; null outside of any.
ordered_json scheduler_json() {
  const std::string job = environment("SLURM_JOB_ID");
  if (job.empty()) return nullptr;
  ordered_json json = {{"name", "slurm"}, {"job", printable(job, kShortText)}};
  const std::string array = environment("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) {
    json["array_task"] = printable(fmt::format("{}_{}", array, environment("SLURM_ARRAY_TASK_ID")), kShortText);
  }
  const std::string restarts = environment("SLURM_RESTART_COUNT");
  json["restarts"] = printable(restarts.empty() ? "0" : restarts, kShortText);
  return json;
}

SentinelRun read_sentinel(const JsonPlace& place) {
  SentinelRun run;
  run.id = place.at("case").name();
  const std::optional<TimeFigure> time = read_time(place.at("time"));
  if (read_status(place.at("status")) != Status::ok || !time) {
    run.failure = printable(place.at("reason").text_or_empty(), kShortText);
    if (run.failure.empty()) run.failure = "it has no time";
    return run;
  }
  run.median = time->median;
  run.low = time->low;
  run.high = time->high;
  return run;
}

/// The number of one of so many.
std::size_t number_in(const JsonPlace& place, std::size_t count) { return place.whole<std::size_t>(0, count - 1); }

}  // namespace

std::string planned_program() {
  ordered_json program = program_json();
  program["sha256"] = sha256_hex(read_file_text(kProgramFile, kLargestProgram));
  return json_line(program);
}

std::string dataset_text(const ImageSet& images) { return json_line(dataset_json(images)); }

std::string variants_text(const RecordContent& run) { return json_line(run.fields->at("variants")); }

std::vector<RecordedVariant> variants_of(const RunPlan& plan) {
  const ordered_json variants = ordered_json::parse(plan.variants);
  return read_variants(JsonPlace(variants, "variants"));
}

void require_planned_program(const RunPlan& plan) {
  const ordered_json then = ordered_json::parse(plan.program);
  const ordered_json now = ordered_json::parse(planned_program());
  const auto field = [](const ordered_json& program, const std::string& name) {
    return program.contains(name) ? program.at(name) : ordered_json();
  };
  for (const ordered_json* const program : {&then, &now}) {
    for (const auto& [name, value] : program->items()) {
      const ordered_json before = field(then, name);
      const ordered_json today = field(now, name);
      if (before == today) continue;
      throw UserError(fmt::format("{} was made by another build of this program ({}: {} then, {} now)",
                                  plan.file.string(), printable(name, kShortText), short_json(before),
                                  short_json(today)));
    }
  }
}

std::string data_difference(const std::string& then, const std::string& now) {
  if (then == now) return {};
  return fmt::format("the data are not those of the plan ({} then, {} now)", short_json(ordered_json::parse(then)),
                     short_json(ordered_json::parse(now)));
}

void describe_shard(RecordContent& content, const RunPlan& plan, int shard) {
  ordered_json session = {{"machine", machine_json()}};
  if (ordered_json scheduler = scheduler_json(); !scheduler.is_null()) session["scheduler"] = std::move(scheduler);
  content.context = record_part({{"shard", shard_json(plan, shard)}});
  content.session = record_part(std::move(session));
}

bool is_shard_of(const Record& record, const RunPlan& plan, int shard) {
  return value_at(record.json(), "/context/shard") == shard_json(plan, shard);
}

std::vector<CaseOnMachine> cases_on_machines(const Record& record) {
  const JsonPlace place(record.json(), record.file().string());
  const std::vector<JsonPlace> machines = place.at("context").at("machines").list();
  std::vector<const ordered_json*> of_sessions;
  for (const JsonPlace& session : place.at("context").at("sessions").list()) {
    of_sessions.push_back(&machines.at(number_in(session.at("machine"), machines.size())).json());
  }
  const ordered_json here = machine_json();
  std::vector<CaseOnMachine> cases;
  for (const JsonPlace& one : place.at("cases").list()) {
    const ordered_json& machine = *of_sessions.at(number_in(one.at("session"), of_sessions.size()));
    cases.push_back({.id = one.at("id").text(),
                     .node = printable(text_at(machine, "/node"), kShortText),
                     .here = machine == here,
                     .was_run = was_run(read_status(one.at("status"))),
                     .counted = one.has("counters")});
  }
  return cases;
}

ShardReader::ShardReader(const std::filesystem::path& file) : record_(file) {
  if (place().at("kind").text_or_empty() != kShardKind.kind) place().fail("not a shard of convladder");
  const JsonPlace version = place().at("schema_version");
  if (version.text() != kShardKind.schema_version) version.expected(fmt::format("\"{}\"", kShardKind.schema_version));
}

std::string ShardReader::plan() const { return place().at("context").at("shard").at("plan").text(); }

int ShardReader::number(int shards) const {
  return place().at("context").at("shard").at("number").whole(0, shards - 1);
}

bool ShardReader::is_by_program_of(const RunPlan& plan) const {
  return place().at("context").at("program").json() == program_of(plan);
}

ShardParts ShardReader::parts() const {
  ShardParts parts;
  const JsonPlace context = place().at("context");
  for (const JsonPlace& one : context.at("machines").list()) {
    for (const char* const field : {"node", "host", "cpu", "devices", "libraries"}) {
      if (!one.has(field)) one.at(field).expected("what the machine is");
    }
    parts.machines.push_back({.about = json_line(one.json()),
                              .likeness = json_line(machine_kind(one.json())),
                              .node = text_at(one.json(), "/node", "a machine without a name")});
  }
  for (const JsonPlace& one : context.at("sessions").list()) {
    parts.sessions.push_back({.about = json_line(one.json()),
                              .started = text_at(one.json(), "/started"),
                              .machine = number_in(one.at("machine"), parts.machines.size())});
  }
  if (place().has("sentinels")) {
    for (const JsonPlace& one : place().at("sentinels").list()) {
      parts.sentinels.push_back({.about = json_line(one.json()),
                                 .run = read_sentinel(one),
                                 .session = number_in(one.at("session"), parts.sessions.size())});
    }
  }
  parts.ceilings = read_ceilings(place().at("ceilings"));
  return parts;
}

std::string ShardReader::name_of_case(std::size_t number) const { return fmt::format("{}: cases[{}]", name(), number); }

RecordedCase ShardReader::case_at(std::size_t number) const {
  const ordered_json json = record_.case_at(number);
  const JsonPlace place(json, name_of_case(number));
  RecordedCase one = read_case(place);
  const std::size_t sessions = value_at(record_.fields(), "/context/sessions").size();
  one.session = static_cast<int>(number_in(place.at("session"), sessions));
  return one;
}

RecordedCase ShardReader::whole_case_at(std::size_t number) const {
  const ordered_json json = record_.case_at(number);
  return read_whole_case(JsonPlace(json, name_of_case(number)));
}

std::string ShardReader::case_text(std::size_t number, std::size_t session) const {
  ordered_json json = record_.case_at(number);
  json["session"] = session;
  return convladder::case_text(json);
}

std::string plan_of_merged(const std::filesystem::path& file) {
  const RecordReader record(file, {"ladders"});
  const ordered_json& id = value_at(record.fields(), "/context/plan/id");
  return id.is_string() ? id.get<std::string>() : std::string();
}

std::string text_before_cases(const RunPlan& plan, const std::vector<MachineOfShards>& machines,
                              const std::vector<SessionOfShards>& sessions,
                              const std::vector<std::string>& command_line, bool complete) {
  ordered_json all_machines = ordered_json::array();
  for (const MachineOfShards& machine : machines) {
    ordered_json& one = all_machines.emplace_back(ordered_json::parse(machine.about));
    one["kind"] = machine.kind;
    one["sentinel_x"] = or_null(machine.verdict.x);
    one["off"] = machine.verdict.off;
  }
  ordered_json all_sessions = ordered_json::array();
  std::string date = utc_now();
  for (const SessionOfShards& session : sessions) {
    ordered_json& one = all_sessions.emplace_back(ordered_json::parse(session.about));
    one["machine"] = session.machine;
    one["shard"] = session.shard;
    if (!session.started.empty()) date = std::min(date, session.started);
  }
  ordered_json planned = ordered_json::array();
  for (const GroupOfPlan& group : plan.groups) {
    for (const std::string& id : group.cases) planned.push_back(id);
  }
  // Fields that a run has once are those of the first machine; `machines` has all.
  ordered_json context = {{"program", program_of(plan)}};
  const ordered_json first = all_machines.empty() ? machine_json() : all_machines.front();
  for (const char* const part : {"host", "cpu", "devices", "libraries"}) context[part] = first.at(part);
  context["command_line"] = command_line;
  context["options"] = options_json(plan.options);
  context["seed"] = plan.options.seed;
  context["date"] = date;
  context["dataset"] = ordered_json::parse(plan.dataset);
  context["plan"] = {{"id", plan.id}, {"shards", plan.shards}};
  context["machines"] = std::move(all_machines);
  context["sessions"] = std::move(all_sessions);
  return fields_text({{"schema_version", kRunKind.schema_version},
                      {"kind", kRunKind.kind},
                      {"complete", complete},
                      {"context", std::move(context)},
                      {"variants", ordered_json::parse(plan.variants)},
                      {"planned", std::move(planned)}});
}

std::string listed_text(const DeviceCeilings& ceilings) { return case_text(ceilings_json({ceilings}).at(0)); }

std::string listed_text(const DerivedLadder& ladder) { return case_text(ladders_json({ladder}).at(0)); }

std::string listed_text(const LeaveOneOut& view) { return case_text(leave_one_out_json({view}).at(0)); }

std::string listed_text(const SentinelOfShards& sentinel) {
  ordered_json json = ordered_json::parse(sentinel.about);
  json["session"] = sentinel.session;
  return case_text(json);
}

}  // namespace convladder

#include "harness/measure/runs/run_record.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/runs/derived_ladders.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json variants_json(const RunOptions& options, const std::vector<CaseGroup>& plan) {
  ordered_json list = ordered_json::array();
  for (const ProblemVariant& registered : planned_variants(options)) {
    const auto appears = [&registered](const CaseGroup& group) {
      return std::ranges::any_of(group.cases, [&registered](const PlannedCase& planned) {
        return planned.variant.variant == registered.variant;
      });
    };
    if (std::ranges::any_of(plan, appears)) list.push_back(variant_json(registered.info));
  }
  return list;
}

std::vector<std::string> planned_ids(const std::vector<CaseGroup>& plan) {
  std::vector<std::string> ids;
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) ids.push_back(planned.id);
  }
  return ids;
}

/// The fields after the cases until the last one comes, with which those derived from all cases are added.
Record::Fields fields_behind(const Ceilings& ceilings) {
  return {{"ceilings", ceilings_json(ceilings)}, {"ladders", ordered_json::array()}};
}

}  // namespace

RecordContent RunRecord::content(const RunOptions& options, const std::vector<std::string>& command_line,
                                 const std::vector<CaseGroup>& plan, const ImageSet& images) {
  return {.command_line = command_line,
          .options = record_part(options_json(options)),
          .seed = options.seed,
          .dataset = record_part(dataset_json(images)),
          .planned = planned_ids(plan),
          .fields = record_part({{"variants", variants_json(options, plan)}}),
          .behind = record_part(fields_behind({}))};
}

void RunRecord::check(const ordered_json& json, const std::string& file) {
  static_cast<void>(recorded_run_of(json, file));  // checks every field of it
  static_cast<void>(read_ceilings(JsonPlace(json, file).at("ceilings")));
}

RunFigures run_figures(const ordered_json& record, const std::string& file) {
  const JsonPlace place(record, file);
  return {.cases = read_whole_cases(place.at("cases")),
          .variants = read_variants(place.at("variants")),
          .ceilings = read_ceilings(place.at("ceilings")),
          .context = read_context(place.at("context"))};
}

RunOptions recorded_options(const std::string& file) {
  const ordered_json record = read_record_json(file);
  return read_run_options(JsonPlace(record, file).at("context").at("options"));
}

RunFigures read_run_figures(const std::string& file) { return run_figures(read_record_json(file), file); }

RunRecord::RunRecord(Record record) : record_(std::move(record)) {
  figures_ = run_figures(json(), file().string());
  if (json().contains("sentinels")) sentinels_ = json().at("sentinels");
  for (const ordered_json& id : json().at("planned")) places_.emplace(id.get<std::string>(), places_.size());
  std::ranges::sort(figures_.cases, {}, [this](const RecordedCase& one) { return places_.at(one.id); });
}

/// Puts the case in its place in the order of the plan.
void RunRecord::remember(RecordedCase one) {
  one.session = static_cast<int>(record_.session());
  const auto place = std::ranges::upper_bound(figures_.cases, places_.at(one.id), {},
                                              [this](const RecordedCase& other) { return places_.at(other.id); });
  figures_.cases.insert(place, std::move(one));
}

Record::Fields RunRecord::behind_cases() const {
  Record::Fields fields = fields_behind(figures_.ceilings);
  if (!sentinels_.is_null()) fields["sentinels"] = sentinels_;
  return fields;
}

void RunRecord::add_sentinel(const char* when, const PlannedCase& planned, const CaseOutcome& outcome) {
  const ordered_json json = case_json(planned, outcome);
  sentinels_.push_back({{"session", record_.session()},
                        {"when", when},
                        {"case", planned.id},
                        {"status", json.at("status")},
                        {"reason", json.at("reason")},
                        {"time", json.at("time")},
                        {"quality", json.at("quality")}});
}

void RunRecord::add(const PlannedCase& planned, const CaseOutcome& outcome) {
  record_.add(case_json(planned, outcome), behind_cases());
  remember(recorded_case(planned, outcome));
}

void RunRecord::take_over(ordered_json one_case) {
  one_case.erase("session");
  RecordedCase read = read_whole_case(JsonPlace(one_case, file().string()));
  record_.add(std::move(one_case), behind_cases());
  remember(std::move(read));
}

Record::Fields RunRecord::derived() const {
  if (json().value("kind", "") == kShardKind.kind) return behind_cases();  // the other shards are not known here
  Record::Fields fields{
      {"ceilings", ceilings_json(figures_.ceilings)},
      {"ladders", ladders_json(derived_ladders(figures_.cases, figures_.variants, figures_.ceilings))}};
  const std::vector<LeaveOneOut> views = leave_one_out_of(figures_.cases, figures_.variants);
  if (!views.empty()) fields["leave_one_out"] = leave_one_out_json(views);
  if (!sentinels_.is_null()) fields["sentinels"] = sentinels_;
  return fields;
}

void RunRecord::complete() {
  if (!record_.is_complete()) record_.complete(derived());
}

namespace {

namespace fs = std::filesystem;

/// The file that holds the path of the last record.
fs::path note_of(const std::string& ladder) {
  return default_stage_cache().parent_path() / "last_runs" / sha256_hex(ladder).substr(0, 32);
}

/// The settings by which cases are measured, without those that choose the cases.
ordered_json settings_of(ordered_json options) {
  for (const char* const name : {"families", "variants", "networks", "layers", "devices", "batches", "shapes", "sizes",
                                 "case_filter", "isolate", "profile_calls"}) {
    options.erase(name);
  }
  return options;
}

/// The last record, if it is of this build and machine and of the same settings.
ordered_json last_run(const RunOptions& options, fs::path& file) {
  const fs::path note = note_of(options.ladder);
  std::error_code error;
  if (!fs::exists(note, error)) return nullptr;
  file = read_file_text(note.string());
  if (!fs::exists(file, error)) return nullptr;
  ordered_json record = ordered_json::parse(read_file_text(file.string()), nullptr, false);
  if (record.is_discarded() || record.value("kind", "") != kRunKind.kind) return nullptr;
  const ordered_json now = environment_json();
  const ordered_json& then = record.at("context");
  const bool is_same = then.at("program") == now.at("program") &&
                       then.at("host").at("name") == now.at("host").at("name") && then.at("cpu") == now.at("cpu") &&
                       then.at("devices") == now.at("devices") &&
                       settings_of(then.at("options")) == settings_of(options_json(options));
  return is_same ? record : ordered_json();
}

}  // namespace

TakenOver take_over_unchanged(RunRecord& record, const std::vector<CaseGroup>& plan, const RunOptions& options) {
  TakenOver taken;
  try {
    const ordered_json before = last_run(options, taken.from);
    if (before.is_null()) return {};
    std::map<std::string, const ordered_json*> cases;
    for (const ordered_json& one : before.at("cases")) cases[one.at("id").get<std::string>()] = &one;
    std::vector<ordered_json> unchanged;
    for (const CaseGroup& group : plan) {
      for (const PlannedCase& planned : group.cases) {
        const auto found = cases.find(planned.id);
        const std::string own = made_of(planned);
        if (!planned.runs() || own.empty() || found == cases.end()) continue;
        // A case that failed is tried again: the machine may have had its part in it.
        const bool is_unchanged = found->second->value("made_of", "") == own && found->second->at("status") == "ok";
        if (!is_unchanged) continue;
        ordered_json one = *found->second;
        if (!one.contains("taken_over")) {
          one["taken_over"] = {{"from", taken.from.string()}, {"date", before.at("context").at("date")}};
        }
        unchanged.push_back(std::move(one));
      }
    }
    if (unchanged.empty()) return {};
    record.set_ceilings(read_ceilings(JsonPlace(before, taken.from.string()).at("ceilings")));
    for (ordered_json& one : unchanged) record.take_over(std::move(one));
    taken.cases = static_cast<int>(unchanged.size());
    return taken;
  } catch (const ordered_json::exception&) {
    return {};  // somebody has written into it: everything is measured
  }
}

void remember_run(const fs::path& record, const RunOptions& options) {
  const fs::path note = note_of(options.ladder);
  std::error_code error;
  fs::create_directories(note.parent_path(), error);
  if (error) return;  // the next run measures everything
  try {
    write_file_atomically(note, fs::absolute(record).string());
  } catch (const UserError&) {
    return;
  }
}

}  // namespace convladder

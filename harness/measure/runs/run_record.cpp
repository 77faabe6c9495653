#include "harness/measure/runs/run_record.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_text.hpp"
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

ordered_json floor_json(const std::optional<Floor>& floor) {
  if (!floor) return nullptr;
  return {{"kind", "predicted"},
          {"unit", "ns"},
          {"value", floor->value()},
          {"bound", floor->bytes_bind() ? "bytes" : "operations"},
          {"operations", floor->operations_ns},
          {"bytes", or_null(floor->bytes_ns)},
          {"flop", floor->flop},
          {"bytes_read", floor->bytes_read},
          {"bytes_written", floor->bytes_written}};
}

ordered_json roofline_json(const std::optional<CaseRoofline>& roofline) {
  if (!roofline) return nullptr;
  return {{"work", "derived"},
          {"flop", roofline->flop},
          {"bytes", roofline->bytes},
          {"flop_per_byte", roofline->intensity()},
          {"gflop_per_s", roofline->gflop_per_s},
          {"gb_per_s", roofline->gb_per_s},
          {"roof_gflop_per_s", roofline->roof_gflop_per_s},
          {"bound", roofline->bytes_bind ? "bytes" : "operations"}};
}

/// The time of the convolution alone in a layout of its own, which is compared with nothing here; null without one.
ordered_json op_json(const TimeFigure* op) {
  if (op == nullptr) return nullptr;
  return {{"median_ns", op->median}, {"low_ns", or_null(op->low)}, {"high_ns", or_null(op->high)}};
}

ordered_json row_json(const LadderRow& row) {
  const RecordedCase& one_case = *row.of;
  const TimeFigure* const time = row.time;
  return {{"case", one_case.id},
          {"variant", one_case.variant},
          {"rung", or_null(one_case.rung)},
          {"status", one_case.status},
          {"median_ns", time != nullptr ? ordered_json(time->median) : ordered_json()},
          {"low_ns", time != nullptr ? or_null(time->low) : ordered_json()},
          {"high_ns", time != nullptr ? or_null(time->high) : ordered_json()},
          {"gflop_per_s", or_null(row.gflop_per_s)},
          {"x_previous", ratio_json(row.x_previous)},
          {"x_baseline", ratio_json(row.x_baseline)},
          {"percent_of_library", ratio_json(row.percent_of_library)},
          {"percent_of_floor", ratio_json(row.percent_of_floor)},
          {"op_in_own_layout", op_json(one_case.op_time())},
          {"roofline", roofline_json(row.roofline)},
          {"quality", one_case.quality ? ordered_json(quality_name(one_case.quality->mark)) : ordered_json()}};
}

ordered_json name_or_null(const RecordedCase* one) {
  return one == nullptr ? ordered_json() : ordered_json(one->variant);
}

ordered_json summary_json(const LadderSummary& summary) {
  ordered_json loses = ordered_json::array();
  for (const StageThatLoses& one : summary.loses) {
    loses.push_back({{"variant", one.variant}, {"builds_on", one.builds_on}, {"x", ratio_json(one.x)}});
  }
  return {{"baseline", name_or_null(summary.baseline)},
          {"sixth", name_or_null(summary.sixth)},
          {"best", name_or_null(summary.best)},
          {"best_by", text_or_null(summary.best_by)},
          {"gpu", text_or_null(summary.gpu)},
          {"library", name_or_null(summary.library)},
          {"not_told_from_best", summary.not_told_from_best},
          {"faster_less_accurate", summary.faster_less_accurate},
          {"sixth_x_baseline", ratio_json(summary.sixth_x_baseline)},
          {"best_x_baseline", ratio_json(summary.best_x_baseline)},
          {"best_x_sixth", ratio_json(summary.best_x_sixth)},
          {"best_percent_of_library", ratio_json(summary.best_percent_of_library)},
          {"best_percent_of_floor", ratio_json(summary.best_percent_of_floor)},
          {"no_headline", text_or_null(summary.no_headline)},
          {"loses", std::move(loses)}};
}

ordered_json ladder_json(const DerivedLadder& ladder) {
  ordered_json json = place_json(*ladder.of);
  json["kind"] = ladder.kind;
  json["floor"] = floor_json(ladder.floor);
  json["rows"] = ordered_json::array();
  for (const LadderRow& row : ladder.rows) json["rows"].push_back(row_json(row));
  if (ladder.summary) json["summary"] = summary_json(*ladder.summary);
  json["steps"] = ordered_json::array();
  for (const Step& step : ladder.steps) json["steps"].push_back(step_json(step));
  if (ladder.kind_of_machine) json["kind_of_machine"] = *ladder.kind_of_machine;
  return json;
}

ordered_json left_out_json(const LeftOutRow& row) {
  const TimeFigure* const time = row.of->layer_time();
  return {{"case", row.of->id},
          {"variant", row.of->variant},
          {"leaves_out", text_or_null(row.of->leaves_out)},
          {"status", row.of->status},
          {"reason", text_or_null(row.of->reason)},
          {"instructions_per_multiply_add", or_null(row.instructions)},
          {"shared_wavefronts_per_32_multiply_adds", or_null(row.shared_wavefronts)},
          {"load_sectors_per_32_multiply_adds", or_null(row.load_sectors)},
          {"dram_over_minimum", or_null(row.dram_over_minimum)},
          {"predicted", row.predicted ? ordered_json{{"gpu", row.predicted->gpu},
                                                     {"low_ns", *row.predicted->low_ns},
                                                     {"high_ns", *row.predicted->high_ns}}
                                      : ordered_json()},
          {"median_ns", time != nullptr ? ordered_json(time->median) : ordered_json()},
          {"low_ns", time != nullptr ? or_null(time->low) : ordered_json()},
          {"high_ns", time != nullptr ? or_null(time->high) : ordered_json()},
          {"x_instructions", ratio_json(row.x_instructions)},
          {"x_predicted", ratio_json(row.x_predicted)},
          {"x_time", ratio_json(row.x_time)}};
}

/// The fields after the cases until the last one comes, with which those derived from all cases are added.
Record::Fields fields_behind(const Ceilings& ceilings) {
  return {{"ceilings", ceilings_json(ceilings)}, {"ladders", ordered_json::array()}};
}

}  // namespace

ordered_json step_json(const Step& step) {
  ordered_json json = {{"variant", step.variant},
                       {"builds_on", text_or_null(step.builds_on)},
                       {"x", ratio_json(step.x)},
                       {"no_headline", text_or_null(step.no_headline)},
                       {"kind", step.kind},
                       {"relieved", text_or_null(step.relieved)},
                       {"binds", text_or_null(step.binds)}};
  if (!step.lines.empty()) json["lines"] = step.lines;
  return json;
}

ordered_json ladders_json(const std::vector<DerivedLadder>& ladders) {
  ordered_json list = ordered_json::array();
  for (const DerivedLadder& one : ladders) list.push_back(ladder_json(one));
  return list;
}

std::string ladders_json_text(const std::vector<DerivedLadder>& ladders) {
  return json_text({{"kind", "ladders"}, {"ladders", ladders_json(ladders)}});
}

std::vector<RecordedLadder> read_ladders(const JsonPlace& ladders) {
  std::vector<RecordedLadder> list;
  if (ladders.is_null()) return list;
  for (const JsonPlace& one : ladders.list()) {
    RecordedLadder& ladder = list.emplace_back();
    ladder.device = one.at("device").text();
    ladder.family = one.at("family").text();
    ladder.network = one.at("network").text();
    ladder.layer = one.at("layer").text();
    ladder.batch = one.at("batch").count();
    if (one.has("floor")) {
      ladder.floor_operations_ns = one.at("floor").at("operations").number(kNotNegative);
      ladder.floor_bytes_ns = one.at("floor").at("bytes").number_or_none(kNotNegative);
    }
    if (one.has("summary")) ladder.best = one.at("summary").at("best").text_or_empty();
  }
  return list;
}

ordered_json leave_one_out_json(const std::vector<LeaveOneOut>& views) {
  ordered_json list = ordered_json::array();
  for (const LeaveOneOut& view : views) {
    ordered_json& json = list.emplace_back(place_json(*view.rows.front().of));
    json["kind"] = view.counted ? "counted" : "measured";
    json["best"] = view.best;
    for (const LeftOutRow& row : view.rows) json["rows"].push_back(left_out_json(row));
  }
  return list;
}

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

/// Gives the cases of problems that this program does not have, such as a folder's, the work that their ladders have.
static void take_least_work(const JsonPlace& ladders, std::vector<RecordedCase>& cases) {
  if (ladders.is_null()) return;
  for (const JsonPlace& one : ladders.list()) {
    if (!one.has("floor")) continue;
    const JsonPlace floor = one.at("floor");
    const LeastWork work{.flop = floor.at("flop").number(kNotNegative),
                         .bytes_read = floor.at("bytes_read").number(kNotNegative),
                         .bytes_written = floor.at("bytes_written").number(kNotNegative)};
    for (RecordedCase& of : cases) {
      if (of.size || of.device != one.at("device").text() || of.network != one.at("network").text() ||
          of.layer != one.at("layer").text() || of.batch != one.at("batch").count()) {
        continue;
      }
      of.least_work = work;
    }
  }
}

RunFigures run_figures(const ordered_json& record, const std::string& file) {
  const JsonPlace place(record, file);
  RunFigures figures{.cases = read_whole_cases(place.at("cases")),
                     .variants = read_variants(place.at("variants")),
                     .ceilings = read_ceilings(place.at("ceilings")),
                     .context = read_context(place.at("context"))};
  if (place.has("ladders")) take_least_work(place.at("ladders"), figures.cases);
  return figures;
}

RunOptions recorded_options(const std::string& file) {
  const ordered_json record = read_record_json(file);
  return read_run_options(JsonPlace(record, file).at("context").at("options"));
}

void require_run(const JsonPlace& record) {
  if (record.at("schema_version").text() != kRunSchemaVersion || record.at("kind").text() != "run") {
    record.fail(fmt::format("expected a run of single layers of schema version \"{}\"", kRunSchemaVersion));
  }
}

RunFigures read_run_figures(const std::string& file) {
  const ordered_json record = read_record_json(file);
  require_run(JsonPlace(record, file));
  return run_figures(record, file);
}

RunRecord::RunRecord(Record record) : record_(std::move(record)) {
  figures_ = run_figures(json(), file().string());
  if (json().contains("sentinels")) sentinels_ = std::make_shared<ordered_json>(json().at("sentinels"));
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
  if (sentinels_ != nullptr) fields["sentinels"] = *sentinels_;
  return fields;
}

void RunRecord::add_sentinel(const char* when, const PlannedCase& planned, const CaseOutcome& outcome) {
  const ordered_json json = case_json(planned, outcome);
  if (sentinels_ == nullptr) sentinels_ = std::make_shared<ordered_json>(ordered_json::array());
  sentinels_->push_back({{"session", record_.session()},
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
  if (sentinels_ != nullptr) fields["sentinels"] = *sentinels_;
  return fields;
}

void RunRecord::complete() {
  if (!record_.is_complete()) record_.complete(derived());
}

void RunRecord::derive() { record_.derive(derived()); }

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

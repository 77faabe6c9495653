#include "harness/measure/runs/unchanged_cases.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

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

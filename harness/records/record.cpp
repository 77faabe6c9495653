#include "harness/records/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/machine/environment.hpp"
#include "harness/records/case_json.hpp"
#include "harness/records/ladder.hpp"
#include "harness/records/leave_one_out.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kRecordName = "run.json";

ordered_json variants_json(const std::vector<CaseGroup>& plan) {
  ordered_json list = ordered_json::array();
  const Problem& problem = plan.empty() ? convolution_problem() : *plan.front().work.shape.problem;
  for (const ProblemVariant& registered : problem.variants()) {
    const auto appears = [&registered](const CaseGroup& group) {
      return std::ranges::any_of(group.cases, [&registered](const PlannedCase& planned) {
        return planned.variant.variant == registered.variant;
      });
    };
    if (std::ranges::any_of(plan, appears)) list.push_back(variant_json(registered.info));
  }
  return list;
}

ordered_json planned_ids(const std::vector<CaseGroup>& plan) {
  ordered_json ids = ordered_json::array();
  for (const CaseGroup& group : plan) {
    for (const PlannedCase& planned : group.cases) ids.push_back(planned.id);
  }
  return ids;
}

/// The first field or element that is not the same, and where it is, so that a message shows that and no list of
/// hundreds.
struct Difference {
  std::string place;
  ordered_json then;
  ordered_json now;
};

Difference first_difference(const ordered_json& then, const ordered_json& now, const std::string& place) {
  const auto below = [&](const std::string& name, const ordered_json& a, const ordered_json& b) {
    return first_difference(a, b, fmt::format("{}{}{}", place, place.empty() ? "" : ".", name));
  };
  const auto field = [](const ordered_json& of, const std::string& name) {
    return of.contains(name) ? of.at(name) : ordered_json();
  };
  const auto element = [](const ordered_json& of, std::size_t i) { return i < of.size() ? of.at(i) : ordered_json(); };
  if (then.is_object() && now.is_object()) {
    for (const ordered_json& names : {then, now}) {
      for (const auto& [name, value] : names.items()) {
        if (field(then, name) != field(now, name)) return below(name, field(then, name), field(now, name));
      }
    }
  }
  if (then.is_array() && now.is_array()) {
    for (std::size_t i = 0; i < std::max(then.size(), now.size()); ++i) {
      if (element(then, i) != element(now, i)) return below(fmt::to_string(i), element(then, i), element(now, i));
    }
  }
  return {place, then, now};
}

void require_same(const ordered_json& then, const ordered_json& now, const std::string& what) {
  if (then == now) return;
  constexpr std::size_t longest_place = 100;
  const Difference difference = first_difference(then, now, "");
  const std::string place = printable(difference.place).substr(0, longest_place);
  throw UserError(fmt::format("cannot resume: {} differs ({}{}{} then, {} now); start a new run", what, place,
                              place.empty() ? "" : ": ", short_json(difference.then), short_json(difference.now)));
}

}  // namespace

RunRecord RunRecord::create(const std::filesystem::path& folder, const RunOptions& options,
                            const std::vector<std::string>& command_line, const std::vector<CaseGroup>& plan,
                            const ImageSet& images) {
  RunRecord record(RecordFile::create(
      folder / kRecordName,
      fmt::format("'convladder run --resume {}' continues it, another --output starts a new run", folder.string())));
  ordered_json context = environment_json();
  context["command_line"] = command_line;
  context["options"] = options_to_json(options);
  context["seed"] = options.seed;
  context["date"] = utc_now();
  context["dataset"] = dataset_json(images);
  context["sessions"] = ordered_json::array({ordered_json{{"started", utc_now()}}});
  record.json_ = {{"schema_version", kRunSchemaVersion}, {"complete", false},
                  {"context", std::move(context)},       {"variants", variants_json(plan)},
                  {"planned", planned_ids(plan)},        {"ceilings", ordered_json::array()},
                  {"cases", ordered_json::array()},      {"ladders", ordered_json::array()}};
  record.write();
  return record;
}

RunRecord RunRecord::open(const std::filesystem::path& folder) {
  RunRecord record(RecordFile::open(folder / kRecordName));
  const std::string name = record.file().string();
  const std::vector<std::byte> bytes = read_file_bytes(name);
  record.json_ = parse_record_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
  try {
    if (record.json_.at("schema_version") != kRunSchemaVersion) {
      throw UserError(fmt::format("{}: schema_version is {}, expected \"{}\"", name,
                                  record.json_.at("schema_version").dump(), kRunSchemaVersion));
    }
    for (const char* field : {"context", "variants", "planned", "cases", "complete"}) record.json_.at(field);
  } catch (const ordered_json::exception& error) {
    throw UserError(fmt::format("{}: not a run of convladder: {}", name, error.what()));
  }
  const RecordedRun checked = recorded_run_of(record.json_, name);
  for (const RecordedCase& one : checked.cases) {
    if (std::ranges::find(checked.planned, one.id) == checked.planned.end()) {
      throw UserError(fmt::format("{}: {} is recorded but was not planned", name, one.id));
    }
    record.recorded_.insert(one.id);
  }
  return record;
}

RunOptions RunRecord::options() const {
  try {
    return options_from_json(json_.at("context").at("options"));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", file().string(), error.what()));
  } catch (const ordered_json::exception& error) {
    throw UserError(fmt::format("{}: {}", file().string(), error.what()));
  }
}

void RunRecord::resume(const std::vector<CaseGroup>& plan, const ImageSet& images) {
  const ordered_json now = environment_json();
  try {
    ordered_json& context = json_.at("context");
    require_same(context.at("program"), now.at("program"), "the program");
    require_same(context.at("host").at("name"), now.at("host").at("name"), "the host");
    require_same(context.at("cpu"), now.at("cpu"), "the processor");
    require_same(context.at("dataset"), dataset_json(images), "the data");
    require_same(json_.at("planned"), planned_ids(plan), "the plan");
    if (json_.at("complete") == true) return;
    context.at("sessions").push_back(ordered_json{{"started", utc_now()}});
    json_["complete"] = false;
    write();
  } catch (const ordered_json::exception& error) {
    throw UserError(fmt::format("{}: {}", file().string(), error.what()));
  }
}

void RunRecord::add(const PlannedCase& planned, const CaseOutcome& outcome) {
  const auto session = static_cast<int>(json_.at("context").at("sessions").size()) - 1;
  json_.at("cases").push_back(case_json(planned, outcome, session));
  recorded_.insert(planned.id);
  write();
}

const ordered_json& RunRecord::ceilings() const {
  static const ordered_json none = ordered_json::array();
  return json_.contains("ceilings") ? json_.at("ceilings") : none;
}

void RunRecord::complete() {
  if (json_.at("complete") == true) return;
  // Recorded in the order in which they ended; read in the order in which they were planned.
  ordered_json sorted = ordered_json::array();
  for (const ordered_json& id : json_.at("planned")) {
    for (ordered_json& one_case : json_.at("cases")) {
      if (!one_case.is_null() && one_case.at("id") == id) sorted.push_back(std::move(one_case));
    }
  }
  json_["cases"] = std::move(sorted);
  json_["complete"] = true;
  write();
}

void RunRecord::write() {
  json_["ladders"] = ladders_of(json_.at("cases"), json_.at("variants"), ceilings());
  ordered_json views = leave_one_out_of(json_.at("cases"), json_.at("variants"));
  if (!views.empty()) json_["leave_one_out"] = std::move(views);
  // Bytes that are no UTF-8, in a host name or a file name, must not cost the record.
  file_.write(json_.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace convladder

#include "harness/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/case_json.hpp"
#include "harness/environment.hpp"
#include "harness/errors.hpp"
#include "harness/file_bytes.hpp"
#include "harness/ladder.hpp"
#include "harness/leave_one_out.hpp"
#include "harness/recorded_run.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json variants_json(const std::vector<CaseGroup>& plan) {
  ordered_json list = ordered_json::array();
  for (const RegisteredVariant& registered : registered_variants()) {
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

/// The first field or element that is not the same, so that a message shows that and not a list of hundreds.
std::pair<ordered_json, ordered_json> first_difference(const ordered_json& then, const ordered_json& now) {
  if (then.is_object() && now.is_object()) {
    for (const auto& [name, value] : then.items()) {
      if (!now.contains(name) || now.at(name) != value) {
        return {{{name, value}}, {{name, now.contains(name) ? now.at(name) : ordered_json()}}};
      }
    }
  }
  if (then.is_array() && now.is_array()) {
    const std::size_t count = std::max(then.size(), now.size());
    for (std::size_t i = 0; i < count; ++i) {
      const ordered_json a = i < then.size() ? then.at(i) : ordered_json();
      const ordered_json b = i < now.size() ? now.at(i) : ordered_json();
      if (a != b) return {a, b};
    }
  }
  return {then, now};
}

void require_same(const ordered_json& then, const ordered_json& now, const std::string& what) {
  if (then == now) return;
  const auto [old_part, new_part] = first_difference(then, now);
  throw UserError(fmt::format("cannot resume: {} differs (then {}, now {}); start a new run", what, old_part.dump(),
                              new_part.dump()));
}

}  // namespace

RunRecord RunRecord::create(const std::filesystem::path& folder, const RunOptions& options,
                            const std::vector<std::string>& command_line, const std::vector<CaseGroup>& plan,
                            const ImageSet& images) {
  RunRecord record(folder);
  if (std::filesystem::exists(record.file())) {
    throw UserError(
        fmt::format("{} is there already: 'convladder run --resume {}' goes on with it, another --output "
                    "starts a new run",
                    record.file().string(), folder.string()));
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));

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
  RunRecord record(folder);
  const std::string name = record.file().string();
  const std::vector<std::byte> bytes = read_file_bytes(name);
  record.json_ = parse_record_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
  try {
    if (record.json_.at("schema_version") != kRunSchemaVersion) {
      throw UserError(fmt::format("{}: schema_version is {}, expected \"{}\"", name,
                                  record.json_.at("schema_version").dump(), kRunSchemaVersion));
    }
    for (const char* field : {"context", "variants", "planned", "cases", "complete"}) record.json_.at(field);
    for (const ordered_json& one_case : record.json_.at("cases")) {
      record.recorded_.insert(one_case.at("id").get<std::string>());
    }
  } catch (const ordered_json::exception& error) {
    throw UserError(fmt::format("{}: not a run of convladder: {}", name, error.what()));
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
  write_file_atomically(file(), json_.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace convladder

#include "harness/measure/records/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/environment.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// The first field or element that differs, and where it is, so that a message shows that instead of a list of
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

/// Throws UserError if the record is from another machine or build. A record of another build may have other settings
/// as well, so this is checked before they are read.
void require_same_machine(const JsonPlace& then, const RecordKind& kind) {
  const ordered_json now = environment_json();
  require_same(then.at("program").json(), now.at("program"), "the program");
  if (!kind.stays) return;
  require_same(then.at("host").at("name").json(), now.at("host").at("name"), "the host");
  require_same(then.at("cpu").json(), now.at("cpu"), "the processor");
}

/// Throws UserError if the folder holds the record of another command.
void require_kind(const std::filesystem::path& folder, const RecordKind& kind) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / kind.file(), ignored)) return;
  for (const RecordKind& other : {kRunKind, kNetworkKind, kSweepKind}) {
    if (!std::filesystem::exists(folder / other.file(), ignored)) continue;
    throw UserError(fmt::format("{} holds no {} but a {}: 'convladder {} --resume {}' continues that", folder.string(),
                                kind.file(), other.file(), other.kind, folder.string()));
  }
}

const ordered_json& part(const RecordPart& part) {
  static const ordered_json nothing = ordered_json::object();
  return part == nullptr ? nothing : *part;
}

void update(ordered_json& object, const RecordPart& fields) { object.update(part(fields)); }

}  // namespace

RecordPart record_part(ordered_json json) { return std::make_shared<const ordered_json>(std::move(json)); }

Record::Record(RecordFile file) : file_(std::move(file)), json_(std::make_unique<ordered_json>()) {}
Record::Record(Record&&) noexcept = default;
Record& Record::operator=(Record&&) noexcept = default;
Record::~Record() = default;

std::size_t Record::session() const { return json_->at("context").at("sessions").size() - 1; }

bool Record::was_merged() const { return json_->at("context").contains("plan"); }

bool Record::is_complete() const { return json_->at("complete") == true; }

Record Record::create(const std::filesystem::path& folder, const RecordKind& kind, const RecordContent& content) {
  Record record(RecordFile::create(
      folder / kind.file(), fmt::format("'convladder {} --resume {}' continues it, another --output starts a new one",
                                        kind.kind, folder.string())));
  ordered_json context = environment_json();
  context["command_line"] = content.command_line;
  context["options"] = part(content.options);
  context["seed"] = content.seed;
  context["date"] = utc_now();
  context["dataset"] = part(content.dataset);
  update(context, content.context);
  context["sessions"] = ordered_json::array();
  *record.json_ = {{"schema_version", kind.schema_version},
                   {"kind", kind.kind},
                   {"complete", false},
                   {"context", std::move(context)}};
  update(*record.json_, content.fields);
  record.begin_session(content);
  (*record.json_)["planned"] = content.planned;
  (*record.json_)["cases"] = ordered_json::array();
  update(*record.json_, content.behind);
  record.file_.write(*record.json_);
  return record;
}

Record Record::open(const std::filesystem::path& folder, const RecordKind& kind, const Check& check) {
  require_kind(folder, kind);
  Record record(RecordFile::open(folder / kind.file()));
  const std::string name = record.file().string();
  *record.json_ = read_record_json(name);
  const JsonPlace json(*record.json_, name);
  if (json.at("schema_version").text() != kind.schema_version) {
    json.at("schema_version").expected(fmt::format("\"{}\"", kind.schema_version));
  }
  if (json.at("kind").text() != kind.kind) json.fail(fmt::format("not a {} of convladder", kind.kind));
  static_cast<void>(json.at("complete").truth());
  if (check) check(*record.json_, name);
  const std::vector<std::string> planned = json.at("planned").texts();
  const std::set<std::string> known(planned.begin(), planned.end());
  for (const JsonPlace& one : json.at("cases").list()) {
    const std::string id = one.at("id").text();
    if (!known.contains(id)) one.fail(fmt::format("{} is recorded but was not planned", printable(id)));
    if (!record.recorded_.insert(id).second) one.fail(fmt::format("{} occurs twice", printable(id)));
    static_cast<void>(read_status(one.at("status")));
  }
  require_same_machine(json.at("context"), kind);
  return record;
}

JsonPlace Record::options() const { return JsonPlace(*json_, file().string()).at("context").at("options"); }

void Record::go_on(const RecordContent& now) {
  const JsonPlace then(*json_, file().string());
  require_same(then.at("context").at("dataset").json(), part(now.dataset), "the data");
  require_same(then.at("planned").json(), now.planned, "the plan");
  for (const auto& [name, value] : part(now.fields).items()) {
    require_same(then.at(name).json(), value, fmt::format("'{}'", name));
  }
  static_cast<void>(then.at("context").at("sessions").list());
  if (is_complete()) return;
  begin_session(now);
  put_in_order(now);
  file_.write(*json_);
}

/// Puts the fields in the order in which create() writes them: somebody else may have written them in another order, or
/// cut those after the cases.
void Record::put_in_order(const RecordContent& now) {
  ordered_json ordered = ordered_json::object();
  const auto take = [&](const std::string& name) {
    if (json_->contains(name) && !ordered.contains(name)) ordered[name] = std::move(json_->at(name));
  };
  for (const char* const name : {"schema_version", "kind", "complete", "context"}) take(name);
  for (const auto& [name, value] : part(now.fields).items()) take(name);
  for (const char* const name : {"planned", "cases"}) take(name);
  for (const auto& [name, value] : json_->items()) take(name);
  for (const auto& [name, value] : part(now.behind).items()) ordered.emplace(name, ordered_json(value));
  *json_ = std::move(ordered);
}

void Record::plan_anew(const RecordContent& now, const Keep& keep) {
  const std::set<std::string> planned(now.planned.begin(), now.planned.end());
  (*json_)["complete"] = false;
  ordered_json& context = (*json_)["context"];
  context["command_line"] = now.command_line;
  context["options"] = part(now.options);
  context["seed"] = now.seed;
  context["dataset"] = part(now.dataset);
  begin_session(now);
  update(*json_, now.fields);
  (*json_)["planned"] = now.planned;
  put_in_order(now);
  set_behind(part(now.behind));
  remove_cases(
      [&](const ordered_json& one) { return !planned.contains(one.at("id").get<std::string>()) || !keep(one); });
  file_.write(*json_);
}

void Record::drop(const std::function<bool(const std::string& id)>& unwanted) {
  if (!remove_cases([&](const ordered_json& one) { return unwanted(one.at("id").get<std::string>()); })) return;
  (*json_)["complete"] = false;
  file_.write(*json_);
}

void Record::begin_session(const RecordContent& now) {
  ordered_json session = {{"started", utc_now()}};
  update(session, now.session);
  ordered_json& context = (*json_)["context"];
  if (session.contains("machine")) {  // each machine once
    ordered_json& machines = context["machines"];
    if (!machines.is_array()) machines = ordered_json::array();
    const auto known = std::ranges::find(machines, session["machine"]);
    const auto number = known - machines.begin();
    if (known == machines.end()) machines.push_back(session["machine"]);
    session["machine"] = number;
  }
  context["sessions"].push_back(std::move(session));
}

/// Removes unwanted cases. Returns false if there was none.
bool Record::remove_cases(const Keep& unwanted) {
  ordered_json left = ordered_json::array();
  for (ordered_json& one : json_->at("cases")) {
    if (unwanted(one)) {
      recorded_.erase(one.at("id").get<std::string>());
    } else {
      left.push_back(std::move(one));
    }
  }
  const bool any = left.size() < json_->at("cases").size();
  (*json_)["cases"] = std::move(left);
  return any;
}

void Record::add(ordered_json one_case, const Fields& behind) {
  one_case["session"] = session();
  file_.append(one_case, behind);
  set_behind(behind);
  recorded_.insert(one_case.at("id").get<std::string>());
  json_->at("cases").push_back(std::move(one_case));
}

/// Replaces all fields after the cases.
void Record::set_behind(const Fields& behind) {
  while ((--json_->end()).key() != "cases") json_->erase(--json_->end());
  json_->update(behind);
}

std::map<std::string, const ordered_json*> Record::cases_by_id() const {
  std::map<std::string, const ordered_json*> by_id;
  for (const ordered_json& one_case : json_->at("cases")) by_id[one_case.at("id").get<std::string>()] = &one_case;
  return by_id;
}

/// Cases are recorded in the order in which they ended, and read in the order in which they were planned.
void Record::put_cases_in_order() {
  const std::map<std::string, const ordered_json*> by_id = cases_by_id();
  ordered_json cases = ordered_json::array();
  for (const ordered_json& id : json_->at("planned")) {
    const auto found = by_id.find(id.get<std::string>());
    if (found != by_id.end()) cases.push_back(*found->second);
  }
  json_->at("cases") = std::move(cases);
}

void Record::complete(const Fields& derived) {
  if (is_complete()) return;
  (*json_)["complete"] = true;
  derive(derived);
}

void Record::derive(const Fields& derived) {
  put_cases_in_order();
  set_behind(derived);
  file_.write(*json_);
}

bool Record::any_failed() const {
  return std::ranges::any_of(json_->at("cases"), [](const ordered_json& one_case) {
    return is_failure(status_from_name(one_case.at("status").get<std::string>()).value());
  });
}

}  // namespace convladder

#include "harness/records/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/isolation/status.hpp"
#include "harness/machine/environment.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

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

Record Record::create(const std::filesystem::path& folder, const RecordKind& kind, const RecordContext& context,
                      const std::vector<std::string>& planned, const Fields& fields, const Fields& behind) {
  Record record(RecordFile::create(
      folder / kind.file(), fmt::format("'convladder {} --resume {}' continues it, another --output starts a new one",
                                        kind.kind, folder.string())));
  ordered_json json_context = environment_json();
  json_context["command_line"] = context.command_line;
  json_context["options"] = context.options;
  json_context["seed"] = context.seed;
  json_context["date"] = utc_now();
  json_context["dataset"] = context.dataset;
  json_context["sessions"] = ordered_json::array({ordered_json{{"started", utc_now()}}});
  record.json_ = {{"schema_version", kind.schema_version},
                  {"kind", kind.kind},
                  {"complete", false},
                  {"context", std::move(json_context)}};
  record.json_.update(fields);
  record.json_["planned"] = planned;
  record.json_["cases"] = ordered_json::array();
  record.set_behind(behind);
  record.file_.write(record.json_);
  return record;
}

Record Record::open(const std::filesystem::path& folder, const RecordKind& kind, const Check& check) {
  Record record(RecordFile::open(folder / kind.file()));
  const std::string name = record.file().string();
  record.json_ = read_record_json(name);
  const JsonPlace json(record.json_, name);
  if (json.at("schema_version").text() != kind.schema_version) {
    json.at("schema_version").expected(fmt::format("\"{}\"", kind.schema_version));
  }
  // Older runs do not say what they are.
  const std::string its_kind = json.has("kind") ? json.at("kind").text() : kRunKind.kind;
  if (its_kind != kind.kind) json.fail(fmt::format("not a {} of convladder", kind.kind));
  static_cast<void>(json.at("context").object());
  static_cast<void>(json.at("complete").truth());
  if (check) check(record.json_, name);
  const std::vector<std::string> planned = json.at("planned").texts();
  const std::set<std::string> known(planned.begin(), planned.end());
  for (const JsonPlace& one : json.at("cases").list()) {
    const std::string id = one.at("id").text();
    if (!known.contains(id)) one.fail(fmt::format("{} is recorded but was not planned", printable(id)));
    if (!record.recorded_.insert(id).second) one.fail(fmt::format("{} occurs twice", printable(id)));
    static_cast<void>(read_status(one.at("status")));
  }
  return record;
}

void Record::go_on(const std::vector<std::string>& planned, const ordered_json& dataset, const Fields& behind) {
  const ordered_json now = environment_json();
  try {
    ordered_json& context = json_.at("context");
    require_same(context.at("program"), now.at("program"), "the program");
    require_same(context.at("host").at("name"), now.at("host").at("name"), "the host");
    require_same(context.at("cpu"), now.at("cpu"), "the processor");
    require_same(context.at("dataset"), dataset, "the data");
    require_same(json_.at("planned"), planned, "the plan");
    if (is_complete()) return;
    context.at("sessions").push_back(ordered_json{{"started", utc_now()}});
    set_behind(behind);
    file_.write(json_);
  } catch (const ordered_json::exception& error) {
    throw UserError(fmt::format("{}: {}", file().string(), error.what()));
  }
}

int Record::session() const { return static_cast<int>(json_.at("context").at("sessions").size()) - 1; }

void Record::add(ordered_json one_case, const Fields& behind) {
  set_behind(behind);
  file_.append(one_case, behind);
  recorded_.insert(one_case.at("id").get<std::string>());
  json_.at("cases").push_back(std::move(one_case));
}

/// Fields that stand behind the cases, in the order in which a file has them.
void Record::set_behind(const Fields& behind) {
  for (const auto& [name, value] : behind.items()) {
    json_.erase(name);
    json_[name] = value;
  }
}

std::vector<ordered_json> Record::cases_as_planned() const {
  std::map<std::string, const ordered_json*> by_id;
  for (const ordered_json& one_case : json_.at("cases")) by_id[one_case.at("id").get<std::string>()] = &one_case;
  std::vector<ordered_json> cases;
  for (const ordered_json& id : json_.at("planned")) {
    const auto found = by_id.find(id.get<std::string>());
    if (found != by_id.end()) cases.push_back(*found->second);
  }
  return cases;
}

void Record::complete(const Fields& derived) {
  if (is_complete()) return;
  // Recorded in the order in which they ended; read in the order in which they were planned.
  json_["cases"] = cases_as_planned();
  json_["complete"] = true;
  set_behind(derived);
  file_.write(json_);
}

bool Record::any_failed() const {
  return std::ranges::any_of(json_.at("cases"), [](const ordered_json& one_case) {
    return is_failure(status_from_name(one_case.at("status").get<std::string>()).value());
  });
}

}  // namespace convladder

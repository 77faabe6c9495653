#include "harness/records/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <set>

#include "harness/machine/quality.hpp"
#include "harness/records/record_file.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr int kDeepest = 64;  // lists and objects in each other; a run has 7
constexpr std::size_t kLongestName = 256;
constexpr double kLongestTime = 1e18;  // 30 years; sums and means of such numbers stay finite

/// Refuses a key that an object holds twice, of which a parser would silently take the last, and what is so deep that
/// working on it would exhaust the stack.
class StructureCheck {
 public:
  explicit StructureCheck(const std::string& file) : file_(file) {}

  void see(int depth, ordered_json::parse_event_t event, const ordered_json& parsed) {
    if (depth > kDeepest)
      throw UserError(fmt::format("{}: lists and objects are nested more than {} deep", file_, kDeepest));
    if (event == ordered_json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == ordered_json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == ordered_json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      throw UserError(
          fmt::format("{}: the key \"{}\" occurs twice in an object", file_, printable(parsed.get<std::string>())));
    }
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> keys_;
};

void require_version(const JsonPlace& run) {
  if (run.has("kind") && run.json().at("kind") != "run") {
    run.fail(
        fmt::format("kind: {} is not a run of single layers; expected a run.json", short_json(run.json().at("kind"))));
  }
  const std::string version = run.text("schema_version");
  if (version != kRunSchemaVersion) {
    run.fail(fmt::format("schema_version: {}, this program reads \"{}\"", short_json(run.json().at("schema_version")),
                         kRunSchemaVersion));
  }
}

/// A text that becomes part of an id, and is matched and printed as it is.
std::string name_of(const JsonPlace& place, const char* field) {
  const std::string name = place.text(field);
  if (printable(name) != name || name.size() > kLongestName) {
    place.fail(fmt::format("{}: expected a name of at most {} bytes without control characters", field, kLongestName));
  }
  return name;
}

RecordedTime parse_time(const JsonPlace& place) {
  RecordedTime time{.of = name_of(place, "of"), .cache = place.text_or_empty("cache"), .samples = {}};
  const ordered_json& samples = place.list("samples");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].is_number() || !(samples[i].get<double>() > 0) || !(samples[i].get<double>() < kLongestTime)) {
      place.fail(fmt::format("samples[{}]: expected a positive number of ns below {:g}", i, kLongestTime));
    }
    time.samples.push_back(samples[i].get<double>());
  }
  if (time.samples.empty()) place.fail("samples: expected at least one");
  return time;
}

Status status_of(const JsonPlace& place) {
  const std::optional<Status> status = status_from_name(place.text("status"));
  if (!status) place.fail(fmt::format("status: {} is not known", short_json(place.json().at("status"))));
  return *status;
}

std::vector<std::pair<std::string, double>> parse_metrics(const JsonPlace& place, const char* field) {
  std::vector<std::pair<std::string, double>> metrics;
  for (const auto& [name, value] : place.object(field).json().items()) {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || printable(name) != name) {
      place.fail(fmt::format("{}: expected numbers by name", field));
    }
    metrics.emplace_back(name, value.get<double>());
  }
  return metrics;
}

/// The mark and its reasons; empty for a good case.
std::string parse_disturbance(const JsonPlace& place) {
  const std::string mark = place.text("mark");
  if (mark == quality_name(QualityMark::good)) return {};
  if (quality_sign(mark).empty()) place.fail("mark: expected good, noisy or disturbed");
  if (place.has("load_of_others") && !place.json().at("load_of_others").is_number()) {
    place.fail("load_of_others: expected a number or null");
  }
  std::vector<std::string> reasons;
  for (const ordered_json& reason : place.list("reasons")) {
    if (!reason.is_string()) place.fail("reasons: expected a list of strings");
    reasons.push_back(printable(reason.get<std::string>()));
  }
  if (reasons.empty()) place.fail("reasons: expected at least one, because the mark is not good");
  return fmt::format("{}: {}", mark, fmt::join(reasons, ", "));
}

RecordedCase parse_case(const JsonPlace& place) {
  RecordedCase one;
  one.id = name_of(place, "id");
  one.variant = name_of(place, "variant");
  one.device = name_of(place, "device");
  one.network = name_of(place, "network");
  one.layer = name_of(place, "layer");
  one.batch = place.whole_number("batch");
  const std::string expected =
      fmt::format("{}/{}/{}.{}/{}", one.device, one.variant, one.network, one.layer, one.batch);
  if (one.id != expected) place.fail(fmt::format("id: expected \"{}\" by its other fields", expected));
  one.library = !place.has("rung") && !place.has("leaves_out");
  if (place.has("rung")) one.rung = place.whole_number("rung");
  one.status = status_of(place);
  one.reason = printable(place.text_or_empty("reason"));
  one.input = place.text_or_empty("input");
  one.choice = printable(place.text_or_empty("choice"));
  one.shape = place.object("shape").json();
  one.session = place.whole_number("session");
  if (place.has("time")) one.time = parse_time(place.object("time"));
  if (place.has("quality")) one.disturbance = parse_disturbance(place.object("quality"));
  if (place.has("counters")) {
    const JsonPlace counters = place.object("counters");
    one.counters = RecordedCounters{.images_executed = counters.whole_number("images_executed"),
                                    .totals = parse_metrics(counters, "totals"),
                                    .modelled = parse_metrics(counters, "modelled")};
  }
  if (one.ok() && !one.time && !one.counters) place.fail("expected a time or counters, because the status is \"ok\"");
  return one;
}

}  // namespace

ordered_json parse_record_json(std::string_view text, const std::string& file) {
  StructureCheck check(file);
  try {
    return ordered_json::parse(text, [&check](int depth, ordered_json::parse_event_t event, ordered_json& parsed) {
      check.see(depth, event, parsed);
      return true;
    });
  } catch (const ordered_json::parse_error& error) {
    throw UserError(fmt::format("{}: byte {}: not valid JSON, expected a record of convladder", file, error.byte));
  } catch (const ordered_json::out_of_range&) {
    throw UserError(fmt::format("{}: holds a number beyond the range of a double", file));
  }
}

ordered_json read_record_json(const std::string& file) {
  const std::vector<std::byte> bytes = read_file_bytes(file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    return parse_record_json(text, file);
  } catch (const UserError&) {
    const std::string closed = closed_record(text);
    if (closed.empty() || !ordered_json::accept(closed)) throw;
    ordered_json json = parse_record_json(closed, file);
    fmt::print(stderr, "convladder: {}: cut off in the middle; whole cases that are used: {}\n", printable(file),
               json.at("cases").size());
    return json;
  }
}

RecordedRun parse_recorded_run(std::string_view text, const std::string& file) {
  return recorded_run_of(parse_record_json(text, file), file);
}

RecordedRun recorded_run_of(const ordered_json& json, const std::string& file) {
  const JsonPlace place(json, file);
  require_version(place);
  RecordedRun run;
  run.file = file;
  run.complete = place.truth("complete");
  run.context = place.object("context").json();
  for (std::size_t i = 0; place.has("planned") && i < place.list("planned").size(); ++i) {
    const ordered_json& planned = place.list("planned")[i];
    if (!planned.is_string() || printable(planned.get<std::string>()) != planned.get<std::string>()) {
      place.fail(fmt::format("planned[{}]: expected the id of a case", i));
    }
    run.planned.push_back(planned.get<std::string>());
  }
  std::set<std::string> ids;
  for (std::size_t i = 0; i < place.list("cases").size(); ++i) {
    const JsonPlace one = place.element("cases", i);
    run.cases.push_back(parse_case(one));
    if (!ids.insert(run.cases.back().id).second) one.fail(fmt::format("id: \"{}\" occurs twice", run.cases.back().id));
  }
  return run;
}

RecordedRun read_recorded_run(const std::string& file) { return recorded_run_of(read_record_json(file), file); }

}  // namespace convladder

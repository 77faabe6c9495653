#include "harness/judge/duel/programs/told_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr const char* kAnswers = "an answer of a worker";
constexpr std::size_t kLongestLine = 10'000;  // that is searched: the search's stack grows with the line

double positive(const std::string& name, double value) {
  if (value > 0 && std::isfinite(value)) return value;
  throw UserError(fmt::format("{}: {:g} is no figure that can be compared: expected a number above 0", name, value));
}

double number_in(const std::string& name, std::string_view text) {
  const std::string_view digits = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size()) return positive(name, value);
  throw UserError(fmt::format("{}: '{}' is no number", name, printable(std::string(digits))));
}

/// The text as JSON, or else its last line that is not empty.
ordered_json json_in(const std::string& name, const std::string& text) {
  const std::string what = name + ": what was printed";
  try {
    return parse_json(text, what, "JSON");
  } catch (const UserError&) {
    const std::string last = last_words_of(text);
    if (last.empty()) throw UserError(name + ": nothing was printed");
    return parse_json(last, what, "JSON");
  }
}

/// The clocks, in MHz, of the states in a file of nvbench that were not skipped, in their order; empty where one is not
/// told, and for other files.
std::vector<double> nvbench_clocks(const std::string& file) {
  std::vector<double> clocks;
  const ordered_json json = parse_record_json(read_file_text(file), file);
  for (const ordered_json& benchmark : value_at(json, "/benchmarks")) {
    for (const ordered_json& state : value_at(benchmark, "/states")) {
      const ordered_json& skipped = value_at(state, "/is_skipped");
      if (skipped.is_boolean() && skipped.get<bool>()) continue;
      double hertz = 0;
      for (const ordered_json& summary : value_at(state, "/summaries")) {
        if (text_at(summary, "/tag") != "nv/cold/sm_clock_rate/mean") continue;
        const ordered_json& value = value_at(summary, "/data/0/value");
        hertz = value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr)
                                  : (value.is_number() ? value.get<double>() : 0);
      }
      if (!(hertz > 0)) return {};
      clocks.push_back(hertz * 1e-6);
    }
  }
  return clocks;
}

}  // namespace

MetricWish parse_metric(const std::string& text, bool of_worker) {
  if (text == "wall" || text == "cpu") {
    if (of_worker && text == "cpu") throw UserError("--metric cpu: of a worker only the time that it tells is known");
    const bool is_wall = text == "wall";
    return {.metric = {.name = is_wall ? "wall time" : "CPU time"},
            .from = is_wall ? MetricWish::From::wall : MetricWish::From::cpu,
            .expression = {},
            .pattern = {}};
  }
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty() || (equals == std::string::npos ? !of_worker : equals + 1 == text.size())) {
    throw UserError(fmt::format("--metric '{}': expected wall, cpu, NAME=REGULAR-EXPRESSION or NAME=/JSON/POINTER",
                                printable(text)));
  }
  MetricWish wish{.metric = {.name = printable(name), .unit = ""},
                  .from = MetricWish::From::pointer,
                  .expression = equals == std::string::npos ? "/metrics/" + name : text.substr(equals + 1),
                  .pattern = {}};
  if (wish.expression.starts_with('/')) return wish;
  if (of_worker)
    throw UserError(fmt::format("--metric {}: a worker's figures are named, or JSON pointers", printable(text)));
  wish.pattern = TextPattern("--metric " + wish.metric.name, wish.expression);
  wish.from = MetricWish::From::pattern;
  return wish;
}

double told_figure(const MetricWish& wish, const std::string& text) {
  const std::string& name = wish.metric.name;
  if (wish.from == MetricWish::From::pointer) {
    const ordered_json json = json_in(name, text);
    const ordered_json& value = value_at(json, wish.expression.c_str());
    if (value.is_string()) return number_in(name, value.get<std::string>());
    if (!value.is_number()) {
      throw UserError(fmt::format("{}: no number at {}", name, printable(wish.expression)));
    }
    return positive(name, value.get<double>());
  }
  for (const std::string& line : split(text, '\n')) {
    if (line.size() > kLongestLine) continue;
    if (const std::optional<std::string> found = wish.pattern.first_group(line)) return number_in(name, *found);
  }
  throw UserError(fmt::format("{}: no line of its output matches '{}'", name, printable(wish.expression)));
}

std::string last_words_of(const std::string& text) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    if (!trimmed(line).empty()) last = line;
  }
  return last;
}

std::vector<ToldTime> told_times(const std::string& file) {
  std::vector<ToldTime> times;
  const RecordedRun run = read_recorded_run(file);
  for (const RecordedCase& one : run.cases) {
    if (!one.time) continue;
    const std::vector<double>& samples = one.time->samples;
    const bool fastest = one.family == "cpu" && !samples.empty();
    times.push_back({one.id, fastest ? std::ranges::min(samples) : one.time->median, 0});
  }
  if (times.empty()) throw UserError(fmt::format("{}: holds no time", printable(file)));
  const std::vector<double> clocks = nvbench_clocks(file);
  for (std::size_t i = 0; i < times.size() && clocks.size() == times.size(); ++i) times[i].clock_mhz = clocks[i];
  return times;
}

std::string slot_request(std::int64_t calls, std::string_view one_case) {
  ordered_json request{{"op", "slot"}, {"calls", calls}};
  if (!one_case.empty()) request["case"] = one_case;
  return json_line(request);
}

std::string output_request(std::string_view one_case) {
  ordered_json request{{"op", "output"}};
  if (!one_case.empty()) request["case"] = one_case;
  return json_line(request);
}

WorkerSlot read_worker_slot(const std::string& line) {
  const ordered_json json = parse_json(line, kAnswers, "JSON");
  const JsonPlace place(json, kAnswers);
  if (place.has("error")) throw UserError(printable(place.at("error").text()));
  return {place.at("seconds").number({.least = kAboveZero, .most = 1e9, .unit = "s"}), line};
}

std::optional<std::string> read_worker_output(const std::string& line) {
  const ordered_json json = parse_json(line, kAnswers, "JSON");
  const JsonPlace place(json, kAnswers);
  if (!place.has("output")) return std::nullopt;
  return json_line(place.at("output").json());
}

}  // namespace convladder

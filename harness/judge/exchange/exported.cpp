#include "harness/judge/exchange/exported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/exchange/exported_checks.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr NumberRange kExportedTimes{.least = kAboveZero, .most = 1e18, .unit = "ns"};

/// "latency-layer-cold": characters of a name other than letters and digits become a dash.
std::string measure_name(std::string_view first, std::string_view of, std::string_view cache) {
  std::string name(first);
  for (const std::string_view part : {of, cache}) {
    if (part.empty()) continue;
    name += '-';
    for (const char c : part) {
      const auto byte = static_cast<unsigned char>(c);
      name += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
    }
  }
  return name;
}

ExportedFigure time_figure(const TimeFigure& time, const std::string& measure) {
  ExportedFigure figure{.kind = time.is_predicted ? FigureKind::predicted : FigureKind::measured,
                        .measure = time.is_predicted ? "predicted-" + measure : measure,
                        .unit = "ns",
                        .value = time.median,
                        .low = time.low,
                        .high = time.high,
                        .level = time.level,
                        .samples = time.samples,
                        .iterations = time.iterations};
  return figure;
}

void add_counters(ExportedCase& one, const CounterValues& values, FigureKind kind) {
  for (const auto& [name, value] : values) {
    one.figures.push_back(
        {.kind = kind, .measure = fmt::format("{}-{}", figure_kind_name(kind), name), .unit = "count", .value = value});
  }
}

void add_prediction(ExportedCase& one, const std::string& gpu, double low, double high) {
  one.figures.push_back({.kind = FigureKind::predicted,
                         .measure = "predicted-" + gpu,
                         .unit = "ns",
                         .value = std::sqrt(low * high),
                         .low = low,
                         .high = high});
}

/// Numbers the second of two times of a case that have the same name.
void number_same_measures(ExportedCase& one) {
  for (std::size_t i = 1; i < one.figures.size(); ++i) {
    const auto before = [&](const std::string& measure) {
      return std::any_of(one.figures.begin(), one.figures.begin() + static_cast<std::ptrdiff_t>(i),
                         [&](const ExportedFigure& other) { return other.measure == measure; });
    };
    const std::string measure = one.figures[i].measure;
    for (int number = 2; before(one.figures[i].measure); ++number) {
      one.figures[i].measure = fmt::format("{}-{}", measure, number);
    }
  }
}

ExportedCase of_case(const RecordedCase& figures) {
  ExportedCase one{.name = figures.id,
                   .device = figures.device,
                   .variant = figures.variant,
                   .network = figures.network,
                   .layer = figures.layer,
                   .batch = std::to_string(figures.batch),
                   .status = figures.status,
                   .reason = figures.reason,
                   .quality = figures.disturbance(),
                   .figures = {},
                   .verdict = std::nullopt,
                   .findings = {}};
  // One time for all cases: NCHW in to NCHW out. The op time of a layout of its own is another series.
  const TimeFigure* const own = figures.layer_time();
  if (own != nullptr) one.figures.push_back(time_figure(*own, "latency"));
  const auto add_other = [&](const TimeFigure& time) {
    if (&time != own) one.figures.push_back(time_figure(time, measure_name("latency", time.of, time.cache)));
  };
  if (figures.time) add_other(*figures.time);
  for (const TimeFigure& other : figures.other_times) add_other(other);
  if (figures.counters) {
    add_counters(one, figures.counters->totals, FigureKind::counted);
    add_counters(one, figures.counters->modelled, FigureKind::modelled);
  }
  for (const PredictedFigure& prediction : figures.predictions) {
    if (prediction.runs()) add_prediction(one, prediction.gpu, *prediction.low_ns, *prediction.high_ns);
  }
  number_same_measures(one);
  return one;
}

/// The fields that all kinds of cases have: an id, a status, a reason, a quality.
ExportedCase begun(const JsonPlace& place) {
  ExportedCase one;
  one.name = place.at("id").name();
  one.device = place.has("device") ? place.at("device").name() : one.name.substr(0, one.name.find('/'));
  if (place.has("status")) one.status = read_status(place.at("status"));
  one.reason = printable(place.at("reason").text_or_empty());
  if (place.has("quality")) {
    RecordedCase quality;
    quality.quality = read_quality(place.at("quality"));
    one.quality = quality.disturbance();
  }
  return one;
}

/// The cases of a list that `recorded` was read from, with what checkers found in them.
std::vector<ExportedCase> of_cases(const std::vector<RecordedCase>& recorded, const JsonPlace& list) {
  std::vector<ExportedCase> cases;
  const std::vector<JsonPlace> places = list.list();
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    cases.push_back(of_case(recorded[i]));
    if (places[i].has("checkers")) cases.back().findings = exported_findings(places[i].at("checkers").at("findings"));
  }
  return cases;
}

std::vector<ExportedCase> of_networks(const JsonPlace& place) {
  std::vector<ExportedCase> cases;
  for (const JsonPlace& at : place.at("cases").list()) {
    ExportedCase one = begun(at);
    one.network = at.at("network").name();
    one.variant = printable(at.at("variants").text());
    one.batch = std::to_string(at.at("batch").count());
    if (const std::optional<TimeFigure> total = read_time(at.at("total"))) {
      one.figures.push_back(time_figure(*total, "latency"));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<ExportedCase> of_ranking(const JsonPlace& place) {
  std::vector<ExportedCase> cases;
  for (const JsonPlace& at : place.at("cases").list()) {
    ExportedCase one = begun(at);
    one.variant = at.at("name").name();
    one.layer = printable(at.at("size").text());
    if (const std::optional<TimeFigure> time = read_time(at.at("time"))) {
      one.figures.push_back(time_figure(*time, "latency"));
    }
    if (const std::optional<TimeFigure> baseline = read_time(at.at("baseline_time"))) {
      one.figures.push_back(time_figure(*baseline, "latency-of-baseline"));
    }
    if (at.has("counted")) {
      add_counters(one, at.at("counted").at("totals").numbers_by_name(), FigureKind::counted);
    }
    if (at.has("predicted")) {
      const JsonPlace predicted = at.at("predicted");
      add_prediction(one, printable(predicted.at("gpu").text()), predicted.at("low").number(kExportedTimes),
                     predicted.at("high").number(kExportedTimes));
    }
    number_same_measures(one);
    cases.push_back(std::move(one));
  }
  return cases;
}

/// Adds a change, given as a fraction of the base.
void add_change(ExportedCase& one, std::optional<double> estimate, std::optional<double> low,
                std::optional<double> high) {
  if (!estimate) return;
  const auto percent = [](const std::optional<double>& part) {
    return part && std::isfinite(*part) ? std::optional(*part * 100) : std::nullopt;
  };
  one.figures.push_back({.kind = FigureKind::compared,
                         .measure = "change",
                         .unit = "percent",
                         .value = *estimate * 100,
                         .low = percent(low),
                         .high = percent(high)});
}

/// The new side's slots of a duel, from the rounds that decided.
std::vector<double> slots_of(const JsonPlace& at) {
  for (const char* const stage : {"confirm", "screen"}) {
    if (!at.has(stage)) continue;
    std::vector<double> slots;
    for (const JsonPlace& round : at.at(stage).at("rounds").list()) {
      const std::vector<double> values = round.at("values").numbers(kExportedTimes);
      if (values.size() != 4) round.at("values").expected("four values");
      const bool base_outside = round.at("order").text() == "ABBA";
      slots.push_back(base_outside ? values[1] : values[0]);
      slots.push_back(base_outside ? values[2] : values[3]);
    }
    if (!slots.empty()) return slots;
  }
  return {};
}

/// Whether a record of `duel` has a control that moved, or that nobody could judge.
bool shows_nothing(const JsonPlace& place) {
  if (place.at("kind").text() != "duel") return false;
  const JsonPlace control = place.at("control");
  return !control.has("contaminated") || control.at("contaminated").truth();
}

/// The cases of a record of `compare` or `duel`: the figures are those of the new side.
std::vector<ExportedCase> of_comparison(const JsonPlace& place) {
  std::vector<ExportedCase> cases;
  const bool is_void = shows_nothing(place);
  for (const JsonPlace& at : place.at("cases").list()) {
    ExportedCase one = begun(at);
    const std::string verdict = printable(at.at("verdict").text());
    if (const std::string doubt = printable(at.at("caveat").text_or_empty()); !doubt.empty()) {
      one.reason += (one.reason.empty() ? "" : "; ") + doubt;
    }
    one.verdict = ExportedVerdict{verdict, one.reason, printable(at.at("witness").text_or_empty()), !is_void};
    if (verdict == case_verdict_name(CaseVerdict::failed)) one.status = Status::incorrect;
    if (verdict == case_verdict_name(CaseVerdict::missing) || verdict == case_verdict_name(CaseVerdict::skipped)) {
      one.status = Status::skipped;
    }
    if (one.quality.empty()) one.quality = printable(at.at("new_quality").text_or_empty());
    const bool is_of_duel = at.has("metric");
    if (const char* const median = is_of_duel ? "new_median" : "new_median_ns"; at.has(median)) {
      const std::vector<double> slots = slots_of(at);
      TimeFigure time;
      time.median = at.at(median).number(kExportedTimes);
      time.samples = slots;
      time.is_predicted =
          at.at(is_of_duel ? "kind" : "time_kind").text_or_empty() == figure_kind_name(FigureKind::predicted);
      if (const std::optional<MedianInterval> interval = median_interval(slots)) {
        time.low = interval->low;
        time.high = interval->high;
        time.level = interval->level;
      }
      one.figures.push_back(time_figure(time, "latency"));
      if (is_of_duel && at.at("metric").at("unit").text_or_empty() != "ns") {
        one.figures.back().measure = measure_name("metric", printable(at.at("metric").at("name").text()), "");
        one.figures.back().unit = printable(at.at("metric").at("unit").text_or_empty());
      }
    }
    if (at.has("change")) {
      const JsonPlace change = at.at("change");
      add_change(one, change.at("estimate").number_or_none(), change.at("low").number_or_none(),
                 change.at("high").number_or_none());
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

template <typename Number>
Number number_at(const ordered_json& json, const char* pointer) {
  const ordered_json& value = value_at(json, pointer);
  if (value.is_number_unsigned()) {
    return std::in_range<Number>(value.get<std::uint64_t>()) ? value.get<Number>() : Number{0};
  }
  // A run made of another program's file was never a text: its numbers are signed.
  const bool fits = value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>());
  return fits ? std::max(value.get<Number>(), Number{0}) : Number{0};
}

/// The context, as far as it exists: a comparison has little of it.
ExportedContext context_of(const ordered_json& json, const std::string& kind) {
  const ordered_json& context = value_at(json, "/context");
  const ordered_json& program = context.is_object() ? value_at(context, "/program") : value_at(json, "/new/program");
  const auto text = [&](const char* pointer) { return text_at(context, pointer, "unknown"); };
  const auto of_program = [&](const char* pointer) { return text_at(program, pointer, "unknown"); };
  ExportedContext about{.kind = kind,
                        .date = text("/date"),
                        .commit = of_program("/commit"),
                        .dirty = value_at(program, "/dirty") == true,
                        .program = fmt::format("{} {}", of_program("/name"), of_program("/version")),
                        .compiler = of_program("/compiler"),
                        .compiler_flags = of_program("/compiler_flags"),
                        .build_type = of_program("/build_type"),
                        .host = text("/host/name"),
                        .system = text("/host/system"),
                        .kernel = text("/host/kernel"),
                        .cpu = text("/cpu/model"),
                        .cores = number_at<int>(context, "/cpu/cores"),
                        .threads = number_at<int>(context, "/cpu/threads"),
                        .memory_bytes = number_at<std::uint64_t>(context, "/host/memory_bytes"),
                        .caches = {},
                        .gpus = {},
                        .sha256 = sha256_hex(json_line(json)),
                        .imported_from = text_at(context, "/imported/from")};
  for (const ordered_json& cache : value_at(context, "/cpu/caches")) {
    about.caches.push_back({number_at<std::uint64_t>(cache, "/level"), text_at(cache, "/type"),
                            number_at<std::uint64_t>(cache, "/bytes")});
  }
  for (const ordered_json& device : value_at(context, "/devices")) {
    const std::string name = text_at(device, "/facts/name");
    if (text_at(device, "/family") != "cuda" || text_at(device, "/kind") == "simulated" || name.empty()) continue;
    if (value_at(device, "/unavailable").is_null()) about.gpus.push_back(name);
  }
  if (!context.is_object() && value_at(json, "/new").is_object()) {  // a comparison has it for its new side
    const ordered_json& now = value_at(json, "/new");
    if (about.commit == "unknown") about.commit = text_at(now, "/commit", "unknown");
    about.dirty = about.dirty || value_at(now, "/dirty") == true;
    about.date = text_at(now, "/date", "unknown");
    about.host = text_at(now, "/host", "unknown");
  }
  if (value_at(json, "/new/command")
          .is_string()) {  // a duel of commands: the program that measured is not what changed
    about.commit = about.compiler = about.compiler_flags = about.build_type = "unknown";
    about.dirty = false;
  }
  return about;
}

ExportedRecord exported_record(const ordered_json& json, const std::string& file) {
  const JsonPlace place(json, file);
  if (const std::string kind = kind_of_checks(place); !kind.empty()) {
    return {context_of(json, kind), exported_checks(place, kind), {}};
  }
  const std::string kind = place.at("kind").text();
  ExportedRecord record{context_of(json, kind), {}, {}};
  if (kind == "run") {
    record.run = recorded_run_of(json, file, CaseFigures::all);
    record.cases = of_cases(record.run->cases, place.at("cases"));
  } else if (kind == "sweep") {
    record.cases = of_cases(read_whole_cases(place.at("cases")), place.at("cases"));
  } else if (kind == "network") {
    record.cases = of_networks(place);
  } else if (kind == "rank") {
    record.cases = of_ranking(place);
  } else if (kind == "comparison" || kind == "duel") {
    record.cases = of_comparison(place);
  } else {
    place.at("kind").expected("a run, a network, a rank, a sweep, a comparison, a duel, lints or a simulated program");
  }
  return record;
}

}  // namespace

std::string_view figure_kind_name(FigureKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"measured", "counted", "modelled", "predicted", "compared"};
  return kNames[static_cast<std::size_t>(kind)];
}

const ExportedFigure* ExportedCase::latency() const {
  const auto own = std::ranges::find(figures, "latency", &ExportedFigure::measure);
  return own == figures.end() ? nullptr : &*own;
}

ExportedRecord read_exported_record(const std::string& file) { return exported_record(read_record_json(file), file); }

ExportedRecord parse_exported_record(std::string_view text, const std::string& file) {
  return exported_record(parse_record_json(text, file), file);
}

void add_verdicts(ExportedRecord& record, const Comparison& comparison) {
  std::unordered_map<std::string, ExportedCase*> by_name;
  for (ExportedCase& one : record.cases) by_name.emplace(one.name, &one);
  for (const ComparedCase& compared : comparison.cases) {
    const auto found = by_name.find(compared.id);
    if (found == by_name.end()) continue;  // only the base has it; the command reports that
    ExportedCase* const one = found->second;
    std::string reason = compared.reason;
    if (!compared.cause.empty()) reason += (reason.empty() ? "" : "; ") + compared.cause;
    one->verdict = ExportedVerdict{std::string(case_verdict_name(compared.verdict)), reason, compared.witness};
    if (compared.change) {
      add_change(*one, std::expm1(compared.change->estimate), std::expm1(compared.change->low),
                 std::expm1(compared.change->high));
    }
  }
}

}  // namespace convladder

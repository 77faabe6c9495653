#include "harness/measure/cases/figures_json.hpp"

#include <nlohmann/json.hpp>

#include "harness/measure/plan/options_json.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json values_json(const CounterValues& values) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

ordered_json lines_json(const std::vector<CountedLine>& lines) {
  ordered_json json = ordered_json::array();
  for (const CountedLine& one : lines) {
    json.push_back({{"file", text_or_null(one.file)},
                    {"line", one.line},
                    {"source", text_or_null(one.source)},
                    {"counters", one.counters}});
  }
  return json;
}

CounterValues values_of(const JsonPlace& place, const char* field) {
  return place.has(field) ? place.at(field).numbers_by_name() : CounterValues();
}

}  // namespace

ordered_json counters_json(const CaseCounters& counters) {
  ordered_json kernels = ordered_json::array();
  for (const KernelCounters& kernel : counters.kernels) {
    kernels.push_back({{"kernel", kernel.kernel},
                       {"grid", dim_json(kernel.grid)},
                       {"block", dim_json(kernel.block)},
                       {"values", values_json(kernel.values)},
                       {"modelled", values_json(kernel.modelled)}});
  }
  ordered_json json = {
      {"kind", "counted"},
      {"of", "PTX instructions executed by the simulated device; 'modelled': traffic from its model of the caches"},
      {"images_executed", counters.images_executed},
      {"batch", counters.batch},
      {"exact", counters.exact},
      {"totals", values_json(counters.totals)},
      {"modelled", values_json(counters.modelled)},
      {"kernels", std::move(kernels)}};
  if (!counters.lines.empty()) json["lines"] = lines_json(counters.lines);
  if (counters.beside != WorkBeside()) {
    json["beside"] = {{"bus_ns", counters.beside.bus_ns},
                      {"moved_bytes", counters.beside.moved_bytes},
                      {"operations", counters.beside.operations},
                      {"calls_ns", counters.beside.calls_ns},
                      {"host_ns", counters.beside.host_ns}};
  }
  return json;
}

std::vector<CountedLine> read_counted_lines(const JsonPlace& place) {
  std::vector<CountedLine> lines;
  if (!place.has("lines")) return lines;
  for (const JsonPlace& one : place.at("lines").list()) {
    CountedLine& line = lines.emplace_back();
    line.file = printable(one.at("file").text_or_empty());
    line.line = one.at("line").count();
    line.source = printable(one.at("source").text_or_empty());
    for (auto& [name, value] : one.at("counters").numbers_by_name()) line.counters[name] = value;
  }
  return lines;
}

static WorkBeside read_beside(const JsonPlace& place) {
  return {.bus_ns = place.at("bus_ns").number(),
          .moved_bytes = place.at("moved_bytes").number(),
          .operations = place.at("operations").count(),
          .calls_ns = place.at("calls_ns").number(),
          .host_ns = place.at("host_ns").number()};
}

CaseCounters read_counters(const JsonPlace& place) {
  return {.images_executed = place.has("images_executed") ? place.at("images_executed").count() : 0,
          .batch = place.has("batch") ? place.at("batch").count() : 0,
          .exact = !place.has("exact") || place.at("exact").truth(),
          .totals = values_of(place, "totals"),
          .modelled = values_of(place, "modelled"),
          .kernels = place.has("kernels") ? read_kernels(place.at("kernels")) : std::vector<KernelCounters>(),
          .lines = read_counted_lines(place),
          .beside = place.has("beside") ? read_beside(place.at("beside")) : WorkBeside()};
}

void to_json(ordered_json& json, const CaseCounters& counters) { json = counters_json(counters); }

void from_json(const ordered_json& json, CaseCounters& counters) {
  for (const char* const name : {"images_executed", "batch", "exact", "kernels"}) static_cast<void>(json.at(name));
  counters = read_counters(JsonPlace(json, "its counters"));
}

std::vector<KernelCounters> read_kernels(const JsonPlace& place) {
  std::vector<KernelCounters> kernels;
  for (const JsonPlace& kernel : place.list()) {
    kernels.push_back({kernel.at("kernel").text(), read_dim(kernel.at("grid")), read_dim(kernel.at("block")),
                       kernel.at("values").numbers_by_name(), kernel.at("modelled").numbers_by_name()});
  }
  return kernels;
}

ordered_json interval_json(const std::optional<MedianInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"level", interval->level}};
}

ordered_json measured_json(std::string_view of, const std::vector<double>& samples) {
  return {{"kind", "measured"},
          {"of", of},
          {"unit", "ns"},
          {"median", median(samples)},
          {"interval", interval_json(median_interval(samples))},
          {"samples", samples}};
}

ordered_json change_json(const std::optional<ChangeBounds>& change) {
  if (!change) return nullptr;
  const auto part = [](double logarithm) {
    return std::isfinite(logarithm) ? ordered_json(std::expm1(logarithm)) : ordered_json();
  };
  return {{"estimate", part(change->estimate)}, {"low", part(change->low)}, {"high", part(change->high)}};
}

ordered_json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio) return nullptr;
  return {{"value", ratio->value},
          {"low", or_null(ratio->low)},
          {"high", or_null(ratio->high)},
          {"level", or_null(ratio->level)},
          {"by", ratio_by_name(ratio->by)}};
}

}  // namespace convladder

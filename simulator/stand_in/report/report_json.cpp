#include "simulator/stand_in/report/report_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>

#include "devices/kernel_resources.hpp"
#include "support/errors.hpp"
#include "support/json_fields.hpp"
#include "support/json_text.hpp"
#include "support/text.hpp"

namespace convladder::stand_in {

using nlohmann::ordered_json;

namespace {

void finding_fields(const auto& field, auto& its) {
  field("checker", its.checker, "severity", its.severity, "problem", its.problem, "kernel", its.kernel, "opcode",
        its.opcode, "ptx_line", its.ptx_line, "source_file", its.source_file, "source_line", its.source_line, "block",
        its.block, "thread", its.thread, "space", its.space, "address", its.address, "allocation", its.allocation,
        "count", its.count);
  field.lately("callers", its.callers);
  field.lately("configuration", its.configuration);
  field.lately("launcher", its.launcher);
}

}  // namespace
}  // namespace convladder::stand_in

namespace nlohmann {

namespace simulated = convladder::simulated;
namespace stand_in = convladder::stand_in;

template <>
struct adl_serializer<simulated::Checker> {
  static void to_json(ordered_json& json, simulated::Checker checker) { json = checker_name(checker); }
  static void from_json(const ordered_json& json, simulated::Checker& checker) {
    const auto name = [](simulated::Checker one) { return std::string(checker_name(one)); };
    const auto found = std::ranges::find(simulated::kCheckers, json.get<std::string>(), name);
    if (found != simulated::kCheckers.end()) checker = *found;
  }
};

template <>
struct adl_serializer<simulated::Severity> {
  static void to_json(ordered_json& json, simulated::Severity severity) { json = severity_name(severity); }
  static void from_json(const ordered_json& json, simulated::Severity& severity) {
    const bool is_note = json.get<std::string>() == severity_name(simulated::Severity::note);
    severity = is_note ? simulated::Severity::note : simulated::Severity::finding;
  }
};

template <>
struct adl_serializer<simulated::Finding> {
  static void to_json(ordered_json& json, const simulated::Finding& finding) {
    stand_in::finding_fields(convladder::FieldWriter(json), finding);
  }
  static void from_json(const ordered_json& json, simulated::Finding& finding) {
    stand_in::finding_fields(convladder::FieldReader(json), finding);
  }
};

template <>
struct adl_serializer<convladder::Dim3> {
  static void to_json(ordered_json& json, const convladder::Dim3& dim) { json = {dim.x, dim.y, dim.z}; }
  static void from_json(const ordered_json& json, convladder::Dim3& dim) {
    const auto sizes = json.get<std::array<unsigned, 3>>();
    dim = {sizes[0], sizes[1], sizes[2]};
  }
};

template <>
struct adl_serializer<stand_in::CallPlaces> {
  using List = std::vector<stand_in::CallPlace>;
  static void to_json(ordered_json& json, const stand_in::CallPlaces& places) {
    json = places == nullptr ? ordered_json::array() : ordered_json(*places);
  }
  static void from_json(const ordered_json& json, stand_in::CallPlaces& places) {
    places = std::make_shared<const List>(json.get<List>());
  }
};

template <>
struct adl_serializer<stand_in::ReportedFinding> {
  static void to_json(ordered_json& json, const stand_in::ReportedFinding& reported) {
    json = stand_in::finding_json(reported.finding);
    json["text"] = simulated::to_text(reported.finding);
    json["places"] = reported.places;
  }
  static void from_json(const ordered_json& json, stand_in::ReportedFinding& reported) {
    json.get_to(reported.finding);
    json.at("places").get_to(reported.places);
  }
};

}  // namespace nlohmann

namespace convladder::stand_in {

ordered_json orders_json(const simulated::OrdersTried& tried) {
  if (tried.empty()) return nullptr;
  ordered_json json;
  add_fields(json, tried);
  if (tried.not_tried.empty()) json["not_tried"] = nullptr;
  return json;
}

ordered_json finding_json(simulated::Finding finding) {
  finding.kernel = display_name(finding.kernel);
  return finding;
}

simulated::Finding read_finding(const ordered_json& json) { return json; }

std::string report_line(const ProcessReport& process) {
  ordered_json json;
  add_fields<ProcessName>(json, process);
  if (process.begins) {
    json["begins"] = true;
  } else {
    if (!process.signal.empty()) json["signal"] = process.signal;
    add_fields(json, process);
  }
  return json_line(json) + '\n';
}

std::vector<ProcessReport> read_report_lines(const std::string& lines) {
  std::vector<ProcessReport> processes;
  for (const std::string& line : split(lines, '\n')) {
    if (line.empty()) continue;
    const ordered_json json = parse_json(line, "the stand-in's report", "a report");
    ProcessReport& process = processes.emplace_back();
    try {
      read_fields<ProcessName>(json, process);
      process.begins = json.contains("begins");
      process.signal = json.value("signal", "");
      if (!process.begins) read_fields(json, process);
    } catch (const std::exception& error) {
      throw UserError(fmt::format("the stand-in's report cannot be read: {}", error.what()));
    }
  }
  return processes;
}

std::string event_line(int process, std::string_view what, int stream, Timeline::Span span) {
  return json_line({{"process", process},
                    {"what", what},
                    {"stream", stream},
                    {"begin_ns", span.begin},
                    {"end_ns", span.end}}) +
         '\n';
}

std::string call_line(int process, std::string_view call, Timeline::Span span) {
  return json_line({{"process", process}, {"call", call}, {"begin_ns", span.begin}, {"end_ns", span.end}}) + '\n';
}

}  // namespace convladder::stand_in

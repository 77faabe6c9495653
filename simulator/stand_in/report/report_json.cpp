#include "simulator/stand_in/report/report_json.hpp"

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <memory>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "devices/kernel_resources.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/text.hpp"

namespace convladder::stand_in {

using nlohmann::ordered_json;

namespace {

// One list of fields for writing and for reading each type: `field(name, member)` is called for every field, in the
// order of the JSON.

template <typename T, typename Type>
concept Is = std::same_as<std::remove_const_t<T>, Type>;

template <typename Field>
void fields(Is<Times> auto& times, const Field& field) {
  field("count", times.count);
  field("total_ns", times.total);
  field("least_ns", times.least);
  field("most_ns", times.most);
}

template <typename Field>
void fields(Is<KernelSum> auto& kernel, const Field& field) {
  field("name", kernel.name);
  field("predicted", kernel.predicted);
  field("counters", kernel.counters);
}

template <typename Field>
void fields(Is<CopySum> auto& copy, const Field& field) {
  field("what", copy.what);
  field("predicted", copy.predicted);
  field("bytes", copy.bytes);
}

template <typename Field>
void fields(Is<CallPlace> auto& place, const Field& field) {
  field("file", place.file);
  field("offset", place.offset);
}

template <typename Field>
void fields(Is<CallFailure> auto& failure, const Field& field) {
  field("call", failure.call);
  field("status", failure.status);
  field("name", failure.name);
  field("text", failure.text);
  field("count", failure.count);
  field("places", failure.places);
}

template <typename Field>
void fields(Is<AllocationNote> auto& allocation, const Field& field) {
  field("label", allocation.label);
  field("call", allocation.call);
  field("bytes", allocation.bytes);
  field("places", allocation.places);
}

template <typename Field>
void fields(Is<VirtualTimes> auto& times, const Field& field) {
  field("host", times.host);
  field("device_end", times.device_end);
  field("kernels", times.kernels);
  field("to_device", times.to_device);
  field("from_device", times.from_device);
}

template <typename Field>
void name_fields(auto& process, const Field& field) {
  field("process", process.number);
  field("program", process.program);
  field("arguments", process.arguments);
  field("gpu", process.gpu);
}

template <typename Field>
void report_fields(auto& process, const Field& field) {
  field("calls", process.calls);
  field("call_times", process.call_times);
  field("kernels", process.kernels);
  field("copies", process.copies);
  field("failures", process.failures);
  field("not_supported", process.not_supported);
  field("notes", process.notes);
  field("allocations", process.allocations);
  field("findings", process.findings);
  field("never_freed", process.never_freed);
  field("most_device_bytes", process.most_device_bytes);
  field("kernel_seconds", process.kernel_seconds);
  field("virtual_ns", process.predicted);
  field("seconds", process.seconds);
  field("most_resident_bytes", process.most_resident_bytes);
}

template <typename T>
concept HasFields = requires(T& value) {
  fields(value, [](const char*, auto&) {});
};

}  // namespace

}  // namespace convladder::stand_in

namespace nlohmann {

template <convladder::stand_in::HasFields T>
struct adl_serializer<T, void> {
  static void to_json(ordered_json& json, const T& value) {
    json = ordered_json::object();
    convladder::stand_in::fields(value, [&json](const char* name, const auto& member) { json[name] = member; });
  }
  static void from_json(const ordered_json& json, T& value) {
    convladder::stand_in::fields(value, [&json](const char* name, auto& member) { json.at(name).get_to(member); });
  }
};

template <>
struct adl_serializer<convladder::stand_in::CallPlaces> {
  using List = std::vector<convladder::stand_in::CallPlace>;
  static void to_json(ordered_json& json, const convladder::stand_in::CallPlaces& places) {
    json = places == nullptr ? ordered_json::array() : ordered_json(*places);
  }
  static void from_json(const ordered_json& json, convladder::stand_in::CallPlaces& places) {
    places = std::make_shared<const List>(json.get<List>());
  }
};

template <>
struct adl_serializer<convladder::stand_in::ReportedFinding> {
  static void to_json(ordered_json& json, const convladder::stand_in::ReportedFinding& reported) {
    json = convladder::stand_in::finding_json(reported.finding);
    json["text"] = convladder::simulated::to_text(reported.finding);
    json["places"] = reported.places;
  }
  static void from_json(const ordered_json& json, convladder::stand_in::ReportedFinding& reported) {
    reported.finding = convladder::stand_in::read_finding(json);
    json.at("places").get_to(reported.places);
  }
};

}  // namespace nlohmann

namespace convladder::stand_in {

ordered_json finding_json(const simulated::Finding& finding) {
  return {{"checker", checker_name(finding.checker)},
          {"problem", finding.problem},
          {"kernel", display_name(finding.kernel)},
          {"opcode", finding.opcode},
          {"ptx_line", finding.ptx_line},
          {"source_file", finding.source_file},
          {"source_line", finding.source_line},
          {"block", {finding.block.x, finding.block.y, finding.block.z}},
          {"thread", {finding.thread.x, finding.thread.y, finding.thread.z}},
          {"space", finding.space},
          {"address", finding.address},
          {"allocation", finding.allocation},
          {"count", finding.count}};
}

simulated::Finding read_finding(const ordered_json& json) {
  simulated::Finding finding;
  const auto checker = json.at("checker").get<std::string>();
  for (const simulated::Checker one : simulated::kCheckers) {
    if (checker_name(one) == checker) finding.checker = one;
  }
  const auto place = [&json](const char* name) {
    const auto sizes = json.at(name).get<std::array<unsigned, 3>>();
    return Dim3{sizes[0], sizes[1], sizes[2]};
  };
  json.at("problem").get_to(finding.problem);
  json.at("kernel").get_to(finding.kernel);
  json.at("opcode").get_to(finding.opcode);
  json.at("ptx_line").get_to(finding.ptx_line);
  json.at("source_file").get_to(finding.source_file);
  json.at("source_line").get_to(finding.source_line);
  finding.block = place("block");
  finding.thread = place("thread");
  json.at("space").get_to(finding.space);
  json.at("address").get_to(finding.address);
  json.at("allocation").get_to(finding.allocation);
  json.at("count").get_to(finding.count);
  return finding;
}

std::string report_line(const ProcessReport& process) {
  ordered_json json;
  const auto write = [&json](const char* name, const auto& member) { json[name] = member; };
  name_fields(process, write);
  if (process.begins) {
    json["begins"] = true;
  } else {
    if (!process.signal.empty()) json["signal"] = process.signal;
    report_fields(process, write);
  }
  return json_line(json) + '\n';
}

std::vector<ProcessReport> read_report_lines(const std::string& lines) {
  std::vector<ProcessReport> processes;
  for (const std::string& line : split(lines, '\n')) {
    if (line.empty()) continue;
    const ordered_json json = parse_json(line, "the stand-in's report", "a report");
    ProcessReport& process = processes.emplace_back();
    const auto read = [&json](const char* name, auto& member) { json.at(name).get_to(member); };
    try {
      name_fields(process, read);
      process.begins = json.contains("begins");
      process.signal = json.value("signal", "");
      if (!process.begins) report_fields(process, read);
    } catch (const ordered_json::exception& error) {
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

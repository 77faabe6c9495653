#include "simulator/stand_in/report/report_json.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// One list of fields for writing and for reading each type, in the order of the JSON.

template <typename T, typename Type>
concept Is = std::same_as<std::remove_const_t<T>, Type>;

void fields(const auto& field, Is<simulated::Finding> auto& x) {
  field("checker", x.checker, "problem", x.problem, "kernel", x.kernel, "opcode", x.opcode, "ptx_line", x.ptx_line,
        "source_file", x.source_file, "source_line", x.source_line, "block", x.block, "thread", x.thread, "space",
        x.space, "address", x.address, "allocation", x.allocation, "count", x.count);
}
void fields(const auto& field, Is<Times> auto& x) {
  field("count", x.count, "total_ns", x.total, "least_ns", x.least, "most_ns", x.most);
}
void fields(const auto& field, Is<KernelSum> auto& x) {
  field("name", x.name, "predicted", x.predicted, "counters", x.counters);
}
void fields(const auto& field, Is<CopySum> auto& x) {
  field("what", x.what, "predicted", x.predicted, "bytes", x.bytes);
}
void fields(const auto& field, Is<CallPlace> auto& x) { field("file", x.file, "offset", x.offset); }
void fields(const auto& field, Is<CallFailure> auto& x) {
  field("call", x.call, "status", x.status, "name", x.name, "text", x.text, "count", x.count, "places", x.places);
}
void fields(const auto& field, Is<AllocationNote> auto& x) {
  field("label", x.label, "call", x.call, "bytes", x.bytes, "places", x.places);
}
void fields(const auto& field, Is<VirtualTimes> auto& x) {
  field("host", x.host, "device_end", x.device_end, "kernels", x.kernels, "to_device", x.to_device, "from_device",
        x.from_device);
}
void fields(const auto& field, Is<ProcessName> auto& x) {
  field("process", x.number, "program", x.program, "arguments", x.arguments, "gpu", x.gpu);
}
void fields(const auto& field, Is<ProcessReport> auto& x) {
  field("calls", x.calls, "call_times", x.call_times, "kernels", x.kernels, "copies", x.copies, "failures", x.failures,
        "not_supported", x.not_supported, "notes", x.notes, "allocations", x.allocations, "findings", x.findings,
        "never_freed", x.never_freed, "most_device_bytes", x.most_device_bytes, "kernel_seconds", x.kernel_seconds,
        "virtual_ns", x.predicted, "seconds", x.seconds, "most_resident_bytes", x.most_resident_bytes);
}

struct FieldWriter {
  ordered_json& json;
  void operator()() const {}
  void operator()(const char* name, const auto& value, const auto&... rest) const {
    json[name] = value;
    (*this)(rest...);
  }
};

struct FieldReader {
  const ordered_json& json;
  void operator()() const {}
  void operator()(const char* name, auto& value, auto&&... rest) const {
    json.at(name).get_to(value);
    (*this)(rest...);
  }
};

template <typename T>
concept HasFields = requires(T& value, FieldReader read) {
  fields(read, value);
};

}  // namespace
}  // namespace convladder::stand_in

namespace nlohmann {

namespace simulated = convladder::simulated;
namespace stand_in = convladder::stand_in;

template <stand_in::HasFields T>
struct adl_serializer<T, void> {
  static void to_json(ordered_json& json, const T& value) { fields(stand_in::FieldWriter{json}, value); }
  static void from_json(const ordered_json& json, T& value) { fields(stand_in::FieldReader{json}, value); }
};

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

ordered_json finding_json(simulated::Finding finding) {
  finding.kernel = display_name(finding.kernel);
  return finding;
}

simulated::Finding read_finding(const ordered_json& json) { return json; }

std::string report_line(const ProcessReport& process) {
  ordered_json json;
  fields(FieldWriter{json}, static_cast<const ProcessName&>(process));
  if (process.begins) {
    json["begins"] = true;
  } else {
    if (!process.signal.empty()) json["signal"] = process.signal;
    fields(FieldWriter{json}, process);
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
      fields(FieldReader{json}, static_cast<ProcessName&>(process));
      process.begins = json.contains("begins");
      process.signal = json.value("signal", "");
      if (!process.begins) fields(FieldReader{json}, process);
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

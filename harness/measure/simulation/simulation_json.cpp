#include "harness/measure/simulation/simulation_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "harness/measure/simulation/line_differences.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/stand_in/report/report_json.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// JSON in ASCII: names from the PTX need not be UTF-8, and it may go to the terminal.
std::string ascii_text(const ordered_json& json) {
  return json.dump(1, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

/// The list of `one(element)` for each element.
template <typename Elements, typename One>
ordered_json list_of(const Elements& elements, const One& one) {
  ordered_json list = ordered_json::array();
  for (const auto& element : elements) list.push_back(one(element));
  return list;
}

ordered_json sizes_of(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

/// A number; null if it is not finite.
ordered_json element_json(ElementType type, const std::byte* bytes) {
  return with_element_type(type, [&]<typename T>(T) -> ordered_json {
    T value{};
    std::memcpy(&value, bytes, sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      return value;
    } else {
      const double number = to_double(value);
      return std::isfinite(number) ? ordered_json(number) : ordered_json();
    }
  });
}

ordered_json content_json(const BufferContent& buffer) {
  ordered_json values = ordered_json::array();
  const std::size_t size = element_bytes(buffer.type);
  for (std::size_t at = 0; at < buffer.bytes.size(); at += size) {
    values.push_back(element_json(buffer.type, buffer.bytes.data() + at));
  }
  return {{"name", buffer.name},
          {"type", element_name(buffer.type)},
          {"shape", buffer.shape},
          {"values", std::move(values)}};
}

ordered_json expectation_json(const ExpectationOutcome& outcome) {
  ordered_json first = nullptr;
  if (!outcome.met()) {
    first = {{"index", outcome.first_index}, {"found", outcome.first_found}, {"expected", outcome.first_expected}};
  }
  return {{"expectation", outcome.text},
          {"name", outcome.name},
          {"met", outcome.met()},
          {"elements", outcome.elements},
          {"wrong", outcome.wrong},
          {"first_wrong", std::move(first)},
          {"largest_difference", outcome.largest_difference}};
}

ordered_json to_json(const SimulationReport& report) {
  ordered_json outputs = ordered_json::array();
  for (const BufferContent& buffer : report.buffers) {
    if (buffer.is_result) outputs.push_back(content_json(buffer));
  }
  ordered_json counters = report.is_counted ? ordered_json::object() : ordered_json();
  for (const KernelCounters& launch : report.counters) {
    for (const auto* values : {&launch.values, &launch.modelled}) {
      for (const auto& [name, value] : *values) counters[name] = value;
    }
  }
  return {{"kernel", report.kernel},
          {"display_name", report.display_name},
          {"grid", sizes_of(report.grid)},
          {"block", sizes_of(report.block)},
          {"dynamic_shared_bytes", report.dynamic_shared_bytes},
          {"outputs", std::move(outputs)},
          {"counters", std::move(counters)},
          {"printed", text_or_null(report.printed)},
          {"findings", list_of(report.findings, stand_in::finding_json)},
          {"orders", stand_in::orders_json(report.orders)},
          {"fault", text_or_null(report.fault)},
          {"stopped", text_or_null(report.stopped)},
          {"expectations", list_of(report.expectations, expectation_json)},
          {"lines", report.lines.empty() ? ordered_json() : list_of(report.lines, kernel_lines_json)}};
}

ordered_json kernel_list_json(const KernelList& list) {
  const auto variable = [](const ptx::Symbol* one) -> ordered_json {
    return {{"name", one->name},
            {"display_name", display_name(one->name)},
            {"space", space_name(one->space)},
            {"bytes", one->bytes}};
  };
  const auto reference = [](const ptx::Symbol* one) -> ordered_json {
    return {{"name", one->name}, {"display_name", display_name(one->name)}, {"type", one->opaque_type}};
  };
  const auto refusal = [](const ptx::Refusal& one) -> ordered_json {
    return {{"line", one.position.line}, {"column", one.position.column}, {"what", one.what}};
  };
  const auto parameter = [](const ptx::Symbol& one) -> ordered_json {
    return {{"name", one.name}, {"bytes", one.bytes}, {"alignment", one.alignment}};
  };
  const auto kernel = [&](const ListedKernel& one) -> ordered_json {
    const ptx::Kernel& kernel = *one.kernel;
    return {{"name", kernel.name},
            {"display_name", one.name},
            {"refusals", list_of(one.refusals, refusal)},
            {"instructions", kernel.refusal ? ordered_json() : ordered_json(kernel.instructions.size())},
            {"shared_bytes", one.shared_bytes},
            {"has_dynamic_shared_memory", list.has_dynamic_shared_memory},
            {"local_bytes", one.local_bytes},
            {"max_threads_per_block", kernel.max_threads_per_block},
            {"parameters", list_of(kernel.parameters, parameter)}};
  };
  return {{"file", list.module->file},
          {"ptx_version", list.module->version},
          {"target", list.module->target},
          {"variables", list_of(list.variables, variable)},
          {"references", list_of(list.references, reference)},
          {"kernels", list_of(list.kernels, kernel)}};
}

ordered_json times_json(const stand_in::Times& times) {
  const auto count = static_cast<double>(times.count);
  return {{"calls", times.count},
          {"total_ns", times.total},
          {"average_ns", count > 0 ? static_cast<double>(times.total) / count : 0},
          {"least_ns", times.least},
          {"most_ns", times.most}};
}

/// A process of a report, as results/simulated_program.schema.json has it.
ordered_json process_json(const ProgramReport& report, const stand_in::ProcessReport& process) {
  // Null if the place is not known.
  const auto host = [&](const stand_in::CallPlaces& places) -> ordered_json {
    const stand_in::HostPlace* const found = report.hosts.find(places);
    if (found == nullptr) return nullptr;
    return {{"function", found->function},
            {"file", found->file},
            {"line", found->line},
            {"binary", found->binary},
            {"text", stand_in::place_text(*found)}};
  };
  // The memory with that label, "device memory 3", and where it was allocated; null if it is not known.
  const auto memory = [&](const std::string& label) -> ordered_json {
    const stand_in::AllocationNote* const found = process.allocation(label);
    if (found == nullptr) return nullptr;
    return {{"label", label}, {"call", found->call}, {"bytes", found->bytes}, {"host", host(found->places)}};
  };
  const auto finding = [&](const stand_in::ReportedFinding& one) {
    ordered_json json = stand_in::finding_json(one.finding);
    json["memory"] = memory(one.finding.allocation);
    json["host"] = host(one.places);
    return json;
  };
  const auto kernel = [&report](const stand_in::KernelSum& one) -> ordered_json {
    ordered_json json = {{"name", one.name},
                         {"configuration", text_or_null(one.configuration)},
                         {"predicted", times_json(one.predicted)},
                         {"counters", one.counters},
                         {"blocks", one.blocks},
                         {"blocks_run", one.blocks_run}};
    if (!one.orders.empty()) json["orders"] = stand_in::orders_json(one.orders);
    if (!one.figures.empty()) {
      json["lines"] = kernel_lines_json(kernel_lines(one.full_name(), one.figures, *find_gpu(report.settings.gpu)));
    }
    if (one.is_sampled()) json["host_seconds"] = {{"low", one.low_seconds}, {"high", one.high_seconds}};
    return json;
  };
  const auto copy = [](const stand_in::CopySum& one) -> ordered_json {
    return {{"name", one.what}, {"predicted", times_json(one.predicted)}, {"bytes", one.bytes}};
  };
  const auto library_call = [](const stand_in::LibraryCallSum& one) -> ordered_json {
    return {{"library", one.library}, {"name", one.call}, {"predicted", times_json(one.predicted)}};
  };
  const auto tried = [](const stand_in::TriedConfiguration& one) -> ordered_json {
    return {{"configuration", one.configuration},
            {"predicted_ns", one.predicted == 0 ? ordered_json() : ordered_json(one.predicted)},
            {"findings", one.findings},
            {"result", one.result}};
  };
  const auto tuning = [&](const stand_in::Tuning& one) -> ordered_json {
    return {{"kernel", one.kernel}, {"arguments", one.arguments}, {"tried", list_of(one.tried, tried)}};
  };
  const auto call = [](const auto& one) -> ordered_json {
    return {{"name", one.first}, {"predicted", times_json(one.second)}};
  };
  const auto failure = [&](const stand_in::CallFailure& one) -> ordered_json {
    return {{"library", text_or_null(one.library)},
            {"call", one.call},
            {"status", one.status},
            {"name", one.name},
            {"text", one.text},
            {"count", one.count},
            {"host", host(one.places)}};
  };
  const stand_in::VirtualTimes& predicted = process.predicted;
  return {{"program", process.program},
          {"arguments", process.arguments},
          {"signal", text_or_null(process.signal)},
          {"findings", list_of(process.findings, finding)},
          {"kernels", list_of(process.kernels, kernel)},
          {"copies", list_of(process.copies, copy)},
          {"library_calls", list_of(process.library_calls, library_call)},
          {"tunings", list_of(process.tunings, tuning)},
          {"calls", list_of(process.call_times, call)},
          {"failures", list_of(process.failures, failure)},
          {"not_supported", process.not_supported},
          {"notes", process.notes},
          {"unseen", process.unseen},
          {"never_freed", list_of(process.never_freed, memory)},
          {"predicted",
           {{"host", predicted.host},
            {"device_end", predicted.device_end},
            {"kernels", predicted.kernels},
            {"to_device", predicted.to_device},
            {"from_device", predicted.from_device}}},
          {"most_device_bytes", process.most_device_bytes}};
}

ordered_json checked_case_json(const CheckedCase& checked) {
  return {{"id", checked.id},
          {"ptx_compiler", checked.compiler},
          {"status", checked.status.value()},
          {"reason", text_or_null(checked.reason)},
          {"largest_error", or_null(checked.largest_error)},
          {"tolerance", checked.largest_error ? ordered_json(checked.tolerance) : ordered_json()},
          {"findings", list_of(checked.findings, stand_in::finding_json)},
          {"orders", stand_in::orders_json(checked.orders)}};
}

}  // namespace

std::string simulation_json(const SimulationReport& report) { return ascii_text(to_json(report)); }

std::string simulations_json(const std::vector<LabelledReport>& launches) {
  const auto launch = [](const LabelledReport& one) {
    ordered_json json = {{"file", one.file}};
    json.update(to_json(one.report));
    return json;
  };
  ordered_json json = {{"simulations", list_of(launches, launch)}};
  const auto has_lines = [](const LabelledReport& one) { return !one.report.lines.empty(); };
  if (std::ranges::all_of(launches, has_lines)) {
    const auto to_first = [&launches](const LabelledReport& one) {
      return line_differences_json(launches[0].report.lines[0], one.report.lines[0]);
    };
    json["line_differences"] = list_of(launches, to_first);
  }
  return ascii_text(json);
}

std::string buffer_json(const BufferContent& buffer) { return json_line(content_json(buffer)) + '\n'; }

std::string kernel_lists_json(const std::vector<KernelList>& lists) {
  if (lists.size() == 1) return ascii_text(kernel_list_json(lists[0]));
  return ascii_text({{"files", list_of(lists, kernel_list_json)}});
}

std::string program_report_json(const ProgramReport& report) {
  ordered_json checkers = ordered_json::array();
  for (const simulated::Checker one : simulated::kCheckers) {
    const bool looks =
        one == simulated::Checker::order ? report.settings.schedules.count > 0 : report.settings.checkers.has(one);
    if (looks) checkers.push_back(simulated::checker_name(one));
  }
  const auto process = [&report](const stand_in::ProcessReport& one) { return process_json(report, one); };
  const auto name = [](const stand_in::ProcessName& one) -> ordered_json {
    return {{"program", one.program}, {"arguments", one.arguments}};
  };
  const bool exited = report.end.signal == 0;
  return ascii_text({{"schema_version", "1.0"},
                     {"kind", "simulated program"},
                     {"command", report.command},
                     {"gpu",
                      {{"name", report.settings.gpu},
                       {"title", find_gpu(report.settings.gpu)->title},
                       {"count", report.settings.gpu_count}}},
                     {"checkers", std::move(checkers)},
                     {"exit_code", exited ? ordered_json(report.end.exit_code) : ordered_json()},
                     {"signal", exited ? ordered_json() : ordered_json(signal_text(report.end.signal))},
                     {"remarks", report.remarks},
                     {"processes", list_of(report.processes, process)},
                     {"ended_without_report", list_of(report.without_report, name)}});
}

std::string checked_cases_json(const std::vector<CheckedCase>& cases) {
  return json_text(list_of(cases, checked_case_json));
}

}  // namespace convladder

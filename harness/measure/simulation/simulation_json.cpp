#include "harness/measure/simulation/simulation_json.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

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
          {"fault", text_or_null(report.fault)},
          {"stopped", text_or_null(report.stopped)},
          {"expectations", list_of(report.expectations, expectation_json)}};
}

ordered_json listed_kernel_json(const ListedKernel& kernel) {
  const auto refusal = [](const ptx::Refusal& one) -> ordered_json {
    return {{"line", one.position.line}, {"column", one.position.column}, {"what", one.what}};
  };
  const auto parameter = [](const ListedParameter& one) -> ordered_json {
    return {{"name", one.name}, {"bytes", one.bytes}, {"alignment", one.alignment}};
  };
  return {{"name", kernel.name},
          {"display_name", kernel.display_name},
          {"refusals", list_of(kernel.refusals, refusal)},
          {"instructions", or_null(kernel.instructions)},
          {"shared_bytes", kernel.shared_bytes},
          {"has_dynamic_shared_memory", kernel.has_dynamic_shared_memory},
          {"local_bytes", kernel.local_bytes},
          {"max_threads_per_block", kernel.max_threads_per_block},
          {"parameters", list_of(kernel.parameters, parameter)}};
}

ordered_json kernel_list_json(const KernelList& list) {
  const auto variable = [](const ListedVariable& one) -> ordered_json {
    return {{"name", one.name}, {"display_name", one.display_name}, {"space", one.space}, {"bytes", one.bytes}};
  };
  const auto reference = [](const ListedReference& one) -> ordered_json {
    return {{"name", one.name}, {"display_name", one.display_name}, {"type", one.type}};
  };
  return {{"file", list.file},
          {"ptx_version", list.ptx_version},
          {"target", list.target},
          {"variables", list_of(list.variables, variable)},
          {"references", list_of(list.references, reference)},
          {"kernels", list_of(list.kernels, listed_kernel_json)}};
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
class ProcessJson {
 public:
  ProcessJson(const ProgramReport& report, const stand_in::ProcessReport& process)
      : hosts_(report.hosts), process_(process) {}

  ordered_json json() const {
    const auto kernel = [](const stand_in::KernelSum& one) -> ordered_json {
      return {{"name", one.name}, {"predicted", times_json(one.predicted)}, {"counters", one.counters}};
    };
    const auto copy = [](const stand_in::CopySum& one) -> ordered_json {
      return {{"name", one.what}, {"predicted", times_json(one.predicted)}, {"bytes", one.bytes}};
    };
    const auto call = [](const auto& one) -> ordered_json {
      return {{"name", one.first}, {"predicted", times_json(one.second)}};
    };
    return {{"program", process_.program},
            {"arguments", process_.arguments},
            {"signal", text_or_null(process_.signal)},
            {"findings", list_of(process_.findings, [this](const auto& one) { return finding(one); })},
            {"kernels", list_of(process_.kernels, kernel)},
            {"copies", list_of(process_.copies, copy)},
            {"calls", list_of(process_.call_times, call)},
            {"failures", list_of(process_.failures, [this](const auto& one) { return failure(one); })},
            {"not_supported", process_.not_supported},
            {"notes", process_.notes},
            {"never_freed", list_of(process_.never_freed, [this](const auto& label) { return memory(label); })},
            {"predicted",
             {{"host", process_.predicted.host},
              {"device_end", process_.predicted.device_end},
              {"kernels", process_.predicted.kernels},
              {"to_device", process_.predicted.to_device},
              {"from_device", process_.predicted.from_device}}},
            {"most_device_bytes", process_.most_device_bytes}};
  }

 private:
  /// Null if the place is not known.
  ordered_json host(const stand_in::CallPlaces& places) const {
    const stand_in::HostPlace* const found = hosts_.find(places);
    if (found == nullptr) return nullptr;
    return {{"function", found->function},
            {"file", found->file},
            {"line", found->line},
            {"binary", found->binary},
            {"text", stand_in::place_text(*found)}};
  }

  /// The memory with that label, "device memory 3", and where it was allocated; null if it is not known.
  ordered_json memory(const std::string& label) const {
    const stand_in::AllocationNote* const found = process_.allocation(label);
    if (found == nullptr) return nullptr;
    return {{"label", label}, {"call", found->call}, {"bytes", found->bytes}, {"host", host(found->places)}};
  }

  ordered_json finding(const stand_in::ReportedFinding& reported) const {
    ordered_json json = stand_in::finding_json(reported.finding);
    json["memory"] = memory(reported.finding.allocation);
    json["host"] = host(reported.places);
    return json;
  }

  ordered_json failure(const stand_in::CallFailure& failed) const {
    return {{"call", failed.call}, {"status", failed.status}, {"name", failed.name},
            {"text", failed.text}, {"count", failed.count},   {"host", host(failed.places)}};
  }

  const HostPlaces& hosts_;
  const stand_in::ProcessReport& process_;
};

ordered_json checked_case_json(const CheckedCase& checked) {
  return {{"id", checked.id},
          {"ptx_compiler", checked.compiler},
          {"status", checked.status.value()},
          {"reason", text_or_null(checked.reason)},
          {"largest_error", or_null(checked.largest_error)},
          {"tolerance", checked.largest_error ? ordered_json(checked.tolerance) : ordered_json()},
          {"findings", list_of(checked.findings, stand_in::finding_json)}};
}

}  // namespace

std::string simulation_json(const SimulationReport& report) { return ascii_text(to_json(report)); }

std::string simulations_json(const std::vector<LabelledReport>& launches) {
  const auto launch = [](const LabelledReport& one) {
    ordered_json json = {{"file", one.file}};
    json.update(to_json(one.report));
    return json;
  };
  return ascii_text({{"simulations", list_of(launches, launch)}});
}

std::string buffer_json(const BufferContent& buffer) { return json_line(content_json(buffer)) + '\n'; }

std::string kernel_lists_json(const std::vector<KernelList>& lists) {
  if (lists.size() == 1) return ascii_text(kernel_list_json(lists[0]));
  return ascii_text({{"files", list_of(lists, kernel_list_json)}});
}

std::string program_report_json(const ProgramReport& report) {
  ordered_json checkers = ordered_json::array();
  for (const simulated::Checker one : simulated::kCheckers) {
    if (report.settings.checkers.has(one)) checkers.push_back(simulated::checker_name(one));
  }
  const auto process = [&report](const stand_in::ProcessReport& one) { return ProcessJson(report, one).json(); };
  const auto name = [](const stand_in::ProcessName& one) -> ordered_json {
    return {{"program", one.program}, {"arguments", one.arguments}};
  };
  const bool exited = report.end.signal == 0;
  return ascii_text({{"schema_version", "1.0"},
                     {"kind", "simulated program"},
                     {"command", report.command},
                     {"gpu", {{"name", report.settings.gpu}, {"title", find_gpu(report.settings.gpu)->title}}},
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

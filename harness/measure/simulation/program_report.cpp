#include "harness/measure/simulation/program_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/stand_in/report/host_place.hpp"
#include "simulator/state/finding.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostLookedUp = 200;  // places in programs, each of which costs a process of addr2line

/// Looks up places in programs, each once.
class HostPlaces {
 public:
  /// {"function", "file", "line", "binary", "text"}, or null.
  ordered_json operator()(const ordered_json& places) {
    if (places.empty()) return nullptr;
    const std::string key = places.dump();
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (known_.size() >= kMostLookedUp) return nullptr;
    std::vector<stand_in::CallPlace> list;
    for (const ordered_json& place : places) list.push_back({place.at("file"), place.at("offset")});
    const stand_in::HostPlace found = stand_in::own_place(list);
    ordered_json json = {{"function", found.function},
                         {"file", found.file},
                         {"line", found.line},
                         {"binary", found.binary},
                         {"text", stand_in::place_text(found)}};
    return known_[key] = std::move(json);
  }

 private:
  std::map<std::string, ordered_json> known_;
};

ordered_json times_of(const ordered_json& times) {
  const double count = times.at("count");
  return {{"calls", times.at("count")},
          {"total_ns", times.at("total_ns")},
          {"average_ns", count > 0 ? times.at("total_ns").get<double>() / count : 0},
          {"least_ns", times.at("least_ns")},
          {"most_ns", times.at("most_ns")}};
}

/// The memory with that label, "device memory 3", and where it was allocated; null if it is not known.
ordered_json memory_of(const ordered_json& process, const std::string& label, HostPlaces& host) {
  for (const ordered_json& one : process.at("allocations")) {
    if (one.at("label") != label) continue;
    return {{"label", label}, {"call", one.at("call")}, {"bytes", one.at("bytes")}, {"host", host(one.at("places"))}};
  }
  return nullptr;
}

ordered_json findings_of(const ordered_json& process, HostPlaces& host) {
  ordered_json findings = ordered_json::array();
  for (const ordered_json& one : process.at("findings")) {
    ordered_json finding = one;
    finding.erase("places");
    finding.erase("text");
    finding["memory"] = memory_of(process, one.at("allocation"), host);
    finding["host"] = host(one.at("places"));
    findings.push_back(std::move(finding));
  }
  return findings;
}

ordered_json process_document(const ordered_json& process, HostPlaces& host) {
  ordered_json kernels = ordered_json::array();
  for (const ordered_json& kernel : process.at("kernels")) {
    kernels.push_back({{"name", kernel.at("name")},
                       {"predicted", times_of(kernel.at("predicted"))},
                       {"counters", kernel.at("counters")}});
  }
  ordered_json copies = ordered_json::array();
  for (const ordered_json& copy : process.at("copies")) {
    copies.push_back(
        {{"name", copy.at("what")}, {"predicted", times_of(copy.at("predicted"))}, {"bytes", copy.at("bytes")}});
  }
  ordered_json calls = ordered_json::array();
  for (const auto& [name, times] : process.at("call_times").items()) {
    calls.push_back({{"name", name}, {"predicted", times_of(times)}});
  }
  ordered_json failures = process.at("failures");
  for (ordered_json& failure : failures) {
    failure["host"] = host(failure.at("places"));
    failure.erase("places");
  }
  ordered_json never_freed = ordered_json::array();
  for (const ordered_json& label : process.at("never_freed")) never_freed.push_back(memory_of(process, label, host));
  return {{"program", process.at("program")},
          {"arguments", process.at("arguments")},
          {"signal", process.value("signal", ordered_json())},
          {"findings", findings_of(process, host)},
          {"kernels", std::move(kernels)},
          {"copies", std::move(copies)},
          {"calls", std::move(calls)},
          {"failures", std::move(failures)},
          {"not_supported", process.at("not_supported")},
          {"notes", process.at("notes")},
          {"never_freed", std::move(never_freed)},
          {"predicted", process.at("virtual_ns")},
          {"most_device_bytes", process.at("most_device_bytes")}};
}

/// The processes in an order that does not depend on which of several ended first.
ordered_json sorted(std::vector<ordered_json> processes) {
  std::ranges::stable_sort(processes, std::less{}, [](const ordered_json& one) {
    return std::pair(one.at("program").get<std::string>(), one.at("arguments").get<std::vector<std::string>>());
  });
  return processes;
}

/// Whether the process made calls that launch kernels and fail since there is nothing to run.
bool has_refused_kernels(const ordered_json& process) {
  static const std::set<std::string> kRefusals = {"cudaErrorNotSupported", "cudaErrorNoKernelImageForDevice",
                                                  "cudaErrorInvalidKernelImage", "cudaErrorInvalidPtx"};
  return std::ranges::any_of(process.at("failures"), [](const ordered_json& failure) {
    return failure.at("call").get<std::string>().find("Launch") != std::string::npos &&
           kRefusals.contains(failure.at("name"));
  });
}

ordered_json checkers_json(const simulated::CheckerSet& checkers) {
  using simulated::Checker;
  ordered_json names = ordered_json::array();
  for (const Checker one : {Checker::memory, Checker::initialization, Checker::race, Checker::synchronization}) {
    if (checkers.has(one)) names.push_back(simulated::checker_name(one));
  }
  return names;
}

}  // namespace

std::size_t ProgramReport::findings() const {
  std::size_t count = 0;
  for (const ordered_json& process : document.at("processes")) count += process.at("findings").size();
  return count;
}

std::size_t ProgramReport::processes() const { return document.at("processes").size(); }

bool ProgramReport::is_incomplete() const {
  return !document.at("ended_without_report").empty() ||
         std::ranges::any_of(document.at("processes"), has_refused_kernels);
}

ProgramReport read_program_report(const std::string& lines, const std::vector<std::string>& words,
                                  const stand_in::Settings& settings, const ProgramEnd& end,
                                  const std::vector<std::string>& remarks) {
  ProgramReport report;
  HostPlaces host;
  std::map<int, ordered_json> begun;  // by process
  std::vector<ordered_json> processes;
  std::vector<ordered_json> unended;
  const auto note_unended = [&unended](const ordered_json& process) {
    unended.push_back({{"program", process.at("program")}, {"arguments", process.at("arguments")}});
  };
  try {
    for (const std::string& line : split(lines, '\n')) {
      if (line.empty()) continue;
      const ordered_json process = parse_json(line, "the stand-in's report", "a report");
      const int number = process.at("process");
      if (process.contains("begins")) {
        // A process that became another program has not ended: its earlier work is not known.
        if (const auto before = begun.find(number); before != begun.end()) note_unended(before->second);
        begun[number] = process;
        continue;
      }
      begun.erase(number);
      processes.push_back(process_document(process, host));
      report.cost.seconds += process.at("seconds").get<double>();
      report.cost.kernel_seconds += process.at("kernel_seconds").get<double>();
      report.cost.most_resident_bytes =
          std::max(report.cost.most_resident_bytes, process.at("most_resident_bytes").get<std::uint64_t>());
    }
    for (const auto& [number, process] : begun) note_unended(process);
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("the stand-in's report cannot be read: {}", error.what()));
  }
  report.document = {{"schema_version", "1.0"},
                     {"kind", "simulated program"},
                     {"command", words},
                     {"gpu", {{"name", settings.gpu}, {"title", find_gpu(settings.gpu)->title}}},
                     {"checkers", checkers_json(settings.checkers)},
                     {"exit_code", end.signal == 0 ? ordered_json(end.exit_code) : ordered_json()},
                     {"signal", end.signal == 0 ? ordered_json() : ordered_json(signal_text(end.signal))},
                     {"remarks", remarks},
                     {"processes", sorted(std::move(processes))},
                     {"ended_without_report", sorted(std::move(unended))}};
  return report;
}

}  // namespace convladder

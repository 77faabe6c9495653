#include "harness/measure/simulation/program_report.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "simulator/stand_in/report/report_json.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostLookedUp = 200;

void look_up_all(const stand_in::ProcessReport& process, HostPlaces& hosts) {
  const auto look_up_memory = [&](const std::string& label) {
    if (const stand_in::AllocationNote* const memory = process.allocation(label)) hosts.look_up(memory->places);
  };
  for (const stand_in::CallFailure& failure : process.failures) hosts.look_up(failure.places);
  for (const std::string& label : process.never_freed) look_up_memory(label);
  for (const auto& [finding, places] : process.findings) {
    look_up_memory(finding.allocation);
    hosts.look_up(places);
  }
}

/// Whether the process made calls that launch kernels and fail since there is nothing to run.
bool has_refused_kernels(const stand_in::ProcessReport& process) {
  return std::ranges::any_of(process.failures, [](const stand_in::CallFailure& failure) {
    return is_refused_kernel(failure.call, failure.name);
  });
}

/// Sorts processes in an order that does not depend on which of several ended first.
template <typename Process>
void sort_by_name(std::vector<Process>& processes) {
  std::ranges::stable_sort(processes, {},
                           [](const stand_in::ProcessName& one) { return std::pair(one.program, one.arguments); });
}

}  // namespace

void HostPlaces::look_up(const stand_in::CallPlaces& places) {
  if (places == nullptr || places->empty() || known_.contains(*places) || known_.size() >= kMostLookedUp) return;
  known_[*places] = stand_in::own_place(*places);
}

const stand_in::HostPlace* HostPlaces::find(const stand_in::CallPlaces& places) const {
  const auto found = places == nullptr ? known_.end() : known_.find(*places);
  return found == known_.end() ? nullptr : &found->second;
}

std::size_t ProgramReport::listed(simulated::Severity severity) const {
  const auto is_meant = [severity](const stand_in::ReportedFinding& one) { return one.finding.severity == severity; };
  std::size_t count = 0;
  for (const stand_in::ProcessReport& process : processes) {
    count += static_cast<std::size_t>(std::ranges::count_if(process.findings, is_meant));
  }
  return count;
}

bool is_refused_kernel(const std::string& call, const std::string& error) {
  static const std::set<std::string> kRefusals = {"cudaErrorNotSupported", "cudaErrorNoKernelImageForDevice",
                                                  "cudaErrorInvalidKernelImage", "cudaErrorInvalidPtx"};
  return call.find("Launch") != std::string::npos && kRefusals.contains(error);
}

bool ProgramReport::is_incomplete() const {
  return !without_report.empty() || std::ranges::any_of(processes, [](const stand_in::ProcessReport& process) {
    return !process.unseen.empty() || has_refused_kernels(process) || process.has_runtime_of_its_own() ||
           process.has_failed_library();
  });
}

void read_processes(const std::string& lines, ProgramReport& report) {
  std::map<int, stand_in::ProcessName> begun;
  for (stand_in::ProcessReport& process : stand_in::read_report_lines(lines)) {
    const auto before = begun.find(process.number);
    if (process.begins) {
      // A process that became another program has not ended: its earlier work is not known.
      if (before != begun.end()) report.without_report.push_back(before->second);
      begun[process.number] = process;
      continue;
    }
    if (before != begun.end()) begun.erase(before);
    look_up_all(process, report.hosts);
    report.processes.push_back(std::move(process));
  }
  for (const auto& [number, process] : begun) report.without_report.push_back(process);
  sort_by_name(report.processes);
  sort_by_name(report.without_report);
}

}  // namespace convladder

// Collects everything that a process asks of the stand-in, for the report at its end: calls, kernels, copies, findings,
// and unsupported requests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/device/simulated_device.hpp"
#include "simulator/stand_in/report/process_report.hpp"

namespace convladder::stand_in {

/// A kernel by the name in the PTX, as names as written may be ambiguous, and its configuration.
struct LaunchedName {
  std::string in_ptx;
  std::string configuration;

  auto operator<=>(const LaunchedName&) const = default;
};

class Report {
 public:
  /// Counts a call; returns how many there have been.
  std::uint64_t call(std::string_view name) { return ++sums_.calls[std::string(name)]; }
  /// Notes that a call has ended after so much of the host's time, waiting included.
  void call_took(std::string_view name, Nanoseconds ns) { sums_.call_times[std::string(name)].add(ns); }
  /// `places` gives the places of the program's call: it is called for the first such failure.
  void failed(std::string_view name, int status, std::string_view text, CallPlaces (*places)() = nullptr);
  /// As `failed`, for a call of a library with statuses of its own.
  void library_failed(std::string_view library, std::string_view name, int status, std::string_view status_name,
                      std::string_view text, CallPlaces (*places)());
  /// Notes a call of a library that was computed on the host, with its predicted time.
  void computed(const std::string& library, const std::string& call, Nanoseconds ns);
  void not_supported(std::string_view name) { ++sums_.not_supported[std::string(name)]; }
  void note(const std::string& text) { ++sums_.notes[text]; }
  /// A note on something that was left undone, so that findings may have been missed.
  void unseen(const std::string& text) { ++sums_.unseen[text]; }
  /// Notes `times` launches that did the same and took `total_ns` together.
  void launched(const LaunchedName& name, std::uint64_t times, Nanoseconds total_ns, const KernelCounters& counters);
  /// Notes what the launch of a kernel costs the host.
  void cost(const LaunchedName& name, const simulated::LaunchedKernel& launched);
  /// Notes the counts of a kernel's launches by instruction.
  void instructions(const LaunchedName& name, const simulated::KernelFigures& figures) {
    kernels_[name].figures.add(figures);
  }
  /// Notes what other orders of a kernel's launches have come to.
  void orders(const LaunchedName& name, const simulated::OrdersTried& tried) { kernels_[name].orders += tried; }
  /// The outcome of those of all kernels since the last call.
  simulated::OrdersTried take_orders();
  void tried(std::string_view kernel, std::string_view arguments, TriedConfiguration configuration);
  void copy(const std::string& what, Nanoseconds ns, std::uint64_t bytes);
  void allocated(AllocationNote note) { sums_.allocations.push_back(std::move(note)); }
  /// Notes that so many bytes of the device are in use.
  void uses(std::uint64_t bytes) { sums_.most_device_bytes = std::max(sums_.most_device_bytes, bytes); }
  std::uint64_t most_device_bytes() const { return sums_.most_device_bytes; }
  /// Notes host time in which a kernel was simulated.
  void simulated_for(double seconds) { sums_.kernel_seconds += seconds; }
  /// `places` are those of the launch or the call.
  void found(std::vector<simulated::Finding> findings, const CallPlaces& places);
  /// Notes the memory that still exists at the end, by its label.
  void never_freed(std::vector<std::string> labels) { sums_.never_freed = std::move(labels); }

  bool has_findings() const {
    return std::ranges::any_of(sums_.findings, [](const ReportedFinding& one) {
      return one.finding.severity == simulated::Severity::finding;
    });
  }
  /// Whether something went unseen: a kernel that was refused or ended before its end, a checker that gave up, a
  /// runtime of the program's own, a library that did not do what it was asked for.
  bool is_incomplete() const;
  /// Returns the findings, without the places on the host; the report forgets them.
  std::vector<simulated::Finding> take_findings();

  /// The whole report, but for the process's name, its signal and its costs; `timeline` is that at its end. Forgets the
  /// allocations that nothing names.
  ProcessReport finish(const Timeline& timeline);
  /// The lines that a person should see in any case: notes, unsupported calls, findings with their memory and their
  /// places in the program.
  std::vector<std::string> lines() const;

  const std::vector<ReportedFinding>& findings() const { return sums_.findings; }
  const std::map<LaunchedName, KernelSum>& kernels() const { return kernels_; }

 private:
  ProcessReport sums_;  ///< with all allocations, and without kernels, copies and failures
  std::map<LaunchedName, KernelSum> kernels_;
  std::map<std::string, CopySum> copies_;
  std::map<std::string, LibraryCallSum> library_calls_;          ///< by call
  std::map<std::pair<std::string, int>, CallFailure> failures_;  ///< by call and status
};

}  // namespace convladder::stand_in

// Everything that a process asked of the stand-in, for the report at its end: calls, kernels, copies, findings, and
// unsupported requests.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/stand_in/report/host_place.hpp"
#include "simulator/stand_in/timeline.hpp"
#include "simulator/state/finding.hpp"

namespace convladder::stand_in {

/// Predicted times of events of one kind.
struct Times {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  Nanoseconds least = ~Nanoseconds{0};
  Nanoseconds most = 0;
  void add(Nanoseconds ns);
};

/// The sum over all launches of a kernel.
struct KernelSum {
  Times times;
  std::map<std::string, double> counters;  ///< sums of those counted and modelled metrics that are sums, by their names
};

struct AllocationNote {
  std::string label;  ///< the name in findings
  std::string call;   ///< "cudaMalloc"
  std::uint64_t bytes = 0;
  CallPlaces places;  ///< the places where memory was asked for
};

struct ReportedFinding {
  simulated::Finding finding;
  CallPlaces places;  ///< where the host launched the kernel or made the error itself
};

/// The host's costs of the simulation.
struct HostCosts {
  double kernel_seconds = 0;  ///< time in which kernels were simulated
  std::uint64_t most_device_bytes = 0;
};

class Report {
 public:
  /// Counts a call; returns how many there have been.
  std::uint64_t call(std::string_view name) { return ++calls_[std::string(name)].count; }
  /// Notes that a call has ended after so much of the host's time, waiting included.
  void call_took(std::string_view name, Nanoseconds ns) { calls_[std::string(name)].times.add(ns); }
  /// `places` gives the places of the program's call: it is called for the first such failure.
  void failed(std::string_view name, int status, std::string_view text, CallPlaces (*places)() = nullptr);
  void not_supported(std::string_view name) { ++not_supported_[std::string(name)]; }
  void note(const std::string& text) { ++notes_[text]; }
  /// `name` is the name in the PTX: names as written may be ambiguous.
  void kernel(const std::string& name, Nanoseconds ns, const std::vector<std::pair<std::string, double>>& counted,
              const std::vector<std::pair<std::string, double>>& modelled);
  /// As `kernel`, for `times` launches that did the same and took `total_ns` together.
  void kernels(const std::string& name, std::uint64_t times, Nanoseconds total_ns,
               const std::vector<std::pair<std::string, double>>& counted,
               const std::vector<std::pair<std::string, double>>& modelled);
  void copy(const std::string& what, Nanoseconds ns, std::uint64_t bytes);
  void allocated(AllocationNote note) { allocations_.push_back(std::move(note)); }
  /// `places` are those of the launch or the call.
  void found(std::vector<simulated::Finding> findings, const CallPlaces& places);
  /// Notes the memory that still exists at the end, by its label.
  void never_freed(std::vector<std::string> labels) { never_freed_ = std::move(labels); }

  bool has_findings() const { return !findings_.empty(); }
  /// Returns the findings, without the places on the host; the report forgets them.
  std::vector<simulated::Finding> take_findings();

  HostCosts costs;

  /// The whole report; `timeline` is that at the end of the process.
  nlohmann::ordered_json json(const Timeline& timeline) const;
  /// The lines that a person should see in any case: notes, unsupported calls, findings with their memory and their
  /// places in the program.
  std::vector<std::string> lines() const;

 private:
  struct CopySum {
    Times times;
    std::uint64_t bytes = 0;
  };
  struct CallSum {
    std::uint64_t count = 0;
    Times times;  // of those that were begun
  };
  struct FailureNote {
    int status = 0;
    std::string text;
    std::uint64_t count = 0;
    CallPlaces places;
  };
  const AllocationNote* allocation_of(const simulated::Finding& finding) const;

  std::map<std::string, CallSum> calls_;
  std::map<std::string, std::uint64_t> not_supported_;
  std::map<std::string, std::uint64_t> notes_;
  std::map<std::string, KernelSum> kernels_;
  std::map<std::string, CopySum> copies_;
  std::map<std::pair<std::string, int>, FailureNote> failures_;
  std::vector<AllocationNote> allocations_;
  std::vector<ReportedFinding> findings_;
  std::vector<std::string> never_freed_;
};

}  // namespace convladder::stand_in

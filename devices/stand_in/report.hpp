// What a process asked of the stand-in, for the end: calls, kernels, copies, findings, and what there was no answer to.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "devices/simulated/checkers/finding.hpp"
#include "devices/stand_in/timeline.hpp"

namespace convladder::stand_in {

/// Predicted times of things of one kind.
struct Times {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  Nanoseconds least = ~Nanoseconds{0};
  Nanoseconds most = 0;
  void add(Nanoseconds ns);
};

/// All launches of a kernel.
struct KernelSum {
  Times times;
  std::map<std::string, double> counters;  ///< sums of counted and modelled metrics that are sums, by their names
};

/// Where memory was asked for: addresses in a file, innermost first, which `addr2line` knows.
struct CallPlace {
  std::string file;          ///< of the program or library
  std::uint64_t offset = 0;  ///< in it, as its debug information counts
};

struct AllocationNote {
  std::string label;  ///< as in findings
  std::string call;   ///< "cudaMalloc"
  std::uint64_t bytes = 0;
  std::vector<CallPlace> places;
};

class Report {
 public:
  /// Returns how often it has been called.
  std::uint64_t call(std::string_view name) { return ++calls_[std::string(name)]; }
  void failed(std::string_view name, int status, std::string_view text);
  void not_supported(std::string_view name) { ++not_supported_[std::string(name)]; }
  void note(const std::string& text) { ++notes_[text]; }
  void kernel(const std::string& name, Nanoseconds ns, const std::vector<std::pair<std::string, double>>& counted,
              const std::vector<std::pair<std::string, double>>& modelled);
  void copy(const std::string& what, Nanoseconds ns, std::uint64_t bytes);
  void allocated(AllocationNote note) { allocations_.push_back(std::move(note)); }
  void found(std::vector<simulated::Finding> findings);

  bool has_findings() const { return !findings_.empty(); }
  const std::vector<simulated::Finding>& findings() const { return findings_; }

  /// All of it; `timeline` is when the process ends.
  nlohmann::ordered_json json(const Timeline& timeline) const;
  /// What a person should see in any case, a line each: notes, what is not supported, findings.
  std::vector<std::string> lines() const;

 private:
  struct CopySum {
    Times times;
    std::uint64_t bytes = 0;
  };
  struct FailureNote {
    int status = 0;
    std::string text;
    std::uint64_t count = 0;
  };
  std::map<std::string, std::uint64_t> calls_;
  std::map<std::string, std::uint64_t> not_supported_;
  std::map<std::string, std::uint64_t> notes_;
  std::map<std::string, KernelSum> kernels_;
  std::map<std::string, CopySum> copies_;
  std::map<std::pair<std::string, int>, FailureNote> failures_;
  std::vector<AllocationNote> allocations_;
  std::vector<simulated::Finding> findings_;
};

}  // namespace convladder::stand_in

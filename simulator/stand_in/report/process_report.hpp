// The report of a process: everything that it asked of the stand-in, as it goes into the report's file and comes back
// (report_json.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulator/counters/instruction_figures.hpp"
#include "simulator/device/mutants.hpp"
#include "simulator/stand_in/report/host_place.hpp"
#include "simulator/stand_in/timeline.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"

namespace convladder::stand_in {

/// Predicted times of events of one kind.
struct Times {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  Nanoseconds least = ~Nanoseconds{0};
  Nanoseconds most = 0;

  void add(Nanoseconds ns) { add({1, ns, ns, ns}); }
  void add(const Times& other) {
    count += other.count;
    total += other.total;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }

  static void each_field(auto&& field, auto& its) {
    field("count", its.count, "total_ns", its.total, "least_ns", its.least, "most_ns", its.most);
  }
};

/// The sum over all launches of a kernel, or of one of its configurations.
struct KernelSum {
  std::string name;
  std::string configuration;  ///< "BLOCK=128, 4 warps, 3 stages"; empty where nobody has told it
  Times predicted;
  std::map<std::string, double> counters;  ///< sums of those counted and modelled metrics that are sums, by their names
  std::uint64_t blocks = 0;                ///< of all launches
  std::uint64_t blocks_run = 0;            ///< fewer: only a sample of them ran, and counters and times are scaled up
  double low_seconds = 0;                  ///< the host's time if all blocks ran, at least and at most
  double high_seconds = 0;
  simulated::OrdersTried orders{};
  simulated::KernelFigures figures{};  ///< by instruction; empty unless the settings ask for lines

  bool is_sampled() const { return blocks_run < blocks; }
  std::string full_name() const { return simulated::configured_name(name, configuration); }

  static void each_field(auto&& field, auto& its) {
    field("name", its.name, "predicted", its.predicted, "counters", its.counters);
    field.lately("configuration", its.configuration);
    field.lately("blocks", its.blocks);
    field.lately("blocks_run", its.blocks_run);
    field.lately("low_seconds", its.low_seconds);
    field.lately("high_seconds", its.high_seconds);
    field.lately("orders", its.orders);
    field.lately("figures", its.figures);
  }
};

/// The sum over all copies of a kind.
struct CopySum {
  std::string what;  ///< "[CUDA memcpy HtoD]"
  Times predicted;
  std::uint64_t bytes = 0;

  static void each_field(auto&& field, auto& its) {
    field("what", its.what, "predicted", its.predicted, "bytes", its.bytes);
  }
};

/// The sum over all calls of a library's function that were computed on the host.
struct LibraryCallSum {
  std::string library;  ///< "cuBLAS"
  std::string call;     ///< "cublasSgemm"
  Times predicted;

  static void each_field(auto&& field, auto& its) {
    field("library", its.library, "call", its.call, "predicted", its.predicted);
  }
};

/// A configuration of a kernel that an autotuner has tried.
struct TriedConfiguration {
  std::string configuration;
  std::string result;          ///< in words: how it differs from the first one's; why it did not run
  Nanoseconds predicted = 0;   ///< 0: it did not run
  std::uint64_t findings = 0;  ///< that came with it

  static void each_field(auto&& field, auto& its) {
    field("configuration", its.configuration, "result", its.result, "predicted_ns", its.predicted, "findings",
          its.findings);
  }
};

/// The configurations that an autotuner has tried for arguments of one kind.
struct Tuning {
  std::string kernel;
  std::string arguments;  ///< the key: "512, 512, torch.float16"
  std::vector<TriedConfiguration> tried;

  static void each_field(auto&& field, auto& its) {
    field("kernel", its.kernel, "arguments", its.arguments, "tried", its.tried);
  }
};

/// Calls of one function that failed with the same status.
struct CallFailure {
  std::string library;  ///< "cuBLAS"; empty: the CUDA runtime or driver
  std::string call;
  int status = 0;
  std::string name;  ///< of the status
  std::string text;
  std::uint64_t count = 0;
  CallPlaces places;  ///< of the first one

  static void each_field(auto&& field, auto& its) {
    field("library", its.library, "call", its.call, "status", its.status, "name", its.name, "text", its.text, "count",
          its.count, "places", its.places);
  }
};

/// Whether it is the failure of a library that the program calls: of a stand-in for one, or of one that holds no PTX
/// and asks the runtime or the driver for what is not there.
bool is_of_library(const CallFailure& failure);

/// "12 calls of cuBLAS were computed on the host: …", a line for each library.
std::vector<std::string> library_lines(const std::vector<LibraryCallSum>& calls);

struct AllocationNote {
  std::string label;  ///< the name in findings
  std::string call;   ///< "cudaMalloc"
  std::uint64_t bytes = 0;
  CallPlaces places;  ///< the places where memory was asked for

  static void each_field(auto&& field, auto& its) {
    field("label", its.label, "call", its.call, "bytes", its.bytes, "places", its.places);
  }
};

struct ReportedFinding {
  simulated::Finding finding;
  CallPlaces places;  ///< where the host launched the kernel or made the error itself
};

/// The times of the virtual clock, and those for which each engine was busy.
struct VirtualTimes {
  Nanoseconds host = 0;
  Nanoseconds device_end = 0;
  Nanoseconds kernels = 0;
  Nanoseconds to_device = 0;
  Nanoseconds from_device = 0;

  static void each_field(auto&& field, auto& its) {
    field("host", its.host, "device_end", its.device_end, "kernels", its.kernels, "to_device", its.to_device,
          "from_device", its.from_device);
  }
};

struct ProcessName {
  int number = 0;
  std::string program;
  std::vector<std::string> arguments;
  std::string gpu;

  static void each_field(auto&& field, auto& its) {
    field("process", its.number, "program", its.program, "arguments", its.arguments, "gpu", its.gpu);
  }
};

struct ProcessReport : ProcessName {
  bool begins = false;  ///< the process has only begun: there is no more than its name
  std::string signal;   ///< the signal that ended it; empty: it exited
  std::map<std::string, std::uint64_t> calls;
  std::map<std::string, Times> call_times;
  std::vector<KernelSum> kernels;
  std::vector<CopySum> copies;
  std::vector<LibraryCallSum> library_calls;
  std::vector<Tuning> tunings;
  std::vector<CallFailure> failures;
  std::map<std::string, std::uint64_t> not_supported;
  std::map<std::string, std::uint64_t> notes;
  std::map<std::string, std::uint64_t> unseen;  ///< as notes, of what was left undone, in which findings may hide
  std::vector<AllocationNote> allocations;      ///< those that findings and `never_freed` name
  std::vector<ReportedFinding> findings;
  std::vector<std::string> never_freed;  ///< labels
  simulated::MutantsSeen mutants{};      ///< what the settings ask for
  VirtualTimes predicted;

  // The host's costs of the simulation.
  std::uint64_t most_device_bytes = 0;
  double kernel_seconds = 0;  ///< time in which kernels were simulated
  double seconds = 0;         ///< of the whole process
  std::uint64_t most_resident_bytes = 0;

  /// Whether a CUDA runtime that is part of the program, or of a library, has run instead of the stand-in: it asks for
  /// what the stand-in for the driver has not, and does nothing.
  bool has_runtime_of_its_own() const { return not_supported.contains("cuGetExportTable"); }
  /// Whether a library that the program calls did not do what it was asked for.
  bool has_failed_library() const { return std::ranges::any_of(failures, is_of_library); }

  /// The allocation of that label; nullptr if it is not known.
  const AllocationNote* allocation(const std::string& label) const {
    const auto found = std::ranges::find(allocations, label, &AllocationNote::label);
    return label.empty() || found == allocations.end() ? nullptr : &*found;
  }

  /// Without the name, and what there is at the beginning.
  static void each_field(auto&& field, auto& its) {
    field("calls", its.calls, "call_times", its.call_times, "kernels", its.kernels, "copies", its.copies,
          "library_calls", its.library_calls, "failures", its.failures, "not_supported", its.not_supported, "notes",
          its.notes, "allocations", its.allocations, "findings", its.findings, "never_freed", its.never_freed,
          "most_device_bytes", its.most_device_bytes, "kernel_seconds", its.kernel_seconds, "virtual_ns", its.predicted,
          "seconds", its.seconds, "most_resident_bytes", its.most_resident_bytes);
    field.lately("unseen", its.unseen);
    field.lately("tunings", its.tunings);
    field.lately("mutants", its.mutants);
  }
};

}  // namespace convladder::stand_in

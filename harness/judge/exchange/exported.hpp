// The content of an export, whatever the format: a record's cases with their figures, and the verdicts of a comparison
// on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/isolation/status.hpp"
#include "harness/measure/records/recorded_run.hpp"

namespace convladder {

struct Comparison;

/// The origin of a figure. Formats keep them apart.
enum class FigureKind {
  measured,   ///< by a clock
  counted,    ///< on the simulated device, exactly
  modelled,   ///< by its model of the caches
  predicted,  ///< for a named GPU, or by a virtual clock
  compared,   ///< relative to another record
};
std::string_view figure_kind_name(FigureKind kind);

struct ExportedFigure {
  FigureKind kind = FigureKind::measured;
  std::string measure;  ///< "latency", "latency-op-cold", "counted-smsp__inst_executed.sum", "predicted-h100", "change"
  std::string unit;     ///< "ns", "count", "percent"
  double value = 0;     ///< the median; for a range the geometric middle
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::optional<double> level = {};  ///< of the interval; none for a range
  std::vector<double> samples = {};  ///< in the order they were taken
  int iterations = 1;                ///< the number of calls in each sample
};

struct ExportedVerdict {
  std::string verdict;  ///< "pass", "regressed", …
  std::string reason;   ///< may be empty
  std::string witness;  ///< may be empty
  bool stands = true;   ///< false in a duel whose control moved or is not known: such a verdict shows nothing
};

/// A line of a source file.
struct ExportedPlace {
  std::string what;  ///< "the kernel is launched here"; empty for where it happened
  std::string file;  ///< as the record has it: a base name, or a path
  int line = 0;
};

enum class FindingLevel {
  error,    ///< what is computed may be wrong
  warning,  ///< a call that failed
  note,     ///< without any effect
};

/// A checker's finding, or a call that failed.
struct ExportedFinding {
  std::string rule;  ///< "memcheck", "initcheck", "racecheck", "synccheck", "failed-call"
  FindingLevel level = FindingLevel::error;
  std::string text;                   ///< in one line, with the kernel and the first thread
  std::vector<ExportedPlace> places;  ///< the first: where it happened, or what comes nearest to that; may be empty
};

struct ExportedCase {
  std::string name;    ///< the case's id: unique in a record, and the same in every record
  std::string device;  ///< the parts of the id, as far as this kind of record has them
  std::string variant;
  std::string network;
  std::string layer;
  std::string batch;
  Status status = Status::ok;
  std::string reason;
  std::string quality;  ///< "disturbed: others used 1.6 of 2 cores"; empty if nobody noticed anything
  std::vector<ExportedFigure> figures;
  std::optional<ExportedVerdict> verdict;
  std::vector<ExportedFinding> findings;

  /// The case's layer time, NCHW in to NCHW out, measured; null if it has none or a predicted one.
  const ExportedFigure* latency() const;
};

/// How a record was made, by its own account. "unknown" and 0 where it does not say.
struct ExportedContext {
  std::string kind;  ///< "run", "comparison", …
  std::string date;  ///< "2026-01-31T12:00:00Z"
  std::string commit;
  bool dirty = false;
  std::string program;  ///< "convladder 0.1.0"
  std::string compiler;
  std::string compiler_flags;
  std::string build_type;
  std::string host;
  std::string system;
  std::string kernel;
  std::string cpu;
  int cores = 0;
  int threads = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<RecordedCache> caches;
  std::vector<std::string> gpus;  ///< those that were present
  std::string sha256;             ///< of the record's text; it identifies the run
  std::string imported_from;      ///< "Google Benchmark 1.7.1"; empty for a record of ours
};

struct ExportedRecord {
  ExportedContext context;
  std::vector<ExportedCase> cases;
  std::optional<RecordedRun> run;  ///< of kind "run": what it can be compared by
};

/// Reads a record of a run, a run of networks, a ranking, a sweep, a comparison or a duel, or what `check` and
/// `simulate` write as JSON. Throws UserError.
ExportedRecord read_exported_record(const std::string& file);
/// As `read_exported_record`, for the text of a record of ours; `file` is what messages call it.
ExportedRecord parse_exported_record(std::string_view text, const std::string& file);

/// Adds a comparison's results to the cases: verdicts, and the change as a figure of its own.
void add_verdicts(ExportedRecord& record, const Comparison& comparison);

}  // namespace convladder

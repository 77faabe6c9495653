// The context of a record: the program, the data, the settings and the machines that its figures depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/machine/ptx_hash.hpp"

namespace convladder {

/// Texts by name, in the order of the record. None of them is safe to be printed.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The text of that name; null if there is none.
const std::string* find_text(const NamedTexts& texts, std::string_view name);
/// The text of that name, fit to be printed; `otherwise` if there is none, or an empty one.
std::string text_of(const NamedTexts& texts, std::string_view name, std::string_view otherwise = "");
/// The text, fit to be printed; "unknown" for none, and for an empty one.
std::string text_or_unknown(const std::optional<std::string>& text);

struct RecordedCache {
  std::uint64_t level = 0;
  std::string type;  ///< "Data"
  std::uint64_t bytes = 0;

  bool operator==(const RecordedCache&) const = default;
};

struct RecordedDevice {
  std::string kind;  ///< "cuda"
  NamedTexts facts;
};

/// A machine that cases were measured on. None stands for a fact that is not recorded.
struct RecordedMachine {
  std::optional<std::string> host;  ///< its name
  std::optional<std::string> kernel;
  std::optional<bool> is_virtual;
  std::optional<std::string> processor;  ///< its model
  std::optional<std::uint64_t> cores;
  std::optional<std::uint64_t> threads;
  std::optional<std::vector<std::string>> instruction_sets;
  std::optional<std::string> governor;
  std::optional<std::vector<RecordedCache>> caches;
  std::vector<RecordedDevice> devices;
  std::optional<NamedTexts> libraries;  ///< with their versions

  /// The facts about the device of that kind; empty if there are none.
  const NamedTexts& facts_of(std::string_view device) const;
  /// "AMD EPYC, 2 threads": the name in tables of the device of that kind; the simulated device says only what it is.
  std::string title_of(const std::string& device) const;
};

/// None stands for a fact that is not recorded.
struct RecordContext {
  std::optional<std::string> commit;
  std::optional<bool> dirty;  ///< whether the tree had changes that were not committed
  std::optional<std::string> build_type;
  std::optional<std::string> compiler;
  std::optional<std::string> compiler_flags;
  std::optional<std::string> cpu_variant_flags;
  std::optional<std::string> cuda_compiler;
  std::optional<std::string> cuda_architectures;
  std::optional<bool> is_sanitized;
  std::optional<std::vector<CompiledPtx>> ptx;  ///< the one that runs comes first
  std::optional<std::string> date;              ///< "2026-01-31T12:00:00Z"
  std::optional<std::uint64_t> seed;
  std::optional<std::string> images;  ///< the SHA-256 of the data
  std::optional<double> sample_milliseconds;
  std::optional<bool> isolate;
  std::optional<std::uint64_t> profile_calls;
  std::optional<std::vector<std::string>> google_benchmark_flags;
  RecordedMachine machine;                               ///< of a merged run the first
  std::optional<std::vector<RecordedMachine>> machines;  ///< only of a merged run
  /// For each session the index into `machines`; none for the one machine of a run that was not merged.
  std::vector<std::optional<std::size_t>> machine_of_session;
  std::string imported_from;  ///< "nvbench 0.1.0", without control characters; empty for a run of this program

  /// The machine on which the cases of that session were measured.
  const RecordedMachine& machine_of(int session) const;
};

}  // namespace convladder

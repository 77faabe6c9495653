// The configurations that a parameter sweep found best for a variant, layer by layer: variants/tuning/*.json, built
// into the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// How a sweep found a configuration, for people.
struct FoundConfiguration {
  std::string kind;  ///< "measured", "counted" or "predicted for …"
  std::string device;
  std::string gpu;  ///< empty: of none
  int batch = 1;
  std::string unit;
  double score = 0;
  std::optional<double> score_of_model;  ///< of the configuration that the variant's own model chooses
  bool by_model = false;                 ///< whether that is the one that was found
  std::size_t tried = 0;                 ///< configurations
  std::string program;
  std::uint64_t seed = 1;
  std::optional<double> side_by_side;  ///< the time over that of the model's choice, measured in rounds
};

struct TuningEntry {
  std::string layer;           ///< "lenet72.conv1"; empty: not said
  ProblemSize size;            ///< the layer, with batch 1
  std::optional<int> batch;    ///< none: for every batch that has no entry of its own
  std::string machine;         ///< the microarchitecture that it was found on and is for; empty: for any
  std::optional<int> threads;  ///< the number of threads that it was found with and is for; none: for any
  Configuration configuration;
  std::string found;  ///< FoundConfiguration as JSON, in one line; a file may hold any
};

struct TuningTable {
  std::string family;
  std::string variant;
  std::vector<TuningEntry> entries;

  /// The configuration for a size on a machine with `threads` threads: the entry of its batch, otherwise the one for
  /// every batch; null if there is none.
  const Configuration* find(const ProblemSize& size, std::string_view machine, int threads) const;
};

/// Reads a file; `file` is its name in messages. Throws UserError "FILE: place: expected …".
TuningTable parse_tuning_table(std::string_view text, const std::string& file);

/// The text of the file, its entries in order, each on one line, so that a change of one shows as that.
std::string tuning_table_text(TuningTable table);

/// As TuningEntry::found.
std::string found_text(const FoundConfiguration& found);

/// The table of that variant among those that this program was built with; null if there is none.
const TuningTable* tuning_table(std::string_view family, std::string_view variant);

}  // namespace convladder

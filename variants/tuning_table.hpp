// The configurations that a parameter sweep found best for a variant, layer by layer: variants/tuning/*.json, built
// into the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "variants/configuration.hpp"

namespace convladder {

struct TuningEntry {
  std::string shape;           ///< `shape_name`: the layer without its batch
  std::optional<int> batch;    ///< none: for every batch that has no entry of its own
  std::string machine;         ///< the microarchitecture that it was found on and is for; empty: for any
  std::optional<int> threads;  ///< the number of threads that it was found with and is for; none: for any
  Configuration configuration;
};

struct TuningTable {
  std::string family;
  std::string variant;
  std::vector<TuningEntry> entries;

  /// The configuration for a shape and a batch on a machine with `threads` threads: the entry of that batch, otherwise
  /// the one for every batch; null if there is none.
  const Configuration* find(std::string_view shape, int batch, std::string_view machine, int threads) const;
};

/// Reads a file; `file` is its name in messages. Throws UserError "FILE: place: expected …". The note how an entry was
/// found is for people: it may be anything.
TuningTable parse_tuning_table(std::string_view text, const std::string& file);

/// The table of that variant among those that this program was built with; null if there is none.
const TuningTable* tuning_table(std::string_view family, std::string_view variant);

}  // namespace convladder

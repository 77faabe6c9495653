// What a parameter sweep found best for a variant, layer by layer: variants/tuning/*.json, built into the program.
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
  std::optional<int> threads;  ///< likewise the number of threads that share the work
  Configuration configuration;
};

struct TuningTable {
  std::string family;
  std::string variant;
  std::vector<TuningEntry> entries;

  /// What is to be taken for a shape and a batch on a machine with so many threads: the entry of that batch, otherwise
  /// the one for every batch; null if there is none.
  const Configuration* find(std::string_view shape, int batch, std::string_view machine, int threads) const;
};

/// Reads a file; `file` is what messages call it. Throws UserError "FILE: place: expected …". How an entry was
/// found is for people: it may be anything.
TuningTable parse_tuning_table(std::string_view text, const std::string& file);

/// The table of that variant, of those that this program was built with; null if there is none.
const TuningTable* tuning_table(std::string_view family, std::string_view variant);

}  // namespace convladder

// The configurations that a parameter sweep found best for a variant, layer by layer: variants/tuning/*.json, built
// into the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

struct TuningEntry {
  ProblemSize size;            ///< the layer, with batch 1
  std::optional<int> batch;    ///< none: for every batch that has no entry of its own
  std::string machine;         ///< the microarchitecture that it was found on and is for; empty: for any
  std::optional<int> threads;  ///< the number of threads that it was found with and is for; none: for any
  Configuration configuration;
};

struct TuningTable {
  std::string family;
  std::string variant;
  std::vector<TuningEntry> entries;

  /// The configuration for a size on a machine with `threads` threads: the entry of its batch, otherwise the one for
  /// every batch; null if there is none.
  const Configuration* find(const ProblemSize& size, std::string_view machine, int threads) const;
};

/// Reads a file; `file` is its name in messages. Throws UserError "FILE: place: expected …". The note how an entry was
/// found is for people: it may be anything.
TuningTable parse_tuning_table(std::string_view text, const std::string& file);

/// The table of that variant among those that this program was built with; null if there is none.
const TuningTable* tuning_table(std::string_view family, std::string_view variant);

}  // namespace convladder

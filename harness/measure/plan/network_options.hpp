// The settings of a run of whole networks.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/json_place.hpp"

namespace convladder {

inline constexpr int kLargestNetworkBatch = 1'000'000;

struct NetworkOptions {
  // The cases to run.
  std::vector<std::string> networks;  ///< names or files; at least one
  std::vector<std::string>
      variants;  ///< each "shared-memory" or "conv1=…,conv2=…"; "all"; empty: the best for each layer
  std::vector<std::string> with;       ///< files with stages from outside, which compute convolutions as variants do
  std::vector<std::string> operators;  ///< "fully_connected=cublas": instead of the family's default
  std::vector<std::string> devices;    ///< empty: the CPU, and a GPU where one is
  std::vector<int> batches;            ///< empty: the network's own, as far as the device does them in reasonable time
  bool story = false;                  ///< no variant was named: stages 1 to 6, the best and the libraries
  bool all = false;                    ///< every stage, fused ones too, and every batch that can be run in time
  std::string case_filter;             ///< regular expression over case ids

  // The data that they run on.
  std::string data_folder;       ///< IDX files; empty: the built-in synthetic images
  std::string weights = "high";  ///< "high", "low" or "random", or a safetensors file
  int skip_images = 0;           ///< leave out so many images at the beginning, for example those that the weights were
                                 ///< trained on
  std::uint64_t seed = 1;        ///< of synthetic images and random weights

  // How the cases are run.
  double budget_seconds = 2.0;            ///< seconds of passes for each case, at least one pass
  std::optional<int> repetitions;         ///< exactly this many passes
  std::optional<int> chunk;               ///< images at once; none: as many as fit the memory
  bool overlap = false;                   ///< copies overlap with computing, in chunks
  std::optional<double> timeout_seconds;  ///< for a pass; none: 60 s and 5 s per GFLOP
  bool isolate = true;                    ///< every case in a process of its own
};

/// To and from `context.options` of the record. `network_options_from_json` throws UserError that names the field, for
/// all that the command line would have refused.
nlohmann::ordered_json to_json(const NetworkOptions& options);
NetworkOptions network_options_from_json(const JsonPlace& json);

}  // namespace convladder

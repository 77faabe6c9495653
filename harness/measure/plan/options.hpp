// The settings of a run. All of them are in the record, so that a run can be resumed and read later.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/json_place.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {

// The limits of the command line; they apply to settings from a record as well. docs/use/command_line.md
inline constexpr int kMostRepetitions = 100'000;
inline constexpr double kMostOptionSeconds = 1e6;
inline constexpr double kShortestTimeout = 0.1;

/// The options of every command that measures: which cases, on which data, and how long. An empty list means all.
struct MeasuringOptions {
  // Which cases.
  std::vector<std::string> variants;
  std::vector<std::string> networks;  ///< names, or files of networks
  std::vector<std::string> devices;
  std::vector<int> batches;       ///< empty: some that the device does in reasonable time
  std::vector<std::string> with;  ///< files with stages from outside, beside the convolution's own
  bool story = false;             ///< nothing was chosen: the default selection of stages, and the libraries
  std::string case_filter;        ///< regular expression over case ids

  // On what.
  std::string data_folder;  ///< IDX files; empty: the built-in synthetic images
  std::uint64_t seed = 1;   ///< of synthetic images and random weights

  // How.
  double budget_seconds = 1.0;            ///< of measuring for each case, checked between samples
  std::optional<int> repetitions;         ///< exactly this many samples, whatever interval and budget say
  std::optional<double> timeout_seconds;  ///< for every step of a case; none: 60 s and 5 s per GFLOP
  bool isolate = true;                    ///< every case in a process of its own
};

struct RunOptions : MeasuringOptions {
  // Which cases.
  std::vector<std::string> families;
  std::vector<std::string> layers;  ///< "conv1" or "lenet72.conv1"
  std::string problem{kDefaultProblem};
  std::string ladder;  ///< the folder that it is, or a name of the library's; empty: the problem is compiled in
  std::vector<std::string> sizes;  ///< of the problem, as parse_size reads them
  std::vector<ConvShape> shapes;   ///< the user's own shapes; with them the networks are left out unless they are named

  // How.
  double target_half_width = 0.01;   ///< stop when the interval's half width is at most this part of the median
  double sample_milliseconds = 5.0;  ///< a sample repeats the call for at least this long
  int max_samples = 100;
  int fewest_samples = 3;            ///< whatever the budget says; not in records
  bool strangers = false;            ///< stages of a ladder's folder are untrusted code: docs/how/measuring.md
  std::optional<int> profile_calls;  ///< of the convolution alone, for a profiler; beside the samples
  std::vector<std::string> google_benchmark_flags;  ///< passed on to Google Benchmark as they are
};

/// Whether a flag "--benchmark_NAME=VALUE" means something to this program; the others go to Google Benchmark.
bool is_own_google_flag(std::string_view flag);

/// The fields that all records of measurements have in `context.options`: the options are added to `json`, and read
/// from it. `largest_batch` is what the command line allows.
void add_measuring_fields(nlohmann::ordered_json& json, const MeasuringOptions& options);
void read_measuring_fields(const JsonPlace& json, int largest_batch, MeasuringOptions& options);

/// To and from `context.options` of the record. `options_from_json` throws UserError for all that the command line
/// would have refused.
nlohmann::ordered_json options_to_json(const RunOptions& options);
RunOptions options_from_json(const JsonPlace& json);

}  // namespace convladder

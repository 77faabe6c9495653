// The settings of the commands that measure. All of them are in the record, so that it can be resumed and read later:
// options_json.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/gpus/gpu_facts.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

// The limits of the command line; they apply to settings from a record as well. docs/use/command_line.md
inline constexpr int kMostRepetitions = 100'000;
inline constexpr double kMostOptionSeconds = 1e6;
inline constexpr double kShortestTimeout = 0.1;
inline constexpr int kLargestBatch = 10'000'000;  ///< more images than any machine has memory for
inline constexpr int kLargestNetworkBatch = 1'000'000;
inline constexpr int kMostConfigurations = 10'000;

/// The options of every command that measures: which cases, on which data, and how long. An empty list means all.
struct MeasuringOptions {
  // Which cases.
  std::vector<std::string> variants;
  std::vector<std::string> networks;  ///< names, or files of networks
  std::vector<std::string> devices;
  std::vector<int> batches;        ///< empty: some that the device does in reasonable time
  std::vector<std::string> with;   ///< files with stages from outside, beside the convolution's own
  bool default_selection = false;  ///< nothing was chosen: the default selection of stages, and the libraries
  std::string case_filter;         ///< regular expression over case ids

  // On what.
  std::string data_folder;  ///< IDX files; empty: the built-in synthetic images
  std::uint64_t seed = 1;   ///< of synthetic images and random weights

  // How.
  double budget_seconds = 1.0;            ///< of measuring for each case, checked between samples
  std::optional<int> repetitions;         ///< exactly this many samples, whatever interval and budget say
  std::optional<double> timeout_seconds;  ///< for every step of a case; none: 60 s and 5 s per GFLOP
  bool isolate = true;                    ///< every case in a process of its own
  double wait_until_quiet_seconds = 0;    ///< at most, before each group of cases; not in records
  std::uint64_t schedules = 0;            ///< other orders of each launch that they look at
  bool checkers = true;                   ///< CUDA stages of anybody are looked at by the simulated device's checkers

  bool operator==(const MeasuringOptions&) const = default;
};

struct RunOptions : MeasuringOptions {
  // Which cases.
  std::vector<std::string> families;
  std::vector<std::string> layers;  ///< "conv1" or "lenet72.conv1"
  std::string problem{kDefaultProblem};
  std::string ladder;  ///< the folder that it is, or a name of the library's; empty: the problem is compiled in
  std::vector<std::string> sizes;  ///< of the problem, as parse_size reads them
  std::vector<ProblemSize>
      shapes;  ///< the user's own shapes; with them the networks are left out unless they are named

  // How.
  double target_half_width = 0.01;   ///< stop when the interval's half width is at most this part of the median
  double sample_milliseconds = 5.0;  ///< a sample repeats the call for at least this long
  int max_samples = 100;
  int fewest_samples = 3;            ///< whatever the budget says; not in records
  bool untrusted = false;            ///< stages of a ladder's folder are untrusted code: docs/how/measuring.md
  std::optional<int> profile_calls;  ///< of the convolution alone, for a profiler; beside the samples
  std::vector<std::string> google_benchmark_flags;  ///< passed on to Google Benchmark as they are

  bool operator==(const RunOptions&) const = default;
};

/// The settings of whole networks. `networks` names at least one. A variant is "shared-memory", "conv1=…,conv2=…" or
/// "all"; without one each layer gets what suits it. `budget_seconds` is of passes, `repetitions` counts passes, and
/// `timeout_seconds` is of one pass.
struct NetworkOptions : MeasuringOptions {
  NetworkOptions() { budget_seconds = 2.0; }

  // Which cases.
  std::vector<std::string> operators;  ///< "fully_connected=cublas": instead of the family's default
  bool all = false;                    ///< every stage, fused ones too, and every batch that can be run in time

  // On what.
  std::string weights = "high";  ///< "high", "low" or "random", or a safetensors file
  int skip_images = 0;           ///< leave out the first ones, for example those that the weights were trained on

  // How.
  std::optional<int> chunk;  ///< images at once; none: as many as fit the memory
  bool overlap = false;      ///< copies beside computing, in chunks
};

/// The settings of a parameter sweep.
struct SweepOptions {
  RunOptions run;             ///< which cases there are, and how they are measured
  std::string configuration;  ///< only configurations that agree with this one; empty: all
  int limit = 24;             ///< configurations of a variant on a layer
  std::string gpu;            ///< the GPU for which a device without a clock predicts; empty: it counts
  bool update_table = false;
  std::string tables = "variants/tuning";
};

/// The settings of a ranking.
struct RankOptions {
  RunOptions run;               ///< devices, sizes, seed, and how long is measured
  std::string submissions;      ///< the folder, absolute
  std::string against;          ///< a stage or library of the ladder; empty: the library, the best stage, or the first
  std::string gpu = kUsualGpu;  ///< for predictions, where there is no GPU
  double tau = 0.02;            ///< nobody counts as faster by no more than this
  double limit_seconds = 120;   ///< the most that a submission may take on a size
};

/// Whether a flag "--benchmark_NAME=VALUE" means something to this program; the others go to Google Benchmark.
inline bool is_own_google_flag(std::string_view flag) {
  constexpr std::array<std::string_view, 8> own{
      "--benchmark_format", "--benchmark_out_format",  "--benchmark_out",      "--benchmark_report_aggregates_only",
      "--benchmark_filter", "--benchmark_repetitions", "--benchmark_min_time", "--benchmark_list_tests"};
  return std::ranges::find(own, flag.substr(0, flag.find('='))) != own.end();
}

}  // namespace convladder

// results/baseline/<network>.json: the simulated device's counters of every CUDA variant on every convolution layer;
// and the JSON of a comparison with them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// One variant on one layer, or one stage of a folder on one size, from one compiler's PTX.
struct BaselineCase {
  std::string compiler;  ///< "nvcc" or "clang"
  std::string version;   ///< the compiler's: "13.0.88"
  std::string layer;     ///< "conv1"
  std::string variant;
  /// The layer's size with the batch; none for a stage of a folder, whose layer is its size.
  std::optional<ProblemSize> shape;
  std::string ptx_sha256;   ///< of the variant's PTX (harness/measure/machine/ptx_hash.hpp); empty where unsupported
  std::string unsupported;  ///< why the variant does not run the layer; then nothing was counted
  std::vector<KernelCounters> kernels;  ///< one for each launch, in order

  bool operator==(const BaselineCase&) const = default;
};

/// The file of one network, or of one folder.
struct Baseline {
  std::string network;  ///< or the problem's name
  std::vector<BaselineCase> cases;
};

std::filesystem::path baseline_path(const std::filesystem::path& folder, std::string_view network);

/// The file's text. The same cases give the same bytes, whatever their order; a counter has a line of its own.
std::string baseline_text(Baseline baseline);

/// Reads what `baseline_text` wrote. `file` is what messages call it. Throws UserError "FILE: place: what is wrong".
Baseline parse_baseline(std::string_view text, const std::string& file);

/// The network's baseline in a folder, or none if there is no such file. Throws UserError if it cannot be read, is not
/// one, or is another network's.
std::optional<Baseline> load_baseline(const std::filesystem::path& folder, std::string_view network);

struct BaselineReport;
/// The comparison with baselines as JSON: every case and every counter that moved. Infinite changes are null.
std::string baseline_report_json(const BaselineReport& report);

}  // namespace convladder

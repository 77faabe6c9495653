// The results of a network's cases of one batch on one device: how fast its convolutions are with each stage, compared
// with the first stage and the library, and which is best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/networks/network_record.hpp"
#include "harness/measure/statistics/ratio.hpp"

namespace convladder {

/// A case that is ok, and the values that follow from its figures. Times are nanoseconds; on a device without a clock
/// they are warp instructions.
struct NetworkRow {
  const NetworkResult* of = nullptr;
  double op = 0;                       ///< of all convolutions: the sum of their medians
  KnownFigure known_op;                ///< the same with its interval, from the sums of each pass
  double layers = 0;                   ///< of all layers
  std::optional<double> pass;          ///< the median of the passes
  std::optional<Ratio> images_second;  ///< images per second in such a pass
  std::optional<double> loaded;        ///< the median of the batches through a loaded network
  std::optional<Ratio> loaded_images_second;
  bool is_library = false;          ///< no convolution is computed by one of our stages
  bool is_fused = false;            ///< `op` holds other layers as well, so that it is compared with nothing
  std::optional<Ratio> x_baseline;  ///< speedup by `op`
  std::optional<Ratio> percent_of_library;
  std::optional<Ratio> x_library;  ///< speedup over the library's fastest network by `loaded`
};

struct NetworkSummary {
  NetworkSummary() = default;
  NetworkSummary(NetworkSummary&&) = default;  // the pointers are into its own rows
  NetworkSummary& operator=(NetworkSummary&&) = default;
  NetworkSummary(const NetworkSummary&) = delete;
  NetworkSummary& operator=(const NetworkSummary&) = delete;
  ~NetworkSummary() = default;

  std::vector<NetworkRow> rows;          ///< in the order of the plan; at least one
  const NetworkRow* baseline = nullptr;  ///< the lowest stage of the ladder, in all convolutions
  const NetworkRow* sixth = nullptr;     ///< the last of stages 1 to 6, in all convolutions
  const NetworkRow* best = nullptr;      ///< the fastest by `op` in float32 accuracy; never a library, nothing fused
  const NetworkRow* library = nullptr;   ///< the fastest library
};

/// One for each network, batch and device with a case that is ok, in the order of the plan. `results` must outlive
/// them.
std::vector<NetworkSummary> network_summaries(const std::vector<NetworkResult>& results);

}  // namespace convladder

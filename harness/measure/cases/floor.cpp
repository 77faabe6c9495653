#include "harness/measure/cases/floor.hpp"

#include <algorithm>
#include <optional>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

std::optional<double> limit_of(const DeviceCeilings& ceilings, const CeilingLimit& limit) {
  const std::vector<double>* const samples = ceilings.samples(limit);
  return samples == nullptr || samples->empty() ? std::nullopt : std::optional(median(*samples));
}

}  // namespace

std::optional<Floor> floor_of(const ProblemSize& shape, const std::string& device, const Ceilings& ceilings) {
  const DeviceCeilings* const of_device = find_ceilings_of(ceilings, device);
  if (of_device == nullptr) return std::nullopt;
  const std::optional<double> peak = limit_of(*of_device, kMultiplyAddLimit);
  const std::optional<double> store = limit_of(*of_device, kStoreLimit);
  const std::optional<double> copy = limit_of(*of_device, kCopyLimit);
  if (!peak || !store || !copy) return std::nullopt;

  const double written = shape.output_bytes();
  const double read = shape.minimum_bytes() - written;
  Floor floor{.operations_ns = shape.least_flop() / *peak,
              .bytes_ns = std::nullopt,
              .flop = shape.least_flop(),
              .bytes_read = read,
              .bytes_written = written,
              .peak = *peak,
              .copy = *copy};
  if (read + written > static_cast<double>(of_device->last_level_cache_bytes)) {
    floor.bytes_ns = written / *store + read * std::max(2 / *copy - 1 / *store, 0.0);
  }
  return floor;
}

std::optional<CaseRoofline> case_roofline_of(const std::optional<Floor>& floor, const std::optional<double>& layer_ns) {
  if (!floor || !layer_ns || !(*layer_ns > 0)) return std::nullopt;
  const double bytes = floor->bytes_read + floor->bytes_written;
  if (!(bytes > 0) || !(floor->flop > 0)) return std::nullopt;
  const double by_bytes = floor->flop / bytes * floor->copy;
  return CaseRoofline{.flop = floor->flop,
                      .bytes = bytes,
                      .gflop_per_s = floor->flop / *layer_ns,
                      .gb_per_s = bytes / *layer_ns,
                      .roof_gflop_per_s = std::min(floor->peak, by_bytes),
                      .bytes_bind = by_bytes < floor->peak};
}

}  // namespace convladder

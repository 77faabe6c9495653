#include "harness/measure/cases/floor.hpp"

#include <algorithm>
#include <optional>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

/// The limit's median, with the interval between two of its samples: they are few, and lie far apart in time.
std::optional<KnownFigure> limit_of(const DeviceCeilings& ceilings, const CeilingLimit& limit, double level) {
  const std::vector<double>* const samples = ceilings.samples(limit);
  if (samples == nullptr || samples->empty()) return std::nullopt;
  KnownFigure known{.value = median(*samples)};
  if (const std::optional<MedianInterval> interval = median_interval(*samples, level)) {
    known.low = interval->low;
    known.high = interval->high;
    known.level = interval->level;
  }
  return known;
}

/// Bytes in a nanosecond.
struct Rates {
  double store = 0;
  double copy = 0;
};

/// Nanoseconds for reading and writing so many bytes.
double bytes_ns(double read, double written, const Rates& rates) {
  return written / rates.store + read * std::max(2 / rates.copy - 1 / rates.store, 0.0);
}

/// The floor's interval: the least and the most of what its limits' intervals allow.
KnownFigure known_floor(const Floor& floor, const KnownFigure& peak, const KnownFigure& store,
                        const KnownFigure& copy) {
  KnownFigure known{.value = floor.value()};
  if (!peak.low || (floor.bytes_ns && (!store.low || !copy.low))) return known;
  known.low = floor.flop / *peak.high;
  known.high = floor.flop / *peak.low;
  known.level = peak.level;
  if (!floor.bytes_ns) return known;
  known.level = 1 - (1 - *peak.level) - (1 - *store.level) - (1 - *copy.level);
  const auto bytes_at = [&](double of_store, double of_copy) {
    return bytes_ns(floor.bytes_read, floor.bytes_written, {of_store, of_copy});
  };
  const auto [least, most] = std::minmax({bytes_at(*store.low, *copy.low), bytes_at(*store.low, *copy.high),
                                          bytes_at(*store.high, *copy.low), bytes_at(*store.high, *copy.high)});
  known.low = std::min(known.value, std::max(*known.low, least));
  known.high = std::max(known.value, std::max(*known.high, most));
  return known;
}

}  // namespace

LeastWork least_work_of(const ProblemSize& shape) {
  const double written = shape.output_bytes();
  return {.flop = shape.least_flop(), .bytes_read = shape.minimum_bytes() - written, .bytes_written = written};
}

std::optional<Floor> floor_of(const LeastWork& work, const std::string& device, const Ceilings& ceilings) {
  const DeviceCeilings* const of_device = find_ceilings_of(ceilings, device);
  if (of_device == nullptr) return std::nullopt;
  const double written = work.bytes_written;
  const double read = work.bytes_read;
  const bool fits = read + written <= static_cast<double>(of_device->last_level_cache_bytes);
  const double level = fits ? kLevelOfEach : 1 - (1 - kLevelOfEach) / 3;  // one limit matters, or all three
  const std::optional<KnownFigure> peak = limit_of(*of_device, kMultiplyAddLimit, level);
  const std::optional<KnownFigure> store = limit_of(*of_device, kStoreLimit, level);
  const std::optional<KnownFigure> copy = limit_of(*of_device, kCopyLimit, level);
  if (!peak || !store || !copy) return std::nullopt;

  Floor floor{.operations_ns = work.flop / peak->value,
              .bytes_ns = std::nullopt,
              .flop = work.flop,
              .bytes_read = read,
              .bytes_written = written,
              .peak = peak->value,
              .copy = copy->value};
  if (!fits) floor.bytes_ns = bytes_ns(read, written, {store->value, copy->value});
  floor.known = known_floor(floor, *peak, *store, *copy);
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

#include "harness/measure/cases/floor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/measure/cases/ceilings.hpp"
#include "support/json_null.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::optional<double> limit_of(const ordered_json& ceilings, const CeilingLimit& limit) {
  for (const ordered_json& one : ceilings.at("limits")) {
    if (one.at("name") == limit.name && one.at("median").is_number()) return one.at("median").get<double>();
  }
  return std::nullopt;
}

}  // namespace

std::optional<Floor> floor_of(const ProblemSize& shape, const std::string& device, const ordered_json& ceilings) {
  const auto of_device =
      std::ranges::find_if(ceilings, [&](const ordered_json& one) { return one.at("device") == device; });
  if (of_device == ceilings.end()) return std::nullopt;
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
  if (read + written > of_device->at("last_level_cache_bytes").get<double>()) {
    floor.bytes_ns = written / *store + read * std::max(2 / *copy - 1 / *store, 0.0);
  }
  return floor;
}

ordered_json floor_json(const std::optional<Floor>& floor) {
  if (!floor) return nullptr;
  return {{"kind", "predicted"},
          {"unit", "ns"},
          {"value", floor->value()},
          {"bound", floor->bytes_bind() ? "bytes" : "operations"},
          {"operations", floor->operations_ns},
          {"bytes", or_null(floor->bytes_ns)},
          {"flop", floor->flop},
          {"bytes_read", floor->bytes_read},
          {"bytes_written", floor->bytes_written}};
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

ordered_json case_roofline_json(const std::optional<CaseRoofline>& roofline) {
  if (!roofline) return nullptr;
  return {{"work", "derived"},
          {"flop", roofline->flop},
          {"bytes", roofline->bytes},
          {"flop_per_byte", roofline->intensity()},
          {"gflop_per_s", roofline->gflop_per_s},
          {"gb_per_s", roofline->gb_per_s},
          {"roof_gflop_per_s", roofline->roof_gflop_per_s},
          {"bound", roofline->bytes_bind ? "bytes" : "operations"}};
}

}  // namespace convladder

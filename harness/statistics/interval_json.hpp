// The interval of a median as records and reports have it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/statistics/statistics.hpp"

namespace convladder {

/// {"low", "high", "level"}; null for none.
inline nlohmann::ordered_json interval_json(const std::optional<MedianInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"level", interval->level}};
}

}  // namespace convladder

// The fields of types that the messages of cases and of networks share: only for their codecs.
#pragma once

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/isolation/message_codec.hpp"

namespace convladder {

inline void to_json(nlohmann::ordered_json& json, const CaseCounters& counters) { json = counters_json(counters); }
inline void from_json(const nlohmann::ordered_json& json, CaseCounters& counters) {
  for (const char* const name : {"images_executed", "batch", "exact", "kernels"}) static_cast<void>(json.at(name));
  counters = read_counters(JsonPlace(json, "its counters"));
}

}  // namespace convladder

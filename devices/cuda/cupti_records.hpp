// CUPTI's activity records as activities. Nothing here needs the library or a GPU.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/activity.hpp"

namespace convladder {

/// An activity and what is needed to tell calls from calls within calls.
struct RecordedActivity {
  Activity activity;
  std::optional<std::uint32_t> thread;  ///< of an API call
  bool driver_call = false;             ///< of the driver's API, which the runtime's calls make use of
};

/// What CUPTI calls an API function: "cudaMalloc_v3020". Null if it does not know.
using CallbackName = std::function<const char*(CUpti_CallbackDomain domain, CUpti_CallbackId id)>;

/// A kernel by its demangled name, a copy as "[CUDA memcpy HtoD]", a fill as "[CUDA memset]", a call as "cudaMalloc".
/// None for records of other kinds.
std::optional<RecordedActivity> convert_record(const CUpti_Activity& record, const CallbackName& callback_name);

/// By start, without the driver calls that a runtime call of the same thread made: nvprof lists what the program
/// called.
std::vector<Activity> top_level_activities(std::vector<RecordedActivity> recorded);

}  // namespace convladder

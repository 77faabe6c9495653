// CUPTI's activity records as activities. Nothing here needs the library or a GPU.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// An activity, and what is needed to tell outer calls from calls within them.
struct RecordedActivity {
  Activity activity;
  std::optional<std::uint32_t> thread;  ///< of an API call
  bool driver_call = false;             ///< a call of the driver's API, which the runtime's calls use
};

/// CUPTI's name of an API function: "cudaMalloc_v3020". Null if it does not know the function.
using CallbackName = std::function<const char*(CUpti_CallbackDomain domain, CUpti_CallbackId id)>;

/// Converts a record: a kernel gets its demangled name, a copy "[CUDA memcpy HtoD]", a fill "[CUDA memset]", a call
/// "cudaMalloc". None for records of other kinds.
std::optional<RecordedActivity> convert_record(const CUpti_Activity& record, const CallbackName& callback_name);

/// The activities by start, without the driver calls that a runtime call of the same thread made: like nvprof, only the
/// calls of the program itself.
std::vector<Activity> top_level_activities(std::vector<RecordedActivity> recorded);

}  // namespace convladder

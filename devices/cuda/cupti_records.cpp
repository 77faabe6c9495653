#if CONVLADDER_HAS_CUPTI

#include "devices/cuda/cupti_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <utility>

#include "devices/kernel_resources.hpp"

namespace convladder {
namespace {

// Records grow at their end from version to version. These are the oldest of CUDA 12 and 13; a newer library's records
// have the same beginning.
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using FillRecord = CUpti_ActivityMemset4;
#if CUPTI_API_VERSION >= 130000
static_assert(offsetof(KernelRecord, start) == offsetof(CUpti_ActivityKernel10, start) &&
              offsetof(KernelRecord, end) == offsetof(CUpti_ActivityKernel10, end) &&
              offsetof(KernelRecord, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(offsetof(CopyRecord, copyKind) == offsetof(CUpti_ActivityMemcpy6, copyKind) &&
              offsetof(CopyRecord, start) == offsetof(CUpti_ActivityMemcpy6, start) &&
              offsetof(CopyRecord, end) == offsetof(CUpti_ActivityMemcpy6, end));
#endif

/// The direction of a copy as nvprof writes it. "A" is an array, "P" a peer.
const char* copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "[CUDA memcpy HtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "[CUDA memcpy DtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "[CUDA memcpy HtoA]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "[CUDA memcpy AtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return "[CUDA memcpy AtoA]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return "[CUDA memcpy AtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "[CUDA memcpy DtoA]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "[CUDA memcpy DtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "[CUDA memcpy HtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "[CUDA memcpy PtoP]";
    default:
      return "[CUDA memcpy]";
  }
}

/// "cudaMalloc_v3020" -> "cudaMalloc"
std::string without_version(std::string name) {
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string::npos || mark + 2 == name.size()) return name;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(mark) + 2, name.end(), is_digit)) name.erase(mark);
  return name;
}

template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);  // CUPTI's own way: every record begins with its kind
}

Activity activity_of(std::string_view group, std::string name, std::uint64_t start, std::uint64_t end) {
  // A record that was not completed has an end of 0.
  return {std::string(group), std::move(name), static_cast<double>(start),
          end > start ? static_cast<double>(end - start) : 0.0};
}

RecordedActivity call_of(const CUpti_ActivityAPI& record, bool driver, const CallbackName& callback_name) {
  const CUpti_CallbackDomain domain = driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  const char* const name = callback_name(domain, record.cbid);
  const std::string text = name == nullptr ? fmt::format("{} call {}", driver ? "driver" : "runtime",
                                                         static_cast<std::uint32_t>(record.cbid))
                                           : without_version(name);
  return {activity_of(activity_group::kApi, text, record.start, record.end), record.threadId, driver};
}

}  // namespace

std::optional<RecordedActivity> convert_record(const CUpti_Activity& record, const CallbackName& callback_name) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = as<KernelRecord>(record);
      const char* const name = kernel.name;
      return RecordedActivity{activity_of(activity_group::kGpu, name == nullptr ? "unnamed kernel" : demangle(name),
                                          kernel.start, kernel.end),
                              std::nullopt, false};
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = as<CopyRecord>(record);
      return RecordedActivity{activity_of(activity_group::kGpu, copy_name(copy.copyKind), copy.start, copy.end),
                              std::nullopt, false};
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = as<FillRecord>(record);
      return RecordedActivity{activity_of(activity_group::kGpu, "[CUDA memset]", fill.start, fill.end), std::nullopt,
                              false};
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return call_of(as<CUpti_ActivityAPI>(record), false, callback_name);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return call_of(as<CUpti_ActivityAPI>(record), true, callback_name);
    default:
      return std::nullopt;
  }
}

std::vector<Activity> top_level_activities(std::vector<RecordedActivity> recorded) {
  // The outer one of calls that start together comes first: the longer one, and the runtime's.
  std::ranges::stable_sort(recorded, [](const RecordedActivity& a, const RecordedActivity& b) {
    if (a.activity.start_ns != b.activity.start_ns) return a.activity.start_ns < b.activity.start_ns;
    if (a.activity.duration_ns != b.activity.duration_ns) return a.activity.duration_ns > b.activity.duration_ns;
    return !a.driver_call && b.driver_call;
  });
  std::map<std::uint32_t, double> runtime_call_ends;  // of each thread's last runtime call
  std::vector<Activity> activities;
  for (RecordedActivity& one : recorded) {
    const double end = one.activity.start_ns + one.activity.duration_ns;
    if (one.driver_call) {
      const auto outer = runtime_call_ends.find(one.thread.value_or(0));
      if (outer != runtime_call_ends.end() && end <= outer->second) continue;
    } else if (one.thread) {
      runtime_call_ends[*one.thread] = end;
    }
    activities.push_back(std::move(one.activity));
  }
  return activities;
}

}  // namespace convladder

#endif  // CONVLADDER_HAS_CUPTI

#include "devices/cuda/cupti_activities.hpp"

#include "devices/device_error.hpp"

#if CONVLADDER_HAS_CUPTI

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "devices/cuda/cupti_places.hpp"
#include "devices/cuda/cupti_records.hpp"
#include "support/library_versions.hpp"

namespace convladder {
namespace {

const char* environment_variable(const char* name) { return std::getenv(name); }

/// CUPTI's functions by their own names, with the types of its header.
struct CuptiLibrary {
#define CONVLADDER_CUPTI_FUNCTIONS(apply) \
  apply(cuptiGetVersion);                 \
  apply(cuptiGetResultString);            \
  apply(cuptiGetCallbackName);            \
  apply(cuptiActivityEnable);             \
  apply(cuptiActivityDisable);            \
  apply(cuptiActivityRegisterCallbacks);  \
  apply(cuptiActivityFlushAll);           \
  apply(cuptiActivityGetNextRecord);      \
  apply(cuptiActivityGetNumDroppedRecords)
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name takes none
#define CONVLADDER_CUPTI_MEMBER(name) decltype(&::name) name = nullptr
  CONVLADDER_CUPTI_FUNCTIONS(CONVLADDER_CUPTI_MEMBER);
#undef CONVLADDER_CUPTI_MEMBER

  std::string missing;  ///< empty if everything was found, otherwise why the library cannot be used
  std::string file;     ///< by its full path
};

CuptiLibrary open_library() {
  CuptiLibrary library;
  constexpr int kMajor = CUDA_VERSION / 1000;
  const std::string name = fmt::format("libcupti.so.{}", kMajor);
  void* handle = nullptr;  // never closed: it hooks into the driver until the process ends
  for (const std::string& candidate : cupti_candidates(kMajor, environment_variable)) {
    if (handle == nullptr) handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    library.missing = fmt::format("{} not found", name);
    return library;
  }
  if (const link_map* loaded = nullptr; dlinfo(handle, RTLD_DI_LINKMAP, &loaded) == 0) library.file = loaded->l_name;
  const auto load = [&library, handle](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
    if (function == nullptr && library.missing.empty()) library.missing = fmt::format("libcupti has no {}", symbol);
  };
#define CONVLADDER_CUPTI_LOAD(name) load(library.name, #name)
  CONVLADDER_CUPTI_FUNCTIONS(CONVLADDER_CUPTI_LOAD);
#undef CONVLADDER_CUPTI_LOAD
  return library;
}

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary library = open_library();
  return library;
}

/// Calls none of CUPTI's functions: the first call of any makes it look for a driver.
const LibraryVersionRegistration library_registration([] {
  const CuptiLibrary& library = cupti_library();
  std::error_code error;
  const std::string name = std::filesystem::canonical(library.file, error).filename().string();
  const std::size_t version = name.find(".so.");
  return LibraryVersion{"CUPTI",
                        !library.missing.empty()       ? library.missing
                        : version == std::string::npos ? "of an unknown version"
                                                       : name.substr(version + 4),
                        library.file};
});

void require_cupti(CUptiResult status, const char* call) {
  if (status == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  if (cupti_library().cuptiGetResultString(status, &text) != CUPTI_SUCCESS || text == nullptr) text = "unknown error";
  throw DeviceError(fmt::format("{}: {}", call, text));
}

/// The records that the callbacks, which CUPTI calls from threads of its own, have gathered.
struct GatheredActivities {
  std::mutex mutex;
  std::vector<RecordedActivity> activities;
  std::size_t dropped = 0;
};

GatheredActivities& recording() {
  static auto* const instance =
      new GatheredActivities;  // never destroyed: CUPTI may still deliver while statics are torn down
  return *instance;
}

constexpr std::size_t kBufferBytes = std::size_t{4} << 20U;
constexpr std::size_t kBufferAlignment = 8;  // as CUPTI's records need it

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;  // without a buffer CUPTI drops the records and counts them
  *most_records = 0;                               // as many as fit
}

const char* callback_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  return cupti_library().cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS ? name : nullptr;
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*bytes*/,
                               std::size_t valid_bytes) {
  GatheredActivities& gathered = recording();
  const std::scoped_lock lock(gathered.mutex);
  CUpti_Activity* record = nullptr;
  CUptiResult status = valid_bytes > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
  while (status == CUPTI_SUCCESS) {
    status = cupti_library().cuptiActivityGetNextRecord(buffer, valid_bytes, &record);
    if (status != CUPTI_SUCCESS) break;
    try {
      if (auto activity = convert_record(*record, callback_name)) gathered.activities.push_back(std::move(*activity));
    } catch (const std::bad_alloc&) {
      ++gathered.dropped;
    }
  }
  if (status != CUPTI_ERROR_MAX_LIMIT_REACHED) ++gathered.dropped;  // the buffer was not read to its end
  std::size_t dropped = 0;
  if (cupti_library().cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    gathered.dropped += dropped;
  }
  std::free(buffer);
}

constexpr std::array kGpuKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                  CUPTI_ACTIVITY_KIND_MEMSET};
constexpr std::array kApiKinds = {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};

void enable(CUpti_ActivityKind kind) {
  require_cupti(cupti_library().cuptiActivityEnable(kind), "cuptiActivityEnable");
}

void disable(CUpti_ActivityKind kind) {
  require_cupti(cupti_library().cuptiActivityDisable(kind), "cuptiActivityDisable");
}

/// Why nothing can be recorded, found by trying: without a GPU, or beside another profiler, CUPTI refuses.
std::string why_not() {
  if (!cupti_library().missing.empty()) return cupti_library().missing;
  try {
    require_cupti(cupti_library().cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed),
                  "cuptiActivityRegisterCallbacks");
    enable(kGpuKinds.front());
    disable(kGpuKinds.front());
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::string cupti_unavailable() {
  static const std::string reason = why_not();
  return reason.empty() ? std::string() : fmt::format("no CUPTI ({})", reason);
}

void start_cupti_activities() {
  if (const std::string reason = cupti_unavailable(); !reason.empty()) throw DeviceError(reason);
  {
    GatheredActivities& gathered = recording();
    const std::scoped_lock lock(gathered.mutex);
    gathered.activities.clear();
    gathered.dropped = 0;
  }
  for (const CUpti_ActivityKind kind : kGpuKinds) enable(kind);
  for (const CUpti_ActivityKind kind : kApiKinds) enable(kind);
}

void pause_cupti_api_calls() {
  if (!cupti_unavailable().empty()) return;
  for (const CUpti_ActivityKind kind : kApiKinds) disable(kind);
}

std::vector<Activity> stop_cupti_activities() {
  if (!cupti_unavailable().empty()) return {};
  pause_cupti_api_calls();
  for (const CUpti_ActivityKind kind : kGpuKinds) disable(kind);
  require_cupti(cupti_library().cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  GatheredActivities& gathered = recording();
  const std::scoped_lock lock(gathered.mutex);
  if (gathered.dropped > 0) throw DeviceError(fmt::format("CUPTI dropped {} activity records", gathered.dropped));
  return top_level_activities(std::exchange(gathered.activities, {}));
}

}  // namespace convladder

#else

namespace convladder {

std::string cupti_unavailable() { return "no CUPTI (its header was not found when this was built)"; }
void start_cupti_activities() { throw DeviceError(cupti_unavailable()); }
void pause_cupti_api_calls() {}
std::vector<Activity> stop_cupti_activities() { return {}; }

}  // namespace convladder

#endif

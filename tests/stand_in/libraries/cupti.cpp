// A CUPTI for the tests: the records of what the stand-in for the CUDA runtime has written into its trace (the settings
// "trace" and "trace_calls") while their kinds were enabled. It has what devices/cuda/cupti_activities.cpp asks for.
#include <cuda.h>
#include <cupti.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calls.hpp"

namespace {

using nlohmann::json;

/// The bytes of the trace that were written while a kind was enabled.
struct Range {
  std::streamoff begin;
  std::streamoff end;
};

struct State {
  State() {
    const char* const settings = std::getenv("CONVLADDER_STAND_IN");
    if (settings != nullptr) trace = json::parse(settings).value("trace", "");
  }

  std::recursive_mutex mutex;
  std::string trace;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::map<CUpti_ActivityKind, std::streamoff> enabled;  // with the trace's size when they were
  std::map<CUpti_ActivityKind, std::vector<Range>> recorded;
  std::map<std::string, CUpti_CallbackId> callbacks;  // and kernels' names, which live as long
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

std::streamoff trace_size() {
  struct stat status {};
  return stat(state().trace.c_str(), &status) == 0 ? status.st_size : 0;
}

union Record {
  CUpti_Activity any;
  CUpti_ActivityKernel10 kernel;
  CUpti_ActivityMemcpy6 copy;
  CUpti_ActivityMemset4 fill;
  CUpti_ActivityAPI call;
};

std::size_t bytes_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    default:
      return sizeof(CUpti_ActivityKernel10);
  }
}

std::uint8_t kind_of_copy(const std::string& what) {
  if (what == "[CUDA memcpy HtoD]") return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  if (what == "[CUDA memcpy DtoH]") return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

/// Of a line of the trace; none for what CUPTI has no record of here.
std::optional<Record> record_of(const json& line) {
  Record record;
  std::memset(&record, 0, sizeof record);
  const auto kept = [](const std::string& name) {
    return state().callbacks.try_emplace(name, static_cast<CUpti_CallbackId>(state().callbacks.size() + 1)).first;
  };
  if (line.contains("call")) {
    const std::string name = line.at("call");
    record.call.kind = name.starts_with("cuda") ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
    record.call.cbid = kept(name)->second;
    record.call.start = line.at("begin_ns");
    record.call.end = line.at("end_ns");
    record.call.threadId = 1;
    return record;
  }
  const std::string what = line.at("what");
  if (what == "event") return std::nullopt;
  const auto timed = [&line](auto& of_kind, CUpti_ActivityKind kind) {
    of_kind.kind = kind;
    of_kind.start = line.at("begin_ns");
    of_kind.end = line.at("end_ns");
  };
  if (what.starts_with("[CUDA memcpy")) {
    timed(record.copy, CUPTI_ACTIVITY_KIND_MEMCPY);
    record.copy.copyKind = kind_of_copy(what);
  } else if (what.starts_with("[CUDA memset")) {
    timed(record.fill, CUPTI_ACTIVITY_KIND_MEMSET);
  } else {
    timed(record.kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    record.kernel.name = kept(what)->first.c_str();
  }
  return record;
}

/// What was recorded of this process, in the trace's order; forgets it.
std::vector<Record> take_records() {
  std::vector<Record> records;
  std::ifstream trace(state().trace);
  std::streamoff at = 0;
  for (std::string line; std::getline(trace, line); at += static_cast<std::streamoff>(line.size()) + 1) {
    const json read = json::parse(line);
    if (read.at("process") != getpid() || !(read.contains("begin_ns"))) continue;
    const std::optional<Record> record = record_of(read);
    if (!record) continue;
    const std::vector<Range>& ranges = state().recorded[record->any.kind];
    if (std::ranges::any_of(ranges, [at](const Range& one) { return at >= one.begin && at < one.end; })) {
      records.push_back(*record);
    }
  }
  state().recorded.clear();
  return records;
}

template <typename Work>
CUptiResult answered(const char* call, const Work& work) {
  const std::scoped_lock lock(state().mutex);
  const void* const none = nullptr;
  return library_of_tests::answered<CUptiResult>(call, none, work);
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t id, const char** name) {
  for (const auto& [text, number] : state().callbacks) {
    if (number != id) continue;
    *name = text.c_str();
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  return answered("cuptiActivityRegisterCallbacks", [&] {
    state().request = request;
    state().complete = complete;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return answered("cuptiActivityEnable", [&] {
    state().enabled.try_emplace(kind, trace_size());
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return answered("cuptiActivityDisable", [&] {
    const auto found = state().enabled.find(kind);
    if (found == state().enabled.end()) return CUPTI_SUCCESS;
    state().recorded[kind].push_back({found->second, trace_size()});
    state().enabled.erase(found);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  return answered("cuptiActivityFlushAll", [] {
    const std::vector<Record> records = take_records();
    for (std::size_t next = 0; next < records.size();) {
      std::uint8_t* buffer = nullptr;
      std::size_t room = 0;
      std::size_t most = 0;
      state().request(&buffer, &room, &most);
      std::size_t used = 0;
      for (; next < records.size(); ++next) {
        const std::size_t bytes = bytes_of(records[next].any.kind);
        if (used + bytes > room) break;
        std::memcpy(buffer + used, &records[next], bytes);
        used += bytes;
      }
      if (used == 0) return CUPTI_ERROR_OUT_OF_MEMORY;
      state().complete(nullptr, 0, buffer, room, used);
    }
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  return answered("cuptiActivityGetNextRecord", [&] {
    std::uint8_t* const next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + bytes_of((*record)->kind);
    if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  return answered("cuptiActivityGetNumDroppedRecords", [&] {
    *dropped = library_of_tests::dropped_records();
    return CUPTI_SUCCESS;
  });
}
}

#if CONVLADDER_HAS_CUPTI

#include "devices/cuda/cupti_records.hpp"

#include <gtest/gtest.h>

#include "devices/cuda/cupti_activities.hpp"
#include "devices/device_error.hpp"
#include "expect_error.hpp"

namespace convladder {
namespace {

/// A record as CUPTI delivers it: everything zero but what is set.
template <typename Record>
const CUpti_Activity& as_activity(const Record& record) {
  return reinterpret_cast<const CUpti_Activity&>(record);
}

const char* name_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == 20) return "cudaMalloc_v3020";
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == 211) return "cudaLaunchKernel_v7000";
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == 12) return "cuDeviceGetAttribute";
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == 13) return "cuDeviceTotalMem_v2";
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == 14) return "cuLaunch_very_new";
  return nullptr;
}

Activity converted(const CUpti_Activity& record) {
  const auto recorded = convert_record(record, name_of);
  EXPECT_TRUE(recorded.has_value());
  return recorded ? recorded->activity : Activity{};
}

#if CUPTI_API_VERSION >= 130000
using NewestKernelRecord = CUpti_ActivityKernel10;
#else
using NewestKernelRecord = CUpti_ActivityKernel9;
#endif

NewestKernelRecord kernel(const char* name, std::uint64_t start, std::uint64_t end) {
  NewestKernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.start = start;
  record.end = end;
  return record;
}

CUpti_ActivityAPI call(CUpti_ActivityKind kind, CUpti_CallbackId id, std::uint64_t start, std::uint64_t end,
                       std::uint32_t thread = 1) {
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = id;
  record.start = start;
  record.end = end;
  record.threadId = thread;
  return record;
}

TEST(CuptiRecords, AKernelHasItsNameAsWritten) {
  const Activity activity = converted(as_activity(kernel("_ZN10convladder4convILi5EEEvPKfi", 1000, 3500)));
  EXPECT_EQ(activity.group, "GPU activities");
  EXPECT_EQ(activity.name, "void convladder::conv<5>(float const*, int)");
  EXPECT_EQ(activity.start_ns, 1000);
  EXPECT_EQ(activity.duration_ns, 2500);
  EXPECT_EQ(converted(as_activity(kernel("volta_sgemm_128x128_tn", 0, 1))).name, "volta_sgemm_128x128_tn");
  EXPECT_EQ(converted(as_activity(kernel(nullptr, 0, 1))).name, "unnamed kernel");
}

TEST(CuptiRecords, ARecordThatWasNotCompletedHasNoDuration) {
  EXPECT_EQ(converted(as_activity(kernel("k", 1000, 0))).duration_ns, 0);
}

TEST(CuptiRecords, CopiesAndFillsAreNamedAsNvprofDoes) {
  CUpti_ActivityMemcpy5 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.start = 10;
  copy.end = 25;
  const auto name_of_kind = [&copy](std::uint8_t kind) {
    copy.copyKind = kind;
    return converted(as_activity(copy)).name;
  };
  EXPECT_EQ(name_of_kind(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD), "[CUDA memcpy HtoD]");
  EXPECT_EQ(name_of_kind(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH), "[CUDA memcpy DtoH]");
  EXPECT_EQ(name_of_kind(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD), "[CUDA memcpy DtoD]");
  EXPECT_EQ(name_of_kind(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP), "[CUDA memcpy PtoP]");
  EXPECT_EQ(name_of_kind(99), "[CUDA memcpy]");
  EXPECT_EQ(converted(as_activity(copy)).duration_ns, 15);

  CUpti_ActivityMemset4 fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.start = 5;
  fill.end = 6;
  EXPECT_EQ(converted(as_activity(fill)).name, "[CUDA memset]");
  EXPECT_EQ(converted(as_activity(fill)).group, "GPU activities");
}

TEST(CuptiRecords, CallsHaveNoVersionInTheirName) {
  EXPECT_EQ(converted(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 20, 1, 2))).name, "cudaMalloc");
  EXPECT_EQ(converted(as_activity(call(CUPTI_ACTIVITY_KIND_DRIVER, 12, 1, 2))).name, "cuDeviceGetAttribute");
  EXPECT_EQ(converted(as_activity(call(CUPTI_ACTIVITY_KIND_DRIVER, 13, 1, 2))).name, "cuDeviceTotalMem");
  EXPECT_EQ(converted(as_activity(call(CUPTI_ACTIVITY_KIND_DRIVER, 14, 1, 2))).name, "cuLaunch_very_new");
  EXPECT_EQ(converted(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 7777, 1, 2))).name, "runtime call 7777");
  EXPECT_EQ(converted(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 20, 1, 2))).group, "API calls");
}

TEST(CuptiRecords, OtherKindsAreLeftOut) {
  CUpti_Activity record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  EXPECT_FALSE(convert_record(record, name_of).has_value());
}

TEST(CuptiRecords, DriverCallsWithinARuntimeCallAreNotTheProgramsOwn) {
  std::vector<RecordedActivity> recorded;
  const auto add = [&recorded](const auto& record) {
    recorded.push_back(convert_record(as_activity(record), name_of).value());
  };
  add(call(CUPTI_ACTIVITY_KIND_DRIVER, 13, 120, 180));     // within the runtime call below
  add(call(CUPTI_ACTIVITY_KIND_RUNTIME, 20, 100, 200));    //
  add(call(CUPTI_ACTIVITY_KIND_DRIVER, 12, 100, 200));     // all of its time
  add(call(CUPTI_ACTIVITY_KIND_DRIVER, 12, 130, 140, 2));  // meanwhile, in another thread
  add(call(CUPTI_ACTIVITY_KIND_DRIVER, 13, 250, 260));     // after it
  add(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 300, 310));
  add(kernel("k", 150, 190));
  std::vector<std::string> names;
  for (const Activity& activity : top_level_activities(recorded)) names.push_back(activity.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cudaMalloc", "cuDeviceGetAttribute", "k", "cuDeviceTotalMem",
                                             "cudaLaunchKernel"}));
}

TEST(CuptiActivities, SaysWhyItCannotRecord) {
  const std::string reason = cupti_unavailable();
  if (reason.empty()) GTEST_SKIP() << "CUPTI can record here";
  expect_one_line(reason, {"no CUPTI ("});
  expect_error<DeviceError>([] { start_cupti_activities(); }, {reason});
  pause_cupti_api_calls();  // to stop what could not be started is no error
  EXPECT_TRUE(stop_cupti_activities().empty());
}

TEST(CuptiActivities, RecordsNothingWhereNothingHappens) {
  if (!cupti_unavailable().empty()) GTEST_SKIP() << cupti_unavailable();
  start_cupti_activities();
  EXPECT_TRUE(stop_cupti_activities().empty());
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUPTI

// Whether there is room for a case, and how many are open at a time.
#include "harness/measure/cases/cases_at_a_time.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "devices/cpu/cpu_facts.hpp"
#include "expect_error.hpp"
#include "harness/measure/plan/plan.hpp"
#include "sanitized.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

const ProblemSize kLayer = ConvShape{1, 1, 28, 28, 50, 5};

/// The largest batch that there is room for, about: memory that others take and give back changes it.
int about_largest() { return static_cast<int>(static_cast<double>(available_memory_bytes()) / case_bytes(kLayer)); }

std::size_t used_address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(WhyNoRoom, SaysWhatIsNeededAndWhatThereIs) {
  const int batch = 2'000'000'000;
  const std::string why = why_no_room("cpu", kLayer.with_batch(batch));
  expect_one_line(why, {"batch 2000000000 needs 4", " GB of memory, ", "B are available",
                        "; the largest batch that fits is about "});
  const int largest = std::stoi(why.substr(why.find("about ") + 6));
  EXPECT_GT(largest, about_largest() / 2);
  EXPECT_EQ(why_no_room("cpu", kLayer.with_batch(std::max(1, largest / 2))), "");
}

TEST(WhyNoRoom, TwoProcessesNeedTwice) {
  const ProblemSize more_than_half = kLayer.with_batch(std::max(1, about_largest() * 3 / 4));
  EXPECT_EQ(why_no_room("cpu", more_than_half), "");
  EXPECT_NE(why_no_room("cpu", more_than_half, 2), "");
}

TEST(WhyNoRoom, ADeviceThatCountsExecutesFewImages) {
  // Most of these images have addresses only; more of them than the machine has memory have none.
  const int all_of_memory = about_largest();
  EXPECT_EQ(why_no_room("simulated", kLayer.with_batch(std::max(1, all_of_memory / 2))), "");
  EXPECT_NE(why_no_room("simulated", kLayer.with_batch(2'000'000'000)), "");
}

TEST(WhyNoRoom, IsWhatThereIsAtThatMoment) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes";
  const ProblemSize size = kLayer.with_batch(400);  // 93 MB
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    const rlim_t before = limit.rlim_cur;
    const bool had_room = why_no_room("cpu", size).empty();
    limit.rlim_cur = used_address_space() + (std::size_t{40} << 20U);
    setrlimit(RLIMIT_AS, &limit);
    const bool has_none = !why_no_room("cpu", size).empty();
    limit.rlim_cur = before;
    setrlimit(RLIMIT_AS, &limit);
    _exit(had_room && has_none && why_no_room("cpu", size).empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(CasesAtATime, AreSharedOutEvenly) {
  EXPECT_EQ(cases_at_a_time("cpu", kLayer, 13), 13U) << "the processor has no contexts";
  const ProblemSize third = kLayer.with_batch(std::max(1, static_cast<int>(about_largest() * 0.8 / 3.5)));
  EXPECT_EQ(cases_at_a_time("cpu", third, 4), 2U) << "of three that fit, two and two";
  EXPECT_EQ(cases_at_a_time("cpu", kLayer.with_batch(2'000'000'000), 4), 1U);
}

}  // namespace
}  // namespace convladder

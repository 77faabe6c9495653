#include "harness/measure/isolation/processor_split.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace convladder {
namespace {

cpu_set_t processors_now() {
  cpu_set_t now;
  CPU_ZERO(&now);
  sched_getaffinity(0, sizeof now, &now);
  return now;
}

TEST(ProcessorSplit, LeavesTheCallerACoreThatTheCalledOneHasNot) {
  const cpu_set_t all = processors_now();
  const ProcessorSplit split = processor_split();
  EXPECT_EQ(split.all, CPU_COUNT(&all));
  use_callers_processors();
  const cpu_set_t callers = processors_now();
  use_called_ones_processors();
  const cpu_set_t called = processors_now();
  use_all_processors();
  const cpu_set_t again = processors_now();
  EXPECT_TRUE(CPU_EQUAL(&again, &all));

  EXPECT_EQ(split.of_called, CPU_COUNT(&called));
  EXPECT_GE(split.of_called, 1);
  cpu_set_t both;
  CPU_AND(&both, &callers, &called);
  EXPECT_EQ(CPU_COUNT(&both), split.apart ? 0 : split.all);
  CPU_OR(&both, &callers, &called);
  EXPECT_TRUE(CPU_EQUAL(&both, &all));
  EXPECT_FALSE(split.all == 1 && split.apart);
}

}  // namespace
}  // namespace convladder

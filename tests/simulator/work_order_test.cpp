// The order of work in streams: which conflicts of copies are found.
#include "simulator/checkers/work_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convladder::simulated {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<WorkOrder::Conflict>& conflicts) {
  std::vector<std::string> all;
  for (const WorkOrder::Conflict& one : conflicts) {
    all.push_back(std::string(one.hazard) + " at " + std::to_string(one.address) + " with " + one.with);
  }
  return all;
}

TEST(WorkOrder, FindsWhatIsInNoOrder) {
  WorkOrder order;
  order.begin({1, 1, "first", {}});
  EXPECT_THAT(order.touch(4096, 64, true), IsEmpty());
  order.begin({2, 1, "second", {}});
  EXPECT_THAT(texts(order.touch(4100, 8, false)), ElementsAre("read after write at 4100 with first"));
  EXPECT_THAT(order.touch(8192, 8, false), IsEmpty());
  order.begin({1, 2, "third", {}});
  EXPECT_THAT(texts(order.touch(4096, 64, true)), ElementsAre("write after read at 4100 with second"));
  order.begin({2, 2, "fourth", {{1, 2}}});
  EXPECT_THAT(order.touch(4096, 64, true), IsEmpty()) << "it waits for the third";
}

TEST(WorkOrder, BytesOfAWordAreNotTheWord) {
  WorkOrder order;
  order.begin({1, 1, "first", {}});
  EXPECT_THAT(order.touch(4096, 2, true), IsEmpty());
  order.begin({2, 1, "second", {}});
  EXPECT_THAT(order.touch(4098, 2, true), IsEmpty());
  order.begin({3, 1, "third", {}});
  EXPECT_THAT(texts(order.touch(4097, 2, false)), ElementsAre("read after write at 4098 with second"));
}

TEST(WorkOrder, ForgetsMemoryThatHasEnded) {
  WorkOrder order;
  order.begin({1, 1, "first", {}});
  static_cast<void>(order.touch(4096, 8192, true));
  order.forget(4100, 4096);
  order.begin({2, 1, "second", {}});
  EXPECT_THAT(order.touch(4100, 4096, true), IsEmpty());
  EXPECT_THAT(texts(order.touch(4096, 4, true)), ElementsAre("write after write at 4096 with first"));
  EXPECT_THAT(texts(order.touch(8196, 4, true)), ElementsAre("write after write at 8196 with first"));
}

TEST(WorkOrder, KnowsTheNodesOfAGraphByTheGraph) {
  WorkOrder order;
  order.begin({5, 1, "a node", {}});
  static_cast<void>(order.touch(4096, 4, true));
  order.end_together(5, 7, 1, 3);
  order.begin({1, 3, "too early", {{1, 2}}});
  EXPECT_THAT(texts(order.touch(4096, 4, false)), ElementsAre("read after write at 4096 with a node"));
  order.begin({2, 1, "behind it", {{1, 3}}});
  EXPECT_THAT(order.touch(4096, 4, false), IsEmpty());
}

}  // namespace
}  // namespace convladder::simulated

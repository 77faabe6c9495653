// Other orders of a launch's work: which kernels are the same in all of them, and what is said of those that are not.
#include "simulator/device/other_orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "simulator/marked_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Tried {
  OrdersTried orders;
  std::vector<Finding> findings;
};

/// What other orders of the kernel's launch come to, with no other checker than memcheck; none without PTX.
std::optional<Tried> tried(const MarkedKernel& marked, SchedulesWanted wanted) {
  SimulatedDeviceOptions options;
  options.host_threads = 1;
  options.schedules = wanted;
  options.checkers.memory = true;
  SimulatedDevice device(options);
  if (!run_marked(device, marked)) return std::nullopt;
  const auto orders = device.take_orders_tried();
  return Tried{orders.empty() ? OrdersTried() : orders.begin()->second, device.take_findings()};
}

MarkedKernel unsteady(const std::string& name) {
  for (const MarkedKernel& kernel : marked_kernels("unsteady")) {
    if (kernel.name == name) return kernel;
  }
  throw std::out_of_range("no kernel " + name);
}

/// The line in the kernel's own file, from which a line of a header may be called.
int own_line(const Finding& finding) {
  return finding.callers.empty() ? finding.source_line : finding.callers.back().line;
}

std::uint64_t seed_in(const Finding& finding) {
  std::smatch match;
  EXPECT_TRUE(std::regex_search(finding.problem, match, std::regex("seed (\\d+)"))) << to_text(finding);
  return std::stoull(match[1]);
}

class UnsteadyKernel : public testing::TestWithParam<MarkedKernel> {};

TEST_P(UnsteadyKernel, IsFoundByOtherOrdersAtItsLines) {
  constexpr SchedulesWanted kWanted{.count = 200, .first_seed = 1};
  const auto found = tried(GetParam(), kWanted);
  if (!found) GTEST_SKIP() << "no nvcc in this build";
  EXPECT_EQ(found->orders.not_tried, "");
  EXPECT_EQ(found->orders.orders, kWanted.count);
  EXPECT_FALSE(found->orders.is_deterministic());
  EXPECT_FALSE(found->findings.empty());
  for (const Finding& finding : found->findings) {
    const bool is_note = finding.severity == Severity::note;
    const std::string checker(is_note ? "note" : checker_name(finding.checker));
    EXPECT_TRUE(GetParam().marks.contains({checker, own_line(finding)})) << to_text(finding);
  }
}

TEST_P(UnsteadyKernel, IsFoundAgainByItsSeed) {
  const auto found = tried(GetParam(), {.count = 200, .first_seed = 1});
  if (!found) GTEST_SKIP() << "no nvcc in this build";
  for (const Finding& finding : found->findings) {
    const auto again = tried(GetParam(), {.count = 1, .first_seed = seed_in(finding)});
    const auto is_it = [&](const Finding& other) {
      return other.problem == finding.problem && other.ptx_line == finding.ptx_line &&
             other.thread.x == finding.thread.x;
    };
    EXPECT_TRUE(std::ranges::any_of(again->findings, is_it)) << to_text(finding);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, UnsteadyKernel, testing::ValuesIn(marked_kernels("unsteady")), name_of_kernel);

/// Right kernels that leave something else in memory in another order, and may: a list or a table in another order, who
/// was the last, which items were chosen first.
const std::set<std::string> kRightInAnyOrder = {"last_block_adds_up",
                                                "stack_without_locks",
                                                "one_atomic_for_all_that_are_here",
                                                "a_mask_of_those_that_are_here",
                                                "one_of_a_group_speaks",
                                                "a_stack_that_is_pushed_and_popped",
                                                "lists_by_exchange",
                                                "grid_of_components",
                                                "places_of_a_bit_map",
                                                "the_last_block_with_all_its_threads",
                                                "a_queue_of_many",
                                                "work_is_stolen",
                                                "the_last_block_sums",
                                                "counted_by_relaxed_atomics"};

class SteadyKernel : public testing::TestWithParam<MarkedKernel> {};

TEST_P(SteadyKernel, EndsInEveryOrder) {
  const auto found = tried(GetParam(), {.count = 100, .first_seed = 1});
  if (!found) GTEST_SKIP() << "no nvcc in this build";
  EXPECT_EQ(found->orders.not_tried, "");
  EXPECT_EQ(found->orders.failing, 0U);
  const bool may_differ = kRightInAnyOrder.contains(GetParam().name);
  EXPECT_EQ(found->orders.differing > 0, may_differ);
  for (const Finding& finding : found->findings) EXPECT_TRUE(may_differ) << to_text(finding);
}

INSTANTIATE_TEST_SUITE_P(Kernels, SteadyKernel, testing::ValuesIn(marked_kernels("right")), name_of_kernel);

TEST(OtherOrders, NamesTheLineThatReadsAndTheLinesThatHaveWritten) {
  const auto found = tried(unsteady("warps_that_meet_nowhere"), {.count = 8, .first_seed = 1});
  if (!found) GTEST_SKIP() << "no nvcc in this build";
  ASSERT_EQ(found->findings.size(), 1U);
  EXPECT_THAT(found->findings[0].problem,
              AllOf(HasSubstr("with seed 1, "), HasSubstr("bytes of 'out' are not those of the usual order"),
                    HasSubstr("this line reads 0, which was there before the launch; in the usual order 1, written at "
                              "unsteady.cu line ")));
  EXPECT_EQ(found->findings[0].count, found->orders.differing);
}

TEST(OtherOrders, TellSumsThatRoundInAnotherOrderFromEverythingElse) {
  const auto sums = tried(unsteady("a_mean_of_a_sum_by_atomics"), {.count = 100, .first_seed = 1});
  if (!sums) GTEST_SKIP() << "no nvcc in this build";
  EXPECT_GT(sums->orders.differing, 0U);
  EXPECT_EQ(sums->orders.sums_only, sums->orders.differing);
  EXPECT_THAT(to_text(sums->orders), HasSubstr("by sums of atomics in another order only"));
  const auto others = tried(unsteady("the_last_block_writes"), {.count = 100, .first_seed = 1});
  EXPECT_GT(others->orders.differing, 0U);
  EXPECT_EQ(others->orders.sums_only, 0U);
}

TEST(OtherOrders, OfAUsualSeedAreTheUsualOrder) {
  for (const MarkedKernel& kernel : marked_kernels("unsteady")) {
    const auto found = tried(kernel, {.count = 1, .first_seed = 0});
    if (!found) GTEST_SKIP() << "no nvcc in this build";
    EXPECT_TRUE(found->orders.is_deterministic()) << kernel.name;
    EXPECT_TRUE(found->findings.empty()) << kernel.name;
  }
}

TEST(OtherOrders, SayWhatTheyHaveComeTo) {
  EXPECT_EQ(to_text({.launches = 1, .orders = 100}), "deterministic over 100 schedules");
  EXPECT_EQ(to_text({.launches = 2, .orders = 40}), "deterministic over 20 schedules of each launch");
  EXPECT_EQ(to_text({.launches = 1, .orders = 1, .failing = 1}), "1 of 1 schedule fails");
  EXPECT_EQ(to_text({.launches = 1, .orders = 9, .differing = 4, .failing = 2, .sums_only = 1}),
            "4 of 9 schedules give other results, 1 of them by sums of atomics in another order only; 2 fail");
  EXPECT_EQ(to_text({.not_tried = "why"}), "other orders were not tried: why");
  EXPECT_EQ(to_text({.launches = 1, .orders = 3, .not_tried = "why"}),
            "deterministic over 3 schedules; not all were tried: why");
  OrdersTried sum{.launches = 1, .orders = 3};
  sum += {.launches = 1, .orders = 4, .differing = 2, .not_tried = "why"};
  EXPECT_EQ(sum.launches, 2U);
  EXPECT_EQ(sum.orders, 7U);
  EXPECT_EQ(sum.differing, 2U);
  EXPECT_EQ(sum.not_tried, "why");
}

TEST(OtherOrders, AreAllTriedOfAFewPoints) {
  const auto few = tried(unsteady("a_list_that_grows_at_its_front"), {.count = 100, .first_seed = 1});
  if (!few) GTEST_SKIP() << "no nvcc in this build";
  EXPECT_EQ(few->orders.complete, 1U);
  EXPECT_EQ(tried(unsteady("a_list_that_grows_at_its_front"), {.count = 4, .first_seed = 1})->orders.complete, 0U);
}

}  // namespace
}  // namespace convladder::simulated

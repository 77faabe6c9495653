// The time model: each term by hand where it binds, and what more of anything may never do.
#include "simulator/gpus/time_model.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace convladder {
namespace {

const GpuFacts& gpu(const char* name = "h100") { return *find_gpu(name); }

/// Blocks that fill an H100 exactly: 8 of 256 threads on each multiprocessor.
LaunchCounts full_launch() {
  LaunchCounts counts;
  counts.blocks = 8 * 132;
  counts.block = {.threads = 256, .registers = 32, .shared_bytes = 0};
  counts.warp_instructions = counts.blocks * 8.0;
  counts.thread_instructions = 32 * counts.warp_instructions;
  return counts;
}

constexpr double kLaunchLow = 900;
constexpr double kLaunchHigh = 6700;

void expect_binds(const LaunchCounts& counts, TimeTerm low, double low_ns, TimeTerm high, double high_ns) {
  const PredictedLaunch predicted = predict_launch(gpu(), counts);
  EXPECT_STREQ(kTimeTermNames[std::size_t(predicted.binding_low)], kTimeTermNames[std::size_t(low)]);
  EXPECT_STREQ(kTimeTermNames[std::size_t(predicted.binding_high)], kTimeTermNames[std::size_t(high)]);
  EXPECT_NEAR(predicted.ns.low - kLaunchLow, low_ns, 1e-9 * low_ns);
  EXPECT_NEAR(predicted.terms[std::size_t(high)].high, high_ns, 1e-9 * high_ns);
}

TEST(TimeModel, IsOfTheLanesForArithmetic) {
  LaunchCounts counts = full_launch();
  counts.fp32 = 1e12;
  counts.warp_instructions = 1e12 / 32;
  counts.thread_instructions = 1e12;
  // 132 * 128 lanes at 1980 and 1782 MHz; four schedulers of a warp each are as wide: the first of the two is named.
  expect_binds(counts, TimeTerm::issue, 1e12 / (132 * 128 * 1.98), TimeTerm::issue, 1e12 / (132 * 128 * 1.782));
  // Half of the lanes idle: at worst this is so for the arithmetic.
  counts.thread_instructions = 5e11;
  counts.fp32 = 5e11;
  const PredictedLaunch idle = predict_launch(gpu(), counts);
  EXPECT_NEAR(idle.terms[std::size_t(TimeTerm::fp32_pipe)].low, 5e11 / (132 * 128 * 1.98), 1);
  EXPECT_NEAR(idle.terms[std::size_t(TimeTerm::fp32_pipe)].high, 1e12 / (132 * 128 * 1.782), 1);
  // An A100 has half as many lanes as it can issue to.
  EXPECT_EQ(predict_launch(gpu("a100"), counts).binding_low, TimeTerm::fp32_pipe);
}

TEST(TimeModel, IsOfTheTensorCoresForProductsOfMatrices) {
  LaunchCounts counts = full_launch();
  counts.tensor_tf32 = 1e13;
  counts.tensor_instructions = 1e13 / (2 * 16 * 8 * 8);
  expect_binds(counts, TimeTerm::tensor_cores, 1e13 / (132 * 2048 * 1.98), TimeTerm::tensor_cores,
               1e13 / (132 * 1229 * 1.782));
  // A V100 has tensor cores for half precision alone, a K80 none.
  EXPECT_EQ(predict_launch(gpu("v100"), counts).residence.blocks, 0);
  std::swap(counts.tensor_tf32, counts.tensor_half);
  EXPECT_EQ(predict_launch(gpu("v100"), counts).binding_low, TimeTerm::tensor_cores);
  EXPECT_EQ(predict_launch(gpu("k80"), counts).residence.blocks, 0);
}

TEST(TimeModel, IsOfIntegersOnlyAtWorst) {
  LaunchCounts counts = full_launch();
  counts.integer = 1e12;
  counts.warp_instructions = 1e12 / 32;
  counts.thread_instructions = 1e12;
  const PredictedLaunch predicted = predict_launch(gpu(), counts);
  EXPECT_EQ(predicted.ns.low, kLaunchLow);
  EXPECT_EQ(predicted.binding_high, TimeTerm::integer_pipe);
  EXPECT_NEAR(predicted.ns.high - kLaunchHigh, 1e12 / (132 * 64 * 1.782), 1);  // and nothing is waited for
}

TEST(TimeModel, IsOfTheLoadStoreUnitForBankConflicts) {
  LaunchCounts counts = full_launch();
  counts.shared_loads = 1e9;
  counts.shared_load_wavefronts = 32e9;  // a conflict of all banks
  counts.warp_instructions = 1e9;
  counts.thread_instructions = 32e9;
  expect_binds(counts, TimeTerm::load_store, 32e9 / (132 * 1.98), TimeTerm::load_store, 32e9 / (132 * 1.782));
  // On an A100 ptxas may have merged four loads into one.
  const PredictedLaunch a100 = predict_launch(gpu("a100"), counts);
  // 10 of its multiprocessors' blocks one after another at best, two waves of 864 at worst.
  const Range& range = a100.terms[std::size_t(TimeTerm::load_store)];
  EXPECT_NEAR(range.low, 8e9 / (108 * 1.41) * (10 * 108 / 1056.0), 1);
  EXPECT_NEAR(range.high, 32e9 / (108 * 1.269) * (2 * 864 / 1056.0), 1);
}

TEST(TimeModel, IsOfTheL2ForTrafficThatStaysThere) {
  LaunchCounts counts = full_launch();
  counts.global_load_requests = 1e8;
  counts.global_load_sectors = 4e8;
  counts.modelled = LaunchCounts::Modelled{.l2_read_sectors = 4e8, .l2_read_hit_sectors = 4e8};
  counts.modelled->l1_bytes = 262144;
  counts.modelled->l2_bytes = 50 * 1024.0 * 1024;
  expect_binds(counts, TimeTerm::l2, 4e8 * 32 / 10138, TimeTerm::l2, 4e8 * 32 / 5500);
}

TEST(TimeModel, IsOfTheDramForTrafficThatDoesNotFit) {
  LaunchCounts counts = full_launch();
  counts.global_load_requests = 1e8;
  counts.global_load_sectors = 4e8;
  counts.modelled = LaunchCounts::Modelled{.l2_read_sectors = 4e8, .dram_bytes = 4e8 * 32};
  counts.modelled->l2_bytes = 50 * 1024.0 * 1024;
  // Little's law: 64 warps of one load each in 800 cycles keep 2.4 TB/s in flight, less than the DRAM has.
  expect_binds(counts, TimeTerm::dram, 4e8 * 32 / 3350, TimeTerm::latency, 1e8 * 800 / (132 * 64 * 1.782));
  EXPECT_NEAR(predict_launch(gpu(), counts).terms[std::size_t(TimeTerm::dram)].high, 4e8 * 32 / 2848, 1);
  // What fits into the L2 may be there already.
  counts.modelled->dram_bytes = 1e6;
  EXPECT_EQ(predict_launch(gpu(), counts).terms[std::size_t(TimeTerm::dram)].low, 0);
}

TEST(TimeModel, IsOfLatencyForFewWarps) {
  LaunchCounts counts = full_launch();
  counts.blocks = 132;
  counts.block.threads = 32;
  counts.global_load_requests = 132e3;  // a thousand loads of each warp, all from the L1
  counts.global_load_sectors = 4 * 132e3;
  counts.warp_instructions = 132e3;
  counts.thread_instructions = 32 * 132e3;
  counts.modelled = LaunchCounts::Modelled{};
  expect_binds(counts, TimeTerm::latency, 1000 * 41 / 8.0 / 1.98, TimeTerm::latency, 1000 * 41 / 1.782);
}

TEST(TimeModel, KnowsTheTailOfTheLastWave) {
  LaunchCounts counts = full_launch();
  counts.fp32 = 1e12;
  counts.warp_instructions = 1e12 / 32;
  counts.thread_instructions = 1e12;
  const PredictedLaunch full = predict_launch(gpu(), counts);
  EXPECT_EQ(full.waves.low, 1);
  EXPECT_EQ(full.waves.high, 1);
  counts.blocks += 1;  // the same work in one block more: another block on one multiprocessor, at worst another wave
  const PredictedLaunch tail = predict_launch(gpu(), counts);
  EXPECT_EQ(tail.waves.high, 2);
  EXPECT_NEAR((tail.ns.low - kLaunchLow) / (full.ns.low - kLaunchLow), 9 * 132 / 1057.0, 1e-9);
  EXPECT_NEAR((tail.ns.high - kLaunchHigh) / (full.ns.high - kLaunchHigh), 2 * 8 * 132 / 1057.0, 1e-9);
}

TEST(TimeModel, HidesLatencyAtBestAndNotAtWorst) {
  LaunchCounts counts = full_launch();
  counts.shared_loads = 1e9;
  counts.shared_load_wavefronts = 1e9;
  counts.warp_instructions = 1e9;
  counts.thread_instructions = 32e9;
  const PredictedLaunch predicted = predict_launch(gpu(), counts);
  const double wavefronts = 1e9 / (132 * 1.782);
  const double waited = 1e9 * 29 / 64 / (132 * 1.782);
  EXPECT_NEAR(predicted.ns.low - kLaunchLow, 1e9 / (132 * 1.98), 1);
  EXPECT_NEAR(predicted.ns.high - kLaunchHigh, wavefronts + waited, 1);
}

TEST(TimeModel, IsSlowerWithMoreOfAnything) {
  LaunchCounts base = full_launch();
  base.fp32 = 1e8;
  base.integer = 1e8;
  base.warp_instructions = 1e9;  // so that issuing binds at worst
  base.thread_instructions = 32e9;
  base.global_load_requests = 1e6;
  base.global_load_sectors = 4e6;
  base.shared_loads = 1e6;
  base.shared_load_wavefronts = 1e6;
  base.modelled = LaunchCounts::Modelled{.l1_hit_sectors = 3e6,
                                         .l2_read_sectors = 1e6,
                                         .l2_read_hit_sectors = 5e5,
                                         .l2_write_sectors = 1e5,
                                         .dram_bytes = 2e7,
                                         .l1_bytes = 262144,
                                         .l2_bytes = 50 * 1024.0 * 1024};
  const std::vector<double LaunchCounts::*> members = {&LaunchCounts::spilled_bytes,
                                                       &LaunchCounts::warp_instructions,
                                                       &LaunchCounts::fp32,
                                                       &LaunchCounts::integer,
                                                       &LaunchCounts::global_load_requests,
                                                       &LaunchCounts::global_store_sectors,
                                                       &LaunchCounts::shared_load_wavefronts,
                                                       &LaunchCounts::shared_store_wavefronts,
                                                       &LaunchCounts::shared_loads,
                                                       &LaunchCounts::shared_stores,
                                                       &LaunchCounts::barriers,
                                                       &LaunchCounts::other_memory};
  for (const GpuFacts& one : gpu_facts()) {
    const PredictedLaunch before = predict_launch(one, base);
    EXPECT_GT(before.ns.low, 0) << one.name;
    EXPECT_LE(before.ns.low, before.ns.high) << one.name;
    for (std::size_t i = 0; i < members.size(); ++i) {
      LaunchCounts more = base;
      const double added = 100 * (base.*members[i] + 1e4);
      more.*members[i] += added;
      if (members[i] != &LaunchCounts::warp_instructions) more.warp_instructions += added;
      more.thread_instructions = 32 * more.warp_instructions;
      const PredictedLaunch after = predict_launch(one, more);
      EXPECT_GE(after.ns.low, before.ns.low) << one.name << ", member " << i;
      EXPECT_GT(after.ns.high, before.ns.high) << one.name << ", member " << i;
    }
  }
}

TEST(TimeModel, WidensWithoutRegisters) {
  LaunchCounts counts = full_launch();
  counts.shared_loads = 1e6;
  counts.shared_load_wavefronts = 1e6;
  const PredictedLaunch known = predict_launch(gpu(), counts);
  counts.block.registers.reset();
  const PredictedLaunch unknown = predict_launch(gpu(), counts);
  EXPECT_EQ(unknown.ns.low, known.ns.low);
  EXPECT_GT(unknown.ns.high, known.ns.high);
}

TEST(TimeModel, HasNoTimeForWhatCannotBeLaunched) {
  LaunchCounts counts = full_launch();
  counts.block.shared_bytes = 49 * 1024;
  const PredictedLaunch predicted = predict_launch(gpu("k80"), counts);
  EXPECT_EQ(predicted.residence.blocks, 0);
  EXPECT_EQ(predicted.ns.high, 0);
}

}  // namespace
}  // namespace convladder

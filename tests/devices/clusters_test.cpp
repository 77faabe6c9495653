// A block that is alone in its cluster, and fences of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

TEST(SimulatedCluster, OfOneBlockIsThatBlock) {
  LaneKernel kernel(
      "shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r1; barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned; mapa.shared::cluster.u32 %r3, %r2, 0; xor.b32 %r3, %r3, 128;\n"
      "ld.shared::cluster.u32 %r4, [%r3]; barrier.cluster.arrive.relaxed; cvt.u64.u32 %rd6, %r2;\n"
      "cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, 0; ld.u32 %r5, [%rd7]; getctarank.u64 %r6, %rd7;\n"
      "getctarank.shared::cluster.u32 %r7, %r3; barrier.cluster.wait; mov.u32 %r8, %cluster_nctarank;\n"
      "mov.u32 %r9, %cluster_ctaid.x; add.u32 %r8, %r8, %r9; mov.u32 %r9, %nclusterid.x; add.u32 %r8, %r8, %r9;\n"
      "mov.u32 %r9, %clusterid.x; add.u32 %r8, %r8, %r9; add.u32 %r6, %r6, %r7; fence.proxy.async;\n"
      "fence.proxy.async.shared::cluster; fence.proxy.alias; fence.acquire.sync_restrict::shared::cluster.cluster;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128; fence.sc.cluster; fence.acquire.gpu; membar.sys;\n"
      "st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r8}; ret;",
      Words(64), 256, 1, 4);
  const Words out = kernel.results(64, 256);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(Words(out.begin() + 4 * i, out.begin() + 4 * i + 4), (Words{i ^ 32U, i, 0, 2})) << i;
  }
}

TEST(SimulatedCluster, AWaitNeedsOnlyTheArrivalOfTheOthers) {
  // The second warp arrives and then waits for what the first writes behind its own wait.
  const std::string kernel =
      "setp.lt.u32 %p1, %r1, 32; mov.u32 %r2, 1; barrier.cluster.arrive; @%p1 bra FIRST;\n"
      "SPIN: ld.volatile.shared.u32 %r3, [0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN; barrier.cluster.wait;\n"
      "st.global.u32 [%rd4], %r3; ret;\nFIRST: barrier.cluster.wait; st.volatile.shared.u32 [0], %r2; ret;";
  EXPECT_EQ(LaneKernel(kernel, Words(64), 64).results(64, 16)[63], 1U);
  LaneKernel alone(
      "setp.lt.u32 %p1, %r1, 32; @!%p1 bra OTHER; barrier.cluster.arrive; barrier.cluster.wait; ret;\n"
      "OTHER: bar.sync 0; ret;",
      Words(64), 64);
  EXPECT_THAT(alone.fault(64), HasSubstr("the cluster's barrier, where 32 of 64 threads have arrived"));
}

TEST(SimulatedCluster, LargerOnesAreRefused) {
  LaneKernel kernel("mov.u32 %r2, 1; mapa.shared::cluster.u32 %r3, %r1, %r2; ret;", Words(32), 32);
  EXPECT_THAT(kernel.fault(), HasSubstr("block 1 of a cluster of one block"));
  EXPECT_THAT(LaneKernel("mov.u32 %r2, 16; bar.sync %r2; ret;", Words(32), 32).fault(), HasSubstr("barrier 16"));
  try {
    KernelRun run(
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry test() .reqnctapercluster 2, 1, 1 { "
        "barrier.cluster.arrive; ret; }");
    ADD_FAILURE();
  } catch (const ptx::PtxError& error) {
    EXPECT_THAT(error.what(), HasSubstr("clusters of 2 x 1 x 1 blocks are not supported"));
  }
}

}  // namespace
}  // namespace convladder::simulated

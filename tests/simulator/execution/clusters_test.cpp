// Blocks that are alone in their clusters, with fences of every kind, and clusters of several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <optional>

#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/lane_kernel.hpp"
#include "simulator/memory/tensor_map.hpp"

namespace convladder::simulated {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

TEST(SimulatedCluster, HasNoMoreBlocksThanItHas) {
  LaneKernel kernel("mov.u32 %r2, 1; mapa.shared::cluster.u32 %r3, %r1, %r2; ret;", Words(32), 32);
  EXPECT_THAT(kernel.fault(), HasSubstr("block 1 of a cluster of one block"));
  EXPECT_THAT(LaneKernel("mov.u32 %r2, 16; bar.sync %r2; ret;", Words(32), 32).fault(), HasSubstr("barrier 16"));
}

// --- clusters of several blocks -------------------------------------------------------------------------------------

/// In front of each kernel: %r2 = %ctaid.x, %r3 = %cluster_ctarank, %r4 = %cluster_nctarank, %r5 = the number of the
/// thread in the grid, %rd4 = its word of `out`, %p1 = the first thread, %r6 = the address of
/// word %tid.x of the block's shared memory.
const std::string kClusterBegin =
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank; mov.u32 %r5, %ntid.x;\n"
    "mad.lo.u32 %r5, %r5, %r2, %r1; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; setp.eq.u32 %p1, %r1, 0;\n"
    "shl.b32 %r6, %r1, 2; shl.b32 %r38, %r3, 24; or.b32 %r6, %r6, %r38;\n";
const std::string kMeet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";

struct ClusterKernel {
  explicit ClusterKernel(const std::string& body, std::size_t words = 256)
      : lanes(kClusterBegin + body, Words(words), words) {}
  LaunchResult launch(Dim3 grid, Dim3 cluster, unsigned threads = 32, int host_threads = 1, bool collect = false) {
    LaunchConfiguration configuration;
    configuration.grid = grid;
    configuration.cluster = cluster;
    configuration.is_explicit_cluster = true;
    configuration.block = {threads};
    configuration.dynamic_shared_bytes = 1024;
    configuration.host_threads = host_threads;
    configuration.collect_findings = collect;
    if (!checked) return lanes.run.launch(configuration);
    std::optional<RaceChecker> race;
    std::optional<InitializationChecker> initialization;
    WrittenMemory written;
    return lanes.run.launch(configuration, [&](FindingLog& findings) {
      const auto buffers = written_allocations(lanes.run.program(), lanes.run.parameters(), lanes.run.memory());
      return std::vector<AccessObserver*>{&race.emplace(lanes.run.program(), buffers, findings),
                                          &initialization.emplace(written, findings)};
    });
  }
  std::string fault(Dim3 grid, Dim3 cluster, unsigned threads = 32) {
    try {
      launch(grid, cluster, threads);
    } catch (const KernelFault& fault) {
      return fault.what();
    }
    return "no fault";
  }
  /// What is found, with all checkers.
  std::vector<std::string> findings(Dim3 grid, Dim3 cluster, unsigned threads = 32) {
    checked = true;
    std::vector<std::string> texts;
    for (const Finding& finding : launch(grid, cluster, threads, 1, true).findings.findings()) {
      texts.push_back(to_text(finding));
    }
    return texts;
  }
  LaneKernel lanes;
  bool checked = false;
};

/// `count` words of `out`: the same, and the same counters, for every number of host threads; and nothing is found.
Words cluster_results(const std::string& body, Dim3 grid, Dim3 cluster, unsigned threads = 32,
                      std::size_t words = 256) {
  ClusterKernel first(body, words);
  const LaunchResult once = first.launch(grid, cluster, threads);
  for (const int host_threads : {2, 7}) {
    ClusterKernel kernel(body, words);
    const LaunchResult again = kernel.launch(grid, cluster, threads, host_threads);
    EXPECT_EQ(kernel.lanes.result(), first.lanes.result()) << host_threads;
    for (std::size_t i = 0; i < once.counters.size(); ++i) {
      EXPECT_EQ(again.counters[i].warps, once.counters[i].warps) << host_threads;
      EXPECT_EQ(again.counters[i].wavefronts, once.counters[i].wavefronts) << host_threads;
    }
    EXPECT_EQ(again.caches.l2_read_hits, once.caches.l2_read_hits) << host_threads;
  }
  EXPECT_THAT(ClusterKernel(body, words).findings(grid, cluster, threads), IsEmpty());
  return first.lanes.result();
}

TEST(SimulatedCluster, AProductOfAWarpGroupReadsItsOwnBlock) {
  // Descriptors have 14 bits for an address, and none for a rank. Factors are 1 in one block and 2 in the other.
  const std::string kernel =
      "mad.lo.u32 %r7, %r3, 0x04000400, 0x3c003c00; st.shared.u32 [%r6], %r7; bar.sync 0;\n"
      "fence.proxy.async; wgmma.fence.sync.aligned; mov.b64 %rd7, 524288; setp.ne.u32 %p2, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r8, %r9, %r10, %r11}, %rd7, %rd7, %p2, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.u32 [%rd4], %r8; ret;";
  const Words out = cluster_results(kernel, {4}, {2}, 128, 512);
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(std::bit_cast<float>(out[i]), i / 128 % 2 == 0 ? 16 : 64) << i;
  }
}

TEST(SimulatedCluster, EachBlockChangesATensorMapOfItsOwn) {
  // The checkers see the places in the block's own shared memory, whatever its rank.
  const std::string body =
      "mov.u32 %r7, 0; st.shared.u32 [%r6], %r7; bar.sync 0; @!%p1 bra DONE;\n"
      "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r6], 1;\n"
      "mov.u64 %rd7, 16; st.bulk.weak.shared::cta [%r6+128], %rd7, 0; DONE: bar.sync 0;\n"
      "@%p1 ld.shared.u32 %r7, [%r6+140]; " +
      kMeet + "st.global.u32 [%rd4], %r7; ret;";
  EXPECT_THAT(ClusterKernel(body).findings({2}, {2}), IsEmpty());
}

TEST(SimulatedCluster, ATrapEndsAllItsBlocks) {
  const std::string body = "setp.eq.u32 %p2, %r3, 1; @%p2 trap; " + kMeet + "st.global.u32 [%rd4], %r5; ret;";
  const std::vector<std::string> found = ClusterKernel(body).findings({2}, {2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], HasSubstr("a trap was executed"));
}

TEST(SimulatedCluster, NumbersItsBlocks) {
  const std::string body =
      "mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.x; mad.lo.u32 %r7, %r7, %r8, %r2; mul.wide.u32 %rd3, %r7, 32;\n"
      "add.s64 %rd4, %rd1, %rd3; mov.u32 %r9, %cluster_ctaid.x; mov.u32 %r10, %cluster_ctaid.y;\n"
      "mov.u32 %r11, %clusterid.x; mov.u32 %r12, %clusterid.y; mov.u32 %r13, %nclusterid.x;\n"
      "mov.u32 %r14, %cluster_nctaid.y; mov.pred %p2, %is_explicit_cluster; selp.u32 %r15, 1, 0, %p2;\n"
      "st.global.v4.u32 [%rd4], {%r3, %r9, %r10, %r11}; st.global.v4.u32 [%rd4+16], {%r12, %r13, %r14, %r15}; ret;";
  const Words out = cluster_results(body, {6, 2}, {3, 2}, 1);
  for (std::uint32_t y = 0; y < 2; ++y) {
    for (std::uint32_t x = 0; x < 6; ++x) {
      const auto at = out.begin() + 8 * (y * 6 + x);
      EXPECT_EQ(Words(at, at + 8), (Words{y * 3 + x % 3, x % 3, y, x / 3, 0, 2, 2, 1})) << x << ' ' << y;
    }
  }
}

TEST(SimulatedCluster, ReadsAndWritesTheSharedMemoryOfItsBlocks) {
  // Each thread writes into the block behind its own, and reads from the one before; of all spellings.
  const std::string body =
      "add.u32 %r7, %r3, 1; rem.u32 %r7, %r7, %r4; add.u32 %r8, %r3, %r4; sub.u32 %r8, %r8, 1; rem.u32 %r8, %r8, "
      "%r4;\n" +
      kMeet +
      "mapa.shared::cluster.u32 %r9, %r6, %r7; st.shared::cluster.u32 [%r9], %r5;\n"
      "cvt.u64.u32 %rd6, %r6; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r7; st.u32 [%rd7+128], %r5;\n" +
      kMeet +
      "ld.shared.u32 %r10, [%r6]; ld.u32 %r11, [%rd6+128]; sub.u32 %r10, %r10, %r11;\n"
      "getctarank.u64 %r12, %rd7; sub.u32 %r12, %r12, %r7; or.b32 %r10, %r10, %r12;\n"
      "getctarank.shared::cluster.u32 %r12, %r6; sub.u32 %r12, %r12, %r3; or.b32 %r10, %r10, %r12;\n"
      "isspacep.shared::cluster %p2, %rd7; isspacep.shared %p3, %rd7; isspacep.shared::cta %p4, %rd6;\n"
      "not.pred %p3, %p3; and.pred %p2, %p2, %p3; and.pred %p2, %p2, %p4; selp.u32 %r12, 0, 1, %p2;\n"
      "or.b32 %r10, %r10, %r12; mapa.shared::cluster.u32 %r13, %r6, %r8; ld.shared::cluster.u32 %r14, [%r13];\n"
      "add.u32 %r10, %r10, %r14;\n" +
      kMeet + "st.global.u32 [%rd4], %r10; ret;";
  const Words out = cluster_results(body, {8}, {4});
  for (std::uint32_t i = 0; i < 256; ++i) {  // what the block two before wrote into the one before
    const std::uint32_t block = i / 32;
    const std::uint32_t from = block / 4 * 4 + (block + 2) % 4;
    EXPECT_EQ(out[i], from * 32 + i % 32) << i;
  }
}

TEST(SimulatedCluster, CountsAHistogramTogether) {
  // As in the CUDA guide: each block holds a part of the bins, and all add to all.
  const std::string body =
      "mov.u32 %r7, 0; st.shared.u32 [%r6], %r7;\n" + kMeet +
      "mul.lo.u32 %r8, %r5, 7; and.b32 %r8, %r8, 127; shr.u32 %r9, %r8, 5; and.b32 %r10, %r8, 31; shl.b32 %r10, %r10, "
      "2;\n"
      "cvt.u64.u32 %rd6, %r10; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r9; atom.add.u32 %r11, [%rd7], 1;\n"
      "mapa.shared::cluster.u32 %r12, %r10, %r9; red.shared::cluster.add.u32 [%r12], 10;\n" +
      kMeet + "ld.shared.u32 %r13, [%r6]; st.global.u32 [%rd4], %r13; ret;";
  Words expected(128);
  for (std::uint32_t i = 0; i < 128; ++i) expected[i * 7 % 128] += 11;
  EXPECT_EQ(cluster_results(body, {4}, {4}, 32, 128), expected);
}

TEST(SimulatedCluster, HandsOverByMbarriersOfOtherBlocks) {
  // Block 1 waits at an mbarrier of its own for an arrival, a store and a bulk copy of block 0.
  const std::string body =
      "setp.ne.u32 %p2, %r3, 0; and.pred %p3, %p1, %p2; @%p3 mbarrier.init.shared.b64 [512], 2;\n"
      "add.u32 %r7, %r5, 1000; st.shared.u32 [%r6], %r7; fence.proxy.async; fence.mbarrier_init.release.cluster;\n" +
      kMeet +
      "@%p2 bra TAKE; @!%p1 bra END;\n"
      "mov.u32 %r8, 512; mapa.shared::cluster.u32 %r8, %r8, 1; mov.u32 %r9, 256; mapa.shared::cluster.u32 %r9, %r9, "
      "1;\n"
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r8], 68;\n"
      "mov.u32 %r10, 77; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], %r10, [%r8];\n"
      "mov.u32 %r11, 0; add.u32 %r9, %r9, 16;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9], [%r11], 64, [%r8];\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8], 1; bra END;\n"
      "TAKE: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [512], 0; @!%p4 bra TAKE;\n"
      "ld.shared.u32 %r12, [256]; ld.shared.u32 %r13, [332]; add.u32 %r12, %r12, %r13; st.global.u32 [%rd4], %r12;\n"
      "END:\n" +
      kMeet + "ret;";
  // The last word of the copy is the 16th of block 0.
  EXPECT_EQ(cluster_results(body, {2}, {2}, 64)[64], 77U + 1015U);
}

TEST(SimulatedCluster, CopiesToSeveralBlocksAtOnce) {
  // Block 1 copies 64 bytes of `in` to blocks 0 and 2; each has an mbarrier that expects them.
  const std::string body =
      "and.b32 %r7, %r3, 1; setp.eq.u32 %p2, %r7, 0; and.pred %p3, %p1, %p2; st.global.u32 [%rd4], %r1;\n"
      "@%p3 mbarrier.init.shared.b64 [512], 1; @%p3 mbarrier.arrive.expect_tx.shared.b64 %rd6, [512], 64;\n" +
      kMeet +
      "setp.eq.u32 %p4, %r3, 1; and.pred %p4, %p4, %p1; mov.b16 %rs1, 5;\n"
      "@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [0], [%rd2], 64, "
      "[512], "
      "%rs1;\n@!%p2 bra END;\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [512], 0; @!%p5 bra WAIT;\n"
      "and.b32 %r8, %r6, 63; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd4], %r9;\nEND:\n" +
      kMeet + "ret;";
  ClusterKernel kernel(".reg .b16 %rs<2>;\n" + body);
  const Words in = noise(256);
  std::memcpy(kernel.lanes.run.memory().host(kernel.lanes.in), in.data(), 64);
  kernel.launch({4}, {4});
  const Words out = kernel.lanes.result();
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], in[i % 16]) << i;
    EXPECT_EQ(out[32 + i], i) << i;
    EXPECT_EQ(out[64 + i], in[i % 16]) << i;
  }
}

TEST(SimulatedCluster, CopiesBoxesOfTensorsToSeveralBlocksAtOnce) {
  // Block 1 copies a box to blocks 0, 2 and 3, and by itself to its own; each shows what came.
  const std::string begin =
      ".reg .b16 %rs<2>;\n@%p1 mbarrier.init.shared.b64 [512], 1;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd6, [512], 256;\n" +
      kMeet + "setp.eq.u32 %p4, %r3, 1; and.pred %p4, %p4, %p1; mov.u32 %r10, 4; mov.u32 %r11, 3; @!%p4 bra SENT;\n";
  const std::string copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  const std::string place = " [128], [%rd2, {%r10, %r11}], [512]";
  const auto copies = [&](int mask) {
    return begin + "mov.b16 %rs1, " + std::to_string(mask) + "; " + copy + ".multicast::cluster" + place + ", %rs1;\n" +
           copy + place + ";\nSENT:\n";
  };
  const std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [512], 0; @!%p5 bra WAIT;\n";
  const std::string show = "ld.shared.u32 %r9, [%r6+128]; st.global.u32 [%rd4], %r9;\n" + kMeet + "ret;";
  const Words values = noise(16 * 12);
  const auto with_tensor = [&values](ClusterKernel& kernel) -> ClusterKernel& {
    TensorDescription tensor;
    tensor.type = 2;  // u32
    tensor.address = kernel.lanes.in + 256;
    tensor.sizes = {16, 12};
    tensor.strides = {64};
    tensor.swizzle = 1;  // 16 bytes change places in every other line of 128
    const TensorMap map = encode_tiled(tensor, std::vector<std::uint32_t>{8, 8});
    std::byte* const in = kernel.lanes.run.memory().host(kernel.lanes.in);
    std::memcpy(in, &map, sizeof map);
    std::memcpy(in + 256, values.data(), 4 * values.size());
    return kernel;
  };
  ClusterKernel kernel(copies(0b1101) + wait + show);
  with_tensor(kernel).launch({4}, {4}, 64);
  const Words out = kernel.lanes.result();
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t word = i % 64 < 32 ? (i % 64) ^ 4U : i % 64;  // the swizzle goes by the address
    EXPECT_EQ(out[i], values[(3 + word / 8) * 16 + 4 + word % 8]) << i;
  }
  ClusterKernel waits(copies(0b1101) + wait + show);
  EXPECT_THAT(with_tensor(waits).findings({4}, {4}, 64), IsEmpty());
  ClusterKernel hurries(copies(0b1101) + "bar.sync 0;\n" + show);
  EXPECT_THAT(with_tensor(hurries).findings({4}, {4}, 64), Not(IsEmpty()));
  ClusterKernel beyond(copies(0b10000) + wait + show);
  EXPECT_THAT(with_tensor(beyond).fault({4}, {4}, 64), HasSubstr("an address of no block of the cluster"));
}

TEST(SimulatedCluster, GetsTheAnswersToRequestsOfOneBlock) {
  const std::string body =
      "mov.u32 %r7, 9; st.shared.u32 [%r6], %r7;\n@%p1 mbarrier.init.shared.b64 [512], 1;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd6, [512], 16;\n" +
      kMeet +
      "setp.eq.u32 %p4, %r3, 2; and.pred %p4, %p4, %p1;\n"
      "@%p4 "
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
      "[16], [512];\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [512], 0; @!%p5 bra WAIT;\n"
      "ld.shared.u32 %r9, [%r6]; st.global.u32 [%rd4], %r9;\n" +
      kMeet + "ret;";
  const Words out = cluster_results(body, {8}, {4});
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], i % 32 / 4 == 1 ? 0U : 9U) << i;
}

TEST(SimulatedCluster, MaySpinOnFlagsInEachOthersMemory) {
  // Block 0 waits for block 1, which waits for block 2, …; once with a count of tries.
  const auto body = [](const std::string& tries) {
    return "mov.u32 %r15, 0; mov.u32 %r7, 0; @%p1 st.shared.u32 [0], %r7;\n" + kMeet +
           "@!%p1 bra END; add.u32 %r8, %r3, 1; setp.eq.u32 %p2, %r8, %r4; mov.u32 %r9, 0; @%p2 bra GIVE;\n"
           "WAIT: " +
           tries +
           "ld.acquire.cluster.shared.u32 %r9, [0]; setp.eq.u32 %p3, %r9, 0; @%p3 bra WAIT;\n"
           "GIVE: add.u32 %r9, %r9, %r3; add.u32 %r9, %r9, 1; st.global.u32 [%rd4], %r9; setp.eq.u32 %p4, %r3, 0;\n"
           "@%p4 bra END; sub.u32 %r10, %r3, 1; mov.u32 %r11, 0; mapa.shared::cluster.u32 %r11, %r11, %r10;\n"
           "st.release.cluster.shared::cluster.u32 [%r11], %r9;\nEND:\n" +
           kMeet + "ret;";
  };
  const auto first_words = [](const Words& out) { return Words{out[0], out[32], out[64], out[96]}; };
  EXPECT_EQ(first_words(cluster_results(body(""), {4}, {4})), (Words{10, 9, 7, 4}));
  ClusterKernel counting(body("add.u32 %r15, %r15, 1;"));
  counting.launch({4}, {4});
  EXPECT_EQ(first_words(counting.lanes.result()), (Words{10, 9, 7, 4}));
}

TEST(SimulatedCluster, MayWatchFlagsThatAnotherBlockHoldsItself) {
  // Block 0 looks into the memory of block 1, which has not set its flag yet.
  const std::string body = "mov.u32 %r7, 0; @%p1 st.shared.u32 [0], %r7;\n" + kMeet +
                           "@!%p1 bra END; setp.eq.u32 %p2, %r3, 0; @%p2 bra LOOK;\n"
                           "mov.u32 %r8, 5; st.release.cluster.shared.u32 [0], %r8; bra END;\n"
                           "LOOK: mov.u32 %r9, 0; mapa.shared::cluster.u32 %r9, %r9, 1;\n"
                           "WAIT: ld.acquire.cluster.shared::cluster.u32 %r10, [%r9]; setp.eq.u32 %p3, %r10, 0;\n"
                           "@%p3 bra WAIT; st.global.u32 [%rd4], %r10;\nEND:\n" +
                           kMeet + "ret;";
  EXPECT_EQ(cluster_results(body, {2}, {2})[0], 5U);
}

TEST(SimulatedCluster, ReportsWhatItsBlocksDoWrong) {
  const std::string map = "xor.b32 %r7, %r3, 1; mapa.shared::cluster.u32 %r8, %r6, %r7;\n";
  const auto fault = [&](const std::string& body) { return ClusterKernel(map + body).fault({4}, {2}); };
  EXPECT_THAT(fault("ld.shared.u32 %r9, [%r8]; ret;"), HasSubstr("but the instruction reaches only its own block"));
  EXPECT_THAT(fault("ld.shared::cluster.u32 %r9, [%r8+4096]; ret;"),
              HasSubstr("offset 4096 of 1024 bytes of shared memory of block 1 of the cluster"));
  EXPECT_THAT(fault("setp.eq.u32 %p2, %r3, 0; @%p2 ret; ld.shared::cluster.u32 %r9, [%r8]; ret;"),
              HasSubstr("read of 4 bytes: shared memory of block 0 of the cluster, which has exited"));
  EXPECT_THAT(fault("mov.u32 %r9, 0x9000000; st.shared::cluster.u32 [%r9], %r1; ret;"),
              HasSubstr("write of 4 bytes: an address of no block of the cluster"));
  EXPECT_THAT(fault("cvt.u64.u32 %rd6, %r6; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r7;\n"
                    "@%p1 st.bulk [%rd7], 16, 0; ret;"),
              HasSubstr("but the instruction reaches only its own block"));
  EXPECT_THAT(fault("mapa.shared::cluster.u32 %r9, %r6, 2; ret;"), HasSubstr("block 2 of a cluster of 2 blocks"));
  EXPECT_THAT(fault("barrier.cluster.wait; ret;"), HasSubstr("a wait at the cluster's barrier without an arrival"));
  EXPECT_THAT(fault("barrier.cluster.arrive; barrier.cluster.arrive; ret;"), HasSubstr("a second arrival"));
  EXPECT_THAT(fault("setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;\n" + kMeet +
                    "ret;\nSPIN: ld.volatile.shared.u32 %r9, [0]; setp.eq.u32 %p3, %r9, 0; @%p3 bra SPIN; ret;"),
              HasSubstr("of the cluster's 2 blocks 0 have ended, 1 are at its barrier"));
  // A block that has exited is not waited for.
  EXPECT_EQ(fault("setp.eq.u32 %p2, %r3, 0; @%p2 ret;\n" + kMeet + "ret;"), "no fault");
}

TEST(SimulatedCluster, ItsCheckersKeepItsBlocksApart) {
  // What block 1 sends lands when block 0 looks at an mbarrier at which its own first warp has arrived before.
  const std::string body =
      "@%p1 mbarrier.init.shared.b64 [512], 1;\n" + kMeet +
      "setp.eq.u32 %p2, %r3, 1; and.pred %p3, %p1, %p2; mov.u32 %r8, 512; mapa.shared::cluster.u32 %r8, %r8, 0;\n"
      "mov.u32 %r9, 256; mapa.shared::cluster.u32 %r9, %r9, 0; mov.u32 %r10, 77;\n"
      "@%p3 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], %r10, [%r8];\n" +
      kMeet +
      "@%p2 bra END; setp.ge.u32 %p4, %r1, 32; @%p4 bra TAKE; @!%p1 bra END;\n"
      "st.shared.u32 [0], %r10; mbarrier.arrive.shared.b64 %rd6, [512]; bra END;\n"
      "TAKE: mbarrier.try_wait.parity.shared.b64 %p5, [512], 0; @!%p5 bra TAKE;\n"
      "ld.shared.u32 %r11, [0]; st.global.u32 [%rd4], %r11;\nEND:\n" +
      kMeet + "ret;";
  EXPECT_EQ(cluster_results(body, {2}, {2}, 64)[32], 77U);
}

TEST(SimulatedCluster, HasRacesBetweenItsBlocks) {
  const std::string map = "xor.b32 %r7, %r3, 1; mapa.shared::cluster.u32 %r8, %r6, %r7;\n";
  const auto found = [&](const std::string& first, const std::string& second) {
    return ClusterKernel(map + "st.shared.u32 [%r6], %r5;\n" + first + "ld.shared::cluster.u32 %r9, [%r8];\n" + second +
                         "st.shared.u32 [%r6], %r9; st.global.u32 [%rd4], %r9; ret;")
        .findings({2}, {2});
  };
  EXPECT_THAT(found(kMeet, kMeet), IsEmpty());
  EXPECT_THAT(found(kMeet, ""), Contains(HasSubstr("write after read at offset 0 of shared memory")));
  EXPECT_THAT(found("", kMeet), Not(IsEmpty()));
}

TEST(SimulatedCluster, ItsBlocksHaveTheirRanksInTheirOwnAddresses) {
  // As on GPUs: the rank from bit 24 on, so that XOR with a rank leads to another block. Variables, generic addresses,
  // and accesses by name are the own block's.
  const std::string body =
      "{ .shared .align 8 .b32 word; .shared .align 8 .b64 bar; .reg .b32 own, mapped, other;\n"
      "mov.u32 own, word; mapa.shared::cluster.u32 mapped, own, %r3; sub.u32 %r10, own, mapped;\n"
      "shr.u32 %r11, own, 24; sub.u32 %r11, %r11, %r3; or.b32 %r10, %r10, %r11;\n"
      "mapa.shared::cluster.u32 mapped, own, 0; and.b32 %r11, own, 0xfeffffff; shr.u32 %r12, %r3, 1; shl.b32 %r12, "
      "%r12, 25;\n"
      "add.u32 mapped, mapped, %r12; sub.u32 %r11, %r11, mapped; or.b32 %r10, %r10, %r11;\n"
      "mov.u64 %rd6, word; cvta.shared.u64 %rd7, %rd6; cvt.u32.u64 %r11, %rd7; sub.u32 %r11, %r11, own; or.b32 %r10, "
      "%r10, %r11;\n"
      "isspacep.shared::cta %p2, %rd7; selp.u32 %r11, 0, 1, %p2; or.b32 %r10, %r10, %r11;\n"
      "@%p1 st.shared.u32 [word], %r2; bar.sync 0; ld.u32 %r11, [%rd7]; sub.u32 %r11, %r11, %r2; or.b32 %r10, %r10, "
      "%r11;\n"
      "ld.shared.u32 %r11, [own]; sub.u32 %r11, %r11, %r2; or.b32 %r10, %r10, %r11;\n"
      "@%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0; mov.u32 %r11, bar; mbarrier.arrive.shared.b64 %rd8, "
      "[%r11];\n"
      "W: mbarrier.test_wait.shared.b64 %p3, [bar], %rd8; @!%p3 bra W;\n" +
      kMeet +
      "xor.b32 other, own, 0x1000000; ld.shared::cluster.u32 %r11, [other]; xor.b32 %r12, %r2, 1; sub.u32 %r11, %r11, "
      "%r12;\n"
      "or.b32 %r10, %r10, %r11; cvta.to.shared.u64 %rd7, %rd7; xor.b64 %rd7, %rd7, 0x1000000; cvta.shared.u64 %rd7, "
      "%rd7;\n"
      "ld.u32 %r11, [%rd7]; sub.u32 %r11, %r11, %r12; or.b32 %r10, %r10, %r11;\n" +
      kMeet + "st.global.u32 [%rd4], %r10; ret; }";
  EXPECT_EQ(cluster_results(body, {8}, {4}), Words(256, 0));
  // Alone, a block has rank 0.
  LaneKernel alone("{ .shared .b32 word; mov.u32 %r2, word; shr.u32 %r2, %r2, 24; st.global.u32 [%rd4], %r2; ret; }",
                   Words(32), 32);
  EXPECT_EQ(alone.results(), Words(32, 0));
}

}  // namespace
}  // namespace convladder::simulated

// Modifiers in any order behind the name of an instruction, as ptxas takes them.
#include <gtest/gtest.h>

#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/opcode_order.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::ptx {
namespace {

TEST(OpcodeOrder, IsTheIsasWhateverTheText) {
  const std::pair<const char*, const char*> cases[] = {
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
      {"ldmatrix.aligned.x2.trans.b16.sync.shared::cta.m8n8", "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16"},
      {"stmatrix.x1.sync.m8n8.aligned.shared.trans.b16", "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16"},
      {"mma.m16n8k16.sync.row.aligned.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
      {"wmma.load.a.aligned.sync.m16n16k16.row.f16.global", "wmma.load.a.sync.aligned.row.m16n16k16.global.f16"},
      {"vote.ballot.b32.sync", "vote.sync.ballot.b32"},
      {"shfl.b32.idx.sync", "shfl.sync.idx.b32"},
      {"match.sync.b64.all", "match.all.sync.b64"},
      {"redux.s32.add.sync", "redux.sync.add.s32"},
      {"ld.f32.v4.global.nc", "ld.global.nc.v4.f32"},
      {"st.b32.gpu.release.global", "st.release.gpu.global.b32"},
      {"atom.u32.add.gpu.relaxed.global", "atom.relaxed.gpu.global.add.u32"},
      {"cp.async.shared.global.cg.L2::128B", "cp.async.cg.shared.global.L2::128B"},
      {"cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes.global",
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"},
      {"mbarrier.try_wait.parity.shared::cta.cta.acquire.b64", "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64"},
      {"fence.gpu.acq_rel", "fence.acq_rel.gpu"},
      {"barrier.cluster.arrive.aligned.release", "barrier.cluster.arrive.release.aligned"},
      // Those of one kind keep their order, and what is not known stays as it is.
      {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16", "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16"},
      {"cp.async.bulk.global.shared::cta.bulk_group", "cp.async.bulk.global.shared::cta.bulk_group"},
      {"ldmatrix.x4.other.sync", "ldmatrix.x4.other.sync"},
      {"add.f32.rn", "add.f32.rn"},
      {"ret", "ret"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(in_order(text), expected);
}

TEST(OpcodeOrder, EverySpellingIsTheSameInstruction) {
  const auto refusal_of = [](const std::string& instruction) {
    const Module module = parse_module(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[1024]; .global .align 128 .b8 "
        "g[1024];\n"
        ".entry test(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %l<9>; .reg .b16 %h<9>;\n" +
            instruction + "\nret;\n}\n",
        "test.ptx");
    const auto all = simulated::refusals(module, module.kernels.at(0));
    return all.empty() ? std::string() : all[0].what;
  };
  for (const char* const instruction :
       {"ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
        "ldmatrix.m8n8.shared.b16.aligned.sync.x1 {%r1}, [%r5];",
        "stmatrix.sync.aligned.x2.trans.m8n8.shared.b16 [%r5], {%r1, %r2};",
        "movmatrix.b16.trans.m8n8.sync.aligned %r1, %r2;",
        "mma.aligned.sync.row.m16n8k8.col.f32.tf32.tf32.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10},"
        " {%r1, %r2, %r3, %r4};",
        "vote.pred.all.sync %p1, %p2, -1;",
        "shfl.up.b32.sync %r1|%p1, %r2, %r3, 0, -1;",
        "match.b32.sync.any %r1, %r2, -1;",
        "redux.b32.xor.sync %r1, %r2, -1;",
        "cp.async.shared.global.ca [%r1], [%l1], 4;",
        "cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes.global [%r1], [%l1], %r2, [%r3];",
        "mbarrier.arrive.b64.shared %l1, [%r1];",
        "mbarrier.test_wait.parity.b64.shared %p1, [%r1], %r2;",
        "barrier.cluster.wait.aligned.acquire;",
        "barrier.cta.aligned.sync 0;",
        "bar.red.u32.popc %r1, 0, %p1;",
        "fence.cluster.mbarrier_init.release;",
        "cvta.u64.shared %l1, %l2;",
        "mapa.u32.shared::cluster %r1, %r2, %r3;",
        "createpolicy.fractional.b64.L2::evict_last %l1, 1.0;",
        "prefetch.L1.global [%l1];",
        "discard.L2.global [g], 128;",
        "atom.u32.global.add %r1, [g], %r2;",
        "red.b32.or.gpu.global.relaxed [g], %r2;"}) {
    EXPECT_EQ(refusal_of(instruction), "") << instruction;
  }
}

}  // namespace
}  // namespace convladder::ptx

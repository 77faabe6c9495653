// Forms of sm_100 that reach memory, isspacep.const, and what is spelt in unusual ways.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

/// Element `column` of the row that begins at byte `at`, of so many bits.
std::uint32_t element_of(const Words& memory, std::size_t at, std::size_t column, unsigned bits) {
  std::uint32_t value = 0;
  for (unsigned b = 0; b < bits; ++b) {
    const std::size_t bit = at * 8 + column * bits + b;
    value |= (memory[bit / 32] >> (bit % 32) & 1U) << b;
  }
  return value;
}

/// Every lane's registers of an ldmatrix whose row i begins at byte 32 i of shared memory, which holds `memory`.
Words loaded(const std::string& opcode, int registers, const Words& memory) {
  std::string list;
  std::string store;
  for (int i = 0; i < registers; ++i) {
    list += fmt::format("{}%r{}", i > 0 ? ", " : "", 10 + i);
    store += fmt::format("st.global.u32 [%rd4+{}], %r{};\n", 4 * i, 10 + i);
  }
  LaneKernel kernel(fmt::format("shl.b32 %r2, %r1, 5; mov.u32 %r3, 0;\n"
                                "fill: ld.global.u32 %r4, [%rd5]; add.u32 %r5, %r2, %r3; st.shared.u32 [%r5], %r4;\n"
                                "add.u64 %rd5, %rd5, 4; add.u32 %r3, %r3, 4; setp.lt.u32 %p1, %r3, 32; @%p1 bra fill;\n"
                                "bar.warp.sync -1; {} {{{}}}, [%r2];\n{}ret;",
                                opcode, list, store),
                    memory, static_cast<std::size_t>(32 * registers), 8, registers);
  return kernel.results(32, 1024);
}

TEST(SimulatedRowsOfBytes, AreLoadedFromFourSixAndEightBits) {
  const Words memory = noise(256);
  const auto check = [&](const std::string& opcode, int registers, unsigned bits, bool transposed) {
    SCOPED_TRACE(opcode);
    const Words out = loaded(opcode, registers, memory);
    for (int lane = 0; lane < 32; ++lane) {
      for (int r = 0; r < registers; ++r) {
        for (int i = 0; i < 4; ++i) {
          const int column = 4 * (lane % 4) + i;
          const int row = lane / 4;
          const std::size_t line = transposed ? 16 * (r / 2) + column : 8 * r + row;
          const std::size_t place = transposed ? row + 8 * (r % 2) : column;
          const std::uint32_t found = out.at(static_cast<std::size_t>(lane * registers + r)) >> (8 * i) & 255U;
          EXPECT_EQ(found, element_of(memory, 32 * line, place, bits)) << lane << " " << r << " " << i;
        }
      }
    }
  };
  check("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", 2, 8, true);
  check("ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8", 4, 8, true);
  check("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32", 4, 6, true);
  check("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", 1, 4, false);
  check("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32", 4, 6, false);
}

TEST(SimulatedRowsOfBytes, OtherSpellingsAreRefused) {
  for (const char* opcode :
       {"ldmatrix.sync.aligned.m16n16.x1.shared.b8", "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8", "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b5x16",
        "ldmatrix.sync.aligned.m16n16.x1.trans", "stmatrix.sync.aligned.m16n16.x1.trans.shared.b8"}) {
    EXPECT_THROW(LaneKernel(fmt::format("{} {{%r2, %r3}}, [%r4]; ret;", opcode), Words(32), 32), ptx::PtxError)
        << opcode;
  }
}

TEST(SimulatedBulkInitialization, WritesZeros) {
  const auto kernel = [](const std::string& bulk) {
    return LaneKernel(
        "setp.eq.u32 %p1, %r1, 0; mov.u32 %r5, 40; mov.u64 %rd7, 24; shl.b32 %r2, %r1, 2;\n"
        "mov.u32 %r3, 7; st.shared.u32 [%r2], %r3; bar.sync 0;\n" +
            bulk + " bar.sync 0; ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd4], %r4; ret;",
        Words(32), 32);
  };
  const auto expect = [&](const std::string& bulk, std::size_t begin, std::size_t end) {
    SCOPED_TRACE(bulk);
    const Words out = kernel(bulk).results(32, 128);
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i >= begin && i < end ? 0U : 7U) << i;
  };
  expect("@%p1 st.bulk.weak.shared::cta [8], %rd7, 0;", 2, 8);
  expect("@%p1 st.bulk.shared::cta [%r5+8], 16, 0;", 12, 16);
  expect("mov.u64 %rd6, 16; cvta.shared.u64 %rd6, %rd6; @%p1 st.bulk [%rd6], %r5, 0;", 4, 14);
  EXPECT_THAT(kernel("@%p1 st.bulk.weak.shared::cta [8], 12, 0;").fault(32, 128), HasSubstr("zeros for 12 bytes"));
  EXPECT_THAT(kernel("@%p1 st.bulk.weak.shared::cta [120], 16, 0;").fault(32, 128), HasSubstr("of shared memory"));
  EXPECT_THROW(kernel("st.bulk.weak.shared::cta [8], 16, 1;"), ptx::PtxError);
}

TEST(SimulatedLaunchControl, NoBlockTakesTheWorkOfAnother) {
  LaneKernel kernel(
      ".reg .b128 %q; .reg .b32 %x; mov.u32 %r2, 9;\nmbarrier.init.shared.b64 [0], 1;\n"
      "st.shared.u32 [16], %r2; mbarrier.arrive.expect_tx.shared.b64 _, [0], 16;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [16], [0];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [0], 0; @!%p1 bra W;\nld.shared.b128 %q, [16];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q; selp.u32 %r3, 1, 0, %p2;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, %r6, _}, %q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r7, %q; st.global.u32 [%rd4], %r3; ret;",
      Words(1), 1);
  EXPECT_EQ(kernel.results(1, 64), Words{0});
}

TEST(SimulatedConstants, AreKnownByTheirAddresses) {
  const std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.const .align 16 .b8 first[16];\n.const .u32 second;\n"
      ".global .u32 other;\n.visible .entry test(.param .u64 out) {\n.reg .pred %p; .reg .b32 %r<9>; .reg .b64 "
      "%rd<9>;\n"
      "ld.param.u64 %rd1, [out]; mov.u64 %rd2, first; mov.u64 %rd3, second; mov.u64 %rd4, other;\n";
  std::string body;
  int place = 0;
  for (const char* address : {"%rd2", "%rd2+15", "%rd2+16", "%rd3", "%rd4", "%rd1"}) {
    const std::string base(address, 4);
    body += fmt::format("add.u64 %rd5, {}, {}; isspacep.const %p, %rd5; selp.u32 %r1, 1, 0, %p;\n", base,
                        std::string(address).size() > 4 ? std::string(address).substr(5) : "0");
    body += fmt::format("st.global.u32 [%rd1+{}], %r1;\n", 4 * place++);
  }
  const ptx::Module module = ptx::parse_module(text + body + "ret; }", "test.ptx");
  DeviceMemory memory(1 << 20);
  const Program program = decode(module, module.kernels.at(0), [](const ptx::Symbol& symbol) {
    return std::uint64_t{symbol.name == "first" ? 0x5000U : symbol.name == "second" ? 0x6000U : 0x7000U};
  });
  const std::uint64_t out = memory.allocate(64, "out");
  LaunchConfiguration configuration;
  configuration.grid = {1};
  configuration.block = {1};
  configuration.parameters.resize(8);
  std::memcpy(configuration.parameters.data(), &out, 8);
  execute(program, memory, configuration);
  Words found(6);
  std::memcpy(found.data(), memory.host(out), 24);
  EXPECT_EQ(found, (Words{1, 1, 0, 1, 0, 0}));
}

TEST(SimulatedReservedMemory, LiesBeforeTheVariablesAndIsZero) {
  LaneKernel kernel(
      ".shared .u32 own; mov.u32 %r2, %reserved_smem_offset_1; ld.shared.u32 %r3, [%r2]; add.u32 %r3, %r3, %r2;\n"
      "mov.u32 %r4, own; mov.u32 %r5, %reserved_smem_offset_end; mov.u32 %r6, %reserved_smem_offset_begin;\n"
      "st.global.v4.u32 [%rd4], {%r3, %r4, %r5, %r6}; ret;",
      Words(1), 4, 1, 4);
  const Words out = kernel.results(1);
  EXPECT_GE(out[0], out[3]);
  EXPECT_LE(out[0] + 288, out[2]);  // what cooperative groups may use
  EXPECT_GE(out[1], out[2]);
  EXPECT_THROW(LaneKernel("mov.u32 %r2, %reserved_smem_offset_2; ret;", Words(1), 1), ptx::PtxError);
}

TEST(SimulatedSpelling, ModifiersMayStandInAnyOrder) {
  const auto both = [](const std::string& usual, const std::string& other) {
    const auto results = [](const std::string& instruction) {
      LaneKernel kernel("ld.global.u32 %r2, [%rd5]; ld.global.u32 %r3, [%rd5+4]; mov.u32 %r4, 0;\n" + instruction +
                            " st.global.u32 [%rd4], %r4; ret;",
                        noise(64), 32, 2);
      return kernel.results();
    };
    EXPECT_EQ(results(usual), results(other)) << other;
  };
  both("div.rn.ftz.f32 %r4, %r2, %r3;", "div.ftz.rn.f32 %r4, %r2, %r3;");
  both("add.rz.ftz.sat.f32 %r4, %r2, %r3;", "add.sat.f32.ftz.rz %r4, %r2, %r3;");
  both("setp.lt.f32 %p1, %r2, %r3; selp.u32 %r4, 1, 0, %p1;", "setp.f32.lt %p1, %r2, %r3; selp.u32 %r4, 1, 0, %p1;");
  both("cvt.rn.relu.f16x2.f32 %r4, %r2, %r3;", "cvt.relu.rn.f16x2.f32 %r4, %r2, %r3;");
  // The order of types says which is which.
  EXPECT_THROW(LaneKernel("cvt.rn.f32.bf16x2 %r4, %r2; ret;", Words(1), 1), ptx::PtxError);
}

TEST(SimulatedSpelling, NumberedLabelsAreAsMany) {
  LaneKernel kernel(
      "T: .branchtargets L<3>, M; mov.u32 %r3, 9; rem.u32 %r2, %r1, 5; brx.idx %r2, T;\n"
      "L0: mov.u32 %r3, 10; bra M; L1: mov.u32 %r3, 11; bra M; L2: mov.u32 %r3, 12; M: st.global.u32 [%rd4], %r3; ret;",
      Words(32), 32);
  const Words out = kernel.results(4);
  EXPECT_EQ(Words(out.begin(), out.begin() + 4), (Words{10, 11, 12, 9}));
  EXPECT_THROW(LaneKernel("T: .branchtargets L<2>; brx.idx %r2, T; L0: ret;", Words(1), 1), ptx::PtxError);
}

}  // namespace
}  // namespace convladder::simulated

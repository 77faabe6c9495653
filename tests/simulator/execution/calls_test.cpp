// Functions that kernels call: parameters, recursion, pointers, barriers and divergence in them, branches through
// tables, and the functions that the device provides.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "devices/device_error.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/execution/call_frames.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHeader = ".version 8.0\n.target sm_75\n.address_size 64\n";

/// Kernel `test(out)`: `%p` becomes the address of this thread's element; the body leaves its value in `%v`.
std::string kernel_with(const std::string& functions, const std::string& body) {
  return kHeader + functions +
         ".visible .entry test(.param .u64 out)\n{\n.reg .b64 %p, %w; .reg .b32 %t, %v, %n;\n.reg .pred %q;\n"
         "ld.param.u64 %p, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4; add.u64 %p, %p, %w;\n" +
         body + "\nst.global.u32 [%p], %v;\nret;\n}\n";
}

/// What one block of the threads leaves.
std::vector<std::uint32_t> values_of(const std::string& text, unsigned threads) {
  KernelRun run(text);
  const std::uint64_t out = run.array(std::vector<std::uint32_t>(threads), "out");
  run.set(0, out);
  run.launch({1, 1, 1}, {threads, 1, 1});
  return run.read<std::uint32_t>(out, threads);
}

std::string fault_of(const std::string& text, unsigned threads) {
  try {
    values_of(text, threads);
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

constexpr const char* kFibonacci =
    ".func (.param .b32 result) fibonacci(.param .b32 n)\n{\n"
    ".reg .pred %small; .reg .b32 %n, %a, %b, %m;\n"
    "ld.param.u32 %n, [n]; setp.lt.u32 %small, %n, 2; @%small bra LEAF;\n"
    "sub.u32 %m, %n, 1;\n"
    "{ .param .b32 to; st.param.b32 [to], %m; .param .b32 from; call.uni (from), fibonacci, (to);\n"
    "ld.param.b32 %a, [from]; }\n"
    "sub.u32 %m, %n, 2;\n"
    "{ .param .b32 to; st.param.b32 [to], %m; .param .b32 from; call.uni (from), fibonacci, (to);\n"
    "ld.param.b32 %b, [from]; }\n"
    "add.u32 %n, %a, %b; st.param.b32 [result], %n; ret;\n"
    "LEAF: st.param.b32 [result], %n; ret;\n}\n";

constexpr const char* kCallFibonacci =
    "{ .param .b32 to; st.param.b32 [to], %t; .param .b32 from; call.uni (from), fibonacci, (to);\n"
    "ld.param.b32 %v, [from]; }";

TEST(Calls, EveryLaneRecursesAsDeepAsItNeeds) {
  std::vector<std::uint32_t> expected = {0, 1};
  while (expected.size() < 20) expected.push_back(expected[expected.size() - 1] + expected[expected.size() - 2]);
  EXPECT_EQ(values_of(kernel_with(kFibonacci, kCallFibonacci), 20), expected);
}

TEST(Calls, FramesOfEndedCallsAreUsedAgain) {
  // A hundred thousand calls, of which at most ten have not ended.
  Program program;
  program.register_bytes = 1 << 16;
  CallFrames frames;
  frames.begin(program);
  std::vector<Path> paths = {{.mask = kAllLanes}};
  for (int call = 0; call < 100'000; ++call) {
    if (paths.size() == 11) paths.resize(3);
    const int frame = frames.take({.caller = paths.back().frame}, paths);
    ASSERT_GE(frame, 0);
    for (const Path& path : paths) ASSERT_NE(path.frame, frame);
    paths.push_back({.mask = kAllLanes, .frame = frame});
  }
  EXPECT_LE(frames.content().size(), std::size_t{40} * program.register_bytes);
  // 21 lanes of which the last makes 21,891 calls.
  std::vector<std::uint32_t> expected;
  for (std::uint32_t lane = 0, a = 0, b = 1; lane < 21; ++lane, b += a, std::swap(a, b)) expected.push_back(a);
  EXPECT_EQ(values_of(kernel_with(kFibonacci, kCallFibonacci), 21), expected);
}

TEST(Calls, LanesOnWaysOfTheirOwnMayEachCallAsDeepAsOneAlone) {
  // Lane t calls 31 * t deep, and each lane parts from the others in each call.
  const std::string deep =
      ".func (.param .b32 r) deep(.param .b32 n)\n{\n.reg .b32 %n, %t; .reg .pred %p;\nld.param.b32 %n, [n];\n"
      "mov.u32 %t, %tid.x; setp.eq.u32 %p, %n, 0; @%p bra DONE;\nsub.u32 %n, %n, 1;\n"
      "{ .param .b32 a; st.param.b32 [a], %n; .param .b32 b; call.uni (b), deep, (a); ld.param.b32 %n, [b]; }\n"
      "add.u32 %n, %n, 1;\nDONE: st.param.b32 [r], %n; ret;\n}\n";
  const std::string call =
      "{ .param .b32 to; mul.lo.u32 %v, %t, 31; st.param.b32 [to], %v; .param .b32 from; call.uni (from), deep, (to);\n"
      "ld.param.b32 %v, [from]; }";
  std::vector<std::uint32_t> expected;
  for (std::uint32_t lane = 0; lane < 32; ++lane) expected.push_back(31 * lane);
  EXPECT_EQ(values_of(kernel_with(deep, call), 32), expected);
}

TEST(Calls, AnEndlessRecursionOverflowsTheStack) {
  const std::string endless = ".func endless()\n{\ncall.uni endless;\nret;\n}\n";
  EXPECT_THAT(fault_of(kernel_with(endless, "mov.u32 %v, 1; call.uni endless;"), 32),
              HasSubstr("stack overflow: functions call each other 1025 deep"));
  const std::string large =
      ".func large()\n{\n.local .align 4 .b8 room[5000];\n.reg .b32 %a; ld.local.u32 %a, [room]; call.uni "
      "large;\nret;\n}\n";
  EXPECT_THAT(fault_of(kernel_with(large, "mov.u32 %v, 1; call.uni large;"), 32),
              HasSubstr("stack overflow: functions call each other 4 deep, with 20032 bytes of local variables"));
}

TEST(Calls, StructuresAndRegistersAreHandedOverAndBack) {
  const std::string swap =
      ".func (.param .align 4 .b8 r[12]) swap(.param .align 4 .b8 s[12], .param .b64 add)\n{\n"
      ".reg .b32 %a, %b, %c; .reg .b64 %l; .reg .b16 %h;\n"
      "ld.param.v2.u32 {%a, %b}, [s]; ld.param.u32 %c, [s+8]; ld.param.u64 %l, [add]; cvt.u32.u64 %a, %l;\n"
      "ld.param.s8 %h, [s+3]; cvt.s32.s16 %b, %h;\n"
      "st.param.b32 [r+8], %a; st.param.b32 [r], %c; st.param.b32 [r+4], %b; ret;\n}\n"
      ".func (.reg .u32 out) twice(.reg .u32 in)\n{\nadd.u32 out, in, in; ret;\n}\n";
  const std::string body =
      "{ .param .align 4 .b8 s[12]; .param .align 4 .b8 r[12]; .param .b64 l; .reg .b32 %x; .reg .b64 %y;\n"
      "mov.u32 %x, 0xFE000000; st.param.b32 [s], %x; st.param.b32 [s+8], %t; mov.u64 %y, 1000; st.param.b64 [l], %y;\n"
      "call (r), swap, (s, l); ld.param.u32 %v, [r]; ld.param.u32 %x, [r+8]; add.u32 %v, %v, %x;\n"
      "ld.param.u32 %x, [r+4]; add.u32 %v, %v, %x; }\n"  // tid + 1000 - 2
      "call (%v), twice, (%v); call (%n), twice, (3); add.u32 %v, %v, %n;";
  EXPECT_THAT(values_of(kernel_with(swap, body), 3), ElementsAre(2002, 2004, 2006));
}

TEST(Calls, LanesThatReturnEarlyMeetTheOthersBehindTheCall) {
  // Odd lanes return at once, lane 2 from a loop, the others at the end.
  const std::string early =
      ".func (.param .b32 r) early(.param .b32 n)\n{\n.reg .pred %p; .reg .b32 %n, %i, %s;\n"
      "ld.param.u32 %n, [n]; and.b32 %i, %n, 1; st.param.b32 [r], %n; setp.eq.u32 %p, %i, 1; @%p ret;\n"
      "mov.u32 %i, 0;\nLOOP: add.u32 %i, %i, 1; setp.eq.u32 %p, %i, %n; @%p bra OUT;\n"
      "setp.lt.u32 %p, %i, 3; @%p bra LOOP;\nOUT: add.u32 %s, %i, 100; st.param.b32 [r], %s; ret;\n}\n";
  const std::string body =
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), early, (a); ld.param.u32 %v, [b]; }\n"
      "shfl.sync.bfly.b32 %n, %v, 1, 31, 0xffffffff; add.u32 %v, %v, %n;";
  const std::vector<std::uint32_t> values = values_of(kernel_with(early, body), 32);
  const auto of = [](std::uint32_t lane) {
    if (lane % 2 == 1) return lane;
    return 100 + (lane == 2 ? 2U : 3U);
  };
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], of(lane) + of(lane ^ 1)) << lane;
}

TEST(Calls, BarriersInFunctionsAreForTheWholeBlock) {
  const std::string rotate =
      ".shared .align 4 .b8 words[1024];\n"
      ".func (.param .b32 r) rotate(.param .b32 a)\n{\n.reg .b32 %a, %t, %n, %s;\n"
      "mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; ld.param.u32 %a, [a]; shl.b32 %s, %t, 2; mov.u32 %s, %s;\n"
      ".reg .b32 %base; mov.u32 %base, words; add.u32 %s, %base, %s; st.shared.u32 [%s], %a; bar.sync 0;\n"
      "add.u32 %t, %t, 1; rem.u32 %t, %t, %n; shl.b32 %s, %t, 2; add.u32 %s, %base, %s; ld.shared.u32 %a, [%s];\n"
      "bar.sync 0; st.param.b32 [r], %a; ret;\n}\n";
  const std::string call =
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %v; call (b), rotate, (a);\n"
      "ld.param.u32 %v, [b]; }\n";
  const std::vector<std::uint32_t> values = values_of(kernel_with(rotate, "mov.u32 %v, %t;\n" + call + call), 96);
  for (std::uint32_t i = 0; i < 96; ++i) EXPECT_EQ(values[i], (i + 2) % 96);
}

TEST(Calls, ThroughPointersEveryLaneMayCallAnother) {
  const std::string functions =
      ".func (.param .b32 r) increment(.param .b32 a) { .reg .b32 %a; ld.param.u32 %a, [a]; add.u32 %a, %a, 1;\n"
      "st.param.b32 [r], %a; ret; }\n"
      ".func (.param .b32 r) triple(.param .b32 a) { .reg .b32 %a; ld.param.u32 %a, [a]; mul.lo.u32 %a, %a, 3;\n"
      "st.param.b32 [r], %a; ret; }\n"
      ".func (.param .b64 r) other(.param .b32 a) { ret; }\n";
  const auto body = [](const std::string& last) {
    return "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n.reg .b64 %f, %g, %h; mov.u64 %f, increment;\n"
           "mov.u64 %g, triple; mov.u64 %h, " +
           last +
           "; and.b32 %n, %t, 1; setp.eq.u32 %q, %n, 1;\n"
           "selp.b64 %f, %f, %g, %q; setp.eq.u32 %q, %t, 7; selp.b64 %f, %h, %f, %q;\n"
           "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), %f, (a), P; ld.param.u32 %v, [b]; }";
  };
  EXPECT_THAT(values_of(kernel_with(functions, body("triple")), 8), ElementsAre(0, 2, 6, 4, 12, 6, 18, 21));
  EXPECT_THAT(fault_of(kernel_with(functions, body("12345")), 8),
              AllOf(HasSubstr("a call of 0x3039, where no function is"), HasSubstr("thread (7, 0, 0)")));
  EXPECT_THAT(fault_of(kernel_with(functions, body("other")), 8),
              HasSubstr("a call of 'other' with other parameters than it has"));
}

TEST(Calls, LocalVariablesAreThoseOfEachCall) {
  const std::string sum =
      ".func (.param .b32 r) sum(.param .b32 n)\n{\n.local .align 4 .b8 mine[8]; .reg .b64 %l, %g; .reg .b32 %n, %a, "
      "%z;\n"
      ".reg .pred %p; ld.param.u32 %n, [n]; mov.u64 %l, mine; cvta.local.u64 %g, %l; st.u32 [%g+4], %n;\n"
      "mov.u32 %a, 0; setp.eq.u32 %p, %n, 0; @%p bra END; sub.u32 %z, %n, 1;\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %z; call (b), sum, (a); ld.param.u32 %a, [b]; }\n"
      "END: ld.local.u32 %n, [mine+4]; add.u32 %a, %a, %n; st.param.b32 [r], %a; ret;\n}\n";
  const std::string body =
      ".local .align 8 .b8 own[16]; st.local.u32 [own], %t;\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), sum, (a); ld.param.u32 %v, [b]; }\n"
      "ld.local.u32 %n, [own]; mul.lo.u32 %n, %n, 1000; add.u32 %v, %v, %n;";
  EXPECT_THAT(values_of(kernel_with(sum, body), 5), ElementsAre(0, 1001, 2003, 3006, 4010));
}

TEST(Calls, TheAddressOfAParameterIsThatOfACopy) {
  const std::string pick =
      ".func (.param .b32 r) pick(.param .align 4 .b8 s[16], .param .b32 i)\n{\n.reg .b64 %a, %w; .reg .b32 %i;\n"
      "mov.b64 %a, s; cvta.local.u64 %a, %a; ld.param.u32 %i, [i]; mul.wide.u32 %w, %i, 4; add.u64 %a, %a, %w;\n"
      "ld.u32 %i, [%a]; st.param.b32 [r], %i; ret;\n}\n";
  const std::string body =
      "{ .param .align 4 .b8 s[16]; .param .b32 i; .param .b32 r; st.param.v4.b32 [s], {5, %t, 7, 8};\n"
      "st.param.b32 [i], %t; call (r), pick, (s, i); ld.param.u32 %v, [r]; }";
  EXPECT_THAT(values_of(kernel_with(pick, body), 4), ElementsAre(5, 1, 7, 8));
}

TEST(Calls, InstructionsOfFunctionsAreCountedWhereTheyAre) {
  KernelRun run(kernel_with(kFibonacci, kCallFibonacci));
  const std::uint64_t out = run.array(std::vector<std::uint32_t>(64), "out");
  run.set(0, out);
  const LaunchResult result = run.launch({1, 1, 1}, {4, 1, 1});
  const ptx::Kernel& kernel = *run.program().kernel;
  std::uint64_t calls = 0;
  std::uint64_t tests = 0;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    if (kernel.instructions[i].opcode == "call.uni") calls += result.counters.at(i).lanes;
    if (kernel.instructions[i].opcode == "setp.lt.u32") tests += result.counters.at(i).lanes;
  }
  EXPECT_EQ(calls, 1U + 1 + 3 + 5);  // lanes 0 to 3
  EXPECT_EQ(tests, calls);
}

TEST(Calls, ABranchThroughATableTakesEveryLaneToItsLabel) {
  const std::string body =
      "T: .branchtargets A, B, C;\nand.b32 %n, %t, 3; setp.lt.u32 %q, %n, 3; mov.u32 %v, 99; @%q brx.idx %n, T;\n"
      "bra END;\nA: mov.u32 %v, 10; bra END;\nB: add.u32 %v, %t, 20;\nC: add.u32 %v, %v, 1;\nEND:";
  EXPECT_THAT(values_of(kernel_with("", body), 8), ElementsAre(10, 22, 100, 99, 10, 26, 100, 99));
  const std::string beyond = "T: .branchtargets A;\nbrx.idx %t, T;\nA: mov.u32 %v, 1;";
  EXPECT_THAT(fault_of(kernel_with("", beyond), 2), HasSubstr("entry 1 of a table of 1 labels"));
}

TEST(Calls, ALoopMayGoThroughATable) {
  const std::string body =
      "T: .branchtargets DONE, AGAIN;\nmov.u32 %v, 0;\nAGAIN: add.u32 %v, %v, 1; setp.lt.u32 %q, %v, %t;\n"
      "selp.u32 %n, 1, 0, %q; brx.idx %n, T;\nDONE:";
  EXPECT_THAT(values_of(kernel_with("", body), 5), ElementsAre(1, 1, 2, 3, 4));
}

TEST(Calls, ALockInFunctionsLetsEveryLaneIn) {
  const std::string lock =
      ".global .u32 lock; .global .u32 count;\n"
      ".func take() { .reg .pred %p; .reg .b32 %o;\nAGAIN: atom.global.cas.b32 %o, [lock], 0, 1; setp.ne.u32 %p, %o, "
      "0;\n"
      "@%p bra AGAIN; membar.gl; ret; }\n"
      ".func give() { .reg .b32 %o; membar.gl; atom.global.exch.b32 %o, [lock], 0; ret; }\n";
  const std::string body =
      "call take;\nld.volatile.global.u32 %v, [count]; add.u32 %v, %v, 1; st.volatile.global.u32 [count], %v;\ncall "
      "give;";
  SimulatedDevice device;
  const ptx::Module module = ptx::parse_module(kernel_with(lock, body), "test.ptx");
  KernelLaunch launch;
  launch.kernel = device.load(module, module.kernels.at(0));
  launch.block = {32, 1, 1};
  DeviceBuffer out = device.allocate(128, "out");
  const auto address = reinterpret_cast<std::uint64_t>(out.address());
  launch.arguments = {std::vector<std::byte>(sizeof address)};
  std::memcpy(launch.arguments[0].data(), &address, sizeof address);
  device.launch(launch);
  std::vector<std::uint32_t> values(32);
  device.copy_to_host(values.data(), out.address(), 128);
  std::ranges::sort(values);
  std::vector<std::uint32_t> expected(32);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(values, expected);
}

// --- functions that the device provides
// -------------------------------------------------------------------------------

constexpr const char* kProvided =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 l);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
    ".global .align 1 .b8 words[] = \"word\"; .global .align 1 .b8 file[] = \"a.cu\";\n";

SimulatedDeviceOptions options_with(const CheckerSet& checkers) {
  SimulatedDeviceOptions options;
  options.checkers = checkers;
  return options;
}

/// Runs blocks of threads on a device and keeps what it leaves.
struct ProvidedRun {
  explicit ProvidedRun(const std::string& text, unsigned blocks, unsigned threads, CheckerSet checkers = {})
      : module(ptx::parse_module(text, "test.ptx")), device(options_with(checkers)) {
    KernelLaunch launch;
    launch.kernel = device.load(module, module.kernels.at(0));
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    DeviceBuffer out = device.allocate(4 * threads, "out");
    const auto address = reinterpret_cast<std::uint64_t>(out.address());
    launch.arguments = {std::vector<std::byte>(sizeof address)};
    std::memcpy(launch.arguments[0].data(), &address, sizeof address);
    try {
      device.launch(launch);
    } catch (const DeviceError& error) {
      fault = error.what();
    }
    values.resize(threads);
    device.copy_to_host(values.data(), out.address(), 4 * threads);
  }

  ptx::Module module;
  SimulatedDevice device;
  std::vector<std::uint32_t> values;
  std::string fault;
};

TEST(Calls, PrintfWritesBlocksInOrder) {
  const std::string format =
      ".global .align 1 .b8 format[] = "
      "{37,100,32,37,53,46,50,102,124,37,45,54,115,124,37,108,108,120,32,37,99,37,37,10,0};\n";
  // "%d %5.2f|%-6s|%llx %c%%\n"
  const std::string body =
      ".local .align 8 .b8 list[40]; .reg .b64 %l, %f, %x; mov.u32 %n, %ctaid.x; st.local.u32 [list], %n;\n"
      "st.local.f64 [list+8], 0d3FF8000000000000; mov.u64 %x, words; cvta.global.u64 %x, %x; st.local.u64 [list+16], "
      "%x;\n"
      "mov.u64 %x, 0x123456789ab; st.local.u64 [list+24], %x; mov.u32 %n, 65; st.local.u32 [list+32], %n;\n"
      "mov.u64 %l, list; cvta.local.u64 %l, %l; mov.u64 %f, format; cvta.global.u64 %f, %f;\n"
      "{ .param .b64 a; st.param.b64 [a], %f; .param .b64 b; st.param.b64 [b], %l; .param .b32 r;\n"
      "call.uni (r), vprintf, (a, b); ld.param.b32 %v, [r]; }";
  ProvidedRun run(kernel_with(kProvided + format, body), 3, 1);
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.device.take_printed(),
            "0  1.50|word  |123456789ab A%\n1  1.50|word  |123456789ab A%\n2  1.50|word  |123456789ab A%\n");
  EXPECT_EQ(run.device.take_printed(), "");
  EXPECT_THAT(run.values, ElementsAre(5));
}

TEST(Calls, AnAssertionSaysWhereItFailed) {
  const std::string body =
      "mov.u32 %v, 1; setp.ne.u32 %q, %t, 3; @%q bra FINE;\n{ .reg .b64 %m, %f; .reg .b32 %line;\n"
      ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
      "mov.u64 %m, words; st.param.b64 [a], %m; mov.u64 %f, file; st.param.b64 [b], %f; mov.u32 %line, 12;\n"
      "st.param.b32 [c], %line; st.param.b64 [d], %m; st.param.b64 [e], 1;\n"
      "call.uni __assertfail, (a, b, c, d, e); }\nFINE:";
  ProvidedRun run(kernel_with(kProvided, body), 1, 8);
  EXPECT_THAT(run.fault, AllOf(HasSubstr("assertion 'word' failed at a.cu:12 in word"), HasSubstr("thread (3, 0, 0)")));
  EXPECT_EQ(run.device.take_asserted(), "a.cu:12: word: block: [0,0,0], thread: [3,0,0] Assertion `word` failed.\n");
  EXPECT_EQ(run.device.take_asserted(), "");
}

TEST(Calls, EachThreadWhoseAssertionFailsHasALineOfTheDrivers) {
  const std::string body =
      "{ .reg .b64 %m; .reg .b32 %line; .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
      "mov.u64 %m, words; st.param.b64 [a], %m; st.param.b64 [b], %m; mov.u32 %line, 7; st.param.b32 [c], %line;\n"
      "st.param.b64 [d], %m; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }";
  ProvidedRun run(kernel_with(kProvided, body), 1, 40, CheckerSet{.memory = true});
  const std::string lines = run.device.take_asserted();
  EXPECT_THAT(lines, HasSubstr("word:7: word: block: [0,0,0], thread: [31,0,0] Assertion `word` failed.\n"));
  EXPECT_GE(std::ranges::count(lines, '\n'), 32);
}

TEST(Calls, AnAssertionInATemplateNamesNoArguments) {
  const std::string body =
      "{ .reg .b64 %m, %f; .reg .b32 %line;\n"
      ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
      "mov.u64 %m, words; st.param.b64 [a], %m; st.param.b64 [b], %m; mov.u32 %line, 12; st.param.b32 [c], %line;\n"
      "mov.u64 %f, name; st.param.b64 [d], %f; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }";
  const auto fault_in = [&body](const std::string& name) {
    std::string bytes;
    for (const char letter : name) bytes += fmt::format("{}, ", static_cast<int>(static_cast<unsigned char>(letter)));
    const std::string variable = fmt::format(".global .b8 name[{}] = {{{}0}};\n", name.size() + 1, bytes);
    return ProvidedRun(kernel_with(kProvided + variable, body), 1, 1).fault;
  };
  EXPECT_THAT(fault_in("void f(T) [with T = int]"), HasSubstr("at word:12 in void f(T):"));
  EXPECT_THAT(fault_in(std::string(119, 'x') + "ä" + std::string(99, 'x')),
              HasSubstr("in " + std::string(119, 'x') + "…:"));
}

std::string allocating(const std::string& rest) {
  return kernel_with(kProvided,
                     ".reg .b64 %m;\n{ .param .b64 a; .param .b64 b; st.param.b64 [a], 16;\n"
                     "call (b), malloc, (a); ld.param.b64 %m, [b]; }\n" +
                         rest + "\nmov.u32 %v, 1;");
}
constexpr const char* kFree = "{ .param .b64 a; st.param.b64 [a], %m; call free, (a); }\n";

TEST(Calls, TheHeapIsCheckedAsAllMemoryIs) {
  const CheckerSet all{.memory = true, .initialization = true};
  ProvidedRun good(allocating(std::string("st.u32 [%m+12], %t; ld.u32 %v, [%m+12];") + kFree), 2, 4, all);
  EXPECT_EQ(good.fault, "");
  EXPECT_TRUE(good.device.take_findings().empty());
  EXPECT_TRUE(good.device.leaks().empty());

  ProvidedRun leaking(allocating("st.u32 [%m], %t;"), 1, 4, all);
  EXPECT_TRUE(leaking.device.take_findings().empty());
  EXPECT_EQ(leaking.device.leaks().size(), 4U);
  EXPECT_THAT(leaking.device.leaks().at(0).problem, HasSubstr("'malloc in the kernel' (16 bytes) is never freed"));

  const auto problem_of = [&all](const std::string& rest) {
    ProvidedRun run(allocating(rest), 1, 1, all);
    const std::vector<Finding> findings = run.device.take_findings();
    return findings.empty() ? "nothing" : findings[0].problem;
  };
  EXPECT_THAT(problem_of("ld.u32 %v, [%m];"), HasSubstr("which nothing has written"));
  EXPECT_THAT(problem_of("st.u32 [%m+16], %t;"), HasSubstr("0 bytes past the end"));
  EXPECT_THAT(problem_of(std::string(kFree) + "st.u32 [%m], %t;"), HasSubstr("freed"));
  EXPECT_THAT(problem_of(std::string(kFree) + kFree), HasSubstr("which malloc has not returned or which is freed"));
  EXPECT_EQ(problem_of(std::string(kFree) + "mov.u64 %m, 0;" + kFree), "nothing");
}

TEST(Calls, WhatIsNotDefinedIsRefusedAtTheCall) {
  const auto refusal_of = [](const std::string& text) {
    const ptx::Module module = ptx::parse_module(text, "test.ptx");
    const std::vector<ptx::Refusal> all = refusals(module, module.kernels.at(0));
    return all.empty() ? "none" : fmt::format("{}: {}", all[0].position.line, all[0].what);
  };
  EXPECT_EQ(refusal_of(kernel_with(".extern .func outer;\n", "call outer;")),
            "10: the function 'outer' is called but not defined in this file");
  EXPECT_EQ(refusal_of(kernel_with(".func f(.param .b32 a) { ret; }\n", "call f, (%p, %p);")),
            "10: 'call': expected 1 arguments, found 2");
  EXPECT_EQ(refusal_of(kernel_with(".func f() { mov.b32 a, 1; ret; }\n", "call f;")),
            "4: 'a' is neither a register, a variable nor a label (in the function 'f', which the kernel calls)");
  EXPECT_EQ(refusal_of(kernel_with(".func f() {\n .reg .b32 a;\n add.q32 a, a, a; ret; }\n", "call f;")),
            "6: 'add.q32': this instruction is not supported by the simulated device");
  EXPECT_EQ(refusal_of(kernel_with(".func f(.param .b32 a) { .reg .b64 r; ld.param.b64 r, [a]; ret; }\n",
                                   "{ .param .b32 x; call f, (x); }")),
            "4: 'ld.param.b64': bytes 0 to 7 of a parameter of 4 bytes");
}

// --- kernels that launch kernels ------------------------------------------------------------------------------------

constexpr const char* kLaunching =
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param "
    ".align "
    "4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"
    ".visible .entry child(.param .u64 to, .param .u32 by);\n";
constexpr const char* kChild =
    ".visible .entry child(.param .u64 to, .param .u32 by)\n{\n.reg .b64 %p; .reg .b32 %v, %b;\n"
    "ld.param.u64 %p, [to]; ld.param.u32 %b, [by]; ld.global.u32 %v, [%p]; add.u32 %v, %v, %b;\n"
    "st.global.u32 [%p], %v; ret;\n}\n";

/// Launches a child of so many threads for this thread's element; `%b` has the buffer for its parameters.
std::string launch_of(unsigned threads, const std::string& fill) {
  return fmt::format(
      ".reg .b64 %f, %b; mov.u64 %f, child;\n"
      "{{ .param .b64 f; st.param.b64 [f], %f; .param .align 4 .b8 g[12]; st.param.b32 [g], 1; st.param.b32 [g+4], 1;\n"
      "st.param.b32 [g+8], 1; .param .align 4 .b8 n[12]; st.param.b32 [n], {}; st.param.b32 [n+4], 1;\n"
      "st.param.b32 [n+8], 1; .param .b32 s; st.param.b32 [s], 0; .param .b64 r;\n"
      "call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, n, s); ld.param.b64 %b, [r]; }}\n{}",
      threads, fill);
}

TEST(Calls, WhatAKernelLaunchesRunsWhenItHasEnded) {
  const std::string body = launch_of(1,
                                     "st.u64 [%b], %p; st.u32 [%b+8], %t;\n"
                                     "{ .param .b64 b; st.param.b64 [b], %b; .param .b64 s; st.param.b64 [s], 0;\n"
                                     ".param .b32 r; call.uni (r), __cudaCDP2LaunchDeviceV2, (b, s); }\n"
                                     "mov.u32 %v, 10;");
  const ProvidedRun run(kernel_with(kLaunching, body) + kChild, 1, 4, CheckerSet::all());
  EXPECT_EQ(run.fault, "");
  EXPECT_THAT(run.values, ElementsAre(10, 11, 12, 13));
  std::vector<std::string> launched;
  for (const LaunchedKernel& one : run.device.launched_kernels()) launched.push_back(one.name);
  EXPECT_THAT(launched, ElementsAre("test", "child", "child", "child", "child"));
  EXPECT_THAT(run.device.leaks(), testing::IsEmpty());
}

TEST(Calls, ALaunchThatIsNotPossibleIsTheLastErrorOfItsThread) {
  const std::string body =
      launch_of(2000, "{ .param .b32 r; call.uni (r), __cudaCDP2GetLastError, (); ld.param.b32 %v, [r]; }\n") +
      "setp.ne.u64 %q, %b, 0; @%q mov.u32 %v, 1000;";
  EXPECT_THAT(ProvidedRun(kernel_with(kLaunching, body) + kChild, 1, 2).values, ElementsAre(9, 9));
}

TEST(Calls, OfTheRuntimeForKernelsWhatIsNotProvidedIsNamed) {
  const std::string synchronize = ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n";
  const std::string body = "{ .param .b32 r; call.uni (r), cudaDeviceSynchronize, (); }";
  const ptx::Module module = ptx::parse_module(kernel_with(synchronize, body), "test.ptx");
  const std::vector<ptx::Refusal> refused = refusals(module, module.kernels.at(0));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0].what, HasSubstr("kernels cannot call 'cudaDeviceSynchronize'"));
}

}  // namespace
}  // namespace convladder::simulated

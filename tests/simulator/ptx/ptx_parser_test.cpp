#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sanitized.hpp"
#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx_kernels.hpp"
#include "simulator/state/program.hpp"

namespace convladder::ptx {
namespace {

using simulated::kernel_text;

Module parse(const std::string& body, const std::string& parameters = "") {
  return parse_module(kernel_text(parameters, body), "test.ptx");
}

std::string error_of(const std::string& text) {
  try {
    parse_module(text, "test.ptx");
  } catch (const PtxError& error) {
    return error.what();
  }
  return "no error";
}

/// What the kernel is refused for, with its place, by whoever runs it.
std::string error_in_body(const std::string& body) {
  const Module module = parse_module(kernel_text("", body), "test.ptx");
  const std::vector<Refusal> all = simulated::refusals(module, module.kernels.at(0));
  if (all.empty()) return "no error";
  return std::to_string(all[0].position.line) + ':' + std::to_string(all[0].position.column) + ": " + all[0].what;
}

TEST(PtxParser, ReadsAKernelWithItsParametersRegistersAndPlaces) {
  const Module good = parse_module(
      ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"a/conv.cu\"\n.visible .entry k(\n.param .u64 "
      "a,\n.param "
      ".align 4 .b8 b[44]\n)\n.maxntid 256, 2, 1\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\n.loc 1 17 3\nmov.u32 %r1, "
      "%tid.x;\n@!%p1 bra $end;\n$end:\nret;\n}\n",
      "test.ptx");
  ASSERT_EQ(good.kernels.size(), 1U);
  const Kernel& kernel = good.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.max_threads_per_block, 512);
  ASSERT_EQ(kernel.parameters.size(), 2U);
  EXPECT_EQ(kernel.parameters[1].bytes, 44U);
  EXPECT_EQ(kernel.parameters[1].alignment, 4);
  EXPECT_EQ(kernel.registers.size(), 5U);
  ASSERT_EQ(kernel.instructions.size(), 3U);
  EXPECT_EQ(kernel.instructions[0].source.line, 17);
  EXPECT_EQ(good.source_name(kernel.instructions[0].source.file), "a/conv.cu");
  EXPECT_EQ(kernel.instructions[0].position.line, 14);
  EXPECT_TRUE(kernel.instructions[1].predicate_negated);
  EXPECT_EQ(kernel.instructions[1].operands[0].index, 2);
}

TEST(PtxParser, InlinedCodeKnowsItsLineAndThoseOfItsCallers) {
  const Module module = parse(
      ".loc 1 10 3\nbar.sync 0;\n"
      ".loc 1 4 3, function_name $info, inlined_at 1 11 3\nbar.sync 1;\n"
      ".loc 2 80 3, function_name $info+8, inlined_at 1 12 3\nbar.sync 2;\n"
      ".loc 3 90 3, function_name $info, inlined_at 2 80 3\nbar.sync 3;\n"  // called by what is inlined itself
      ".loc 2 81 3\nret;\n");
  using Places = std::vector<std::pair<int, int>>;
  std::vector<Places> places;  // for each instruction, with the callers behind
  for (const Instruction& instruction : module.kernels[0].instructions) {
    places.emplace_back();
    for (SourceLocation at = instruction.source;; at = module.inlined_calls.at(static_cast<std::size_t>(at.caller))) {
      places.back().emplace_back(at.file, at.line);
      if (at.caller < 0) break;
    }
  }
  EXPECT_EQ(places, (std::vector<Places>{
                        {{1, 10}}, {{1, 4}, {1, 11}}, {{2, 80}, {1, 12}}, {{3, 90}, {2, 80}, {1, 12}}, {{2, 81}}}));
}

TEST(PtxParser, AnAssemblerStatementIsAtTheLineThatItStandsAt) {
  const Module module = parse(
      ".reg .b32 %r<3>;\n.loc 1 10 3\n"
      "// begin inline asm\n.loc 1 10 3\nmov.b32 %r1, 0;\n.loc 1 11 3\nmov.b32 %r2, 0;\n// end inline asm\n"
      "bar.sync 0;\n.loc 1 12 3\nret;\n");
  std::vector<int> lines;
  for (const Instruction& instruction : module.kernels[0].instructions) lines.push_back(instruction.source.line);
  EXPECT_EQ(lines, (std::vector<int>{10, 10, 10, 12}));
}

TEST(PtxParser, ReadsEverySpellingOfNumbersAndAddresses) {
  const Module module = parse(
      ".reg .b64 %rd<3>;\n.reg .f32 %f<9>;\n.reg .b32 %r<9>;\n"
      "mov.u32 %r1, 0x1F; mov.u32 %r2, -8; mov.u32 %r3, 017; mov.u32 %r4, 0b101U;\n"
      "mov.f32 %f1, 0f3F800000; mov.f64 %rd1, 0d3FF0000000000000; mov.f32 %f2, 1.5e-1;\n"
      "ld.global.f32 %f3, [%rd1+-8]; ld.global.v2.f32 {%f4, %f5}, [%rd1+16]; ld.global.f32 %f6, [%rd1]; ret;");
  const auto& i = module.kernels[0].instructions;
  EXPECT_EQ(i[0].operands[1].bits, 31U);
  EXPECT_EQ(static_cast<std::int64_t>(i[1].operands[1].bits), -8);
  EXPECT_EQ(i[2].operands[1].bits, 15U);
  EXPECT_EQ(i[3].operands[1].bits, 5U);
  EXPECT_EQ(i[4].operands[1].number, NumberKind::single);
  EXPECT_EQ(i[5].operands[1].number, NumberKind::double_);
  EXPECT_EQ(std::bit_cast<double>(i[6].operands[1].bits), 0.15);
  EXPECT_EQ(i[7].operands[1].offset, -8);
  EXPECT_EQ(i[8].operands[0].elements.size(), 2U);
  EXPECT_EQ(i[8].operands[1].offset, 16);
}

TEST(PtxParser, InnerScopesMayRepeatNames) {
  const Module module = parse(".reg .b16 x;\n{ .reg .f32 x; mov.f32 x, 0f00000000; }\nmov.b16 x, 1; ret;");
  const Kernel& kernel = module.kernels[0];
  EXPECT_EQ(kernel.registers[kernel.instructions[0].operands[0].index].type.bits, 32);
  EXPECT_EQ(kernel.registers[kernel.instructions[1].operands[0].index].type.bits, 16);
}

TEST(PtxParser, OneKernelThatIsNotSupportedLeavesTheOthers) {
  const Module module = parse_module(
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".entry wrong(.param .u64 x) {\n.reg .b32 r; {\n  add.q32 r, r, r; mov.b32 nothing, 1;\n } ret; }\n"
      ".entry strange() { .reg .b32 r; add.q32 r, r, r;\n mul.q32 r, r, r; add.q32 r, r, r; ret; }\n"
      ".entry plain() { ret; }\n",
      "test.ptx");
  ASSERT_EQ(module.kernels.size(), 3U);
  ASSERT_TRUE(module.kernels[0].refusal);
  EXPECT_EQ(module.kernels[0].refusal->position, (Position{6, 28}));
  EXPECT_EQ(module.kernels[0].parameters.size(), 1U);
  const std::vector<Refusal> all = simulated::refusals(module, module.kernels[1]);
  ASSERT_EQ(all.size(), 2U);  // each once, in their order
  EXPECT_EQ(all[0].what, "'add.q32': this instruction is not supported by the simulated device");
  EXPECT_EQ(all[1].position, (Position{9, 2}));
  EXPECT_TRUE(simulated::refusals(module, module.kernels[2]).empty());
}

TEST(PtxParser, RefusesWhatItDoesNotKnowAtItsPlace) {
  using testing::HasSubstr;
  EXPECT_THAT(error_of("hello"), HasSubstr("test.ptx:1:1: the directive 'hello' is not supported here"));
  EXPECT_THAT(error_of(".visible .func f() { ret; "), HasSubstr("expected a '}'"));
  EXPECT_THAT(error_of(".extern .func f() 1"), HasSubstr("expected '{' or ';'"));
  EXPECT_THAT(error_in_body("bra nowhere; ret;"), HasSubstr("6:5: 'nowhere' is neither"));
  EXPECT_THAT(error_in_body("a: a: ret;"), HasSubstr("6:4: the label 'a' is defined twice"));
  EXPECT_THAT(error_in_body(".reg .b32 r; .reg .b32 r; ret;"), HasSubstr("declared twice"));
  EXPECT_THAT(error_in_body("ld.global.f32 x, [y]; ret;"), HasSubstr("'y' is neither a register nor a variable"));
  EXPECT_THAT(error_in_body(".reg .b32 %r<99999999999>;"), HasSubstr("larger than"));
  EXPECT_THAT(error_of(kernel_text("", "mov.f32 x, 0f3F8;")), HasSubstr("test.ptx:6:12: 0f must be followed by 8 hex"));
  EXPECT_THAT(error_of(kernel_text("", "mov.u32 x, \"text")), HasSubstr("an unterminated string"));
  EXPECT_THAT(error_of(kernel_text("", "/* ")), HasSubstr("an unterminated comment"));
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(PtxParser, RefusesWhatIsDeeperOrLargerThanSupported) {
  using testing::HasSubstr;
  constexpr int deep = 100'000;
  EXPECT_THAT(error_of(".global .b8 x = " + repeated("{", deep)),
              HasSubstr("initial values with braces nested deeper"));
  EXPECT_THAT(error_in_body("mov.b64 x, " + repeated("{", deep) + repeated("}", deep)),
              HasSubstr("this is not allowed inside {…}"));
  EXPECT_THAT(error_in_body("mov.b64 {x, [y]}, z;"), HasSubstr("this is not allowed inside {…}"));
  EXPECT_THAT(error_in_body(repeated("{", deep) + repeated("}", deep)),
              HasSubstr("braces nested deeper than supported"));
  const std::string array = ".global .b8 x[65536][65536]";
  EXPECT_EQ(parse_module(array + ";", "test.ptx").symbols.at(0).bytes, std::uint64_t{1} << 32);
  EXPECT_THAT(error_of(array + "[2];"), HasSubstr("the array is larger than supported"));
  EXPECT_THAT(error_of(array + "[4294967296][4294967296];"), HasSubstr("the array is larger than supported"));
  EXPECT_THAT(error_of(".global .b128 x = -1;"), HasSubstr("initial values of more than 64 bits"));
  const Module misaligned =
      parse_module(".entry k(.param .align 3 .b8 p[4]) { ret; } .entry fine() { ret; }", "test.ptx");
  EXPECT_THAT(misaligned.kernels.at(0).refusal.value().what, HasSubstr("a power of two"));
  EXPECT_FALSE(misaligned.kernels.at(1).refusal);
  if (kSanitized) return;  // so many registers take seconds then
  const Module many = parse_module(repeated(".entry k() { .reg .b32 %r<1048576>; ret; }\n", 5), "test.ptx");
  EXPECT_FALSE(many.kernels.at(3).refusal);
  EXPECT_EQ(many.kernels.at(4).refusal.value().what, "more registers than supported");
}

TEST(PtxParser, TheThreadsOfABlockAreNeverMoreThanOneCanHave) {
  const std::string kernel = ".entry k() .maxntid " + repeated("1024, ", 7) + "64 { ret; }";
  EXPECT_EQ(parse_module(kernel, "test.ptx").kernels.at(0).max_threads_per_block, 1024);
}

TEST(PtxParser, AMessageShowsATokenInOneShortLine) {
  EXPECT_EQ(error_of(".pragma \"a\" \"\x1b[31m\xc2\x9b\""),
            "test.ptx:1:13: expected ';', found '?[31m?"
            "?'");
  EXPECT_LT(error_of(".pragma \"a\" \"" + repeated("b", 1000) + "\"").size(), 200U);
}

TEST(PtxParser, EveryTruncationOfAKernelIsAnErrorOrAWholeModule) {
  const std::string text =
      kernel_text(".param .u64 p", ".reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 5;\nret;");
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      static_cast<void>(parse_module(text.substr(0, length), "test.ptx"));
    } catch (const PtxError&) {
      continue;
    }
  }
  EXPECT_EQ(parse_module(text, "test.ptx").kernels.size(), 1U);
}

std::vector<int> reconvergence_of(const std::string& body) {
  const Module module = parse(".reg .pred p; .reg .b32 r;\n" + body);
  std::vector<int> result;
  for (const BasicBlock& block : control_flow(module.kernels[0], "test.ptx")) result.push_back(block.reconvergence);
  return result;
}

TEST(ControlFlow, BothSidesOfAnIfMeetBehindIt) {
  EXPECT_EQ(reconvergence_of("@p bra b; mov.u32 r, 1; bra c; b: mov.u32 r, 2; c: mov.u32 r, 3; ret;"),
            (std::vector<int>{3, 3, 3, 4}));
}

TEST(ControlFlow, TheLanesOfALoopMeetAtItsExit) {
  EXPECT_EQ(reconvergence_of("a: mov.u32 r, 1; @p bra a; mov.u32 r, 2; ret;"), (std::vector<int>{1, 2}));
}

TEST(ControlFlow, NobodyWaitsForLanesThatReturnEarly) {
  EXPECT_EQ(reconvergence_of("@p bra out; mov.u32 r, 1; ret; out: ret;"), (std::vector<int>{1, 3, 3}));
  // The return from the loop leaves it where the loop ends, and its own branch where the loop goes on.
  EXPECT_EQ(reconvergence_of("loop: @p bra on; mov.u32 r, 3; ret; on: mov.u32 r, 1; @p bra loop; mov.u32 r, 2; ret;"),
            (std::vector<int>{2, 4, 3, 4}));
}

TEST(ControlFlow, AKernelMustEndWithAReturn) {
  const Module module = parse(".reg .b32 r; mov.u32 r, 1;");
  EXPECT_THROW(control_flow(module.kernels[0], "test.ptx"), PtxError);
}

}  // namespace
}  // namespace convladder::ptx

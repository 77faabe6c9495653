// What PTX can be written like: declarations, constants, registers and directives, as in the PTX ISA 9.0, chapters 4, 5
// and 11.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/linking.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/ptx_kernels.hpp"
#include "simulator/state/program.hpp"

namespace convladder::ptx {
namespace {

using simulated::kernel_text;
using testing::ElementsAre;

Module parse_body(const std::string& body) { return parse_module(kernel_text("", body), "test.ptx"); }

std::string refusal_of(const Module& module) {
  for (const Kernel& kernel : module.kernels) {
    for (const Refusal& refusal : simulated::refusals(module, kernel)) {
      return std::to_string(refusal.position.line) + ": " + refusal.what;
    }
  }
  return "none";
}
std::string refusal_of_body(const std::string& body) { return refusal_of(parse_body(body)); }

/// The second operand of "mov.u64 r, …;"
std::int64_t value_of(const std::string& expression) {
  const Module module = parse_body(".reg .u64 r; mov.u64 r, " + expression + "; ret;");
  if (module.kernels.at(0).refusal) throw std::runtime_error(module.kernels[0].refusal->what);
  return static_cast<std::int64_t>(module.kernels.at(0).instructions.at(0).operands.at(1).bits);
}

TEST(PtxSyntax, ConstantExpressionsAreComputedAsInC) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 4"), -3);
  EXPECT_EQ(value_of("1 << 4 | 3"), 19);
  EXPECT_EQ(value_of("-8 >> 1"), -4);
  EXPECT_EQ(value_of("0xFFFFFFFFFFFFFFFF >> 60"), 15);  // too large for .s64, so it is unsigned
  EXPECT_EQ(value_of("(.u64)-8 >> 60"), 15);
  EXPECT_EQ(value_of("~0x0F & 0xFF ^ 0x10"), 0xE0);
  EXPECT_EQ(value_of("!5 + !0"), 1);
  EXPECT_EQ(value_of("3 > 2 && 2 >= 2 ? 11 : 12"), 11);
  EXPECT_EQ(value_of("1U == 2 || 3 != 3 ? 11 : 12"), 12);
  EXPECT_EQ(value_of("0777 + 0b11U + 0X1F"), 511 + 3 + 31);
  EXPECT_EQ(value_of("WARP_SZ * 2"), 64);
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) / -1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_THROW(value_of("1 / 0"), std::runtime_error);
  EXPECT_THROW(value_of("1.5 & 1"), std::runtime_error);
  EXPECT_THROW(value_of(std::string(100'000, '(') + "1"), std::runtime_error);
  EXPECT_THROW(value_of(std::string(100'000, '-') + "1"), std::runtime_error);
}

TEST(PtxSyntax, AnAttributeThatDoesNotEndIsAnErrorAndNoEndlessLoop) {
  EXPECT_THROW(
      parse_module(".version 8.0\n.target sm_80\n.address_size 64\n.global .attribute(.managed .u32 x;", "a.ptx"),
      PtxError);
}

TEST(PtxSyntax, OffsetsAndArraySizesAreExpressions) {
  const Module module =
      parse_module(".const .u32 table[4 * (2 + 6)];\n" +
                       kernel_text("",
                                   ".reg .b64 r; .reg .b32 v; ld.global.u32 v, [r + 2 * 8]; ld.global.u32 v, [r-8];\n"
                                   "ld.const.u32 v, table[3]; ld.const.u32 v, [table + 1]; mov.u64 r, table[2]; ret;"),
                   "test.ptx");
  EXPECT_EQ(refusal_of(module), "none");
  EXPECT_EQ(module.symbols.at(0).bytes, 128U);
  std::vector<std::int64_t> offsets;
  for (const Instruction& instruction : module.kernels[0].instructions) {
    if (instruction.operands.size() == 2) offsets.push_back(instruction.operands[1].offset);
  }
  EXPECT_THAT(offsets, ElementsAre(16, -8, 12, 1, 8));
}

TEST(PtxSyntax, InitialValuesMayBeAddressesTextsFloatsAndRows) {
  const Module module = parse_module(
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".func called;\n"
      ".global .align 8 .u64 first = 5;\n"
      ".global .u64 pointer = first + 4;\n"
      ".global .u64 many[] = {generic(first), generic(first)+8, called, 7};\n"
      ".global .u8 bytes[2] = {0xFF(first), 0xFF00(first)};\n"
      ".global .b8 text[] = \"hello\";\n"
      ".global .f32 floats[] = {1.5, -1.0, 0f3F800000, 2};\n"
      ".global .s32 rows[3][2] = {{1}, {2, 3}};\n"
      ".global .v2 .f32 pair = {1.0, 2.0};\n"
      ".global .f64 wide = 0f3F800000;\n",
      "test.ptx");
  const auto symbol = [&module](const std::string& name) {
    for (const Symbol& one : module.symbols) {
      if (one.name == name) return one;
    }
    throw std::out_of_range(name);
  };
  ASSERT_EQ(symbol("pointer").initial_addresses.size(), 1U);
  EXPECT_EQ(symbol("pointer").initial_addresses[0].name, "first");
  EXPECT_EQ(symbol("pointer").initial_addresses[0].addend, 4U);
  EXPECT_EQ(symbol("many").bytes, 32U);
  ASSERT_EQ(symbol("many").initial_addresses.size(), 3U);
  EXPECT_EQ(symbol("many").initial_addresses[1].offset, 8U);
  EXPECT_EQ(symbol("many").initial_addresses[1].addend, 8U);
  EXPECT_EQ(symbol("many").initial_addresses[2].name, "called");
  EXPECT_EQ(symbol("bytes").initial_addresses.at(1).shift, 8);
  EXPECT_EQ(symbol("bytes").initial_addresses.at(1).bytes, 1);
  EXPECT_THAT(symbol("text").initial_bytes, ElementsAre('h', 'e', 'l', 'l', 'o', 0));
  std::vector<float> floats(4);
  std::memcpy(floats.data(), symbol("floats").initial_bytes.data(), 16);
  EXPECT_THAT(floats, ElementsAre(1.5F, -1.F, 1.F, 2.F));
  std::vector<std::int32_t> rows(4);
  std::memcpy(rows.data(), symbol("rows").initial_bytes.data(), 16);
  EXPECT_THAT(rows, ElementsAre(1, 0, 2, 3));
  EXPECT_EQ(symbol("pair").initial_bytes.size(), 8U);
  double wide = 0;
  std::memcpy(&wide, symbol("wide").initial_bytes.data(), 8);
  EXPECT_EQ(wide, 1.0);
}

TEST(PtxSyntax, VectorRegistersAreTheirElements) {
  const Module module = parse_body(
      ".reg .v4 .f32 %v; .reg .v2 .u32 %p<2>; .reg.u64 a; .reg .f32 x;\n"
      "ld.global.v4.f32 %v, [a]; add.f32 x, %v.x, %v.a; mov.u32 %p1.y, 3; ret;");
  EXPECT_EQ(refusal_of(module), "none");
  const auto& i = module.kernels.at(0).instructions;
  ASSERT_EQ(i[0].operands[0].elements.size(), 4U);
  EXPECT_EQ(i[1].operands[1].index, i[0].operands[0].elements[0].index);
  EXPECT_EQ(i[1].operands[2].index, i[0].operands[0].elements[3].index);
  EXPECT_EQ(module.kernels[0].registers[i[2].operands[0].index].name, "%p1.y");
}

TEST(PtxSyntax, DirectivesOfEveryKindAreRead) {
  const Module module = parse_module(
      "\xef\xbb\xbf// a comment\r\n.version 8.0\r\n.target sm_90a, texmode_independent, debug\r\n.address_size 32\r\n"
      "@@DWARF .byte 1, 2\n"
      ".file 1 \"a.cu\", 123, 456\n"
      ".pragma \"nounroll\";\n"
      ".weak .global .align 4 .b32 w; .common .global .b32 c;  .hidden .global .b32 h;\n"
      ".extern .global .b32 later;  .global .b32 later = 7;\n"
      " .global .attribute(.managed) .s32 m[4]; .global .attribute(.unified(1, 2)) .f32 u;\n"
      ".global .texref image; .global .samplerref s = {addr_mode_0 = wrap}; .tex .u32 old;\n"
      ".extern .func (.param .b32 r) outer (.param .b64 a);\n"
      " .func inner(.param .align 8 .b8 a[16]) .noreturn { trap; }\n"
      ".alias other, inner;\n"
      ".weak .entry kernel(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q, .hidden .param .align 8 .b8 "
      "b[24])\n"
      ".reqntid 128, 2 .minnctapersm 2 .maxnreg 64 .reqnctapercluster 2, 1, 1 .explicitcluster .maxclusterrank 8\n"
      ".pragma \"enable_smem_spilling\";\n"
      "{ /* in the body */ .pragma \"nounroll\"; .global .u32 counter; .shared.align 8 .b8 tile[64];\n"
      "  .reg .b32 %r<3>; mov.u32 %r1, %envreg3; mov.u32 %r2, %r1; ret; }\n"
      ".section .debug_info { .b8 1 .b32 .debug_str+4 L: .b8 2 }\n"
      ".section .debug_str { info: .b8 97 }\n",
      "test.ptx");
  ASSERT_EQ(module.kernels.size(), 1U);
  const Kernel& kernel = module.kernels[0];
  EXPECT_EQ(refusal_of(module), "none");
  EXPECT_EQ(module.address_bits, 32);
  EXPECT_EQ(kernel.max_threads_per_block, 256);
  EXPECT_THAT(kernel.cluster_size, ElementsAre(2, 1, 1));
  EXPECT_EQ(kernel.parameters.at(0).alignment, 8);
  EXPECT_EQ(kernel.parameters.at(2).bytes, 24U);
  EXPECT_EQ(kernel.symbols.at(0).alignment, 8);
  EXPECT_EQ(std::ranges::count(module.symbols, "later", &Symbol::name), 1);
  EXPECT_EQ(std::ranges::count(module.symbols, "kernel:counter", &Symbol::name), 1);
  EXPECT_EQ(std::ranges::find(module.symbols, "image", &Symbol::name)->opaque_type, "texref");
  ASSERT_NE(module.find_function("other"), nullptr);
  EXPECT_EQ(module.find_function("other")->name, "inner");
  EXPECT_FALSE(module.find_function("outer")->is_defined);
}

TEST(PtxSyntax, TheTextMayEndWithoutANewlineOrWithAZero) {
  EXPECT_EQ(parse_module(std::string(".entry k() { ret; }\0", 20), "test.ptx").kernels.size(), 1U);
}

TEST(PtxSyntax, BranchesThroughTablesAndCallsAreReadWithTheirOperands) {
  const Module module = parse_module(
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".func (.reg .u32 out) twice(.reg .u32 in) { add.u32 out, in, in; @!p ret; ret; }\n"
      ".func (.param .b32 r) f(.param .b32 a, .param .align 4 .b8 s[12]) { ret; }\n" +
          kernel_text("",
                      ".reg .u32 x; .reg .b64 g;\nt: .branchtargets A, B, A;\np: .callprototype (.param .b32 _) _ "
                      "(.param .b32 _);\nbrx.idx.uni x, t;\nA: mov.u32 x, 1;\nB:\n"
                      "{ .param .b32 in; .param .b32 out; { .param .b32 in; }\n"
                      "call.uni (out), f, (in, in); call (out), g, (in), p; call (x), twice, (5); ret; }"),
      "test.ptx");
  const Kernel& kernel = module.kernels.at(0);
  ASSERT_FALSE(kernel.refusal) << kernel.refusal->what;
  const auto& i = kernel.instructions;
  ASSERT_EQ(i[0].operands.size(), 2U);
  std::vector<int> targets;
  for (const Operand& label : i[0].operands[1].elements) targets.push_back(label.index);
  EXPECT_THAT(targets, ElementsAre(1, 2, 1));
  EXPECT_EQ(i[2].operands[0].name, "f");
  EXPECT_EQ(i[2].operands[1].elements.at(0).name, "out");
  EXPECT_EQ(i[2].operands[2].elements.size(), 2U);
  EXPECT_EQ(i[3].operands[0].kind, OperandKind::register_);
  EXPECT_EQ(kernel.symbols.size(), 3U);
  EXPECT_EQ(kernel.symbols[2].name, "in:1");  // a name that repeats
  const Kernel& twice = *module.find_function("twice");
  EXPECT_TRUE(twice.refusal);  // p is not declared
  EXPECT_EQ(twice.instructions.at(0).opcode, "ld.param.b32");
}

TEST(PtxSyntax, WhatIsWrongIsSaidAtItsPlace) {
  EXPECT_EQ(refusal_of_body("bra A;"), "6: 'A' is neither a register, a variable nor a label");
  EXPECT_EQ(refusal_of_body(".reg .u32 x;\nt: .branchtargets A,\n B; brx.idx x, t; A: ret;"),
            "8: 'B' is neither a register, a variable nor a label");
  EXPECT_EQ(refusal_of_body("call nobody;"), "6: 'nobody' is neither a function nor a register");
  EXPECT_EQ(refusal_of_body(".shared .b32 x; .shared .b32 x; ret;"), "6: 'x' is declared twice");
  EXPECT_EQ(refusal_of_body(".shared .b64 x = 0xF0F(x); ret;"), "6: the mask of an address must have one byte of ones");
}

/// The instructions that the first operands of the branches of a body lead to.
std::vector<int> targets_of(const std::string& body) {
  const Module module = parse_body(".reg .pred p;\n" + body);
  if (module.kernels.at(0).refusal) throw std::runtime_error(module.kernels[0].refusal->what);
  std::vector<int> targets;
  for (const Instruction& instruction : module.kernels[0].instructions) {
    if (instruction.opcode == "bra") targets.push_back(instruction.operands.at(0).index);
  }
  return targets;
}

TEST(PtxSyntax, LabelsAreThoseOfTheirBraces) {
  EXPECT_THAT(targets_of("{ L: @p bra L; } { L: @p bra L; } ret;"), ElementsAre(0, 1));
  EXPECT_THAT(targets_of("{ @p bra D; D: } { @p bra D; D: } ret;"), ElementsAre(1, 2));  // at the end of a block
  EXPECT_THAT(targets_of("{ @p bra OUT; } OUT: { @p bra OUT; } ret;"), ElementsAre(1, 1));
  EXPECT_THAT(targets_of("L: @p bra L; { @p bra L; L: @p bra L; } @p bra L; ret;"), ElementsAre(0, 2, 2, 0));
  EXPECT_THAT(targets_of("{ { L: @p bra L; } { @p bra L; } L: ret; }"), ElementsAre(0, 2));
  EXPECT_THAT(targets_of("{ .reg .pred q; L: @q bra L; { .reg .pred q; L: @q bra L; } @q bra L; } ret;"),
              ElementsAre(0, 1, 0));
  EXPECT_EQ(refusal_of_body(".reg .pred p; @p bra L; { L: } ret;"),
            "6: 'L' is neither a register, a variable nor a label");
  EXPECT_EQ(refusal_of_body("{ L: L: ret; }"), "6: the label 'L' is defined twice");
  // Tables of labels as well, and a label may have the name of a function.
  const std::string table = "{ T: .branchtargets A, B; brx.idx r, T; A: ret; B: ret; }\n";
  const Module tables = parse_body(".reg .b32 r;\n" + table + table + "ret;");
  EXPECT_EQ(refusal_of(tables), "none");
  EXPECT_EQ(tables.kernels[0].instructions[3].operands[1].elements[1].index, 5);
  EXPECT_EQ(
      refusal_of(parse_module(".func f() { ret; }\n" + kernel_text("", ".reg .pred p; f: @p bra f; ret;"), "t.ptx")),
      "none");
}

TEST(PtxSyntax, ADeclarationOfAFunctionNeedsNoSemicolon) {
  const std::string kernel = kernel_text("", ".reg .b32 r; ld.shared.b32 r, [s]; ret;");
  for (const char* const text :
       {".visible .func f (.param .u64 p)\n.extern .shared .align 4 .b8 s[];\n", ".shared .b32 s;\n.func f\n",
        ".extern .func (.param .b32 r) f ()\n.shared .b32 s;\n", ".func f () .noreturn\n.shared .b32 s;\n",
        ".func f (.param .u64 p)\n.file 1 \"a.cu\"\n.shared .b32 s;\n",
        ".func f ()\n.func g () { ret; }\n.shared .b32 s;\n"}) {
    const Module module = parse_module(text + kernel, "test.ptx");
    EXPECT_EQ(refusal_of(module), "none") << text;
    ASSERT_NE(module.find_function("f"), nullptr) << text;
    EXPECT_FALSE(module.find_function("f")->is_defined) << text;
  }
  EXPECT_FALSE(parse_module(kernel + ".shared .b32 s;\n.func f ()", "test.ptx").find_function("f")->is_defined);
}

TEST(PtxSyntax, DeclarationsAgreeWithDefinitions) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_module(text, "test.ptx"));
    } catch (const PtxError& error) {
      return error.what();
    }
    return "none";
  };
  const std::string function = ".func (.param .b32 r) f(.param .b32 a) { st.param.b32 [r], 1; ret; }\n";
  for (const char* const same :
       {".func (.param .b32 x) f(.param .b32 y);\n", ".func (.param .u32 r) f(.param .s32 a);\n"}) {
    EXPECT_EQ(error_of(same + function), "none") << same;
    EXPECT_EQ(error_of(function + same), "none") << same;
  }
  for (const char* const other :
       {".func (.param .b64 r) f(.param .b64 a);\n", ".func (.param .b32 r) f();\n", ".func f(.param .b32 a);\n",
        ".func (.param .f32 r) f(.param .f32 a);\n", ".func (.param .b32 r) f(.param .b8 a[4]);\n",
        ".func (.param .b32 r) f(.param .b32 a, .param .b32 b);\n"}) {
    EXPECT_THAT(error_of(other + function), testing::HasSubstr("prototype doesn't match: the function 'f'")) << other;
    EXPECT_THAT(error_of(function + other), testing::HasSubstr("in line 1")) << other;
  }
  EXPECT_EQ(
      error_of(".extern .global .b32 x;\n.visible .global .b32 x = 3;\n.extern .global .b8 y[];\n.global .b8 y[4];\n"),
      "none");
  EXPECT_THAT(error_of(".extern .global .b32 x;\n.visible .global .b64 x;\n"),
              testing::HasSubstr("2:23: size doesn't match: the variable 'x' has 8 bytes here and 4 in line 1"));
}

TEST(PtxSyntax, WhatIsUsedIsDefined) {
  const auto missing = [](const std::string& head, const std::string& body) {
    const Module module =
        parse_module(".version 8.0\n.target sm_75\n" + head + "\n.entry test()\n{ " + body + " ret; }\n", "test.ptx");
    std::string names;
    for (const Refusal& one : undefined(module)) names += std::to_string(one.position.line) + ": " + one.what + "\n";
    return names;
  };
  const std::string registers = ".reg .b32 r; .reg .b64 d; ";
  EXPECT_EQ(missing(".extern .global .b32 x;", registers + "ld.global.b32 r, [x];"),
            "5: undefined reference to the variable 'x', which is only declared (.extern)\n");
  EXPECT_THAT(missing(".extern .const .b32 x[4];", registers + "mov.u64 d, x;"), testing::HasSubstr("'x'"));
  EXPECT_THAT(missing(".extern .global .b32 x; .global .u64 y = x;", ""), testing::HasSubstr("'x'"));
  EXPECT_EQ(missing(".extern .func f();", registers + "call f;"), "5: undefined reference to the function 'f'\n");
  EXPECT_THAT(missing(".extern .func f();", registers + "mov.u64 d, f;"), testing::HasSubstr("'f'"));
  // What nobody uses, what is defined, dynamic shared memory, and what the device or the toolkit provides.
  EXPECT_EQ(missing(".extern .global .b32 x; .extern .func f();", ""), "");
  EXPECT_EQ(missing(".extern .global .b32 x; .visible .global .b32 x;", registers + "ld.global.b32 r, [x];"), "");
  EXPECT_EQ(missing(".extern .global .b32 x;", registers + ".shared .b32 x; ld.shared.b32 r, [x]; { bra y; y: }"), "");
  EXPECT_EQ(missing(".extern .shared .b32 x[];", registers + "ld.shared.b32 r, [x];"), "");
  EXPECT_EQ(missing(".extern .func free(.param .b64 p); .extern .func (.param .b32 r) cudaDeviceSynchronize();",
                    "{ .param .b64 p; .param .b32 r; call free, (p); call (r), cudaDeviceSynchronize; }"),
            "");
  EXPECT_THAT(
      refusal_of(parse_module(".extern .global .b32 x;\n" + kernel_text("", ".reg .b32 r; ld.global.b32 r, [x]; ret;"),
                              "test.ptx")),
      testing::HasSubstr("undefined reference to the variable 'x'"));
}

}  // namespace
}  // namespace convladder::ptx

// Every opcode of PTX, decoded by the simulated device: which forms of opcode_probe.txt it executes is
// docs/reference/ptx_support.md.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {
namespace {

const std::string kProbeFile = CONVLADDER_SOURCE_DIR "/tests/simulator/opcodes/opcode_probe.txt";
const std::string kSupportPage = CONVLADDER_SOURCE_DIR "/docs/reference/ptx_support.md";
constexpr const char* kRewrite = "CONVLADDER_REWRITE_PTX_SUPPORT";  // in the environment: the page is written anew

struct ProbedForm {
  std::string target;
  std::string module;  ///< text at module scope
  std::string opcode;  ///< in full
  std::string text;
};

std::vector<ProbedForm> read_probe() {
  std::ifstream file(kProbeFile);
  std::vector<ProbedForm> forms;
  ProbedForm group;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      group = {line.substr(line.rfind(' ') + 1), "", "", ""};
    } else if (line.starts_with("module ")) {
      group.module += line.substr(7) + "\n";
    } else if (!line.empty() && !line.starts_with("#")) {
      const std::size_t bar = line.find(" | ");
      const bool named = bar != std::string::npos;
      forms.push_back({group.target, group.module, line.substr(0, named ? bar : line.find_first_of(" ;")),
                       named ? line.substr(bar + 3) : line});
    }
  }
  return forms;
}

/// Why the simulated device refuses the form; empty if it does not.
std::string probe_refusal(const ProbedForm& form) {
  const std::string text = fmt::format(
      ".version 9.0\n.target {}\n.address_size 64\n.global .align 128 .b8 g[1024];\n.const .align 128 .b8 k[64];\n"
      ".shared .align 128 .b8 s[1024];\n{}"
      ".visible .entry test(.param .u64 p, .param .align 64 .b8 m[128]) {{\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %l<20>; .local .align 16 .b8 t[64];\n"
      "{{ {} }}\nret;\n}}\n",
      form.target, form.module, form.text);
  try {
    const ptx::Module module = ptx::parse_module(text, "probe.ptx");
    const ptx::Kernel* const kernel = module.find_kernel("test");
    if (kernel == nullptr) return "no kernel";
    decode(module, *kernel, [](const ptx::Symbol&) { return std::uint64_t{4096}; });
    return "";
  } catch (const ptx::PtxError& error) {
    return error.what();
  }
}

struct OpcodeSupport {
  int executed = 0;
  std::vector<std::string> refused;
};

struct TargetCount {
  std::size_t executed = 0;
  std::size_t forms = 0;
};

struct ProbeResult {
  std::map<std::string, OpcodeSupport> by_opcode;  // of the first part: "ld"
  std::map<std::string, TargetCount> by_target;
};

ProbeResult decode_all(const std::vector<ProbedForm>& forms) {
  std::set<std::string> executed;
  std::vector<bool> is_executed;
  for (const ProbedForm& form : forms) {
    is_executed.push_back(probe_refusal(form).empty());
    if (is_executed.back()) executed.insert(form.opcode);
  }
  ProbeResult result;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const ProbedForm& form = forms[i];
    OpcodeSupport& support = result.by_opcode[form.opcode.substr(0, form.opcode.find_first_of(".:"))];
    TargetCount& count = result.by_target[form.target];
    ++count.forms;
    if (is_executed[i]) {
      ++support.executed;
      ++count.executed;
    } else {  // the operands, too, where they are what makes the difference
      support.refused.push_back(executed.contains(form.opcode) ? form.text : form.opcode);
    }
  }
  return result;
}

std::string support_page(const ProbeResult& result) {
  std::string text =
      "# Which PTX the simulated device executes\n\n"
      "This page is written by a test, which fails where it is out of date. To write it anew:\n\n"
      "```sh\n" +
      std::string(kRewrite) +
      "=1 build/release/tests/convladder_simulator_test --gtest_filter='OpcodeProbe.*'\n```\n\n"
      "The test decodes every form of [opcode_probe.txt](../../tests/simulator/opcodes/opcode_probe.txt): each\n"
      "opcode of the PTX ISA 9.0 with its most used spellings. A second test has ptxas accept each of them. Forms "
      "that\n"
      "compute are executed with vectors from an oracle (`opcode_oracle` beside it), those that touch memory or other\n"
      "lanes by kernels in `tests/simulator`.\n\n"
      "| for | executed | of |\n|---|---|---|\n";
  for (const auto& [target, count] : result.by_target) {
    text += fmt::format("| {} | {} | {} |\n", target, count.executed, count.forms);
  }
  text +=
      "\nA kernel with a form that is refused ends with file, line, column and the full opcode, before it begins.\n"
      "Modifiers may come in any order behind the words that name the instruction, as ptxas takes them; registers "
      "must\n"
      "fit the types of the instruction, as ptxas wants it.\n\n"
      "| opcode | forms executed | refused |\n|---|---|---|\n";
  for (const auto& [opcode, support] : result.by_opcode) {
    std::string refused;
    for (const std::string& form : support.refused) refused += fmt::format("{}`{}`", refused.empty() ? "" : ", ", form);
    std::string escaped;
    for (const char c : refused) escaped += c == '|' ? "\\|" : std::string(1, c);
    text += fmt::format("| {} | {} | {} |\n", opcode, support.executed, escaped);
  }
  return text;
}

/// The instructions of the ISA, chapter 9.7, by the first part of their opcodes.
constexpr std::string_view kOpcodes =
    "abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call "
    "clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence "
    "fma "
    "fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier "
    "membar min mma mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red "
    "redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave "
    "stmatrix "
    "sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 "
    "vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 "
    "vsub4 wgmma wmma xor";

TEST(OpcodeProbe, EveryOpcodeOfTheIsaIsThere) {
  std::set<std::string> found;
  for (const ProbedForm& form : read_probe()) found.insert(form.opcode.substr(0, form.opcode.find_first_of(".:")));
  std::set<std::string> expected;
  std::istringstream opcodes{std::string(kOpcodes)};
  for (std::string opcode; opcodes >> opcode;) expected.insert(opcode);
  EXPECT_EQ(found, expected);
}

TEST(OpcodeProbe, WhatIsExecutedIsWhatThePageSays) {
  const std::vector<ProbedForm> forms = read_probe();
  ASSERT_GE(forms.size(), 337U);
  const std::string expected = support_page(decode_all(forms));
  if (std::getenv(kRewrite) != nullptr) std::ofstream(kSupportPage) << expected;
  std::ostringstream found;
  found << std::ifstream(kSupportPage).rdbuf();
  EXPECT_EQ(found.str(), expected) << kSupportPage << " is out of date: run this test with " << kRewrite << "=1";
}

}  // namespace
}  // namespace convladder::simulated

// The checkers on kernels with seeded bugs (tests/seeded_kernels/*.cu): each is found at the line that is marked, and
// nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

/// A kernel of one of the files, and where its bug is marked.
struct SeededKernel {
  std::string file;  ///< "racecheck", also the checker that is to find it
  std::string name;
  std::set<std::pair<std::string, int>> marked;  ///< checker, line
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<SeededKernel> seeded_kernels() {
  std::vector<SeededKernel> kernels;
  for (const char* file : {"memcheck", "initcheck", "racecheck", "synccheck"}) {
    std::istringstream source(
        read_file(std::filesystem::path(CONVLADDER_SOURCE_DIR) / "tests/seeded_kernels" / (std::string(file) + ".cu")));
    std::string line;
    const std::regex kernel(R"(__global__ void (\w+)\()");
    for (int number = 1; std::getline(source, line); ++number) {
      std::smatch match;
      if (std::regex_search(line, match, kernel)) kernels.push_back({file, match[1], {}});
      const std::size_t mark = line.find("// <- ");
      if (mark == std::string::npos) continue;
      std::istringstream checkers(line.substr(mark + 6));
      for (std::string checker; checkers >> checker;) kernels.back().marked.emplace(checker, number);
    }
  }
  return kernels;
}

constexpr int kElements = 512;

std::vector<float> input() {
  std::vector<float> values(kElements);
  for (int i = 0; i < kElements; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i % 5);
  return values;
}

/// What all checkers find in a launch of 4 blocks of 128 threads.
std::vector<Finding> findings_of(const SeededKernel& seeded, const ptx::Module& module) {
  const auto kernel = std::ranges::find_if(module.kernels, [&](const ptx::Kernel& candidate) {
    return candidate.name.find(std::to_string(seeded.name.size()) + seeded.name) != std::string::npos;
  });
  EXPECT_NE(kernel, module.kernels.end());
  DeviceMemory memory(1 << 24);
  WrittenMemory written;
  const Program program = decode(module, *kernel, [](const ptx::Symbol&) { return std::uint64_t{0}; });
  const std::uint64_t bytes = kElements * sizeof(float);
  const std::uint64_t in = memory.allocate(bytes, "in");
  const std::uint64_t out = memory.allocate(bytes, "out");
  const std::vector<float> values = input();
  std::memcpy(memory.host(in), values.data(), bytes);
  written.allocated(in, bytes);
  written.allocated(out, bytes);
  written.written(in, bytes);
  if (seeded.file == "racecheck") written.written(out, bytes);

  LaunchConfiguration configuration;
  configuration.grid = {4};
  configuration.block = {128};
  configuration.collect_findings = true;
  configuration.parameters.resize(program.parameter_bytes);
  std::memcpy(configuration.parameters.data(), &in, 8);
  std::memcpy(configuration.parameters.data() + 8, &out, 8);
  std::memcpy(configuration.parameters.data() + 16, &kElements, 4);
  std::optional<InitializationChecker> initialization;
  std::optional<RaceChecker> race;
  const LaunchResult result = execute(program, memory, configuration, [&](FindingLog& findings) {
    return std::vector<AccessObserver*>{
        &initialization.emplace(written, findings),
        &race.emplace(program, written_allocations(program, configuration.parameters, memory), findings)};
  });
  return result.findings.findings();
}

std::ostream& operator<<(std::ostream& stream, const SeededKernel& kernel) { return stream << kernel.name; }

class SeededBug : public testing::TestWithParam<SeededKernel> {};

TEST_P(SeededBug, IsFoundAtItsLineAndNothingElseIs) {
  int compilers = 0;
  for (const char* compiler : {CONVLADDER_SEEDED_PTX_NVCC, CONVLADDER_SEEDED_PTX_CLANG}) {
    const std::filesystem::path file = std::filesystem::path(compiler) / (GetParam().file + ".ptx");
    if (!std::filesystem::exists(file)) continue;
    ++compilers;
    SCOPED_TRACE(compiler);
    const ptx::Module module = ptx::parse_module(read_file(file), file.filename());
    const std::vector<Finding> findings = findings_of(GetParam(), module);
    bool found = false;
    for (const Finding& finding : findings) {
      const std::string checker(checker_name(finding.checker));
      EXPECT_TRUE(GetParam().marked.contains({checker, finding.source_line})) << to_text(finding);
      EXPECT_EQ(finding.source_file, GetParam().file + ".cu") << to_text(finding);
      found = found || checker == GetParam().file;
    }
    EXPECT_TRUE(found) << "the bug itself";
  }
  if (compilers == 0) GTEST_SKIP() << "no compiler for CUDA in this build";
}

INSTANTIATE_TEST_SUITE_P(Kernels, SeededBug, testing::ValuesIn(seeded_kernels()),
                         [](const testing::TestParamInfo<SeededKernel>& info) {
                           return info.param.file + "_" + info.param.name;
                         });

TEST(InitializationChecker, AVariableBehindABufferIsNotTheBuffer) {
  KernelRun kernel(kernel_text(".param .u64 p, .param .u64 q",
                               ".reg .b64 %d<3>; .reg .b32 %r;\nld.param.u64 %d1, [p]; ld.param.u64 %d2, [q];\n"
                               "ld.global.u32 %r, [%d2]; st.global.u32 [%d1], %r; ret;"));
  const std::uint64_t buffer = kernel.array(std::vector<std::uint32_t>(4), "buffer");
  const std::uint64_t variable = kernel.array(std::vector<std::uint32_t>(4), "variable");
  kernel.set(0, buffer);
  WrittenMemory written;
  written.allocated(buffer, 16);
  EXPECT_NE(written.find(buffer + 15), nullptr);
  EXPECT_EQ(written.find(buffer + 16), nullptr);
  EXPECT_EQ(written.find(variable), nullptr);
  const auto findings_reading = [&](std::uint64_t address) {
    kernel.set(1, address);
    LaunchConfiguration configuration;
    configuration.collect_findings = true;
    std::optional<InitializationChecker> checker;
    return kernel
        .launch(configuration,
                [&](FindingLog& findings) { return std::vector<AccessObserver*>{&checker.emplace(written, findings)}; })
        .findings.findings()
        .size();
  };
  EXPECT_EQ(findings_reading(buffer + 4), 1U);
  EXPECT_EQ(findings_reading(variable), 0U);
}

/// The findings of initcheck of a kernel with the parameters `out` and `in`, of so many words each; the first
/// `written_bytes` of `in` are written.
std::size_t unwritten_findings(KernelRun& kernel, std::size_t words, std::uint64_t written_bytes) {
  const std::uint64_t out = kernel.array(std::vector<std::uint32_t>(words), "out");
  const std::uint64_t in = kernel.array(std::vector<std::uint32_t>(words), "in");
  kernel.set(0, out);
  kernel.set(1, in);
  WrittenMemory written;
  written.allocated(out, 4 * words);
  written.allocated(in, 4 * words);
  written.written(in, written_bytes);
  LaunchConfiguration configuration;
  configuration.collect_findings = true;
  std::optional<InitializationChecker> checker;
  return kernel
      .launch(configuration,
              [&](FindingLog& findings) { return std::vector<AccessObserver*>{&checker.emplace(written, findings)}; })
      .findings.findings()
      .size();
}

/// nvcc loads four words where a program asks for three, and says so in front of the load.
std::size_t findings_of_wide_load(const std::string& pragma, const std::string& opcode) {
  KernelRun kernel(kernel_text(".param .u64 p, .param .u64 q",
                               ".reg .b64 %d<3>; .reg .b32 %r<5>;\nld.param.u64 %d1, [p]; ld.param.u64 %d2, [q];\n" +
                                   pragma + opcode +
                                   " {%r1, %r2, %r3, %r4}, [%d2]; add.u32 %r1, %r1, %r3; add.u32 %r4, %r4, %r4;\n"
                                   "st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r4; ret;"));
  return unwritten_findings(kernel, 4, 12);
}

TEST(InitializationChecker, BytesOfALoadThatAreNotUsedNeedNotBeWritten) {
  EXPECT_EQ(findings_of_wide_load("", "ld.global.v4.u32"), 1U);
  EXPECT_EQ(findings_of_wide_load(".pragma \"used_bytes_mask 4095\";\n", "ld.global.v4.u32"), 0U);
  EXPECT_EQ(findings_of_wide_load(".pragma \"used_bytes_mask 0x0fff\";\n", "ld.v4.u32"), 0U);
  EXPECT_EQ(findings_of_wide_load(".pragma \"used_bytes_mask 61695\";\n", "ld.global.v4.u32"), 1U) << "0xf0ff";
  EXPECT_EQ(findings_of_wide_load(".pragma \"nounroll\";\n", "ld.global.v4.u32"), 1U);
}

/// The findings of initcheck where a load brings 8 bytes of which only the first is written: into %d3; %d1 is `out`.
std::size_t findings_of_first_byte(const std::string& body) {
  KernelRun kernel(kernel_text(".param .u64 p, .param .u64 q",
                               ".reg .b64 %d<6>; .reg .b32 %r<5>; .reg .b16 %h<5>; .reg .pred %c;\n"
                               "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.nc.u64 %d3, [%d2];\n" +
                                   body + " ret;"));
  return unwritten_findings(kernel, 2, 1);
}

TEST(InitializationChecker, BytesOnWhichNothingDependsNeedNotBeWritten) {
  for (const char* const body :
       {"cvt.u16.u64 %h1, %d3; and.b16 %h2, %h1, 255; st.global.u16 [%d1], %h2;",  // bool and long of a CUB tuple
        "cvt.u16.u64 %h1, %d3; and.b16 %h2, 255, %h1; setp.eq.s16 %c, %h2, 0; @%c st.global.u16 [%d1], %h2;",
        "cvt.u16.u64 %h1, %d3; st.global.u8 [%d1], %h1;", "st.global.u8 [%d1], %d3;",
        "shl.b64 %d4, %d3, 56; shr.u64 %d4, %d4, 56; st.global.u64 [%d1], %d4;",
        "add.s64 %d4, %d3, 1; and.b64 %d5, %d4, 255; st.global.u64 [%d1], %d5;",
        "cvt.s64.s8 %d4, %d3; st.global.u64 [%d1], %d4;", "bfe.u64 %d4, %d3, 2, 6; st.global.u64 [%d1], %d4;",
        "mov.b64 {%r1, %r2}, %d3; shfl.sync.bfly.b32 %r3, %r1, 0, 31, 1; and.b32 %r4, %r3, 255; st.global.u32 [%d1], "
        "%r4;",
        "mov.b64 {%r1, %r2}, %d3; mov.b64 %d4, {%r1, %r1}; and.b64 %d5, %d4, 0xff000000ff; st.global.u64 [%d1], %d5;",
        "mov.u32 %r1, 2; L: mov.b64 %d4, %d3; sub.u32 %r1, %r1, 1; setp.ne.u32 %c, %r1, 0; @%c bra L; st.global.u8 "
        "[%d1], %d4;"}) {
    EXPECT_EQ(findings_of_first_byte(body), 0U) << body;
  }
  for (const char* const body :
       {"cvt.u16.u64 %h1, %d3; st.global.u16 [%d1], %h1;", "shr.u64 %d4, %d3, 8; st.global.u64 [%d1], %d4;",
        "add.s64 %d4, %d3, 1; and.b64 %d5, %d4, 511; st.global.u64 [%d1], %d5;",
        "setp.eq.s64 %c, %d3, 0; @%c st.global.u8 [%d1], 1;",
        "cvt.s64.s16 %d4, %d3; st.global.u8 [%d1+1], %d4; "
        "shr.u64 %d4, %d4, 8; st.global.u8 [%d1], %d4;",
        "mov.b64 {%r1, %r2}, %d3; shfl.sync.bfly.b32 %r3, %r1, 0, 31, 1; st.global.u32 [%d1], %r3;",
        "mov.b64 {%r1, %r2}, %d3; and.b32 %r2, %r2, 255; st.global.u32 [%d1], %r2;",
        "and.b64 %d4, %d3, 255; add.s64 %d1, %d1, %d4; sub.s64 %d1, %d1, %d3; st.global.u8 [%d1], %d4;",
        "cvt.rn.f32.u64 %r1, %d3; st.global.u8 [%d1], %r1;", "mul.hi.u64 %d4, %d3, 3; st.global.u8 [%d1], %d4;"}) {
    EXPECT_EQ(findings_of_first_byte(body), 1U) << body;
  }
}

TEST(MemoryChecker, BytesOfALoadThatAreNotUsedMayLieBehindTheEnd) {
  const auto findings = [](const std::string& pragma) {
    KernelRun kernel(kernel_text(".param .u64 p, .param .u64 q",
                                 ".reg .b64 %d<3>; .reg .b32 %r<9>; .shared .align 16 .b8 words[28];\n"
                                 "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; st.shared.u32 [words+24], 7;\n" +
                                     pragma + "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [words+16];\n" + pragma +
                                     "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d2+16];\n"
                                     "st.global.u32 [%d1], %r3; st.global.u32 [%d1+4], %r7; ret;"));
    const std::uint64_t out = kernel.array(std::vector<std::uint32_t>(2), "out");
    kernel.set(0, out);
    kernel.set(1, kernel.array(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}, "in"));
    LaunchConfiguration configuration;
    configuration.collect_findings = true;
    const std::size_t count = kernel.launch(configuration).findings.findings().size();
    return std::pair(count, kernel.read<std::uint32_t>(out, 2));
  };
  EXPECT_EQ(findings("").first, 2U);
  const std::vector<std::uint32_t> loaded{7, 6};
  EXPECT_EQ(findings(".pragma \"used_bytes_mask 4095\";\n"), std::pair(std::size_t{0}, loaded));
}

TEST(RaceChecker, BytesOfALoadThatAreNotUsedRaceWithNothing) {
  const auto findings = [](const std::string& pragma) {
    KernelRun kernel(kernel_text(".param .u64 p",
                                 ".reg .b64 %d<3>; .reg .b32 %r<5>; .reg .pred %q; .shared .align 16 .b8 words[16];\n"
                                 "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.ne.u32 %q, %r1, 0;\n"
                                 "@!%q st.shared.v2.u32 [words], {%r1, %r1}; @!%q st.shared.u32 [words+8], %r1;\n"
                                 "@%q st.shared.u32 [words+12], %r1; @%q bra $end;\n" +
                                     pragma +
                                     "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [words];\n"
                                     "st.global.u32 [%d1], %r3; $end: ret;"));
    kernel.set(0, kernel.array(std::vector<std::uint32_t>(4), "out"));
    LaunchConfiguration configuration;
    configuration.block = {2};
    configuration.collect_findings = true;
    std::optional<RaceChecker> checker;
    return kernel
        .launch(
            configuration,
            [&](FindingLog& log) {
              return std::vector<AccessObserver*>{&checker.emplace(kernel.program(), std::set<std::uint64_t>{}, log)};
            })
        .findings.findings()
        .size();
  };
  EXPECT_EQ(findings(""), 1U);
  EXPECT_EQ(findings(".pragma \"used_bytes_mask 4095\";\n"), 0U);
}

TEST(SeededBugs, AreEightForEachCheckerAndAllMarked) {
  std::map<std::string, int> of_checker;
  for (const SeededKernel& kernel : seeded_kernels()) {
    ++of_checker[kernel.file];
    const auto is_own = [&kernel](const auto& mark) { return mark.first == kernel.file; };
    EXPECT_TRUE(std::ranges::any_of(kernel.marked, is_own)) << kernel.name;
  }
  EXPECT_EQ(of_checker,
            (std::map<std::string, int>{{"initcheck", 8}, {"memcheck", 8}, {"racecheck", 8}, {"synccheck", 8}}));
}

}  // namespace
}  // namespace convladder::simulated

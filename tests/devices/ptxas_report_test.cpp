#if CONVLADDER_HAS_CUDA

#include "devices/ptxas_report.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

// As printed by ptxas 13.0.
constexpr std::string_view two_kernels = R"(ptxas info    : 0 bytes gmem, 400 bytes cmem[3]
ptxas info    : Compiling entry function '_Z2k2Pfi' for 'sm_80'
ptxas info    : Function properties for _Z2k2Pfi
    1552 bytes stack frame, 1504 bytes spill stores, 1836 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 1552 bytes cumulative stack size, 364 bytes cmem[0]
ptxas info    : Compile time = 13.812 ms
ptxas info    : Compiling entry function '_Z2kkPfi' for 'sm_80'
ptxas info    : Function properties for _Z2kkPfi
    256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 20 registers, used 1 barriers, 256 bytes cumulative stack size, 132 bytes smem, 364 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 3.307 ms
ptxas info    : Function properties for _Z1gPfi
    48 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
)";

TEST(PtxasReport, ReadsEveryFigureOfEveryKernel) {
  const std::vector<KernelResources> kernels = parse_ptxas_report(two_kernels);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].kernel, "_Z2k2Pfi");
  EXPECT_EQ(kernels[0].demangled, "k2(float*, int)");
  EXPECT_EQ(kernels[0].architecture, "sm_80");
  EXPECT_EQ(kernels[0].source, "ptxas");
  EXPECT_EQ(kernels[0].registers, 32);
  EXPECT_EQ(kernels[0].barriers, 1);
  EXPECT_EQ(kernels[0].stack_bytes, 1552);
  EXPECT_EQ(kernels[0].spill_store_bytes, 1504);
  EXPECT_EQ(kernels[0].spill_load_bytes, 1836);
  EXPECT_EQ(kernels[0].shared_bytes, 0);
  EXPECT_EQ(kernels[0].constant_bytes, 364);
  EXPECT_EQ(kernels[1].registers, 20);
  EXPECT_EQ(kernels[1].shared_bytes, 132);
}

TEST(PtxasReport, AddsUpTheConstantBanksOfAKernelAndNotThoseOfTheFile) {
  EXPECT_EQ(parse_ptxas_report(two_kernels)[1].constant_bytes, 364 + 8);
}

TEST(PtxasReport, LeavesOutFunctionsThatAreNoKernels) {
  const std::vector<KernelResources> kernels = parse_ptxas_report(two_kernels);
  EXPECT_EQ(kernels[1].stack_bytes, 256);
  EXPECT_EQ(kernels[1].spill_store_bytes, 0);
}

TEST(PtxasReport, ReadsLinesWithFewerParts) {
  const auto kernels = parse_ptxas_report(
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 31 registers, used 0 barriers\n");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].registers, 31);
  EXPECT_EQ(kernels[0].constant_bytes, 0);
}

TEST(PtxasReport, ReadsOlderFormsAndWindowsLineEnds) {
  const auto kernels = parse_ptxas_report(
      "ptxas info : Compiling entry function 'k' for 'sm_35'\r\n"
      "ptxas info : Used 10 registers, 8+16 bytes smem, 44 bytes cmem[0], 3 textures\r\n");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].registers, 10);
  EXPECT_EQ(kernels[0].shared_bytes, 24);
  EXPECT_EQ(kernels[0].constant_bytes, 44);
}

TEST(PtxasReport, HoldsSeveralRunsOneAfterAnother) {
  std::string text;
  for (const char* architecture : {"sm_75", "sm_80", "sm_90"}) {
    text += std::string("ptxas info    : Compiling entry function 'k' for '") + architecture +
            "'\nptxas info    : Used 12 registers\n";
  }
  const auto kernels = parse_ptxas_report(text);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[2].architecture, "sm_90");
}

TEST(PtxasReport, AnEmptyTextHasNoKernels) { EXPECT_TRUE(parse_ptxas_report("").empty()); }

TEST(PtxasReport, SaysWhichKernelHasNoRegisters) {
  try {
    parse_ptxas_report("ptxas info    : Compiling entry function 'lost' for 'sm_90'\n");
    FAIL() << "no error";
  } catch (const PtxasReportError& error) {
    EXPECT_NE(std::string(error.what()).find("lost"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("sm_90"), std::string::npos) << error.what();
  }
}

TEST(PtxasReport, RefusesCutAndAbsurdLines) {
  EXPECT_THROW(parse_ptxas_report("ptxas info    : Compiling entry function 'k for sm_90\n"), PtxasReportError);
  EXPECT_THROW(parse_ptxas_report("ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
                                  "ptxas info    : Used 99999999999999999999 registers\n"),
               PtxasReportError);
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA

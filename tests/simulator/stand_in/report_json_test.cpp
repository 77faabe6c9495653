#include "simulator/stand_in/report/report_json.hpp"

#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

ProcessReport example() {
  ProcessReport process;
  process.number = 17;
  process.program = "/bin/scale";
  process.arguments = {"scale", "1\n2"};
  process.gpu = "h100";
  process.calls = {{"cudaLaunchKernel", 3}, {"cudaMalloc", 2}};
  process.call_times["cudaMalloc"].add(60'000);
  KernelSum& kernel =
      process.kernels.emplace_back(KernelSum{"scale", "BLOCK=64, 2 warps", {}, {{"smsp__inst_executed.sum", 96}}});
  process.tunings.push_back({"scale", "n=4096", {{"BLOCK=64, 2 warps", "the first's", 1000, 9}}});
  kernel.predicted.add(1000);
  kernel.predicted.add(3000);
  process.copies.push_back({"[CUDA memcpy HtoD]", {1, 1010, 1010, 1010}, 256});
  const auto places = std::make_shared<const std::vector<CallPlace>>(1, CallPlace{"/bin/scale", 0x40});
  process.failures.push_back({"", "cudaFree", 1, "cudaErrorInvalidValue", "no such memory", 2, places});
  process.notes["a note"] = 1;
  process.allocations.push_back({"device memory 1", "cudaMalloc", 256, places});
  simulated::Finding finding;
  finding.checker = simulated::Checker::race;
  finding.problem = "a race";
  finding.kernel = "scale";
  finding.configuration = "BLOCK=64, 2 warps";
  finding.ptx_line = 24;
  finding.block = {1, 2, 3};
  finding.thread = {4, 5, 6};
  finding.allocation = "device memory 1";
  finding.count = 9;
  process.findings.push_back({finding, nullptr});
  process.never_freed = {"device memory 1"};
  process.predicted.device_end = 8000;
  process.seconds = 0.25;
  return process;
}

TEST(ReportLine, ComesBackAsItWas) {
  ProcessReport begun;
  begun.number = 17;
  begun.begins = true;
  const std::string line = report_line(example());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const std::vector<ProcessReport> read = read_report_lines(report_line(begun) + line);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_TRUE(read[0].begins);
  EXPECT_EQ(read[0].number, 17);
  EXPECT_FALSE(read[1].begins);
  EXPECT_EQ(report_line(read[1]), line);
  EXPECT_EQ(read[1].arguments, example().arguments);
  EXPECT_EQ(read[1].kernels[0].predicted.total, 4000U);
  EXPECT_EQ(read[1].kernels[0].predicted.least, 1000U);
  EXPECT_EQ(read[1].findings[0].finding.checker, simulated::Checker::race);
  EXPECT_EQ(read[1].findings[0].finding.thread.z, 6U);
  EXPECT_EQ(*read[1].failures[0].places, *example().failures[0].places);
  EXPECT_EQ(read[1].allocation("device memory 1")->bytes, 256U);
  EXPECT_EQ(simulated::kernel_text(read[1].findings[0].finding), "scale[BLOCK=64, 2 warps], PTX line 24");
  EXPECT_EQ(read[1].tunings[0].tried[0].findings, 9U);
  EXPECT_EQ(read[1].allocation(""), nullptr);
}

TEST(ReportLine, OfAnotherKindIsRefused) {
  expect_error<UserError>([] { read_report_lines("{\"process\": 3\n"); }, {"the stand-in's report", "not valid JSON"});
  expect_error<UserError>([] { read_report_lines("{\"process\": 3}\n"); },
                          {"the stand-in's report cannot be read", "program"});
}

}  // namespace
}  // namespace convladder::stand_in

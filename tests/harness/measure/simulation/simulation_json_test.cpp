#include "harness/measure/simulation/simulation_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulator/stand_in/report/report_json.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

std::string values_of(ElementType type, const std::vector<std::string>& texts) {
  BufferContent buffer{"x", true, type, {texts.size()}, {}};
  for (const std::string& text : texts) {
    const std::vector<std::byte> bytes = parse_element("here", type, text);
    buffer.bytes.insert(buffer.bytes.end(), bytes.begin(), bytes.end());
  }
  return ordered_json::parse(buffer_json(buffer)).at("values").dump();
}

TEST(BufferJson, HasNumbersOrNull) {
  EXPECT_EQ(values_of(ElementType::i8, {"-5", "0"}), "[-5,0]");
  EXPECT_EQ(values_of(ElementType::u64, {"18446744073709551615"}), "[18446744073709551615]");
  EXPECT_EQ(values_of(ElementType::f32, {"nan", "0.25", "-inf"}), "[null,0.25,null]");
  EXPECT_EQ(values_of(ElementType::f16, {"0.5"}), "[0.5]");
}

stand_in::ProcessReport process(int number, const char* program) {
  stand_in::ProcessReport process;
  process.number = number;
  process.program = program;
  process.arguments = {program};
  return process;
}

std::string begin_of(stand_in::ProcessReport process) {
  process.begins = true;
  return report_line(process);
}

TEST(ProgramReport, HasTheProcessesInAnOrderOfTheirOwn) {
  stand_in::ProcessReport first = process(1, "b");
  first.kernels.push_back({"scale", "BLOCK=64, 2 warps", {2, 4000, 1000, 3000}, {{"smsp__inst_executed.sum", 96}}});
  first.failures.push_back({"", "cudaLaunchKernel", 801, "cudaErrorNotSupported", "", 1, nullptr});
  ProgramReport report;
  report.command = {"./run", "all"};
  report.end.signal = 11;
  read_processes(begin_of(first) + begin_of(process(2, "a")) + report_line(first) + begin_of(process(3, "lost")) +
                     report_line(process(2, "a")) + begin_of(process(3, "its successor")) +
                     report_line(process(3, "its successor")),
                 report);
  EXPECT_TRUE(report.is_incomplete());
  const auto json = ordered_json::parse(program_report_json(report));
  EXPECT_EQ(json.at("signal"), "SIGSEGV");
  EXPECT_TRUE(json.at("exit_code").is_null());
  ASSERT_EQ(json.at("processes").size(), 3U);
  EXPECT_EQ(json.at("processes")[0].at("program"), "a");
  const ordered_json& kernel = json.at("processes")[1].at("kernels")[0];
  EXPECT_EQ(kernel.at("predicted").at("calls"), 2);
  EXPECT_EQ(kernel.at("predicted").at("average_ns"), 2000);
  EXPECT_EQ(kernel.at("counters").at("smsp__inst_executed.sum"), 96);
  ASSERT_EQ(json.at("ended_without_report").size(), 1U);
  EXPECT_EQ(json.at("ended_without_report")[0].at("program"), "lost");
  const std::string text = as_text(program_report(report));
  EXPECT_NE(text.find("3 processes of ./run"), std::string::npos) << text;
  EXPECT_NE(text.find("cudaLaunchKernel answered cudaErrorNotSupported"), std::string::npos) << text;
}

}  // namespace
}  // namespace convladder

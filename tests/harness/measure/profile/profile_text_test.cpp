#include "harness/measure/profile/profile_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "expect_error.hpp"
#include "harness/measure/profile/profile_json.hpp"
#include "harness/text_lines.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

ProfileTable example_profile() {
  ProfileTable table;
  table.groups.push_back({"GPU activities",
                          {{"conv", 88.81, 1137400, 2, 568700, 568700, 500000, 637400, 97156.4},
                           {"[CUDA memcpy HtoD]", 11, 140900, 1, 140900, 140900, 140900, 140900, 0},
                           {"[CUDA memset]", 0.19, 2434, 1, 2434, 2434, 2434, 2434, 0}}});
  table.groups.push_back({"API calls", {{.name = "cudaFree", .time_percent = 100, .total_ns = 242}}});
  return table;
}

TEST(ProfileText, TimesHaveNvprofsDigitsAndUnits) {
  EXPECT_EQ(nvprof_time_text(0), "0ns");
  EXPECT_EQ(nvprof_time_text(242), "242ns");
  EXPECT_EQ(nvprof_time_text(999.4), "999ns");
  EXPECT_EQ(nvprof_time_text(999.6), "1.0000us");
  EXPECT_EQ(nvprof_time_text(1568), "1.5680us");
  EXPECT_EQ(nvprof_time_text(16607), "16.607us");
  EXPECT_EQ(nvprof_time_text(459030), "459.03us");
  EXPECT_EQ(nvprof_time_text(999996), "1.0000ms");
  EXPECT_EQ(nvprof_time_text(9999.96), "10.000us");
  EXPECT_EQ(nvprof_time_text(49974000), "49.974ms");
  EXPECT_EQ(nvprof_time_text(1873420000), "1.87342s");
  EXPECT_EQ(nvprof_time_text(12290647000.0), "12.2906s");
  EXPECT_EQ(nvprof_time_text(4e12), "4000.00s");
}

TEST(ProfileText, NvprofsLayout) {
  EXPECT_EQ(profile_text(example_profile(), {.cut_percent = 100}),
            "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
            " GPU activities:   88.81%  1.1374ms         2  568.70us  500.00us  637.40us  conv\n"
            "                   11.00%  140.90us         1  140.90us  140.90us  140.90us  [CUDA memcpy HtoD]\n"
            "                    0.19%  2.4340us         1  2.4340us  2.4340us  2.4340us  [CUDA memset]\n"
            "      API calls:  100.00%     242ns                                          cudaFree\n");
}

TEST(ProfileText, TheCutSaysWhatItLeftOut) {
  const std::vector<std::string> lines = text_lines(profile_text(example_profile(), {.cut_percent = 80}));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[2], "                   11.19%                                                    (2 more rows)");
  EXPECT_EQ(text_lines(profile_text(example_profile(), {}))[3],
            "                    0.19%                                                    (1 more row)");
}

TEST(ProfileText, NsysLayoutWithCumulativeShares) {
  const std::string text = profile_text(example_profile(), {.layout = ProfileLayout::nsys, .cut_percent = 95});
  EXPECT_EQ(
      text,
      " ** GPU activities:\n"
      "\n"
      " Time (%)  Cum. (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  Name\n"
      " --------  --------  ---------------  ---------  --------  --------  --------  --------  -----------  "
      "------------------\n"
      "     88.8      88.8          1137400          2  568700.0  568700.0    500000    637400      97156.4  conv\n"
      "     11.0      99.8           140900          1  140900.0  140900.0    140900    140900          0.0  "
      "[CUDA memcpy HtoD]\n"
      "      0.2     100.0                                                                                   "
      "(1 more row)\n"
      "\n"
      " ** API calls:\n"
      "\n"
      " Time (%)  Cum. (%)  Total Time (ns)  Num Calls  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  Name\n"
      " --------  --------  ---------------  ---------  --------  --------  --------  --------  -----------  "
      "--------\n"
      "    100.0     100.0              242                                                                  "
      "cudaFree\n");
}

TEST(ProfileText, CsvHasWholeNamesInQuotes) {
  ProfileTable table;
  table.groups.push_back({"GPU activities", {{"f<int, \"x\">(long)", 100, 1500, 2, 750, 750, 700, 800, 70.7}}});
  EXPECT_EQ(profile_text(table, {.encoding = ProfileEncoding::csv}),
            "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
            ",%,ns,,ns,ns,ns,\n"
            "\"GPU activities\",100.00,1500,2,750.0,700,800,\"f<int, \"\"x\"\">(long)\"\n");
  EXPECT_EQ(profile_text(table, {.layout = ProfileLayout::nsys, .encoding = ProfileEncoding::csv}),
            "Time (%),Cum. (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
            "100.0,100.0,1500,2,750.0,750.0,700,800,70.7,\"f<int, \"\"x\"\">(long)\"\n");
}

TEST(ProfileText, CsvSaysWhatWasCut) {
  const std::vector<std::string> lines =
      text_lines(profile_text(example_profile(), {.encoding = ProfileEncoding::csv, .cut_percent = 80}));
  EXPECT_EQ(lines.at(3), "\"GPU activities\",11.19,,,,,,\"(2 more rows)\"");
}

TEST(ProfileText, JsonIsThatOfTheTable) {
  const std::vector<TitledProfile> profiles = {{"a case", example_profile(), ProgramTime{1, 0.5, 3, 4096}, false},
                                               {"another", example_profile(), std::nullopt, false}};
  const auto json =
      nlohmann::ordered_json::parse(profiles_text(profiles, {.encoding = ProfileEncoding::json, .cut_percent = 80}));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0].at("id"), "a case");
  EXPECT_EQ(json[0].at("program").at("cpu_percent"), 50.0);
  EXPECT_TRUE(json[1].at("program").is_null());
  EXPECT_EQ(read_profile(JsonPlace(json[1].at("profile"), "profile")), cut_profile(example_profile(), 80));
}

TEST(ProfileText, EachTableHasItsTitleAndTheProgramsTime) {
  const std::vector<TitledProfile> profiles = {{"a case", example_profile(), ProgramTime{1, 0.5, 3, 4096}, true}};
  const std::string text = profiles_text(profiles, {.cut_percent = 100});
  EXPECT_EQ(text, "a case, predicted, but host phases measured\n" +
                      profile_text(profiles[0].table, {.cut_percent = 100}) + "\n" +
                      program_time_text(*profiles[0].program) + "\n");
  const ProfileFormat csv{.encoding = ProfileEncoding::csv, .cut_percent = 100};
  EXPECT_EQ(profiles_text(profiles, csv), profile_text(profiles[0].table, csv));
}

TEST(ProfileText, NamesAreShortenedOnlyAsFarAsNeeded) {
  const std::string name =
      "void convladder::(anonymous namespace)::conv_compile_time<5, 1>(float const*, float const*, float*, int)";
  EXPECT_EQ(fitted_name(name, 200), name);
  EXPECT_EQ(fitted_name(name, 40), "convladder::conv_compile_time<5, 1>");
  EXPECT_EQ(fitted_name(name, 30), "convladder::conv_compile_time");
  EXPECT_EQ(fitted_name(name, 23), "conv_compile_time");
  EXPECT_EQ(fitted_name(name, 12), "conv_comp...");
  EXPECT_EQ(fitted_name("[CUDA memcpy HtoD]", 10), "[CUDA m...");
  EXPECT_EQ(fitted_name("(strange) name", 8), "(stra...");
  EXPECT_EQ(fitted_name("ääää", 6), "ä...");  // never half a character
}

TEST(ProfileText, LongNamesFitAHundredColumnsUnlessAskedFor) {
  ProfileTable table;
  const std::string name(300, 'k');
  table.groups.push_back({"GPU activities", {{name, 100, 5, 1, 5, 5, 5, 5, 0}}});
  const auto longest = [](const std::string& text) {
    std::size_t columns = 0;
    for (const std::string& line : text_lines(text)) columns = std::max(columns, line.size());
    return columns;
  };
  EXPECT_EQ(longest(profile_text(table, {})), 100U);
  EXPECT_GT(longest(profile_text(table, {.full_names = true})), 300U);
  EXPECT_NE(profile_text(table, {.encoding = ProfileEncoding::csv}).find(name), std::string::npos);
}

TEST(ProfileText, UnknownChoicesListTheKnownOnes) {
  EXPECT_EQ(parse_profile_layout("--layout", "nsys"), ProfileLayout::nsys);
  EXPECT_EQ(parse_profile_encoding("--format", "csv"), ProfileEncoding::csv);
  expect_error<UserError>([] { parse_profile_layout("--layout", "nvprov"); }, {"--layout", "nvprov", "nvprof, nsys"});
  expect_error<UserError>([] { parse_profile_encoding("--format", "jsn"); }, {"--format", "json"});
}

}  // namespace
}  // namespace convladder

#include "support/report.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace convladder {
namespace {

Report example() {
  Report report{"Two builds"};
  report.section("", Shown::in_markdown).paragraph(": 1 case", "", "pass");
  ReportSection& sides = report.section();
  sides.item("base a_b");
  sides.item(". It is faster", " 2 ", "second");
  report.section();
  report.section("cpu, measured").table({left("variant"), right("time", "ms")}, {{"<b>|x", "1.5"}});
  report.section("regressed", Shown::in_text).entry("one", {"because", "of this"});
  report.section("changed").entry("two", {"once", "twice"});
  ReportSection& end = report.section();
  end.note("a remark");
  end.paragraph("the end");
  return report;
}

TEST(Report, TextHasAnEmptyLineBetweenSections) {
  EXPECT_EQ(as_text(example()),
            "base a_b\n 2 second. It is faster\n"
            "\ncpu, measured\nvariant  time\n           ms\n<b>|x     1.5\n"
            "\nregressed\n  one\n      because\n      of this\n"
            "\nchanged\n  two\n      once\n      twice\n"
            "\nnote: a remark\nthe end\n");
}

TEST(Report, MarkdownShowsTextsLiterally) {
  EXPECT_EQ(as_markdown(example()),
            "## Two builds\n"
            "\n**pass**: 1 case\n"
            "\n- base a\\_b\n- **second**. It is faster\n"
            "\n### cpu, measured\n\n| variant | time, ms |\n|:--|--:|\n| &lt;b\\>\\|x | 1.5 |\n"
            "\n### changed\n\n- two: once\n- two: twice\n- a remark\n"
            "\nthe end\n");
}

TEST(Report, LinesAreBrokenBehindTheirLead) {
  Report report;
  report.section().paragraph("one two three", "7: ");
  EXPECT_EQ(as_text(report, 11), "7: one two\n   three\n");
}

TEST(Report, SpareColumnsAreLeftOutWhereThereIsLittleRoom) {
  Report report;
  report.section().table({left("name"), right("time", "", true), right("x")}, {{"abc", "1234567890", "2"}});
  EXPECT_EQ(as_text(report, 40), "name        time  x\nabc   1234567890  2\n");
  EXPECT_EQ(as_text(report, 16), "name  x\nabc   2\n");
}

TEST(Report, AnIndentedTableIsNarrower) {
  Report report;
  report.section().table({left("name"), left("why")}, {{"abc", "it is so because it has to be"}}, 2);
  EXPECT_EQ(as_text(report, 30), "  name  why\n  abc   it is so because it\n        has to be\n");
}

TEST(Report, LiteralLinesAreCodeInMarkdown) {
  Report report;
  report.section().literal("a  b\n*c*\n");
  EXPECT_EQ(as_text(report), "a  b\n*c*\n");
  EXPECT_EQ(as_markdown(report), "    a  b\n    *c*\n");
}

TEST(Report, CsvQuotesOnlyWhereItMust) {
  const ReportTable table{{left("name"), right("time", "ms")}, {{"a,b", "1"}, {"say \"x\"", ""}}};
  EXPECT_EQ(as_csv(table), "name,time (ms)\r\n\"a,b\",1\r\n\"say \"\"x\"\"\",\r\n");
  EXPECT_EQ(as_csv(table, "\n"), "name,time (ms)\n\"a,b\",1\n\"say \"\"x\"\"\",\n");
}

TEST(ReportText, CountsWhatALongListDoesNotShow) {
  Report report;
  ReportSection& section = report.section("things");
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < 20; ++i) rows.push_back({std::to_string(i)});
  section.table({left("number")}, rows);
  for (int i = 0; i < 18; ++i) section.item("item " + std::to_string(i));
  section.paragraph("the end");
  const std::string brief = as_text(report, kTextColumns, kMostShown);
  EXPECT_NE(brief.find("14\n  5 rows more: --verbose\nitem 0\n"), std::string::npos) << brief;
  EXPECT_NE(brief.find("item 14\n  3 lines more: --verbose\nthe end\n"), std::string::npos) << brief;
  EXPECT_EQ(as_text(report).find("--verbose"), std::string::npos);
  EXPECT_NE(as_text(report).find("item 17\n"), std::string::npos);
}

}  // namespace
}  // namespace convladder

// Every published profile, printed by our printers and read back column by column. What is expected comes from the
// files' JSON itself, not from what the program makes of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/profile/profile_json.hpp"
#include "harness/measure/records/published.hpp"
#include "harness/text_lines.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

struct PublishedProfile {
  std::string name;
  ordered_json json;   ///< the file's "profile"
  ProfileTable table;  ///< what the program prints
};

std::vector<PublishedProfile> published_profiles() {
  std::vector<PublishedProfile> profiles;
  for (const PublishedSource& source : published_sources()) {
    const ordered_json file = ordered_json::parse(published_json_text(source.name));
    for (std::size_t i = 0; i < source.tables.size(); ++i) {
      if (!source.tables[i].profile) continue;
      profiles.push_back({source.name + ": " + source.tables[i].name, file.at("tables").at(i).at("profile"),
                          *source.tables[i].profile});
    }
  }
  return profiles;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// "49.974ms" -> 49974000
double nanoseconds(const std::string& text) {
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  const std::string unit = text.substr(end);
  for (const auto& [name, size] : {std::pair{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}) {
    if (unit == name) return value * size;
  }
  ADD_FAILURE() << "no unit in " << text;
  return NAN;
}

/// A printed cell is the published value to within `precision`, or blank where nothing was published.
void expect_cell(const std::string& printed, const ordered_json& row, const char* field, double value,
                 double precision) {
  if (!row.contains(field)) {
    EXPECT_EQ(printed, "") << field;
    return;
  }
  EXPECT_NE(printed, "") << field;
  EXPECT_LE(std::abs(value - row.at(field).get<double>()), precision) << field << ": " << printed;
}

/// Published times have nvprof's own digits: nothing may be lost at all, but for what binary fractions cannot hold.
void expect_time(const std::string& printed, const ordered_json& row, const char* field) {
  const double value = printed.empty() ? 0 : nanoseconds(printed);
  expect_cell(printed, row, field, value, value * 1e-12);
}

void expect_number(const std::string& printed, const ordered_json& row, const char* field, double precision) {
  expect_cell(printed, row, field, printed.empty() ? 0 : std::stod(printed), precision);
}

TEST(PublishedProfiles, ThereAreAllOfThem) {
  std::vector<std::string> names;
  std::size_t rows = 0;
  for (const PublishedProfile& profile : published_profiles()) {
    names.push_back(profile.name);
    for (const ordered_json& group : profile.json.at("groups")) rows += group.at("rows").size();
  }
  EXPECT_EQ(names.size(), 9U) << fmt::format("{}", fmt::join(names, "; "));
  EXPECT_EQ(rows, 51U + 125 + 15 + 9 + 25) << "the ladder's GPU and API rows, and those of the other three reports";
}

TEST(PublishedProfiles, NvprofsLayoutColumnByColumn) {
  for (const PublishedProfile& profile : published_profiles()) {
    SCOPED_TRACE(profile.name);
    const std::vector<std::string> lines =
        text_lines(profile_text(profile.table, {.cut_percent = 100, .full_names = true}));
    ASSERT_EQ(lines.at(0), "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name");
    std::size_t line = 1;
    for (const ordered_json& group : profile.json.at("groups")) {
      std::string type = group.at("group").get<std::string>() + ":";
      for (const ordered_json& row : group.at("rows")) {
        ASSERT_LT(line, lines.size());
        const std::string& text = lines[line++];
        SCOPED_TRACE(text);
        ASSERT_GT(text.size(), 77U);
        EXPECT_EQ(trimmed(text.substr(0, 16)), type);
        const std::string percent = trimmed(text.substr(16, 9));
        EXPECT_TRUE(percent.empty() || percent.back() == '%');
        expect_number(percent, row, "time_percent", 1e-9);
        expect_time(trimmed(text.substr(25, 10)), row, "total_ns");
        expect_number(trimmed(text.substr(35, 10)), row, "calls", 0);
        expect_time(trimmed(text.substr(45, 10)), row, "avg_ns");
        expect_time(trimmed(text.substr(55, 10)), row, "min_ns");
        expect_time(trimmed(text.substr(65, 10)), row, "max_ns");
        EXPECT_EQ(text.substr(75, 2), "  ");
        EXPECT_EQ(text.substr(77), row.at("name").get<std::string>());
        type.clear();
      }
    }
    EXPECT_EQ(line, lines.size());
  }
}

TEST(PublishedProfiles, NsysLayoutColumnByColumn) {
  for (const PublishedProfile& profile : published_profiles()) {
    SCOPED_TRACE(profile.name);
    const std::vector<std::string> lines = text_lines(
        profile_text(profile.table, {.layout = ProfileLayout::nsys, .cut_percent = 100, .full_names = true}));
    std::size_t line = 0;
    for (const ordered_json& group : profile.json.at("groups")) {
      if (line > 0) {
        EXPECT_EQ(lines.at(line++), "");
      }
      EXPECT_EQ(lines.at(line), fmt::format(" ** {}:", group.at("group").get<std::string>()));
      const std::string header = lines.at(line + 2);
      const std::string rule = lines.at(line + 3);
      line += 4;
      // The dashes say where the columns are.
      std::vector<std::pair<std::size_t, std::size_t>> columns;
      for (std::size_t at = rule.find('-'); at != std::string::npos;) {
        const std::size_t end = std::min(rule.find(' ', at), rule.size());
        columns.emplace_back(at, end - at);
        at = rule.find('-', end);
      }
      std::vector<std::string> titles;
      for (const auto& [at, width] : columns) titles.push_back(trimmed(header.substr(at, width)));
      const char* const count = group.at("group") == "API calls" ? "Num Calls" : "Instances";
      ASSERT_EQ(titles, (std::vector<std::string>{"Time (%)", "Cum. (%)", "Total Time (ns)", count, "Avg (ns)",
                                                  "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"}));
      double cumulative = 0;
      for (const ordered_json& row : group.at("rows")) {
        const std::string& text = lines.at(line++);
        SCOPED_TRACE(text);
        const auto cell = [&](std::size_t column) {
          return trimmed(text.substr(columns[column].first, columns[column].second));
        };
        expect_number(cell(0), row, "time_percent", 0.0500001);
        if (row.contains("time_percent")) {
          cumulative += row.at("time_percent").get<double>();
          EXPECT_LE(std::abs(std::stod(cell(1)) - cumulative), 0.0500001);
        } else {
          EXPECT_EQ(cell(1), "");
        }
        expect_number(cell(2), row, "total_ns", 0.5);
        expect_number(cell(3), row, "calls", 0);
        expect_number(cell(4), row, "avg_ns", 0.0500001);
        EXPECT_EQ(cell(5), "") << "no report printed medians";
        expect_number(cell(6), row, "min_ns", 0.5);
        expect_number(cell(7), row, "max_ns", 0.5);
        EXPECT_EQ(cell(8), "");
        EXPECT_EQ(text.substr(columns[9].first), row.at("name").get<std::string>());
      }
    }
    EXPECT_EQ(line, lines.size());
  }
}

/// Fields of a CSV line; quotes inside of a field are doubled.
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

TEST(PublishedProfiles, CsvColumnByColumn) {
  for (const PublishedProfile& profile : published_profiles()) {
    SCOPED_TRACE(profile.name);
    const std::vector<std::string> lines =
        text_lines(profile_text(profile.table, {.encoding = ProfileEncoding::csv, .cut_percent = 100}));
    std::size_t line = 2;
    for (const ordered_json& group : profile.json.at("groups")) {
      for (const ordered_json& row : group.at("rows")) {
        const std::vector<std::string> fields = csv_fields(lines.at(line++));
        ASSERT_EQ(fields.size(), 8U);
        EXPECT_EQ(fields[0], group.at("group").get<std::string>());
        expect_number(fields[1], row, "time_percent", 0.0050001);
        expect_number(fields[2], row, "total_ns", 0.5);
        expect_number(fields[3], row, "calls", 0);
        expect_number(fields[4], row, "avg_ns", 0.0500001);
        expect_number(fields[5], row, "min_ns", 0.5);
        expect_number(fields[6], row, "max_ns", 0.5);
        EXPECT_EQ(fields[7], row.at("name").get<std::string>());
      }
    }
    EXPECT_EQ(line, lines.size());
  }
}

TEST(PublishedProfiles, JsonFieldByField) {
  for (const PublishedProfile& profile : published_profiles()) {
    SCOPED_TRACE(profile.name);
    const ordered_json printed = profile_to_json(profile.table);
    ASSERT_EQ(printed.at("groups").size(), profile.json.at("groups").size());
    for (std::size_t g = 0; g < printed.at("groups").size(); ++g) {
      const ordered_json& rows = profile.json.at("groups").at(g).at("rows");
      ASSERT_EQ(printed.at("groups").at(g).at("rows").size(), rows.size());
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const auto& [field, value] : printed.at("groups").at(g).at("rows").at(r).items()) {
          EXPECT_EQ(value, rows[r].contains(field) ? rows[r].at(field) : ordered_json()) << field;
        }
      }
    }
  }
}

TEST(PublishedProfiles, FitAHundredColumnsAsNvprofPrintsThem) {
  for (const PublishedProfile& profile : published_profiles()) {
    for (const std::string& line : text_lines(profile_text(profile.table, {}))) EXPECT_LE(line.size(), 100U) << line;
  }
}

}  // namespace
}  // namespace convladder

#include "harness/judge/history/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>
#include <type_traits>

#include "expect_error.hpp"
#include "harness/judge/history/history_json.hpp"
#include "harness/judge/history/history_output.hpp"
#include "support/errors.hpp"
#include "support/seeded_random.hpp"
#include "temporary_folder.hpp"
#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kVector = "cpu/flat-vector/lenet28.conv1/10";
constexpr const char* kFirst = "cpu/memory-accumulation/lenet28.conv1/10";

/// Two stages and a library; `factor` slows the second stage, `machine` everything.
ordered_json run_json(int number, double factor = 1, double machine = 1) {
  const auto samples = [&](double median_ns, int stream) {
    return noisy_samples(median_ns * machine, 0.01, static_cast<std::uint64_t>(10 * number + stream), 9);
  };
  ordered_json json = recorded_run_json({timed_case_json("cpu", "memory-accumulation", 1, samples(4e6, 1)),
                                         timed_case_json("cpu", "flat-vector", 4, samples(1e6 * factor, 2)),
                                         timed_case_json("cpu", "onednn", 0, samples(5e5, 3)),
                                         counted_case_json("shared-memory", 3, 100, 200)});
  json["context"]["date"] = fmt::format("2026-01-{:02}T12:00:00Z", number + 1);
  json["context"]["program"]["commit"] = fmt::format("{:02}commit", number);
  return json;
}

template <typename Value>
HistoryOptions with(Value HistoryOptions::*field, std::type_identity_t<Value> value) {
  HistoryOptions options;
  options.*field = std::move(value);
  return options;
}

class Folder {
 public:
  void add(int number, const ordered_json& json) { add(number, json.dump()); }
  void add(int number, const std::string& text) {
    const std::filesystem::path folder = temporary_.path() / fmt::format("run{:02}", number);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "run.json", std::ios::binary) << text;
  }
  HistoryRuns read() const {
    HistoryIndex index(temporary_.path() / "index.jsonl");
    return read_history_runs({temporary_.path().string()}, index);
  }
  History history(const HistoryOptions& options = {}) const { return make_history(read(), options); }
  std::filesystem::path path() const { return temporary_.path(); }

 private:
  TemporaryFolder temporary_;
};

std::vector<const HistorySeries*> series_of(const History& history, const std::string& id) {
  std::vector<const HistorySeries*> found;
  for (const HistorySeries& one : history.series) {
    if (one.id == id) found.push_back(&one);
  }
  std::ranges::sort(found, {}, &HistorySeries::number);
  return found;
}

TEST(History, MarksTheRunSinceWhichACaseIsSlower) {
  Folder folder;
  for (int i = 0; i < 24; ++i) folder.add(i, run_json(i, i < 14 ? 1 : 1.1));
  const History history = folder.history();
  ASSERT_THAT(history.series, SizeIs(3));
  const HistorySeries& slower = history.series.front();
  EXPECT_EQ(slower.id, kVector) << "the greatest change comes first";
  EXPECT_EQ(slower.anchor, "onednn");
  ASSERT_THAT(slower.changes, SizeIs(1));
  EXPECT_EQ(slower.changes[0].first, 14U);
  EXPECT_NEAR(std::exp(slower.changes[0].shift), 1.1, 0.01);
  EXPECT_NEAR(History::anchor_shift(slower, 0), 0, 0.01);
  EXPECT_TRUE(series_of(history, kFirst).at(0)->changes.empty());
  EXPECT_EQ(history.judged, 2) << "the anchor is not judged";
  EXPECT_DOUBLE_EQ(history.series_alpha, 0.025);
  const std::string text = as_text(history_report(history));
  EXPECT_THAT(text, HasSubstr("14commit"));
  EXPECT_THAT(text, HasSubstr("24 runs of 24 commits"));
}

TEST(History, IsInTheOrderOfTimeWhateverTheFilesAreCalled) {
  Folder folder;
  for (int i = 0; i < 9; ++i) folder.add(20 - i, run_json(i));
  const History history = folder.history();
  const HistorySeries& series = *series_of(history, kFirst).at(0);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(history.run(series.points[i]).commit, fmt::format("{:02}commit", i));
  }
}

TEST(History, DividesTheMachineOut) {
  Folder folder;
  for (int i = 0; i < 24; ++i) folder.add(i, run_json(i, 1, i < 12 ? 1 : 1.3));
  const History history = folder.history();
  for (const HistorySeries& one : history.series) EXPECT_TRUE(one.changes.empty()) << one.id;
  const HistorySeries& anchor = *series_of(history, "cpu/onednn/lenet28.conv1/10").at(0);
  EXPECT_TRUE(anchor.is_anchor());
  EXPECT_NEAR(anchor.points.back().median_ns / anchor.points.front().median_ns, 1.3, 0.05) << "and it is shown";
  EXPECT_THAT(as_text(history_report(history)), HasSubstr("anchors, their own times"));
}

TEST(History, SaysHowFarTheAnchorMovedAtAChange) {
  Folder folder;
  for (int i = 0; i < 24; ++i) folder.add(i, run_json(i, i < 12 ? 1 : 1.1, i < 12 ? 1 : 1.3));
  const History history = folder.history();
  ASSERT_THAT(history.series.front().changes, SizeIs(1));
  EXPECT_NEAR(std::exp(History::anchor_shift(history.series.front(), 0)), 1.3, 0.02);
  EXPECT_NEAR(std::exp(history.series.front().changes[0].shift), 1.1, 0.02);
  EXPECT_THAT(as_markdown(history_report(history)), HasSubstr("own time changed by +"));
}

TEST(History, DoesNotEraseAUniformRegression) {
  Folder folder;
  for (int i = 0; i < 24; ++i) {
    ordered_json json = run_json(i, i < 12 ? 1 : 1.1);
    for (ordered_json& sample : json["cases"][0]["time"]["samples"]) {
      sample = sample.get<double>() * (i < 12 ? 1 : 1.1);
    }
    folder.add(i, json);
  }
  const History history = folder.history();
  EXPECT_THAT(series_of(history, kFirst).at(0)->changes, SizeIs(1));
  EXPECT_THAT(series_of(history, kVector).at(0)->changes, SizeIs(1));
}

TEST(History, TakesTheAnchorThatIsAskedForOrTheLowestRung) {
  Folder folder;
  for (int i = 0; i < 9; ++i) {
    ordered_json json = run_json(i);
    if (i == 4) json["cases"][2]["status"] = "crashed", json["cases"][2]["time"] = nullptr;
    folder.add(i, json);
  }
  const History history = folder.history();
  EXPECT_EQ(series_of(history, kVector).at(0)->anchor, "memory-accumulation") << "the library is not in all runs";
  EXPECT_NEAR(*series_of(history, kVector).at(0)->points[0].ratio, 0.25, 0.01);
  const History asked = folder.history(with(&HistoryOptions::anchor, "onednn"));
  const HistorySeries& series = *series_of(asked, kVector).at(0);
  EXPECT_EQ(series.anchor, "onednn");
  EXPECT_FALSE(series.points[4].ratio.has_value());
  EXPECT_NEAR(*series.points[5].ratio, 2, 0.05);
}

TEST(History, NeverMixesWhatCannotBeCompared) {
  const auto split_by = [](const std::function<void(ordered_json&)>& change, const HistoryOptions& options = {}) {
    Folder folder;
    for (int i = 0; i < 6; ++i) {
      ordered_json json = run_json(i);
      if (i == 3 || i == 4) change(json);
      folder.add(i, json);
    }
    const History history = folder.history(options);
    std::string text;
    for (const HistorySeries* const one : series_of(history, kVector)) {
      text += fmt::format("{} runs: {}\n", one->points.size(), fmt::join(one->split, "; "));
    }
    return text;
  };
  EXPECT_EQ(split_by([](ordered_json& json) { json["context"]["program"]["compiler"] = "GNU 13"; }),
            "4 runs: \n2 runs: compiler changed: \"GNU 12.2.0\", now \"GNU 13\"\n");
  EXPECT_THAT(split_by([](ordered_json& json) { json["context"]["cpu"]["model"] = "another"; }),
              HasSubstr("processor differs"));
  EXPECT_THAT(split_by([](ordered_json& json) { json["context"]["options"]["sample_milliseconds"] = 1.0; }),
              HasSubstr("length of a sample differs"));
  EXPECT_THAT(split_by([](ordered_json& json) { json["context"]["libraries"]["oneDNN"] = "3.0"; }),
              HasSubstr("2 runs: anchor onednn: oneDNN differs"));
  EXPECT_THAT(split_by([](ordered_json& json) { json["cases"][1]["time"]["of"] = "op"; }),
              HasSubstr("a different kind of time was taken"));
  const auto rename = [](ordered_json& json) { json["context"]["host"]["name"] = "there"; };
  EXPECT_EQ(split_by(rename), "4 runs: \n2 runs: machine differs: here, now there\n");
  EXPECT_EQ(split_by(rename, with(&HistoryOptions::merge_hosts, true)), "6 runs: \n");
}

/// Runs of which some were beside a neighbour that slows the anchor by a third, and the other stage by what chance
/// decides; from run `since` on, that stage does 5 % more work.
ordered_json run_beside_neighbour(int number, bool neighbour, int since) {
  SeededRandom random(7, static_cast<std::uint64_t>(number));
  ordered_json json = run_json(number, number < since ? 1 : 1.05);
  if (!neighbour) return json;
  for (ordered_json& sample : json["cases"][2]["time"]["samples"]) sample = sample.get<double>() * 1.33;
  const double slower = 1.4 + 0.03 * random.between(0, 10);
  for (ordered_json& sample : json["cases"][1]["time"]["samples"]) sample = sample.get<double>() * slower;
  return json;
}

TEST(History, FindsAChangeAmongRunsWithANeighbour) {
  Folder folder;
  for (int i = 0; i < 24; ++i) folder.add(i, run_beside_neighbour(i, i % 5 < 2, 12));
  const History history = folder.history(with(&HistoryOptions::variants, {"flat-vector"}));
  const HistorySeries& series = *series_of(history, kVector).at(0);
  ASSERT_THAT(series.changes, SizeIs(1));
  EXPECT_EQ(series.changes[0].first, 12U);
  EXPECT_NEAR(std::exp(series.changes[0].shift), 1.05, 0.015);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(series.points[i].quiet, i % 5 >= 2) << i;
  EXPECT_THAT(as_text(history_report(history)), HasSubstr("10 of 24 ratios not judged"));
  EXPECT_FALSE(ordered_json::parse(history_json_text(history, {}))["series"][0]["points"][0]["quiet"].get<bool>());
}

TEST(History, JudgesAllRunsWhereTheMachineBecameSlower) {
  Folder folder;
  for (int i = 0; i < 24; ++i) folder.add(i, run_json(i, i < 18 ? 1 : 1.1, i < 10 ? 1 : 1.2));
  const History history = folder.history(with(&HistoryOptions::variants, {"flat-vector"}));
  const HistorySeries& series = *series_of(history, kVector).at(0);
  ASSERT_THAT(series.changes, SizeIs(1)) << "otherwise no run since the tenth would be judged";
  EXPECT_EQ(series.changes[0].first, 18U);
}

TEST(History, AChangeBeginsWithARunThatWasNotQuietIfItsRatioSaysSo) {
  const auto first = [](bool slower) {
    Folder folder;
    for (int i = 0; i < 24; ++i) {
      ordered_json json = run_json(i, i < 12 || (i == 12 && !slower) ? 1 : 1.1, i == 12 ? 1.3 : 1);
      folder.add(i, json);
    }
    const History history = folder.history(with(&HistoryOptions::variants, {"flat-vector"}));
    const HistorySeries& series = *series_of(history, kVector).at(0);
    EXPECT_FALSE(series.points[12].quiet);
    return series.changes.at(0).first;
  };
  EXPECT_EQ(first(true), 12U);
  EXPECT_EQ(first(false), 13U);
}

TEST(History, LeavesEnoughRunsToBeJudged) {
  Folder folder;
  for (int i = 0; i < 9; ++i) folder.add(i, run_beside_neighbour(i, i % 3 > 0, 9));
  const History history = folder.history(with(&HistoryOptions::variants, {"flat-vector"}));
  const HistorySeries& series = *series_of(history, kVector).at(0);
  EXPECT_EQ(std::ranges::count_if(series.points, &HistoryPoint::judged), 8);
  EXPECT_TRUE(series.not_judged.empty());
  EXPECT_TRUE(series.p.has_value());
}

TEST(History, SaysWhyASeriesIsNotJudged) {
  Folder folder;
  for (int i = 0; i < 7; ++i) folder.add(i, run_json(i, i < 3 ? 1 : 2));
  History history = folder.history();
  EXPECT_THAT(series_of(history, kVector).at(0)->not_judged, HasSubstr("7 runs; at least 8 are needed"));
  folder.add(7, run_json(7, 2));
  history = folder.history();
  EXPECT_THAT(series_of(history, kVector).at(0)->not_judged, HasSubstr("among 2 series"));
  EXPECT_THAT(series_of(folder.history(with(&HistoryOptions::variants, {"flat-vector"})), kVector).at(0)->not_judged,
              "");
}

TEST(History, ReadsFromTheIndexWhatItReadBefore) {
  Folder folder;
  for (int i = 0; i < 3; ++i) folder.add(i, run_json(i));
  const std::string first = history_json_text(folder.history(), {});
  EXPECT_EQ(history_json_text(folder.history(), {}), first);
  std::ifstream lines(folder.path() / "index.jsonl");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(lines), {}, '\n'), 3) << "nothing was added by the second call";
  std::filesystem::remove(folder.path() / "index.jsonl");
  EXPECT_EQ(history_json_text(folder.history(), {}), first);
  folder.add(1, run_json(8));
  EXPECT_EQ(folder.history().from.runs.back().commit, "08commit") << "a changed record is read again";
}

TEST(History, ListsWhatCannotBeReadAndKeepsTheRest) {
  Folder folder;
  folder.add(0, run_json(0));
  const std::string whole = run_json(1).dump();
  folder.add(1, whole.substr(0, whole.size() / 2));
  folder.add(2, std::string());
  folder.add(3, std::string("{\"a\": 1, \"a\": 2}"));
  ordered_json newer = run_json(4);
  newer["schema_version"] = "2.0";
  folder.add(4, newer);
  ordered_json undated = run_json(5);
  undated["context"]["date"] = "yesterday\n";
  folder.add(5, undated);
  folder.add(6, std::string(100000, '['));
  std::filesystem::create_directories(folder.path() / "run07" / "run.json");
  folder.add(8, run_json(0));
  const HistoryRuns runs = folder.read();
  EXPECT_THAT(runs.runs, SizeIs(1));
  ASSERT_THAT(runs.unreadable, SizeIs(7));
  EXPECT_THAT(runs.unreadable[0], HasSubstr("run01/run.json: byte "));
  EXPECT_THAT(runs.unreadable[2], HasSubstr("run.json: a: occurs twice"));
  EXPECT_THAT(runs.unreadable[3], HasSubstr("expected \"1.1\", which this program reads"));
  EXPECT_THAT(runs.unreadable[4], HasSubstr("context: date: expected a time such as"));
  EXPECT_THAT(runs.unreadable[5], HasSubstr("deep"));
  EXPECT_THAT(runs.unreadable[6], HasSubstr("not a file"));
  for (const std::string& line : runs.unreadable) expect_one_line(line, {folder.path().string()});
  ASSERT_THAT(runs.repeated, SizeIs(1));
  EXPECT_THAT(runs.repeated[0], HasSubstr("the same run as"));
}

TEST(History, ShowsHostileNamesHarmlessly) {
  Folder folder;
  for (int i = 0; i < 2; ++i) {
    ordered_json json = run_json(i);
    json["cases"][1]["variant"] = "<script>|`x`";
    json["cases"][1]["id"] = "cpu/<script>|`x`/lenet28.conv1/10";
    json["context"]["program"]["commit"] = "\x1b[31mred\n<b>";
    json["context"]["host"]["name"] = fmt::format("host\r{}", i);
    folder.add(i, json);
  }
  const History history = folder.history();
  const std::string markdown = as_markdown(history_report(history));
  EXPECT_THAT(markdown, HasSubstr("&lt;script"));
  EXPECT_THAT(markdown, Not(HasSubstr("<script")));
  for (const char c : markdown + as_text(history_report(history)))
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(History, LeavesOutRatiosBeyondADouble) {
  Folder folder;
  for (int i = 0; i < 9; ++i) {
    ordered_json json = run_json(i);
    json["cases"][1]["time"]["samples"] = {1e17, 1e17};
    json["cases"][2]["time"]["samples"] = {5e-324, 5e-324};
    folder.add(i, json);
  }
  const History history = folder.history();
  EXPECT_FALSE(series_of(history, kVector).at(0)->points[0].ratio.has_value());
  EXPECT_THAT(series_of(history, kVector).at(0)->not_judged, HasSubstr("no anchor was measured with it"));
  EXPECT_FALSE(as_text(history_report(history)).empty());
}

TEST(History, NamesAreCheckedNearestFirst) {
  Folder folder;
  folder.add(0, run_json(0));
  expect_error<UserError>([&] { folder.history(with(&HistoryOptions::variants, {"flat-vectr"})); },
                          {"variant", "flat-vector"});
  expect_error<UserError>([&] { folder.history(with(&HistoryOptions::layers, {"conv9"})); }, {"layer", "conv1"});
  expect_error<UserError>([&] { folder.history(with(&HistoryOptions::batches, {11})); }, {"batch 11", "10"});
  expect_error<UserError>([&] { folder.history(with(&HistoryOptions::anchor, "onednm")); }, {"anchor", "onednn"});
  EXPECT_THAT(folder.history(with(&HistoryOptions::layers, {"lenet28.conv1"})).series, SizeIs(3));
}

TEST(History, OfCountsAloneIsRefused) {
  Folder folder;
  ordered_json json = recorded_run_json({counted_case_json("shared-memory", 3, 100, 200)});
  folder.add(0, json);
  expect_error<UserError>([&] { folder.history(); }, {"no case of 1 run has a time"});
}

TEST(History, TextStaysWithinAHundredColumns) {
  Folder folder;
  for (int i = 0; i < 24; ++i) folder.add(i, run_json(i, i < 14 ? 1 : 1.1));
  std::istringstream lines(as_text(history_report(folder.history())));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;  // bytes; µ and × have 2
}

}  // namespace
}  // namespace convladder

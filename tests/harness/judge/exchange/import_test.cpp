// Files in the shape that Google Benchmark and nvbench write, made here: none of them is another's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/judge/exchange/exported.hpp"
#include "harness/judge/exchange/imported_run.hpp"
#include "harness/measure/records/foreign_record.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

ordered_json imported(const ordered_json& json, const std::string& file = "theirs.json") {
  const ForeignFormat* const format = foreign_format_of(json);
  if (format == nullptr) throw UserError("nobody's");
  return format->run_of(json, file, json.dump());
}

RecordedRun run_of(const ordered_json& json) { return recorded_run_of(imported(json), "theirs.json"); }

std::string refusal_of(const ordered_json& json) {
  try {
    static_cast<void>(run_of(json));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

ordered_json repetition(const std::string& name, double time, const char* unit = "ns", int index = 0) {
  return {{"name", name},         {"run_name", name},          {"run_type", "iteration"}, {"repetitions", 2},
          {"threads", 1},         {"repetition_index", index}, {"iterations", 7},         {"real_time", time},
          {"cpu_time", time / 2}, {"time_unit", unit}};
}

ordered_json google(const std::vector<ordered_json>& benchmarks) {
  return {{"context",
           {{"date", "2026-01-31T14:00:00+02:00"},
            {"host_name", "box"},
            {"executable", "./bench"},
            {"num_cpus", 4},
            {"caches", ordered_json::array({{{"type", "Data"}, {"level", 1}, {"size", 32768}, {"num_sharing", 1}}})},
            {"library_version", "v1.8.3"},
            {"library_build_type", "release"},
            {"commit", "0123abc"}}},
          {"benchmarks", benchmarks}};
}

TEST(ImportGoogleBenchmark, EveryRepetitionIsASampleOfItsRealTimeInNanoseconds) {
  const RecordedRun run =
      run_of(google({repetition("BM_A/8", 1.5, "us", 0), repetition("BM_A/8", 2.5, "us", 1),
                     repetition("BM_B", 3, "ms"), repetition("BM_C", 4, "s"), repetition("BM_D", 5, "ns")}));
  ASSERT_EQ(run.cases.size(), 4);
  EXPECT_EQ(run.cases[0].id, "cpu/BM_A/8/google-benchmark.real-time/1");
  EXPECT_THAT(run.cases[0].time->samples, ElementsAre(1500, 2500));
  EXPECT_EQ(run.cases[0].time->iterations, 7);
  EXPECT_THAT(run.cases[1].time->samples, ElementsAre(3e6));
  EXPECT_THAT(run.cases[2].time->samples, ElementsAre(4e9));
  EXPECT_THAT(run.cases[3].time->samples, ElementsAre(5));
  EXPECT_FALSE(run.cases[0].library()) << "a control would never be judged";
  EXPECT_EQ(run.context.date, "2026-01-31T12:00:00Z");
  EXPECT_EQ(run.context.machine.host, "box");
  EXPECT_EQ(run.context.commit, "0123abc");
  EXPECT_EQ(run.context.imported_from, "Google Benchmark 1.8.3");
}

TEST(ImportGoogleBenchmark, SaysThatNothingWasVerified) {
  const ordered_json run = imported(google({repetition("BM_A", 1)}));
  EXPECT_TRUE(run.at("cases")[0].at("verification").is_null());
  EXPECT_THAT(run.at("ladders"), IsEmpty());
}

TEST(ImportGoogleBenchmark, AggregatesStandInForRepetitionsThatAreNotThere) {
  const auto aggregate = [](const char* name, double value) {
    ordered_json json = repetition("BM_A", value);
    json["run_type"] = "aggregate";
    json["name"] = std::string("BM_A_") + name;
    json["aggregate_name"] = name;
    return json;
  };
  const ordered_json only = imported(google({aggregate("mean", 9), aggregate("median", 7), aggregate("stddev", 1)}));
  ASSERT_EQ(only.at("cases").size(), 1);
  EXPECT_EQ(only.at("cases")[0].at("time").at("samples"), ordered_json::array({7.0}));
  EXPECT_THAT(only.at("context").at("imported").at("notes")[0], HasSubstr("aggregates only"));
  const RecordedRun both = run_of(google({repetition("BM_A", 3), aggregate("median", 7)}));
  EXPECT_THAT(both.cases[0].time->samples, ElementsAre(3));
  const RecordedRun complexity = run_of(google({repetition("BM_A", 3), aggregate("BigO", 7), aggregate("cv", 0.1)}));
  EXPECT_EQ(complexity.cases.size(), 1);
}

TEST(ImportGoogleBenchmark, ReadsFilesOfVersionsWithoutRunTypes) {
  const auto old = [](const char* name, double time) {
    return ordered_json{
        {"name", name}, {"iterations", 10}, {"real_time", time}, {"cpu_time", time}, {"time_unit", "ns"}};
  };
  const RecordedRun run =
      run_of({{"context", {{"date", "2016/03/17-18:40:25"}, {"num_cpus", 2}}},
              {"benchmarks", {old("BM_A/1", 3), old("BM_A/1", 4), old("BM_A/1_mean", 3.5), old("BM_B", 5)}}});
  ASSERT_EQ(run.cases.size(), 2);
  EXPECT_THAT(run.cases[0].time->samples, ElementsAre(3, 4));
  EXPECT_EQ(run.context.date, "2016-03-17T18:40:25Z");
}

TEST(ImportGoogleBenchmark, ABenchmarkThatDidNotRunKeepsItsReasonAndHasNoTime) {
  const ordered_json failed = {{"name", "BM_A"},
                               {"run_name", "BM_A"},
                               {"run_type", "iteration"},
                               {"error_occurred", true},
                               {"error_message", "no \"GPU\"\x1b["}};
  const ordered_json skipped = {{"name", "BM_B"},
                                {"run_name", "BM_B"},
                                {"run_type", "iteration"},
                                {"skipped", true},
                                {"skip_message", "not today"}};
  const RecordedRun run = run_of(google({failed, skipped, repetition("BM_C", 0), repetition("BM_D", -1)}));
  EXPECT_EQ(run.cases[0].status, Status::launch_failed);
  EXPECT_EQ(run.cases[0].reason, "no \"GPU\" [");
  EXPECT_EQ(run.cases[1].status, Status::skipped);
  EXPECT_EQ(run.cases[1].reason, "not today");
  EXPECT_EQ(run.cases[2].status, Status::skipped);
  EXPECT_THAT(run.cases[2].reason, HasSubstr("not above 0"));
  EXPECT_FALSE(run.cases[3].time.has_value());
}

TEST(ImportGoogleBenchmark, SomeImpossibleTimesAreLeftOutAndTold) {
  ordered_json none = repetition("BM_A", 1, "ns", 1);
  none["real_time"] = nullptr;
  const ordered_json run = imported(google({repetition("BM_A", 5), none}));
  EXPECT_EQ(run.at("cases")[0].at("time").at("samples"), ordered_json::array({5.0}));
  EXPECT_THAT(run.at("context").at("imported").at("notes")[0], HasSubstr("1 of its 2 times"));
}

TEST(ImportGoogleBenchmark, NamesStayDistinctWhateverTheyHold) {
  ordered_json again = repetition("same", 2);
  again["family_index"] = 1;
  const std::string quoted = "BM<std::pair<int, \"x\">>,&/1";
  const RecordedRun run =
      run_of(google({repetition("same", 1), again, repetition("a\nb", 1), repetition("a\tb", 1),
                     repetition(std::string(300, 'x') + "1", 1), repetition(std::string(300, 'x') + "2", 1),
                     repetition("", 1), repetition(quoted, 1)}));
  std::set<std::string> names;
  for (const RecordedCase& one : run.cases) names.insert(one.variant);
  EXPECT_EQ(names.size(), 8);
  EXPECT_TRUE(names.contains("same") && names.contains("same #2") && names.contains(quoted));
}

TEST(ImportGoogleBenchmark, ManagesWithoutAContext) {
  ordered_json json = google({repetition("BM_A", 1)});
  json.erase("context");
  EXPECT_EQ(run_of(json).context.machine.host, "unknown");
}

TEST(ImportGoogleBenchmark, RefusesInOneLineWithThePlace) {
  EXPECT_EQ(refusal_of(google({})), "theirs.json: no benchmark in it");
  ordered_json json = google({repetition("BM_A", 1, "years")});
  EXPECT_THAT(refusal_of(json), StartsWith("theirs.json: benchmarks[0]: time_unit: expected"));
  json = google({repetition("BM_A", 1)});
  json["benchmarks"][0]["real_time"] = "1";
  EXPECT_THAT(refusal_of(json), StartsWith("theirs.json: benchmarks[0]: real_time: expected a number"));
  json = google({repetition("BM_A", 1)});
  json["benchmarks"][0].erase("real_time");
  EXPECT_EQ(run_of(json).cases[0].status, Status::skipped);
}

TEST(ImportGoogleBenchmark, AnExportOfTheFileItselfHasItsMachine) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "theirs_exported.json";
  std::ofstream(file) << google({repetition("a", 1000)}).dump();
  const ExportedContext about = read_exported_record(file.string()).context;
  std::filesystem::remove(file);
  EXPECT_EQ(about.cores, 4);
  EXPECT_EQ(about.threads, 4);
  ASSERT_EQ(about.caches.size(), 1U);
  EXPECT_EQ(about.caches.front().level, 1U);
  EXPECT_EQ(about.caches.front().bytes, 32768U);
}

TEST(ForeignRecord, KnowsNoOtherDocument) {
  EXPECT_EQ(foreign_format_of({{"benchmarks", {{{"name", "test_a"}, {"stats", {{"mean", 1}}}}}}}), nullptr);
  for (const char* const text : {"[]", "1", "null", "{}", R"({"benchmarks": 1})", R"({"benchmarks": [1]})"}) {
    EXPECT_EQ(foreign_format_of(ordered_json::parse(text)), nullptr) << text;
  }
}

TEST(ForeignRecord, NumbersThatJsonHasNotBecomeNull) {
  EXPECT_EQ(without_not_finite(R"({"a": NaN, "b": -NaN, "c": [Infinity,-Infinity], "NaN": "NaN \" Infinity"})"),
            R"({"a": null, "b": null, "c": [null,null], "NaN": "NaN \" Infinity"})");
}

TEST(ForeignRecord, DatesBecomeUtc) {
  EXPECT_EQ(utc_date("2026-01-01T00:30:00+01:00"), "2025-12-31T23:30:00Z");
  EXPECT_EQ(utc_date("2026-01-01T00:30:00-05:30"), "2026-01-01T06:00:00Z");
  EXPECT_EQ(utc_date("2026-01-01T00:30:00Z"), "2026-01-01T00:30:00Z");
  EXPECT_EQ(utc_date("2017-04-28 11:02:33"), "2017-04-28T11:02:33Z");
  EXPECT_EQ(utc_date("2019/02/01-12:00:00"), "2019-02-01T12:00:00Z");
  for (const char* const text :
       {"", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+1:00", "yesterday at noon, UTC"}) {
    EXPECT_EQ(utc_date(text), "") << text;
  }
}

ordered_json summary(const std::string& tag, const std::string& name, const std::string& type,
                     const std::string& value) {
  return {{"tag", tag}, {"data", ordered_json::array({{{"name", name}, {"type", type}, {"value", value}}})}};
}

ordered_json state(int device, std::vector<ordered_json> summaries) {
  return {{"name", "Device=" + std::to_string(device) + " Size=2^8 T=F32"},
          {"device", device},
          {"axis_values",
           {{{"name", "Size"}, {"type", "int64"}, {"value", "256"}},
            {{"name", "T"}, {"type", "string"}, {"value", "F32"}}}},
          {"summaries", std::move(summaries)},
          {"is_skipped", false}};
}

ordered_json nvbench(const std::vector<ordered_json>& states) {
  return {{"meta", {{"argv", {"bin/bench", "--json", "x"}}, {"version", {{"nvbench", {{"string", "0.1.0"}}}}}}},
          {"devices", {{{"id", 0}, {"name", "GPU A"}, {"sm_version", 900}}, {{"id", 1}, {"name", "GPU B"}}}},
          {"benchmarks", {{{"name", "copy"}, {"axes", nullptr}, {"states", states}}}}};
}

TEST(ForeignRecord, WithASchemaVersionItIsOurs) {
  for (ordered_json json : {google({repetition("BM_A", 1)}), nvbench({state(0, {})})}) {
    EXPECT_NE(foreign_format_of(json), nullptr);
    json["schema_version"] = "1.0";
    EXPECT_EQ(foreign_format_of(json), nullptr);
  }
}

const char* const kMean = "nv/cold/time/gpu/mean";

TEST(ImportNvbench, EachGpuHasItsOwnCases) {
  const RecordedRun run = run_of(nvbench({state(0, {summary(kMean, "value", "float64", "0.001")}),
                                          state(1, {summary(kMean, "value", "float64", "2e-6"),
                                                    summary("nv/batch/time/gpu/mean", "value", "float64", "1e-6")})}));
  ASSERT_EQ(run.cases.size(), 2);
  EXPECT_EQ(run.cases[0].id, "cuda0/copy Size=2^8 T=F32/nvbench.cold-gpu-time/1");
  EXPECT_EQ(run.cases[1].device, "cuda1");
  EXPECT_DOUBLE_EQ(run.cases[0].time->median, 1e6);
  EXPECT_EQ(run.cases[0].time->cache, "cold");
  EXPECT_THAT(run.cases[0].shape, ElementsAre(Pair("Size", 256)));
  EXPECT_EQ(text_of(run.context.machine.facts_of("cuda1"), "name"), "GPU B");
  EXPECT_EQ(run.context.imported_from, "nvbench 0.1.0");
}

TEST(ImportNvbench, AStateThatWasSkippedSaysWhy) {
  ordered_json skipped = state(0, {});
  skipped["is_skipped"] = true;
  skipped["skip_reason"] = "needs more memory";
  ordered_json without = state(0, {});
  without["summaries"] = nullptr;
  without["axis_values"] = nullptr;
  const RecordedRun run = run_of(nvbench({skipped, without, state(0, {summary(kMean, "value", "float64", "nan")})}));
  EXPECT_EQ(run.cases[0].status, Status::skipped);
  EXPECT_EQ(run.cases[0].reason, "needs more memory");
  EXPECT_THAT(run.cases[1].reason, HasSubstr("holds no time"));
  EXPECT_THAT(run.cases[2].reason, HasSubstr("not above 0"));
}

TEST(ImportNvbench, WithoutColdTimesTheBatchCounts) {
  const RecordedRun run = run_of(nvbench({state(0, {summary("nv/batch/time/gpu/mean", "value", "float64", "1e-6")})}));
  EXPECT_EQ(run.cases[0].id, "cuda0/copy Size=2^8 T=F32/nvbench.batch-gpu-time/1");
  EXPECT_EQ(run.cases[0].time->cache, "hot");
}

TEST(ImportNvbench, ReadsTheSamplesBesideIt) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "nvbench_samples";
  std::filesystem::create_directories(folder / "a.json-bin");
  const auto write_floats = [&](const std::vector<float>& values) {
    std::ofstream out(folder / "a.json-bin/0.bin", std::ios::binary | std::ios::trunc);
    for (const float value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      for (unsigned byte = 0; byte < 4; ++byte) out.put(static_cast<char>(bits >> (8 * byte) & 255U));
    }
  };
  ordered_json samples =
      summary("nv/json/bin:nv/cold/sample_times", "filename", "string", "elsewhere/a.json-bin/0.bin");
  samples["data"].push_back({{"name", "size"}, {"type", "int64"}, {"value", "3"}});
  const ordered_json json = nvbench({state(0, {summary(kMean, "value", "float64", "1"), samples})});
  const std::string file = (folder / "a.json").string();

  write_floats({1, 2, 0.5F});
  EXPECT_EQ(imported(json, file).at("cases")[0].at("time").at("samples"), ordered_json::array({1e9, 2e9, 5e8}));
  write_floats({1, 2});
  EXPECT_THROW(imported(json, file), UserError) << "a file that was cut";
  std::filesystem::remove(folder / "a.json-bin/0.bin");
  const ordered_json without = imported(json, file);
  EXPECT_EQ(without.at("cases")[0].at("time").at("samples"), ordered_json::array({1e9}));
  EXPECT_THAT(without.at("context").at("imported").at("notes").back(), HasSubstr("not beside it"));
}

TEST(ImportNvbench, LooksForSamplesNowhereElse) {
  for (const char* const name : {"..", "a/../..", "/", ""}) {
    ordered_json samples = summary("nv/json/bin:nv/cold/sample_times", "filename", "string", name);
    samples["data"].push_back({{"name", "size"}, {"type", "int64"}, {"value", "3"}});
    EXPECT_THAT(refusal_of(nvbench({state(0, {summary(kMean, "value", "float64", "1"), samples})})),
                HasSubstr("expected the name of a file"))
        << name;
  }
}

TEST(ImportNvbench, RefusesInOneLineWithThePlace) {
  EXPECT_THAT(refusal_of(nvbench({state(0, {summary(kMean, "value", "float64", "fast")})})),
              HasSubstr("expected a number as text"));
  ordered_json json = nvbench({state(0, {})});
  json["benchmarks"][0]["states"][0]["axis_values"][0]["value"] = "12x";
  EXPECT_THAT(refusal_of(json), HasSubstr("benchmarks[0]: states[0]: axis_values[0]: value: expected a whole number"));
}

TEST(ImportOfTimers, ReadsHyperfine) {
  const ordered_json file = {{"results",
                              {{{"command", "sort big"}, {"mean", 0.02}, {"times", {0.01, 0.03}}},
                               {{"command", "sort small"}, {"mean", 0.002}}}}};
  const RecordedRun run = run_of(file);
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases[0].id, "cpu/sort big/hyperfine.wall-time/1");
  EXPECT_THAT(run.cases[0].time->samples, ElementsAre(1e7, 3e7));
  EXPECT_THAT(run.cases[1].time->samples, ElementsAre(2e6)) << "its mean alone";
  ordered_json wrong = file;
  wrong["results"][0]["times"] = "fast";
  EXPECT_THAT(refusal_of(wrong), HasSubstr("times"));
}

TEST(ImportOfTimers, ReadsPytestBenchmark) {
  const ordered_json file = {
      {"datetime", "2026-01-31T14:00:00+02:00"},
      {"version", "4.0.0"},
      {"machine_info", {{"node", "box"}}},
      {"commit_info", {{"id", "0123abc"}}},
      {"benchmarks",
       {{{"name", "test_a"}, {"fullname", "bench.py::test_a"}, {"stats", {{"rounds", 2}, {"data", {1e-6, 2e-6}}}}},
        {{"name", "test_b"}, {"stats", {{"rounds", 9}, {"median", 3e-6}}}}}}};
  const RecordedRun run = run_of(file);
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_THAT(run.cases[0].id, HasSubstr("bench.py::test_a"));
  ASSERT_EQ(run.cases[0].time->samples.size(), 2U);
  EXPECT_NEAR(run.cases[0].time->samples[1], 2000, 1e-9);
  EXPECT_NEAR(run.cases[1].time->median, 3000, 1e-9);
  EXPECT_EQ(run.context.date, "2026-01-31T12:00:00Z");
}

TEST(ImportOfTimers, ReadsCriterion) {
  const ordered_json file = {{"sampling_mode", "Linear"}, {"iters", {10.0, 20.0}}, {"times", {1000.0, 1800.0}}};
  const ordered_json run = imported(file, "/target/criterion/parse/new/sample.json");
  const RecordedRun read = recorded_run_of(run, "sample.json");
  ASSERT_EQ(read.cases.size(), 1U);
  EXPECT_EQ(read.cases[0].id, "cpu/parse/criterion.wall-time/1");
  EXPECT_NEAR(read.cases[0].time->samples[0], 100, 1e-9);
  EXPECT_NEAR(read.cases[0].time->samples[1], 90, 1e-9);
  ordered_json wrong = file;
  wrong["times"] = {1.0};
  EXPECT_THAT(refusal_of(wrong), HasSubstr("as many as there are iters"));
  wrong["iters"] = {0.0};
  EXPECT_THAT(refusal_of(wrong), HasSubstr("iters"));
}

}  // namespace
}  // namespace convladder

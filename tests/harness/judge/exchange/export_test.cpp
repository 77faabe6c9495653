// Each format is held against what its reader asks: the rules stand beside the tests, with where they were read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/exchange/export_format.hpp"
#include "harness/judge/exchange/exported.hpp"
#include "harness/judge/exchange/outcome.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "tests/harness/recorded_runs.hpp"
#include "tests/temporary_folder.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ordered_json with_family(ordered_json one) {
  one["family"] = one.at("device") == "cpu" ? "cpu" : "cuda";
  one["problem"] = "nobody knows it";
  return one;
}

/// Times, a time of another kind, counters, a prediction by a virtual clock, and a case that failed.
ordered_json everything() {
  ordered_json timed = with_family(timed_case_json("cpu", "flat-vector", 4, {30, 10, 20}));
  timed["time"]["median"] = 20;
  timed["time"]["interval"] = {{"low", 10}, {"high", 30}, {"level", 0.75}};
  timed["other_times"] = ordered_json::array({{{"of", "op"}, {"cache", "cold"}, {"samples", {40}}}});
  ordered_json counted = with_family(counted_case_json("shared", 3, 1000, 20));
  ordered_json predicted = with_family(timed_case_json("cuda", "naive", 1, {5}));
  predicted["time"]["kind"] = "predicted";
  ordered_json failed = with_family(recorded_case_json("cpu", "wrong", 2));
  failed["status"] = "incorrect";
  failed["reason"] = "an error, \"large\"\nand more";
  ordered_json run = recorded_run_json({timed, counted, predicted, failed});
  run["context"]["date"] = "2026-01-31T12:00:00Z";
  return run;
}

ExportedRecord exported_record(const ordered_json& json, const std::string& file) {
  return parse_exported_record(json.dump(), file);
}

ExportedRecord exported() { return exported_record(everything(), "run.json"); }

ExportedText text_in(const char* format, const ExportedRecord& record,
                     const ExportOptions& options = {.repository = "https://github.com/owner/name"}) {
  return find_known("format", format, export_formats(), &ExportFormat::name).write(record, options);
}

ordered_json json_in(const char* format, const ExportedRecord& record = exported()) {
  return ordered_json::parse(text_in(format, record).text);
}

ExportedRecord judged() {
  ExportedRecord record = exported();
  record.cases[0].verdict = ExportedVerdict{"regressed", "it is slower", "onednn"};
  return record;
}

TEST(Export, KnowsTheFormats) {
  EXPECT_THAT(names_of(export_formats(), &ExportFormat::name),
              ElementsAre("bencher", "conbench", "csv", "github-action-benchmark", "google", "junit", "lnt", "sarif"));
}

TEST(Export, WhatIsPredictedOrCountedIsNeverALatency) {
  const ExportedRecord record = exported();
  for (const ExportedCase& one : record.cases) {
    for (const ExportedFigure& figure : one.figures) {
      EXPECT_EQ(figure.measure.starts_with("latency"), figure.kind == FigureKind::measured) << figure.measure;
    }
  }
  EXPECT_EQ(record.cases[2].figures[0].measure, "predicted-latency");
  EXPECT_EQ(record.cases[2].latency(), nullptr);
}

TEST(Export, RefusesAnotherKindOfRecord) {
  ordered_json json = everything();
  json["kind"] = "fused";
  EXPECT_THROW(exported_record(json, "run.json"), UserError);
}

// https://bencher.dev/bmf.json: names, in them measures, in them numbers, of which "value" has to be there. A measure's
// name has at most 64 characters.
TEST(Export, BencherGetsMeasuresByName) {
  const ordered_json bmf = json_in("bencher");
  ASSERT_THAT(bmf, SizeIs(3));
  for (const auto& [name, measures] : bmf.items()) {
    ASSERT_TRUE(measures.is_object()) << name;
    for (const auto& [measure, metric] : measures.items()) {
      EXPECT_LE(measure.size(), 64U);
      ASSERT_TRUE(metric.at("value").is_number());
      for (const auto& [part, value] : metric.items()) {
        EXPECT_TRUE((part == "value" || part == "lower_value" || part == "upper_value") && value.is_number());
      }
    }
  }
  const ordered_json& timed = bmf.at("cpu/flat-vector/lenet28.conv1/10");
  EXPECT_EQ(timed.at("latency"), ordered_json({{"value", 20.0}, {"lower_value", 10.0}, {"upper_value", 30.0}}));
  EXPECT_EQ(timed.at("latency-op-cold").at("value"), 40.0);
  EXPECT_EQ(bmf.at("simulated/shared/lenet28.conv1/10").at("counted-smsp__inst_executed.sum").at("value"), 1000.0);
  const ordered_json& predicted = bmf.at("cuda/naive/lenet28.conv1/10");
  EXPECT_FALSE(predicted.contains("latency"));
  EXPECT_TRUE(predicted.contains("predicted-latency"));
}

TEST(Export, BencherIsToldOfRegressionsOnly) {
  EXPECT_EQ(json_in("bencher", judged()).at("cpu/flat-vector/lenet28.conv1/10").at("regressed").at("value"), 1);
  EXPECT_FALSE(json_in("bencher").at("cpu/flat-vector/lenet28.conv1/10").contains("regressed"));
}

TEST(Export, WhatIsLeftOutIsNamedWithItsReason) {
  const ExportedText bencher = text_in("bencher", exported());
  ASSERT_THAT(bencher.left_out, SizeIs(2));
  EXPECT_FALSE(bencher.left_out[0].failed);
  EXPECT_TRUE(bencher.left_out[1].failed);
  EXPECT_THAT(
      left_out_lines(bencher.left_out),
      ElementsAre(HasSubstr("1 figure left out, simulated/shared/lenet28.conv1/10: Bencher takes no measure of "),
                  "1 case left out, cpu/wrong/lenet28.conv1/10: incorrect: an error, \"large\" and more"));
  std::vector<LeftOut> many(3, {"a", "skipped: no GPU", false, false});
  many[2].why = "counted";
  EXPECT_THAT(left_out_lines(many),
              ElementsAre("2 cases left out: skipped: no GPU (the first: a)", "1 case left out, a: counted"));
}

// src/extract.ts of github-action-benchmark 1.22: a list of {name, value, range?, unit, extra?}, value a number; an
// empty list is an error. src/extractRangeInfo.ts: "± " and a number.
TEST(Export, TheActionGetsEntriesOfUniqueNames) {
  const ordered_json entries = json_in("github-action-benchmark", judged());
  std::set<std::string> names;
  for (const ordered_json& one : entries) {
    EXPECT_TRUE(one.at("value").is_number() && one.at("unit").is_string() && one.at("extra").is_string());
    EXPECT_TRUE(names.insert(one.at("name").get<std::string>()).second) << one.at("name");
  }
  EXPECT_EQ(entries[0].at("name"), "cpu/flat-vector/lenet28.conv1/10");
  EXPECT_EQ(entries[0].at("unit"), "ns");
  EXPECT_EQ(entries[0].at("range"), "± 10");
  EXPECT_THAT(entries[0].at("extra").get<std::string>(), HasSubstr("regressed: it is slower"));
  EXPECT_EQ(entries[1].at("name"), "cpu/flat-vector/lenet28.conv1/10 (latency-op-cold)");
}

// lnt/testing/__init__.py, upgrade_and_normalize_report: format_version "2", machine, run, tests. testsuitedb.py,
// importDataFromDict: machine.name; run.llvm_project_revision; of a test its name and metrics of the suite, each a
// number or a list of them. schemas/nts.yaml: execution_time in seconds, execution_status.
TEST(Export, LntGetsSecondsAndNoMetricThatItsSuiteLacks) {
  const ordered_json report = json_in("lnt", judged());
  EXPECT_EQ(report.at("format_version"), "2");
  EXPECT_TRUE(report.at("machine").at("name").is_string());
  EXPECT_EQ(report.at("run").at("start_time"), "2026-01-31 12:00:00");
  EXPECT_TRUE(report.at("run").at("llvm_project_revision").is_string());
  EXPECT_EQ(report.at("run").at("convladder_regressed"), "cpu/flat-vector/lenet28.conv1/10");
  ASSERT_THAT(report.at("tests"), SizeIs(2));
  EXPECT_EQ(report.at("tests")[0], ordered_json({{"name", "cpu/flat-vector/lenet28.conv1/10"},
                                                 {"execution_time", {30e-9, 10e-9, 20e-9}},
                                                 {"execution_status", 0}}));
  EXPECT_EQ(report.at("tests")[1], ordered_json({{"name", "cpu/wrong/lenet28.conv1/10"}, {"execution_status", 1}}));
}

// conbench/entities/benchmark_result.py, _BenchmarkResultCreateSchema: these fields are required, and either stats or
// error; units.py: the units. entities/hardware.py: what a machine has.
TEST(Export, ConbenchGetsAResultForEachTimeAndAnErrorForEachFailure) {
  const ordered_json results = json_in("conbench", judged());
  ASSERT_THAT(results, SizeIs(4));
  for (const ordered_json& one : results) {
    for (const char* const field : {"run_id", "batch_id", "timestamp", "context", "info", "github", "machine_info"}) {
      EXPECT_TRUE(one.contains(field)) << field;
    }
    EXPECT_FALSE(one.at("tags").at("name").get<std::string>().empty());
    EXPECT_EQ(one.at("github").at("repository"), "https://github.com/owner/name");
    EXPECT_NE(one.contains("stats"), one.contains("error"));
    for (const char* const field :
         {"name", "architecture_name", "kernel_name", "os_name", "os_version", "cpu_model_name", "cpu_l1d_cache_bytes",
          "cpu_l1i_cache_bytes", "cpu_l2_cache_bytes", "cpu_l3_cache_bytes", "cpu_core_count", "cpu_thread_count",
          "cpu_frequency_max_hz", "memory_bytes", "gpu_count", "gpu_product_names"}) {
      EXPECT_TRUE(one.at("machine_info").contains(field)) << field;
    }
    if (one.contains("stats")) {
      EXPECT_EQ(one.at("stats").at("unit"), "ns");
    }
  }
  EXPECT_EQ(results[0].at("stats").at("data"), ordered_json({30.0, 10.0, 20.0}));
  EXPECT_EQ(results[0].at("change_annotations").at("begins_distribution_change"), true);
  EXPECT_EQ(results[2].at("tags").at("measure"), "predicted-latency");
  EXPECT_EQ(results[3].at("error").at("status"), "incorrect");
  EXPECT_THROW(text_in("conbench", exported(), {.repository = ""}), UserError);
  EXPECT_THROW(text_in("conbench", exported(), {.repository = "https://github.com/"}), UserError);
}

TEST(Export, ConbenchGetsTheSameRunIdForTheSameRecordOnly) {
  ordered_json other = everything();
  other["context"]["seed"] = 12345;
  const ordered_json first = json_in("conbench")[0];
  EXPECT_EQ(first.at("run_id"), json_in("conbench")[0].at("run_id"));
  EXPECT_NE(first.at("run_id"), json_in("conbench", exported_record(other, "run.json"))[0].at("run_id"));
}

/// The fields of a text of RFC 4180, read independently of what wrote it.
std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[++i];
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text.substr(i, 2) == "\r\n") {
      ++i;
      rows.push_back({""});
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Export, TheTableHasARowForEachFigureAndEachSample) {
  const std::vector<std::vector<std::string>> rows = csv_rows(text_in("csv", judged()).text);
  for (const std::vector<std::string>& row : rows) ASSERT_EQ(row.size(), rows.front().size());
  const auto column = [&](const std::vector<std::string>& row, const char* name) {
    const auto place = std::ranges::find(rows.front(), name);
    return row.at(static_cast<std::size_t>(place - rows.front().begin()));
  };
  EXPECT_EQ(column(rows[1], "measure"), "latency");
  EXPECT_EQ(column(rows[1], "value"), "20");
  EXPECT_EQ(column(rows[1], "sample"), "");
  EXPECT_EQ(column(rows[1], "samples"), "3");
  EXPECT_EQ(column(rows[1], "verdict"), "regressed");
  EXPECT_EQ(column(rows[2], "sample") + ' ' + column(rows[2], "value"), "1 30");
  EXPECT_EQ(column(rows[4], "sample") + ' ' + column(rows[4], "value"), "3 20");
  EXPECT_EQ(column(rows.back(), "status"), "incorrect");
  EXPECT_EQ(column(rows.back(), "reason"), "an error, \"large\" and more");
  EXPECT_EQ(column(rows.back(), "value"), "");
}

TEST(Export, GoogleBenchmarkGetsTheRecordsMachineAndDate) {
  const ordered_json json = json_in("google", judged());
  EXPECT_EQ(json.at("context").at("date"), "2026-01-31T12:00:00+00:00");
  std::size_t repetitions = 0;
  for (const ordered_json& one : json.at("benchmarks")) {
    EXPECT_FALSE(one.at("name").get<std::string>().starts_with("cuda/")) << "its time is predicted";
    repetitions += one.at("run_type") == "iteration" && one.contains("real_time") && !one.contains("error_occurred");
  }
  EXPECT_EQ(repetitions, 3U);
  EXPECT_EQ(json.at("benchmarks")[0].at("label"), "regressed: it is slower");
  EXPECT_EQ(json.at("benchmarks").back().at("error_occurred"), true);
}

TEST(Export, AComparisonHasTheFiguresOfItsNewSide) {
  const ordered_json comparison = {
      {"kind", "comparison"},
      {"new",
       {{"file", "b.json"}, {"commit", "0123"}, {"dirty", false}, {"date", "2026-01-31T12:00:00Z"}, {"host", "box"}}},
      {"cases",
       {{{"id", "cpu/a/x.y/1"},
         {"verdict", "regressed"},
         {"reason", nullptr},
         {"witness", "b"},
         {"new_median_ns", 12.5},
         {"time_kind", "measured"},
         {"change", {{"estimate", 0.25}, {"low", 0.2}, {"high", nullptr}}}},
        {{"id", "cuda/a/x.y/1"}, {"verdict", "pass"}, {"new_median_ns", 3}, {"time_kind", "predicted"}},
        {{"id", "cpu/gone/x.y/1"}, {"verdict", "failed"}, {"reason", "crashed"}}}}};
  const ExportedRecord record = exported_record(comparison, "c.json");
  EXPECT_EQ(record.context.commit, "0123");
  const ordered_json bmf = json_in("bencher", record);
  EXPECT_EQ(bmf.at("cpu/a/x.y/1").at("latency").at("value"), 12.5);
  EXPECT_EQ(bmf.at("cpu/a/x.y/1").at("change"), ordered_json({{"value", 25.0}, {"lower_value", 20.0}}));
  EXPECT_EQ(bmf.at("cpu/a/x.y/1").at("regressed").at("value"), 1);
  EXPECT_FALSE(bmf.at("cuda/a/x.y/1").contains("latency"));
  EXPECT_TRUE(text_in("bencher", record).left_out.at(0).failed);
}

ordered_json finding_json(const char* checker, int line) {
  return {{"checker", checker},
          {"severity", "finding"},
          {"problem", "a read of <nothing> & more"},
          {"kernel", "scale"},
          {"opcode", "ld.global"},
          {"ptx_line", 7},
          {"source_file", "scale.cu"},
          {"source_line", line},
          {"block", {0, 0, 0}},
          {"thread", {5, 0, 0}},
          {"space", "global"},
          {"address", 1},
          {"allocation", ""},
          {"count", 2}};
}

ordered_json launch_json() {
  ordered_json note = finding_json("racecheck", 9);
  note["severity"] = "note";
  return {{"kernel", "scale"},
          {"display_name", "scale"},
          {"findings", ordered_json::array({finding_json("memcheck", 3), note})},
          {"fault", nullptr},
          {"stopped", nullptr},
          {"expectations", ordered_json::array()}};
}

/// A duel with one case of each verdict, and a control that moved or did not.
ordered_json duel_with(bool contaminated) {
  ordered_json cases = ordered_json::array();
  for (const char* const verdict :
       {"pass", "improved", "regressed", "failed", "inconclusive", "missing", "new", "skipped"}) {
    cases.push_back({{"id", std::string("cpu/") + verdict},
                     {"verdict", verdict},
                     {"reason", std::string(verdict) + ", because"},
                     {"metric", {{"name", "wall"}, {"unit", "ns"}, {"better", "lower"}}},
                     {"kind", "measured"},
                     {"new_median", 2e9},
                     {"change", {{"estimate", 0.25}, {"low", 0.2}, {"high", 0.3}}}});
  }
  return {{"kind", "duel"},
          {"new", {{"command", "./bench"}}},
          {"control", {{"id", "cpu/pass"}, {"failure", nullptr}, {"contaminated", contaminated}}},
          {"cases", cases},
          {"context", {{"date", "2026-01-31T12:00:00Z"}, {"program", {{"commit", "0123"}, {"name", "convladder"}}}}}};
}

std::vector<Outcome> outcomes(const ExportedRecord& record) {
  std::vector<Outcome> all;
  for (const ExportedCase& one : record.cases) all.push_back(outcome_of(one).outcome);
  return all;
}

TEST(Export, AVerdictIsAnOutcomeAndAContaminatedDuelShowsNothing) {
  using enum Outcome;
  EXPECT_THAT(outcomes(exported_record(duel_with(false), "d.json")),
              ElementsAre(passed, passed, failed, broken, undecided, undecided, skipped, skipped));
  const ExportedRecord contaminated = exported_record(duel_with(true), "d.json");
  EXPECT_THAT(outcomes(contaminated),
              ElementsAre(undecided, undecided, undecided, broken, undecided, undecided, skipped, skipped));
  EXPECT_EQ(json_in("bencher", contaminated).at("cpu/regressed").at("regressed").at("value"), 0);
  EXPECT_EQ(contaminated.context.commit, "unknown") << "the program that measured is not what changed";
}

TEST(Export, EveryStatusIsAnOutcome) {
  ExportedRecord record = exported();
  record.cases.resize(1);
  const auto of = [&](Status status) {
    record.cases[0].status = status;
    return outcome_of(record.cases[0]).outcome;
  };
  for (const auto& [status, name] : kStatusNames) {
    EXPECT_EQ(is_failure(status), of(status) == Outcome::failed || of(status) == Outcome::broken) << name;
  }
  EXPECT_EQ(of(Status::incorrect), Outcome::failed);
  EXPECT_EQ(of(Status::crashed), Outcome::broken);
  EXPECT_EQ(of(Status::not_judged), Outcome::undecided);
  EXPECT_EQ(of(Status::skipped), Outcome::skipped);
}

TEST(Export, JUnitCountsAndEscapes) {
  const std::string xml = text_in("junit", exported_record(duel_with(false), "d.json")).text;
  EXPECT_THAT(xml, HasSubstr("tests=\"8\" failures=\"1\" errors=\"1\" skipped=\"4\" time=\"16.000000000\""));
  EXPECT_THAT(xml, HasSubstr("timestamp=\"2026-01-31T12:00:00\""));
  EXPECT_THAT(xml,
              HasSubstr("<failure type=\"regressed\" message=\"regressed: 2.00 s, +25.0 % (bounds +20.0 to +30.0 %); "
                        "regressed, because\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"inconclusive: "));
  const std::string launch = text_in("junit", exported_record(launch_json(), "s.json")).text;
  EXPECT_THAT(launch, HasSubstr("a read of &lt;nothing&gt; &amp; more"));
  ExportedRecord odd = exported();
  odd.cases[0].name = "a\"<\xef\xbf\xbe\x01";
  EXPECT_THAT(text_in("junit", odd).text, HasSubstr("name=\"a&quot;&lt;? \""));
}

TEST(Export, SarifHasAResultForEachFindingAtItsLine) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "src of it");
  std::ofstream(folder.path() / "src of it/scale.cu") << "\n";
  const ExportedRecord record = exported_record(launch_json(), "s.json");
  const auto results = [&] {
    return ordered_json::parse(text_in("sarif", record, {.repository = {}, .sources = folder.path().string()}).text)
        .at("runs")[0]
        .at("results");
  };
  const ordered_json found = results();
  ASSERT_THAT(found, SizeIs(2)) << "a case that is unsafe is told by what makes it so";
  EXPECT_EQ(found[0].at("ruleId"), "memcheck");
  EXPECT_EQ(found[0].at("level"), "error");
  EXPECT_EQ(found[1].at("level"), "note");
  const ordered_json& place = found[0].at("locations")[0].at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "src%20of%20it/scale.cu");
  EXPECT_EQ(place.at("region").at("startLine"), 3);
  // Two files of that name: neither is it.
  std::ofstream(folder.path() / "scale.cu.txt") << "\n";
  std::filesystem::create_directories(folder.path() / "other");
  std::ofstream(folder.path() / "other/scale.cu") << "\n";
  EXPECT_FALSE(results()[0].at("locations")[0].contains("physicalLocation"));
}

TEST(Export, SarifOfADuelHasWhatHasNotPassed) {
  const ExportedText text = text_in("sarif", exported_record(duel_with(false), "d.json"));
  EXPECT_EQ(text.written, 6U);
  EXPECT_THAT(text.left_out, SizeIs(2));
  const ordered_json run = ordered_json::parse(text.text).at("runs")[0];
  std::vector<std::string> told;
  for (const ordered_json& one : run.at("results")) {
    told.push_back(one.at("ruleId").get<std::string>() + " " + one.at("level").get<std::string>());
    EXPECT_EQ(run.at("tool").at("driver").at("rules").at(one.at("ruleIndex").get<std::size_t>()).at("id"),
              one.at("ruleId"));
  }
  EXPECT_THAT(told, ElementsAre("regressed error", "failed error", "inconclusive note", "missing note"));
}

// GitHub refuses a whole file in which a result has no physical location: github/codeql-action, issue 1738.
TEST(Export, SarifShowsCasesAtTheLineThatNamesThem) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "cases.txt") << "cpu/pass\ncpu/regressed\n";
  ExportOptions options{.repository = {}, .sources = folder.path().string(), .at = "cases.txt"};
  const ExportedRecord record = exported_record(duel_with(false), "d.json");
  const ordered_json run = ordered_json::parse(text_in("sarif", record, options).text).at("runs")[0];
  std::vector<int> lines;
  for (const ordered_json& one : run.at("results")) {
    const ordered_json& place = one.at("locations")[0].at("physicalLocation");
    EXPECT_EQ(place.at("artifactLocation").at("uri"), "cases.txt");
    lines.push_back(place.at("region").at("startLine").get<int>());
  }
  EXPECT_THAT(lines, ElementsAre(2, 1, 1, 1));
  options.at = "none.txt";
  EXPECT_THROW(text_in("sarif", record, options), UserError);
}

TEST(Export, AProgramIsItsExitCodeAndItsProcesses) {
  ordered_json finding = finding_json("memcheck", 3);
  const ordered_json place = {
      {"function", "main"}, {"file", "/src/main.cu"}, {"line", 20}, {"binary", "p"}, {"text", ""}};
  finding["callers"] = ordered_json::array({{{"file", "caller.cu"}, {"line", 8}}});
  finding["host"] = place;
  finding["memory"] = {{"label", "device memory 1"}, {"call", "cudaMalloc"}, {"bytes", 4}, {"host", place}};
  const ordered_json refused = {{"call", "cudaLaunchKernel"},
                                {"name", "cudaErrorNotSupported"},
                                {"text", "not supported"},
                                {"count", 1},
                                {"host", nullptr}};
  const auto process = [](ordered_json findings, ordered_json failures) -> ordered_json {
    return {{"program", "./p"},
            {"arguments", {"./p", "-n"}},
            {"signal", nullptr},
            {"findings", findings},
            {"failures", failures}};
  };
  const ordered_json program = {{"kind", "simulated program"},
                                {"command", {"./p", "-n"}},
                                {"exit_code", 3},
                                {"signal", nullptr},
                                {"remarks", ordered_json::array()},
                                {"processes",
                                 {process(ordered_json::array({finding}), ordered_json::array()),
                                  process(ordered_json::array(), ordered_json::array({refused}))}},
                                {"ended_without_report", {{{"program", "q"}, {"arguments", ordered_json::array()}}}}};
  const ExportedRecord record = exported_record(program, "p.json");
  using enum Outcome;
  EXPECT_THAT(outcomes(record), ElementsAre(failed, failed, undecided, undecided));
  EXPECT_EQ(record.cases[0].name, "exit code of ./p -n");
  EXPECT_EQ(record.cases[2].name, "./p -n #2");
  const std::vector<ExportedPlace>& places = record.cases[1].findings.at(0).places;
  ASSERT_THAT(places, SizeIs(4));
  EXPECT_EQ(places[1].what, "the code is called here");
  EXPECT_EQ(places[1].file, "caller.cu");
  EXPECT_EQ(places[2].what, "the kernel is launched here");
  EXPECT_EQ(places[3].what, "device memory 1 is allocated here");
  EXPECT_EQ(record.cases[2].findings.at(0).level, FindingLevel::warning);
}

TEST(Export, ChecksAreToldByTheirStructure) {
  const ordered_json checked = {{"id", "simulated/scale/n.x/1"},
                                {"ptx_compiler", "clang"},
                                {"status", "ok"},
                                {"reason", nullptr},
                                {"findings", ordered_json::array({finding_json("memcheck", 3)})}};
  const ExportedRecord record = exported_record(ordered_json::array({checked}), "c.json");
  EXPECT_EQ(record.context.kind, "check");
  ASSERT_THAT(record.cases, SizeIs(1));
  EXPECT_EQ(record.cases[0].name, "simulated/scale/n.x/1 (clang)");
  EXPECT_EQ(outcome_of(record.cases[0]).word, "unsafe");
  ordered_json wrong = checked;
  wrong["findings"][0]["checker"] = "spellcheck";
  EXPECT_THROW(exported_record(ordered_json::array({wrong}), "c.json"), UserError);
  EXPECT_THROW(exported_record(ordered_json::array(), "c.json"), UserError);
}

TEST(Export, VerdictsOfAComparisonAreAddedByName) {
  const RecordedRun base = recorded_run_of(everything(), "base.json");
  ExportedRecord record = exported();
  const Comparison comparison = compare_runs(base, base, {});
  add_verdicts(record, comparison);
  ASSERT_TRUE(record.cases[0].verdict.has_value());
  EXPECT_EQ(record.cases[0].verdict->verdict, "pass");
  EXPECT_EQ(record.cases[3].verdict->verdict, "failed");
}

}  // namespace
}  // namespace convladder

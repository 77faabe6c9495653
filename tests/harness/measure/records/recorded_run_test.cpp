#include "harness/measure/records/recorded_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/errors.hpp"
#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

nlohmann::ordered_json good() {
  return recorded_run_json(
      {timed_case_json("cpu", "flat-vector", 4, {5, 6, 7}), counted_case_json("shared", 3, 10, 20)});
}

std::string message_of(const std::string& text) {
  try {
    parse_recorded_run(text, "a.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RecordedRun, HoldsWhatAComparisonNeeds) {
  const RecordedRun run = recorded_run(good());
  EXPECT_TRUE(run.complete);
  ASSERT_EQ(run.cases.size(), 2);
  EXPECT_EQ(run.planned, (std::vector<std::string>{run.cases[0].id, run.cases[1].id}));
  EXPECT_EQ(run.cases[0].id, "cpu/flat-vector/lenet28.conv1/10");
  EXPECT_TRUE(run.cases[0].ok());
  EXPECT_FALSE(run.cases[0].library());
  EXPECT_EQ(run.cases[0].time->samples, (std::vector<double>{5, 6, 7}));
  ASSERT_TRUE(run.cases[1].counters.has_value());
  EXPECT_EQ(run.cases[1].counters->totals.front(), (std::pair<std::string, double>{"smsp__inst_executed.sum", 10}));
}

TEST(RecordedRun, RefusesWhatIsNoRunInOneLine) {
  const std::string text = good().dump();
  const auto with = [](const std::function<void(nlohmann::ordered_json&)>& change) {
    nlohmann::ordered_json json = good();
    change(json);
    return json.dump();
  };
  using json = nlohmann::ordered_json;
  const std::pair<std::string, std::string> table[] = {
      {"", "byte 1: not valid JSON"},
      {text.substr(0, text.size() / 2), "not valid JSON"},
      {"[]", "expected an object"},
      {"{}", "schema_version: expected a string"},
      {std::string(200000, '['), "more than 64 deep"},
      {R"({"a": 1, "a": 2})", "a.json: a: occurs twice"},
      {R"({"a": 1e999})", "beyond the range of a double"},
      {with([](json& j) { j["schema_version"] = "2.0"; }),
       R"(schema_version: expected "1.1", which this program reads, found "2.0")"},
      {with([](json& j) { j["kind"] = "network"; }),
       R"(kind: expected "run", a run of single layers, found "network")"},
      {with([](json& j) { j.erase("context"); }), "context: expected an object"},
      {with([](json& j) { j["context"]["program"]["sanitized"] = "no"; }), "sanitized: expected true or false"},
      {with([](json& j) { j["cases"][0]["shape"]["height"] = 1.5; }), "shape: height: expected a whole number"},
      {with([](json& j) { j["cases"] = 3; }), "cases: expected a list"},
      {with([](json& j) { j["cases"][1] = nullptr; }), "cases[1]: expected an object"},
      {with([](json& j) { j["cases"][0].erase("status"); }), "cases[0]: status: expected a string"},
      {with([](json& j) { j["cases"].push_back(j["cases"][0]); }), "cases[2]: id: occurs twice"},
      {with([](json& j) { j["cases"][0]["id"] = "x"; }), "cases[0]: id: expected \"cpu/flat-vector/lenet28.conv1/10\""},
      {with([](json& j) { j["cases"][0]["variant"] = "a\x1b[31mb"; }), "variant: expected a name"},
      {with([](json& j) { j["cases"][0]["layer"] = std::string(1000, 'a'); }), "layer: expected a name of at most 256"},
      {with([](json& j) { j["cases"][0]["batch"] = -1; }), "batch: expected a whole number"},
      {with([](json& j) { j["cases"][0]["batch"] = 1e30; }), "batch: expected a whole number"},
      {with([](json& j) { j["cases"][0]["rung"] = "first"; }), "rung: expected a whole number"},
      {with([](json& j) { j["cases"][0]["time"]["samples"][1] = 0; }),
       "time: samples[1]: expected a number above 0 and up to 1e+18 ns, found 0"},
      {with([](json& j) { j["cases"][0]["time"]["samples"][1] = 1e308; }), "samples[1]: expected a number above 0"},
      {with([](json& j) { j["cases"][0]["time"]["samples"][1] = nullptr; }), "samples[1]: expected a number above 0"},
      {with([](json& j) { j["cases"][0]["time"]["samples"] = json::array(); }), "samples: expected at least one"},
      {with([](json& j) { j["cases"][0]["time"] = nullptr; }), "expected a time or counters"},
      {with([](json& j) { j["cases"][1]["counters"]["totals"]["x"] = "y"; }),
       "totals: x: expected a number, found \"y\""},
      {with([](json& j) { j["cases"][0]["quality"] = "good"; }), "quality: expected an object"},
      {with([](json& j) {
         j["cases"][0]["quality"] = {{"mark", "fine"}};
       }),
       "mark: expected good, noisy or disturbed"},
      {with([](json& j) {
         j["cases"][0]["quality"] = {{"mark", "noisy"}, {"reasons", {1}}};
       }),
       "quality: reasons[0]: expected a string, found 1"},
      {with([](json& j) {
         j["cases"][0]["quality"] = {{"mark", "noisy"}, {"reasons", json::array()}};
       }),
       "reasons: expected at least one"},
      {with([](json& j) {
         j["cases"][0]["quality"] = {{"mark", "noisy"}, {"load_of_others", "much"}};
       }),
       "load_of_others: expected a number"},
  };
  for (const auto& [broken, words] : table) {
    EXPECT_THAT(message_of(broken), AllOf(StartsWith("a.json: "), HasSubstr(words), Not(HasSubstr("\n"))));
  }
}

TEST(RecordedRun, KeepsNoControlCharactersOfAReason) {
  nlohmann::ordered_json json = good();
  json["cases"][0]["status"] = "crashed";
  json["cases"][0]["time"] = nullptr;
  json["cases"][0]["reason"] = "one\ntwo\x1b[31m\u009b";
  EXPECT_EQ(recorded_run(json).cases[0].reason, "one two [31m  ");
}

}  // namespace
}  // namespace convladder

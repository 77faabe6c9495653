#include "harness/measure/records/record_context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "expect_error.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::Pair;

ordered_json machine_json(const char* name, int threads) {
  return {{"host", {{"name", name}, {"kernel", "Linux 6.1"}, {"virtual_machine", true}}},
          {"cpu",
           {{"model", "AMD EPYC"},
            {"cores", 2},
            {"threads", threads},
            {"instruction_sets", {"avx", "avx2"}},
            {"governor", "performance"},
            {"caches", ordered_json::array({{{"level", 1}, {"type", "Data"}, {"bytes", 49152}}})}}},
          {"devices",
           {{{"kind", "cpu"}, {"facts", {{"name", "AMD EPYC"}, {"threads", std::to_string(threads)}}}},
            {{"kind", "cuda"}, {"facts", {{"name", "a\x1bGPU"}, {"driver", "13.0"}}}},
            {{"kind", "simulated"}, {"facts", {{"modelled GPU", "NVIDIA H100 SXM"}}}}}},
          {"libraries", {{"oneDNN", "2.6.3"}}}};
}

ordered_json whole() {
  ordered_json json = {
      {"program",
       {{"commit", "0123"},
        {"dirty", false},
        {"build_type", "Release"},
        {"compiler", "GNU 12.2.0"},
        {"compiler_flags", "-O3"},
        {"cpu_variant_flags", "-march=native"},
        {"cuda_compiler", "NVIDIA 13.0.88"},
        {"cuda_architectures", "75 90"},
        {"sanitized", false},
        {"ptx", ordered_json::array({{{"compiler", "nvcc"}, {"version", "13.0.88"}, {"sha256", "aa"}}})}}},
      {"dataset", {{"sha256", "bb"}}},
      {"options",
       {{"sample_milliseconds", 5.0},
        {"isolate", true},
        {"profile_calls", 3},
        {"google_benchmark_flags", ordered_json::array({"--benchmark_color=false"})}}},
      {"date", "2026-01-31T12:00:00Z"},
      {"seed", 18446744073709551615U}};
  json.update(machine_json("first", 1));
  json["machines"] = {machine_json("first", 1), machine_json("second", 2)};
  json["sessions"] = {{{"machine", 1}}, ordered_json::object(), {{"machine", 7}}};
  return json;
}

RecordContext read(const ordered_json& json) { return read_context(JsonPlace(json, "run.json: context")); }

TEST(RecordContext, IsWrittenAsItWasRead) {
  EXPECT_EQ(context_json(read(whole())), whole());
  EXPECT_EQ(context_json(read(ordered_json::object())), ordered_json::object());
}

TEST(RecordContext, HoldsTheFacts) {
  const RecordContext context = read(whole());
  EXPECT_EQ(context.commit, "0123");
  EXPECT_EQ(context.seed, 18446744073709551615U);
  EXPECT_EQ(context.sample_milliseconds, 5);
  EXPECT_EQ(context.ptx->front().version, "13.0.88");
  EXPECT_EQ(context.machine.caches->front(), (RecordedCache{.level = 1, .type = "Data", .bytes = 49152}));
  EXPECT_THAT(*context.machine.libraries, ElementsAre(Pair("oneDNN", "2.6.3")));
  ordered_json json = whole();
  json["options"]["sample_milliseconds"] = 5;  // as some programs write a whole number
  EXPECT_EQ(read(json).sample_milliseconds, context.sample_milliseconds);
  json["program"]["commit"] = nullptr;
  json["imported"] = {{"from", "nvbench\n0.1.0"}};
  EXPECT_EQ(read(json).commit, std::nullopt);
  EXPECT_EQ(text_or_unknown(read(json).commit), "unknown");
  EXPECT_EQ(read(json).imported_from, "nvbench 0.1.0");
}

TEST(RecordContext, KnowsWhichMachineASessionRanOn) {
  const RecordContext context = read(whole());
  EXPECT_EQ(context.machine_of(0).host, "second");
  EXPECT_EQ(context.machine_of(1).host, "first") << "its session does not say";
  EXPECT_EQ(context.machine_of(2).host, "first") << "there is no such machine";
  EXPECT_EQ(context.machine_of(3).host, "first") << "there is no such session";
  ordered_json json = whole();
  json.erase("machines");
  EXPECT_EQ(read(json).machine_of(0).host, "first");
}

TEST(RecordContext, TitlesDevices) {
  const RecordContext context = read(whole());
  EXPECT_EQ(context.machine.title_of("cpu"), "AMD EPYC, 1 thread");
  EXPECT_EQ(context.machine_of(0).title_of("cpu"), "AMD EPYC, 2 threads");
  EXPECT_EQ(context.machine.title_of("cuda"), "a GPU");
  EXPECT_EQ(context.machine.title_of("simulated"), "simulated GPU");
  EXPECT_EQ(context.machine.title_of("cuda1"), "cuda1");
}

TEST(RecordContext, RefusesAFieldOfTheWrongKind) {
  const auto refused = [](const char* pointer, const ordered_json& value, const char* words) {
    ordered_json json = whole();
    json[ordered_json::json_pointer(pointer)] = value;
    expect_error<UserError>([&] { read(json); }, {"run.json: context: ", words, "expected"});
  };
  refused("/program", "none", "program");
  refused("/program/sanitized", "no", "program: sanitized");
  refused("/seed", -1, "seed");
  refused("/cpu/caches/0/level", "first", "cpu: caches[0]: level");
  refused("/devices/1/facts/name", 3, "devices[1]: facts: name");
  refused("/machines/1/cpu/threads", "two", "machines[1]: cpu: threads");
  refused("/sessions/0/machine", "first", "sessions[0]: machine");
}

}  // namespace
}  // namespace convladder

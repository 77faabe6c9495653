#include "harness/measure/runs/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/measure/records/case_json.hpp"
#include "harness/measure/runs/ladder_text.hpp"
#include "harness/measure/runs/run_record.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ordered_json variant(const char* name, ordered_json rung, ordered_json builds_on) {
  return {{"family", "cpu"}, {"rung", std::move(rung)}, {"name", name}, {"builds_on", std::move(builds_on)}};
}

/// first <- second <- third, and two libraries.
ordered_json variants() {
  return {variant("first", 1, nullptr), variant("second", 2, "first"), variant("third", 3, "second"),
          variant("library", nullptr, nullptr), variant("library-blocked", nullptr, nullptr)};
}

ordered_json time(const char* of, double median) {
  return {{"of", of}, {"median", median}, {"interval", {{"low", 0.9 * median}, {"high", 1.2 * median}}}};
}

/// A case of 1000 flop; without a time if `median` has no value.
ordered_json one_case(const std::string& name, std::optional<double> median, const std::string& status = "ok") {
  ordered_json rung;
  for (const ordered_json& known : variants()) {
    if (known.at("name") == name) rung = known.at("rung");
  }
  return {{"id", "cpu/" + name},
          {"variant", name},
          {"family", "cpu"},
          {"rung", rung},
          {"device", "cpu"},
          {"network", "net"},
          {"layer", "conv1"},
          {"batch", 10},
          {"status", status},
          {"work", {{"flop", 1000.0}}},
          {"time", median ? time("layer", *median) : ordered_json()},
          {"other_times", ordered_json::array()}};
}

/// From JSON, as a record has it.
ordered_json derived(const ordered_json& cases, const ordered_json& variants, const Ceilings& ceilings) {
  const std::vector<RecordedCase> of_cases = read_whole_cases(JsonPlace(cases, "cases"));
  return ladders_json(derived_ladders(of_cases, read_variants(JsonPlace(variants, "variants")), ceilings));
}

ordered_json rows_of(std::initializer_list<ordered_json> cases) {
  ordered_json list = ordered_json::array();
  for (const ordered_json& entry : cases) list.push_back(entry);
  const ordered_json ladders = derived(list, variants(), {});
  EXPECT_EQ(ladders.size(), 1U);
  return ladders.at(0).at("rows");
}

TEST(Ladder, CarriesTheMarkOfACase) {
  ordered_json disturbed = one_case("second", 200.0);
  disturbed["quality"] = {{"mark", "disturbed"}, {"reasons", {"others used 2.0 of 2 cores"}}};
  const ordered_json rows = rows_of({one_case("first", 800.0), disturbed});
  EXPECT_TRUE(rows[0].at("quality").is_null());
  EXPECT_EQ(rows[1].at("quality"), "disturbed");

  ordered_json all = variants();
  for (ordered_json& one : all) one["title"] = one.at("name");
  const ordered_json cases = ordered_json::array({one_case("first", 800.0), disturbed});
  std::vector<RecordedCase> of_cases = read_whole_cases(JsonPlace(cases, "cases"));
  const std::vector<RecordedVariant> of_variants = read_variants(JsonPlace(all, "variants"));
  const auto shown = [&] {
    Report report;
    add_ladders(report, ladders_of(of_cases, of_variants, {}));
    return as_text(report);
  };
  EXPECT_THAT(shown(), AllOf(HasSubstr("200 ns !      5.0"), HasSubstr("800 ns        1.2"),
                             HasSubstr("\n~ noisy, ! disturbed: ")));
  of_cases[1].quality = Quality{};
  EXPECT_THAT(shown(), AllOf(HasSubstr("200 ns      5.0"), Not(HasSubstr("disturbed"))));
}

TEST(Ladder, SetsEveryStageAgainstItsPredecessorTheBaselineAndTheLibrary) {
  const ordered_json rows = rows_of(
      {one_case("first", 800.0), one_case("second", 200.0), one_case("third", 100.0), one_case("library", 50.0)});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(rows[0].at("x_previous").is_null());
  EXPECT_EQ(rows[0].at("x_baseline").at("value"), 1.0);
  EXPECT_EQ(rows[0].at("percent_of_library").at("value"), 6.25);
  EXPECT_EQ(rows[1].at("x_previous").at("value"), 4.0);
  EXPECT_EQ(rows[1].at("x_baseline").at("value"), 4.0);
  EXPECT_EQ(rows[2].at("x_previous").at("value"), 2.0);
  EXPECT_EQ(rows[2].at("x_baseline").at("value"), 8.0);
  EXPECT_EQ(rows[2].at("percent_of_library").at("value"), 50.0);
  EXPECT_TRUE(rows[3].at("x_previous").is_null());
  EXPECT_EQ(rows[3].at("x_baseline").at("value"), 16.0);
  EXPECT_EQ(rows[3].at("percent_of_library").at("value"), 100.0);
}

TEST(Ladder, CopiesWhatTheCaseSays) {
  const ordered_json row = rows_of({one_case("second", 200.0)}).at(0);
  EXPECT_EQ(row.at("case"), "cpu/second");
  EXPECT_EQ(row.at("variant"), "second");
  EXPECT_EQ(row.at("rung"), 2);
  EXPECT_EQ(row.at("status"), "ok");
  EXPECT_EQ(row.at("median_ns"), 200.0);
  EXPECT_EQ(row.at("low_ns"), 180.0);
  EXPECT_EQ(row.at("high_ns"), 240.0);
  EXPECT_EQ(row.at("gflop_per_s"), 5.0);
  EXPECT_TRUE(row.at("op_in_own_layout").is_null());
}

TEST(Ladder, HasNoRatiosToStagesThatWereNotRun) {
  const ordered_json rows = rows_of({one_case("third", 100.0)});
  EXPECT_TRUE(rows[0].at("x_previous").is_null());
  EXPECT_TRUE(rows[0].at("percent_of_library").is_null());
  EXPECT_EQ(rows[0].at("x_baseline").at("value"), 1.0) << "the lowest rung there is";
}

TEST(Ladder, HasNoBaselineWithoutAStage) {
  EXPECT_TRUE(rows_of({one_case("library", 50.0)})[0].at("x_baseline").is_null());
}

TEST(Ladder, ACaseWithoutATimeHasNoFiguresAndGivesNone) {
  for (const char* status : {"incorrect", "unsupported", "skipped", "launch failed", "crashed", "timeout"}) {
    const ordered_json rows = rows_of({one_case("first", std::nullopt, status), one_case("second", 200.0),
                                       one_case("third", 100.0), one_case("library", std::nullopt, status)});
    EXPECT_EQ(rows[0].at("status"), status);
    for (const char* figure : {"median_ns", "low_ns", "high_ns", "gflop_per_s", "x_previous", "x_baseline",
                               "percent_of_library", "op_in_own_layout"}) {
      EXPECT_TRUE(rows[0].at(figure).is_null()) << figure;
    }
    EXPECT_TRUE(rows[1].at("x_previous").is_null());
    EXPECT_TRUE(rows[1].at("x_baseline").is_null());
    EXPECT_EQ(rows[2].at("x_previous").at("value"), 2.0);
    EXPECT_TRUE(rows[2].at("percent_of_library").is_null());
  }
}

TEST(Ladder, ALibraryWithItsOwnLayoutCountsWithItsLayerTime) {
  ordered_json blocked = one_case("library-blocked", std::nullopt);
  blocked["time"] = time("op", 10.0);
  blocked["other_times"] =
      ordered_json::array({time("load input", 5.0), time("layer", 40.0), time("store output", 25.0)});
  const ordered_json rows = rows_of({one_case("first", 80.0), one_case("library", 50.0), blocked});
  EXPECT_EQ(rows[0].at("percent_of_library").at("value"), 50.0) << "40 ns, not 10 and not 50";
  EXPECT_FALSE(rows[0].contains("percent_of_library_op")) << "an op time is compared with no layer time";
  EXPECT_EQ(rows[2].at("median_ns"), 40.0);
  EXPECT_EQ(rows[2].at("gflop_per_s"), 25.0);
  EXPECT_EQ(rows[2].at("op_in_own_layout"), ordered_json({{"median_ns", 10.0}, {"low_ns", 9.0}, {"high_ns", 12.0}}));
  EXPECT_EQ(rows[2].at("x_baseline").at("value"), 2.0);
  EXPECT_EQ(rows[2].at("percent_of_library").at("value"), 100.0);
  EXPECT_EQ(rows[1].at("percent_of_library").at("value"), 80.0) << "the faster library is the ceiling";
}

TEST(Ladder, TheFasterLibraryIsTheCeilingInWhicheverOrderTheyStand) {
  for (const auto& [first, second] : {std::pair{25.0, 50.0}, {50.0, 25.0}}) {
    const ordered_json rows =
        rows_of({one_case("first", 100.0), one_case("library", first), one_case("library-blocked", second)});
    EXPECT_EQ(rows[0].at("percent_of_library").at("value"), 25.0);
  }
}

TEST(Ladder, TheLayerTimeIsTheHotOne) {
  ordered_json blocked = one_case("library-blocked", std::nullopt);
  blocked["time"] = time("op", 10.0);
  ordered_json cold = time("layer", 90.0);
  cold["cache"] = "cold";
  ordered_json hot = time("layer", 40.0);
  hot["cache"] = "hot";
  blocked["other_times"] = ordered_json::array({cold, hot});
  EXPECT_EQ(rows_of({blocked})[0].at("median_ns"), 40.0);
}

TEST(Ladder, StandsInLadderOrderWhateverWasRecordedFirst) {
  const ordered_json rows = rows_of(
      {one_case("library", 50.0), one_case("third", 100.0), one_case("first", 800.0), one_case("second", 200.0)});
  const char* const order[] = {"first", "second", "third", "library"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i].at("variant"), order[i]);
  EXPECT_EQ(rows[2].at("x_baseline").at("value"), 8.0);
}

TEST(Ladder, KeepsDevicesNetworksLayersAndBatchesApart) {
  ordered_json cases = ordered_json::array();
  for (const auto& [field, value] :
       {std::pair<const char*, ordered_json>{"batch", 10}, {"batch", 20}, {"layer", "conv2"}, {"network", "other"}}) {
    ordered_json slow = one_case("first", 100.0);
    ordered_json fast = one_case("second", 10.0 * static_cast<double>(cases.size() + 1));
    slow[field] = value;
    fast[field] = value;
    cases.push_back(slow);
    cases.push_back(fast);
  }
  const ordered_json ladders = derived(cases, variants(), {});
  ASSERT_EQ(ladders.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ladders[i].at("kind"), "measured");
    EXPECT_EQ(ladders[i].at("device"), "cpu");
    EXPECT_EQ(ladders[i].at("family"), "cpu");
    ASSERT_EQ(ladders[i].at("rows").size(), 2U);
    EXPECT_EQ(ladders[i].at("rows")[1].at("x_previous").at("value"), 100.0 / (10.0 * static_cast<double>(2 * i + 1)));
  }
  EXPECT_EQ(ladders[1].at("batch"), 20);
  EXPECT_EQ(ladders[2].at("layer"), "conv2");
  EXPECT_EQ(ladders[3].at("network"), "other");
}

TEST(Ladder, OfNoCasesIsEmpty) { EXPECT_TRUE(derived(ordered_json::array(), variants(), {}).empty()); }

Ceilings ceilings_of(double peak, double store, double copy, std::size_t cache_bytes) {
  return {{.device = "cpu",
           .last_level_cache_bytes = cache_bytes,
           .limits = {{kMultiplyAddLimit, {peak}}, {kStoreLimit, {store}}, {kCopyLimit, {copy}}}}};
}

/// 2 images of 1x6x6, 3 maps, 3x3 kernel, with one row and column of padding: 3x6x6 outputs.
ordered_json padded_case(double median) {
  ordered_json padded = one_case("first", median);
  padded["batch"] = 2;
  padded["shape"] = {{"in_channels", 1}, {"height", 6}, {"width", 6},   {"out_channels", 3},
                     {"kernel", 3},      {"stride", 1}, {"padding", 1}, {"groups", 1}};
  return padded;
}

TEST(Ladder, TheFloorIsWhatOperationsOrBytesTakeAtLeast) {
  const ordered_json cases = ordered_json::array({padded_case(1000.0)});
  // Of 18 taps along a side, two are on padding; 864 bytes are written, 288 + 108 read.
  constexpr double kFlop = 2.0 * 2 * 3 * 16 * 16;
  ordered_json ladder = derived(cases, variants(), ceilings_of(10, 2, 3, 0)).at(0);
  EXPECT_EQ(ladder.at("floor").at("flop"), kFlop);
  EXPECT_EQ(ladder.at("floor").at("operations"), kFlop / 10);
  EXPECT_EQ(ladder.at("floor").at("bytes_written"), 864.0);
  EXPECT_EQ(ladder.at("floor").at("bytes_read"), 396.0);
  EXPECT_NEAR(ladder.at("floor").at("bytes").get<double>(), 864.0 / 2 + 396.0 * (2.0 / 3 - 1.0 / 2), 1e-9);
  EXPECT_EQ(ladder.at("floor").at("bound"), "bytes");
  EXPECT_NEAR(ladder.at("rows")[0].at("percent_of_floor").at("value").get<double>(), 100 * 498.0 / 1000, 1e-9);

  ladder = derived(cases, variants(), ceilings_of(10, 2, 3, 2000)).at(0);
  EXPECT_TRUE(ladder.at("floor").at("bytes").is_null()) << "in the cache";
  EXPECT_EQ(ladder.at("floor").at("bound"), "operations");
  EXPECT_EQ(ladder.at("floor").at("value"), kFlop / 10);

  ladder = derived(cases, variants(), ceilings_of(10, 2, 5, 0)).at(0);
  EXPECT_EQ(ladder.at("floor").at("bytes"), 432.0) << "where a copy is as fast as stores alone, reading is free";
}

TEST(Ladder, ARowSaysWhereItsCaseStandsUnderTheRoofOfItsRun) {
  const ordered_json cases = ordered_json::array({padded_case(1000.0)});
  constexpr double kFlop = 2.0 * 2 * 3 * 16 * 16;
  constexpr double kBytes = 864.0 + 396.0;
  ordered_json roofline = derived(cases, variants(), ceilings_of(10, 2, 3, 0)).at(0).at("rows")[0].at("roofline");
  EXPECT_EQ(roofline.at("work"), "derived");
  EXPECT_EQ(roofline.at("flop"), kFlop);
  EXPECT_EQ(roofline.at("bytes"), kBytes);
  EXPECT_DOUBLE_EQ(roofline.at("flop_per_byte").get<double>(), kFlop / kBytes);
  EXPECT_DOUBLE_EQ(roofline.at("gflop_per_s").get<double>(), kFlop / 1000);
  EXPECT_DOUBLE_EQ(roofline.at("gb_per_s").get<double>(), kBytes / 1000);
  EXPECT_DOUBLE_EQ(roofline.at("roof_gflop_per_s").get<double>(), kFlop / kBytes * 3);
  EXPECT_EQ(roofline.at("bound"), "bytes");

  roofline = derived(cases, variants(), ceilings_of(5, 2, 30, 0)).at(0).at("rows")[0].at("roofline");
  EXPECT_EQ(roofline.at("roof_gflop_per_s"), 5.0);
  EXPECT_EQ(roofline.at("bound"), "operations");
}

TEST(Ladder, HasNoFloorWithoutCeilingsOfItsDevice) {
  Ceilings ceilings = ceilings_of(10, 2, 3, 0);
  ceilings[0].device = "cuda";
  for (const Ceilings& none : {ceilings, Ceilings()}) {
    const ordered_json ladder = derived(ordered_json::array({padded_case(1000.0)}), variants(), none).at(0);
    EXPECT_TRUE(ladder.at("floor").is_null());
    EXPECT_TRUE(ladder.at("rows")[0].at("percent_of_floor").is_null());
    EXPECT_TRUE(ladder.at("rows")[0].at("roofline").is_null());
  }
}

TEST(Ladder, ALessAccurateLibraryIsNoCeiling) {
  ordered_json rough = one_case("library-blocked", 20.0);
  rough["verification"] = {{"tolerance", 1e-3}};
  ordered_json stage_in_tf32 = one_case("second", 40.0);
  stage_in_tf32["verification"] = {{"tolerance", 1e-3}};
  const ordered_json rows = rows_of({one_case("first", 100.0), stage_in_tf32, one_case("library", 50.0), rough});
  EXPECT_EQ(rows[0].at("percent_of_library").at("value"), 50.0) << "of fp32's";
  EXPECT_EQ(rows[1].at("percent_of_library").at("value"), 50.0) << "of tf32's";
  EXPECT_EQ(rows[2].at("percent_of_library").at("value"), 100.0);
  EXPECT_EQ(rows[3].at("percent_of_library").at("value"), 100.0);
}

TEST(Ladder, AnIntervalThatIsMissingIsNull) {
  ordered_json once = one_case("first", 100.0);
  once["time"]["interval"] = nullptr;
  const ordered_json row = rows_of({once}).at(0);
  EXPECT_EQ(row.at("median_ns"), 100.0);
  EXPECT_TRUE(row.at("low_ns").is_null());
  EXPECT_TRUE(row.at("high_ns").is_null());
}

}  // namespace
}  // namespace convladder

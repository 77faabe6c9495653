// A parameter sweep without a device: scores, what is best, and the tables that are written.
#include "harness/measure/sweep/sweep.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "devices/cpu/cpu_microarchitecture.hpp"
#include "expect_error.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/sweep/sweep_output.hpp"
#include "harness/measure/sweep/sweep_record.hpp"
#include "harness/measure/sweep/tuning_update.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"
#include "tests/harness/measure/cases/small_problem.hpp"
#include "variants/tuning_table.hpp"

namespace convladder {
namespace {

/// Of the CPU's implicit GEMM, whose parts of pixels and maps depend on the batch; nothing is run.
Sweep gemm_sweep(ScoreKind kind, int batch, const std::vector<Score>& scores) {
  const LayerWork work = own_shape({batch, 8, 20, 20, 12, 3});
  const Configuration wanted;
  Sweep sweep = *plan_sweep(planned_case(work, "implicit-gemm"), wanted, static_cast<int>(scores.size()), "");
  sweep.kind = kind;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    sweep.results.at(i).status = Status::ok;
    sweep.results[i].score = scores[i];
  }
  return sweep;
}

TEST(Sweep, TheBestIsTheSmallestScoreOfWhatIsCounted) {
  const Sweep sweep = gemm_sweep(ScoreKind::counted, 2, {{10, 10, 10}, {9, 9, 9}, {11, 11, 11}});
  EXPECT_EQ(sweep.winner(), &sweep.results[1]);
  EXPECT_EQ(sweep.ranked(),
            (std::vector<const SweptConfiguration*>{&sweep.results[1], &sweep.results[0], &sweep.results[2]}));
  const Sweep equal = gemm_sweep(ScoreKind::counted, 2, {{10, 10, 10}, {10, 10, 10}});
  EXPECT_EQ(equal.winner(), equal.model_result()) << "what is equal is no reason to change anything";
}

TEST(Sweep, OfMeasuredTimesTheIntervalsHaveToBeApart) {
  const Sweep together = gemm_sweep(ScoreKind::measured, 2, {{10, 9, 11}, {8, 7, 9.5}});
  EXPECT_EQ(together.winner(), &together.results[0]);
  std::string text = as_text(sweep_report(together));
  std::ranges::replace(text, '\n', ' ');
  EXPECT_NE(text.find("those above cannot be told from it"), std::string::npos) << text;
  const Sweep apart = gemm_sweep(ScoreKind::measured, 2, {{10, 9, 11}, {8, 7, 8.9}});
  EXPECT_EQ(apart.winner(), &apart.results[1]);
}

TEST(Sweep, WhatIsNotVerifiedIsNotRanked) {
  Sweep sweep = gemm_sweep(ScoreKind::counted, 2, {{10, 10, 10}, {1, 1, 1}});
  sweep.results[1] = {
      .configuration = sweep.results[1].configuration, .status = Status::incorrect, .reason = "image 0 is wrong"};
  EXPECT_EQ(sweep.winner(), &sweep.results[0]);
  EXPECT_NE(as_text(sweep_report(sweep)).find("not ranked: "), std::string::npos);
  sweep.results[0].score.reset();
  EXPECT_EQ(sweep.winner(), nullptr);
}

/// Samples of all rounds, on a machine that becomes slower from round to round.
std::vector<double> rounds_of(double time) {
  std::vector<double> samples;
  for (int round = 0; round < Finalist::kRounds; ++round) {
    samples.push_back(time * (1 + 0.5 * round / Finalist::kRounds) * (1 + 0.001 * (round % 3)));
  }
  return samples;
}

TEST(Sweep, WhatLooksBetterHasToBeSoInRoundsWithTheModelsChoice) {
  // By their intervals two are better; the best was only measured while the machine was quiet.
  Sweep sweep = gemm_sweep(ScoreKind::measured, 2, {{10, 9, 11}, {8, 7, 8.5}, {7, 6, 7.5}, {12, 11, 13}});
  const auto better = sweep.finalists();
  ASSERT_EQ(better.size(), 2U);
  EXPECT_EQ(better[0], &sweep.results[2]);
  EXPECT_EQ(sweep.winner(), &sweep.results[2]);
  std::map<std::string, std::vector<double>> samples;
  samples[sweep.results[0].configuration.text()] = rounds_of(10);
  samples[sweep.results[1].configuration.text()] = rounds_of(9.5);
  samples[sweep.results[2].configuration.text()] = rounds_of(10.2);
  sweep.finals = judged_finalists(sweep, samples);
  ASSERT_EQ(sweep.finals->size(), 2U);
  EXPECT_EQ(sweep.winner(), &sweep.results[1]);
  EXPECT_NE(as_text(sweep_report(sweep)).find("measured at most 0.950 of the model's choice in\n15 rounds"),
            std::string::npos)
      << as_text(sweep_report(sweep));

  // One that failed this time, and one that is not faster: the model's choice stays.
  samples.erase(sweep.results[1].configuration.text());
  sweep.finals = judged_finalists(sweep, samples);
  EXPECT_FALSE((*sweep.finals)[1].change);
  EXPECT_EQ(sweep.winner(), sweep.model_result());
  EXPECT_NE(as_text(sweep_report(sweep)).find("none was surely faster"), std::string::npos)
      << as_text(sweep_report(sweep));
}

TEST(Sweep, WithoutNoiseThereIsNoFinal) {
  Sweep sweep = gemm_sweep(ScoreKind::counted, 2, {{10, 10, 10}, {8, 8, 8}});
  EXPECT_TRUE(sweep.finalists().empty());
  sweep.kind = ScoreKind::measured;
  EXPECT_EQ(sweep.finalists().size(), 1U);
  sweep.by_virtual_clock = true;
  EXPECT_TRUE(sweep.finalists().empty());
}

TEST(Sweep, ScoresByWhatIsThere) {
  RecordedCase one;
  one.time = TimeFigure{.of = "layer", .cache = "", .median = 4, .low = 2, .high = 6, .samples = {3, 1, 2, 5, 4, 7, 6}};
  EXPECT_EQ(score_of(ScoreKind::measured, "", one)->value, 4);
  EXPECT_EQ(score_of(ScoreKind::measured, "", one)->high, 6);
  one.time->low.reset();
  EXPECT_EQ(score_of(ScoreKind::measured, "", one)->low, 1) << "too few samples for an interval";
  one.counters = CaseCounters{.totals = {{"smsp__inst_executed.sum", 400},
                                         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 30},
                                         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 2},
                                         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 8},
                                         {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 4}},
                              .modelled = {},
                              .kernels = {},
                              .lines = {},
                              .beside = {}};
  EXPECT_EQ(score_of(ScoreKind::counted, "", one)->value, 100 + 32 + 3);
  PredictedFigure elsewhere;
  elsewhere.gpu = "k80";
  PredictedFigure predicted;
  predicted.gpu = "h100";
  predicted.low_ns = 4;
  predicted.high_ns = 9;
  one.predictions = {elsewhere, predicted};
  EXPECT_EQ(score_of(ScoreKind::predicted, "h100", one)->value, 6);
  EXPECT_FALSE(score_of(ScoreKind::predicted, "k80", one)) << "it cannot be launched there";
  one.status = Status::incorrect;
  for (const ScoreKind kind : {ScoreKind::measured, ScoreKind::counted, ScoreKind::predicted}) {
    EXPECT_FALSE(score_of(kind, "h100", one));
  }
}

TEST(Sweep, IsReadBackFromItsRecord) {
  Sweep sweep = gemm_sweep(ScoreKind::measured, 2, {{10, 9, 11}, {8, 7, 9}});
  const ConfiguredCases configured = configured_cases(sweep);
  CaseOutcome measured;
  measured.times = {{"layer", "", 1, {3, 1, 2, 5, 4, 7, 6}}};
  CaseOutcome wrong;
  wrong.status = Status::incorrect;
  wrong.reason = "image 0 is wrong";
  for (std::size_t i = 0; i < 2; ++i) {
    sweep.results[i] = {sweep.results[i].configuration};
    const nlohmann::ordered_json written = configuration_json(sweep, configured.cases[i], i == 0 ? measured : wrong);
    EXPECT_EQ(written.at("id"), configuration_id(sweep, sweep.results[i].configuration));
    const auto read = nlohmann::ordered_json::parse(written.dump());
    read_back({read, "case"}, sweep.results[i]);
  }
  EXPECT_EQ(sweep.results[0].status, Status::ok);
  EXPECT_EQ(sweep.results[0].score->value, 4);
  EXPECT_EQ(sweep.results[1].status, Status::incorrect);
  EXPECT_EQ(sweep.results[1].reason, "image 0 is wrong");
  EXPECT_FALSE(sweep.results[1].score);
  EXPECT_NE(as_text(sweep_report(sweep)).find("not ranked: "), std::string::npos);
}

TEST(Sweep, WhatIsCountedAndPredictedIsReadBack) {
  const auto kernel = [](double share) {
    return nlohmann::ordered_json{{"occupancy", {{"share", share}, {"limited_by", nlohmann::ordered_json::array()}}}};
  };
  const nlohmann::ordered_json counted = {{"status", "ok"},
                                          {"reason", nullptr},
                                          {"score", {{"value", 6}, {"low", 4}, {"high", 9}}},
                                          {"counters", {{"totals", {{"smsp__inst_executed.sum", 400}}}}},
                                          {"prediction",
                                           {{"gpu", "h100"},
                                            {"low", 4},
                                            {"high", 9},
                                            {"kernels", nlohmann::ordered_json::array({kernel(0.5), kernel(0.25)})}}}};
  SweptConfiguration one;
  read_back({counted, "case"}, one);
  EXPECT_EQ(one.score->high, 9);
  EXPECT_EQ(counter_of(one.counted, "smsp__inst_executed.sum"), 400);
  EXPECT_EQ(one.occupancy, 0.25);
  for (const char* field : {"status", "score", "counters", "prediction"}) {
    nlohmann::ordered_json changed = counted;
    changed[field] = "seven";
    expect_error<UserError>([&] { read_back({changed, "case"}, one); }, {std::string("case: ") + field + ": expected"});
  }
}

TEST(SweepOptions, EveryFieldOfTheRecordIsReadBack) {
  const SweepOptions plain;
  SweepOptions unusual{
      .run = {}, .configuration = "maps=8", .limit = 3, .gpu = "h100", .update_table = true, .tables = "x"};
  unusual.run.seed = 7;
  const nlohmann::ordered_json json = options_json(unusual);
  EXPECT_EQ(options_json(read_sweep_options({json, "options"})), json);
  for (const char* field : {"seed", "configuration", "limit", "gpu", "update_table", "tables"}) {
    EXPECT_NE(json.at(field), options_json(plain).at(field)) << field;
    nlohmann::ordered_json wrong = json;
    wrong[field] = nlohmann::ordered_json::object();
    expect_error<UserError>([&] { read_sweep_options({wrong, "options"}); }, {std::string("options: ") + field});
  }
}

TuningTable table_in(const TemporaryFolder& folder) {
  const std::string file = folder.path() / "cpu-implicit-gemm.json";
  const std::vector<std::byte> bytes = read_file_bytes(file);
  return parse_tuning_table({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

TEST(TuningTables, SayForEveryBatchWhatDoesNotDependOnIt) {
  const TemporaryFolder folder;
  const std::string here = cpu_microarchitecture();
  const int threads = omp_get_max_threads();
  Sweep sweep = gemm_sweep(ScoreKind::counted, 2, {{10, 10, 10}, {9, 9, 9}, {8, 8, 8}, {7, 7, 7}});
  const Configuration best = sweep.results[3].configuration;
  update_tuning_tables(folder.path().string(), {sweep}, 1);
  const TuningTable first = table_in(folder);
  const ProblemSize& shape = sweep.planned.work.shape;
  EXPECT_EQ(*first.find(shape.with_batch(77), here, threads), best.without("pixel_parts").without("map_parts"));
  const bool batch_matters = best.value("pixel_parts") != sweep.found.by_model.value("pixel_parts") ||
                             best.value("map_parts") != sweep.found.by_model.value("map_parts");
  EXPECT_EQ(*first.find(shape, here, threads) == best, batch_matters);
  EXPECT_EQ(*first.find(shape, here, threads + 1), best.without("pixel_parts").without("map_parts"))
      << "other threads share a batch otherwise";

  // Once the model's choice is the best, that is what stands there, and nothing of this batch alone.
  sweep.results[0].score = Score{1, 1, 1};
  update_tuning_tables(folder.path().string(), {sweep}, 1);
  const TuningTable second = table_in(folder);
  ASSERT_EQ(second.entries.size(), 1U);
  EXPECT_EQ(*second.find(shape, here, threads), sweep.found.by_model.without("pixel_parts").without("map_parts"));
}

TEST(TuningTables, OfProcessorsAreForTheMicroarchitectureAndKeepThoseOfOthers) {
  const TemporaryFolder folder;
  Sweep sweep = gemm_sweep(ScoreKind::counted, 2, {{10, 10, 10}, {9, 9, 9}, {8, 8, 8}, {7, 7, 7}});
  const ProblemSize shape = sweep.planned.work.shape.with_batch(77);
  write_file_atomically(
      folder.path() / "cpu-implicit-gemm.json",
      R"({"schema_version": "1.0", "kind": "tuning table", "family": "cpu", "variant": "implicit-gemm",
                            "entries": [{"layer": "l", "shape": ")" +
          size_name(shape) + R"(", "batch": null, "machine": "another", "configuration": "maps=3"}]})");
  update_tuning_tables(folder.path().string(), {sweep}, 1);
  const TuningTable table = table_in(folder);
  EXPECT_EQ(table.find(shape, "another", 2)->text(), "maps=3");
  EXPECT_EQ(table.find(shape, "a third", 2), nullptr);
  ASSERT_NE(table.find(shape, cpu_microarchitecture(), 2), nullptr);
  EXPECT_NE(table.find(shape, cpu_microarchitecture(), 2)->text(), "maps=3");
}

}  // namespace
}  // namespace convladder

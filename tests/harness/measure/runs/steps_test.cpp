// The steps of a ladder in words: what the counters say is said, and what nobody counted is not.
#include "harness/measure/runs/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/prediction.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/runs/step_words.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ordered_json step_variant(const char* name, ordered_json rung, ordered_json builds_on) {
  return {{"family", "cuda"},
          {"rung", std::move(rung)},
          {"name", name},
          {"builds_on", std::move(builds_on)},
          {"hypothesis", "More of it fits."}};
}

ordered_json step_variants() {
  return {step_variant("first", 1, nullptr), step_variant("second", 2, "first"), step_variant("third", 3, "second"),
          step_variant("library", nullptr, nullptr)};
}

ordered_json stage_case(const std::string& name, const std::string& device) {
  ordered_json rung;
  for (const ordered_json& known : step_variants()) {
    if (known.at("name") == name) rung = known.at("rung");
  }
  return {{"id", device + "/" + name},
          {"variant", name},
          {"family", "cuda"},
          {"rung", rung},
          {"device", device},
          {"network", "net"},
          {"layer", "conv1"},
          {"batch", 10},
          {"status", "ok"},
          {"work", {{"flop", 1e9}, {"minimum_bytes", 1e6}}},
          {"time", nullptr},
          {"other_times", ordered_json::array()}};
}

/// Figures of one launch that fills any GPU.
struct Counted {
  double instructions = 1e8;
  double shared = 0;
  double conflicts = 0;
  double loads = 1e7;
  double stores = 1e6;
  double dram = 1e6;
  double barriers = 0;
};

ordered_json counted_stage(const std::string& name, const Counted& counted) {
  ordered_json one = stage_case(name, "simulated");
  const ordered_json totals = {{"smsp__inst_executed.sum", counted.instructions},
                               {"smsp__thread_inst_executed_pred_on.sum", 32 * counted.instructions},
                               {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", 5e8},
                               {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", counted.loads / 4},
                               {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", counted.loads},
                               {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", counted.stores / 4},
                               {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", counted.stores},
                               {"smsp__sass_inst_executed_op_shared_ld.sum", counted.shared - counted.conflicts},
                               {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", counted.shared},
                               {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", counted.conflicts}};
  const ordered_json modelled = {{"lts__t_sectors_op_read.sum", 1e5},
                                 {"lts__t_sectors_op_write.sum", counted.stores},
                                 {"dram__bytes_read.sum", counted.dram},
                                 {"dram__bytes_write.sum", 0.0}};
  one["counters"] = {{"images_executed", 8},
                     {"totals", totals},
                     {"modelled", modelled},
                     {"kernels",
                      {{{"kernel", "conv"},
                        {"grid", {4000, 1, 1}},
                        {"block", {256, 1, 1}},
                        {"values", totals},
                        {"modelled", modelled}}}}};
  one["prediction"] = prediction_json(predict(read_counters(JsonPlace(one["counters"], "counters")), {}));
  return one;
}

ordered_json timed_stage(const std::string& name, double median, double width = 0.01) {
  ordered_json one = stage_case(name, "cuda");
  one["time"] = {{"of", "layer"},
                 {"median", median},
                 {"interval", {{"low", median * (1 - width)}, {"high", median * (1 + width)}}}};
  return one;
}

/// From JSON, as a record has it; `ladders` are those that hold the floors.
std::vector<Step> steps_in(const ordered_json& list, const ordered_json& ladders = ordered_json::array()) {
  const std::vector<RecordedCase> cases = read_whole_cases(JsonPlace(list, "cases"));
  const ordered_json known = step_variants();
  const std::vector<LadderSteps> all =
      steps_of(cases, read_variants(JsonPlace(known, "variants")), read_ladders(JsonPlace(ladders, "ladders")));
  return all.empty() ? std::vector<Step>() : all.front().steps;
}

ordered_json case_list(std::initializer_list<ordered_json> cases) {
  ordered_json list = ordered_json::array();
  for (const ordered_json& one : cases) list.push_back(one);
  return list;
}

TEST(StepWords, SayHowMuchAsPeopleDo) {
  EXPECT_EQ(amount_text(1.0 / 3, "bytes"), "a third of the bytes");
  EXPECT_EQ(amount_text(0.56, "bytes"), "56% of the bytes");
  EXPECT_EQ(amount_text(1.0 / 17, "bytes"), "1/17 of the bytes");
  EXPECT_EQ(amount_text(2.1, "bytes"), "2.1x as many bytes");
  EXPECT_EQ(amount_text(2.0, "bytes"), "twice as many bytes");
  EXPECT_EQ(amount_text(1.03, "bytes"), "about as many bytes");
  const auto from_to = [](double low, double high) {
    return Ratio{.value = (low + high) / 2, .low = low, .high = high};
  };
  EXPECT_EQ(speed_text(from_to(7.48, 8), "it"), "at least 7.4x faster than it");
  EXPECT_EQ(speed_text(from_to(12.9, 15), "it"), "at least 12x faster than it");
  EXPECT_EQ(speed_text(from_to(1.049, 1.2), "it"), "at least 1.04x faster than it");
  EXPECT_EQ(speed_text(from_to(1.004, 1.2), "it"), "slightly faster than it");
  EXPECT_EQ(speed_text(from_to(0.4, 0.5), "it"), "takes at least 2.0 times as long as it");
  EXPECT_EQ(speed_text(from_to(0.4, 0.998), "it"), "slightly slower than it");
  EXPECT_EQ(speed_text(from_to(0.9, 1.1), "it"), "cannot be told from it");
  EXPECT_EQ(speed_text({.value = 7}, "it"), "cannot be told from it") << "nothing is known of its noise";
  EXPECT_EQ(as_sentence("executes less"), "Executes less.");
  EXPECT_EQ(behind_colon("With it. Then AVX."), "with it. Then AVX.");
  EXPECT_EQ(behind_colon("AVX helps."), "AVX helps.");
}

TEST(Steps, NameTheCounterThatWasRelievedAndWhatBindsNow) {
  const std::vector<Step> steps =
      steps_in(case_list({counted_stage("first", {.loads = 4e8}), counted_stage("second", {.loads = 1e7})}));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_THAT(steps[0].relieved, IsEmpty());
  EXPECT_THAT(steps[0].binds, AllOf(HasSubstr("Predicted for an H100"), HasSubstr("loads from global memory")));
  EXPECT_EQ(steps[1].builds_on, "first");
  EXPECT_EQ(steps[1].kind, "predicted");
  EXPECT_GT(*steps[1].x->low, 1.05);
  EXPECT_EQ(steps[1].x->by, RatioBy::ranges);
  EXPECT_EQ(steps[1].relieved, "Loads 1/40 of the sectors from global memory.");
}

TEST(Steps, SayWhatASlowerStagePays) {
  const std::vector<Step> steps = steps_in(
      case_list({counted_stage("first", {.loads = 2e8}), counted_stage("second", {.shared = 4e8, .loads = 1e6})}));
  EXPECT_LT(*steps[1].x->high, 0.95);
  EXPECT_THAT(steps[1].relieved, AllOf(HasSubstr("Now also uses shared memory"), HasSubstr("although it loads")));
}

TEST(Steps, NameBankConflictsWhereTheyAreTheChange) {
  const std::vector<Step> steps = steps_in(case_list({counted_stage("first", {.shared = 5e8, .conflicts = 4e8}),
                                                      counted_stage("second", {.shared = 1e8, .conflicts = 0})}));
  EXPECT_THAT(steps[0].binds, HasSubstr("80% of it bank conflicts"));
  EXPECT_EQ(steps[1].relieved, "Has no bank conflicts in shared memory any more.");
}

TEST(Steps, SayNothingOfWhatDidNotChange) {
  const std::vector<Step> steps = steps_in(case_list({counted_stage("first", {}), counted_stage("second", {})}));
  EXPECT_EQ(steps[1].relieved, "No counter that matters for the time changes much.");
  EXPECT_NEAR(steps[1].x->value, 1, 1e-9);
  EXPECT_TRUE(steps[1].x->holds(1));
}

TEST(Steps, CompareWithTheNextStageBelowThatHasAResult) {
  ordered_json failed = stage_case("second", "simulated");
  failed["status"] = "crashed";
  const std::vector<Step> steps =
      steps_in(case_list({counted_stage("first", {.loads = 4e8}), failed, counted_stage("third", {})}));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].variant, "third");
  EXPECT_EQ(steps[1].builds_on, "first");
  EXPECT_EQ(steps[1].registered, "second");
  EXPECT_TRUE(steps_in(case_list({failed})).empty());
  EXPECT_TRUE(steps_in(ordered_json::array()).empty());
}

TEST(Steps, WithoutABelowHaveNoFactor) {
  const std::vector<Step> steps = steps_in(case_list({counted_stage("third", {}), counted_stage("library", {})}));
  ASSERT_EQ(steps.size(), 1U) << "a library is no stage";
  EXPECT_THAT(steps[0].builds_on, IsEmpty());
  EXPECT_FALSE(steps[0].x);
  EXPECT_THAT(steps[0].relieved, IsEmpty());
}

TEST(Steps, OfTimesAloneClaimNoCause) {
  const ordered_json ladders = {{{"device", "cuda"},
                                 {"family", "cuda"},
                                 {"network", "net"},
                                 {"layer", "conv1"},
                                 {"batch", 10},
                                 {"floor", {{"operations", 90.0}, {"bytes", 30.0}}}}};
  const std::vector<Step> steps =
      steps_in(case_list({timed_stage("first", 1000), timed_stage("second", 100), timed_stage("third", 130)}), ladders);
  EXPECT_EQ(steps[1].kind, "measured");
  EXPECT_NEAR(steps[1].x->value, 10, 1e-9);
  EXPECT_EQ(steps[1].relieved, "The idea (not counted): more of it fits.");
  EXPECT_EQ(steps[0].binds, "At 9.0% of the FMA peak and 3.0% of the memory's rate: neither binds.");
  EXPECT_EQ(steps[1].binds, "At 90% of the FMA peak: little is left.");
  EXPECT_EQ(steps[2].relieved, "Slower, for reasons that were not counted. The idea: more of it fits.");
  EXPECT_THAT(steps_in(case_list({timed_stage("first", 1000)}))[0].binds, IsEmpty()) << "nobody measured the limits";
}

TEST(Steps, SayWhatTheMeasurementCannotTell) {
  const std::vector<Step> steps =
      steps_in(case_list({timed_stage("first", 1000, 0.3), timed_stage("second", 800, 0.3)}));
  EXPECT_TRUE(steps[1].x->holds(1));
  EXPECT_THAT(steps[1].relieved, HasSubstr("The measurement cannot tell them apart."));
}

TEST(Steps, TakeTheReasonsOfMeasuredStagesFromTheSameStagesAsCounted) {
  const std::vector<Step> steps =
      steps_in(case_list({timed_stage("first", 1000), timed_stage("second", 100),
                          counted_stage("first", {.loads = 4e8}), counted_stage("second", {.loads = 1e7})}));
  EXPECT_EQ(steps[1].relieved, "Counted: loads 1/40 of the sectors from global memory.");
}

TEST(Steps, StandInTheRecordBesideTheLadderTheyAreOf) {
  const ordered_json list = case_list({timed_stage("first", 1000), counted_stage("first", {})});
  const ordered_json known = step_variants();
  const std::vector<RecordedCase> cases = read_whole_cases(JsonPlace(list, "cases"));
  const ordered_json ladders = ladders_json(derived_ladders(cases, read_variants(JsonPlace(known, "variants")), {}));
  ASSERT_EQ(ladders.size(), 2U) << "one more for what was only counted";
  EXPECT_EQ(ladders[0].at("steps").size(), 1U);
  EXPECT_EQ(ladders[0].at("steps")[0].at("kind"), "measured");
  EXPECT_EQ(ladders[1].at("kind"), "counted");
  EXPECT_EQ(ladders[1].at("device"), "simulated");
  EXPECT_EQ(ladders[1].at("steps")[0].at("variant"), "first");
}

}  // namespace
}  // namespace convladder

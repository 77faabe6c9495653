#include "harness/measure/networks/network_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/networks/network_case_fixture.hpp"
#include "harness/measure/networks/network_tables.hpp"
#include "network/weights.hpp"
#include "sanitized.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using Request = NetworkMessages::Request;
using Answer = NetworkMessages::Answer;

// Asking whether the device records attaches its profiler's library, which every launch pays for from then on.
TEST_F(NetworkCaseTest, TheProfilerIsAskedForWhenAllPassesAreMeasured) {
  std::vector<std::string> asked;
  run_changed([&](const Request& request, Answer& answer, float* /*window*/) {
    const std::string what(request_name(request));
    const auto* const pass = std::get_if<to_network::Pass>(&request);
    const bool recorded = pass != nullptr && pass->record;
    if (what == "pass" || what == "repeat" || what == "recorder") asked.push_back(recorded ? "recorded pass" : what);
    if (what == "recorder") std::get<to_network::RecorderFound>(answer).can_record = true;
    return 0.0;
  });
  const auto recorder = std::ranges::find(asked, "recorder");
  EXPECT_GE(std::distance(asked.begin(), recorder), 2) << "the measured passes";
  EXPECT_EQ(std::vector(recorder, asked.end()), (std::vector<std::string>{"recorder", "recorded pass"}));
}

TEST_F(NetworkCaseTest, ARightRunHasItsTimesAndItsAccuracy) {
  labels_[2] = static_cast<std::uint8_t>(labels_[2] + 1);
  labels_.pop_back();  // an image without a label of its own
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::ok) << outcome.reason;
  EXPECT_EQ(outcome.totals.size(), 2U);
  EXPECT_EQ(outcome.compared_passes, 2);
  EXPECT_EQ(outcome.stopped_because, "repetitions");
  ASSERT_EQ(outcome.steps.size(), planned_.network->layers.size());
  for (const StepOutcome& step : outcome.steps) {
    EXPECT_EQ(step.samples.size(), 2U) << step.name;
    EXPECT_TRUE(step.verification.passed()) << step.name;
    EXPECT_EQ(step.verification.compared_images, kImages) << step.name;
  }
  EXPECT_EQ(outcome.labelled, kImages - 1);
  EXPECT_EQ(outcome.correct, kImages - 2);
  EXPECT_TRUE(outcome.close_calls.empty());
  EXPECT_FALSE(outcome.profile.groups.empty());
}

TEST_F(NetworkCaseTest, TheTablesOfARecordAreThoseOfTheRun) {
  predictions_[1].gap = 0.5 * predictions_[1].rounding;
  const NetworkOutcome right = run();
  predictions_[4].best = (predictions_[4].best + 1) % 10;
  for (const NetworkOutcome& outcome : {right, run()}) {
    const ordered_json written = ordered_json::parse(network_case_json(planned_, outcome).dump());
    const NetworkResult then{planned_, outcome};
    const NetworkResult now{planned_, network_outcome_of({written, "case"})};
    EXPECT_EQ(network_tables({now}, "weights", "images"), network_tables({then}, "weights", "images"));
    EXPECT_EQ(network_result_line(now), network_result_line(then));
  }
}

TEST_F(NetworkCaseTest, ACaseThatSomebodyChangedIsNoneOrFitsTheTables) {
  const ordered_json whole = network_case_json(planned_, run());
  for (const auto& [field, value] : whole.items()) {
    for (const ordered_json& other : {ordered_json(), ordered_json(7), ordered_json("x"), ordered_json::array({3})}) {
      ordered_json changed = whole;
      changed[field] = other;
      try {
        EXPECT_FALSE(network_tables({{planned_, network_outcome_of({changed, "case"})}}, "weights", "images").empty())
            << field;
      } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("case: " + field), std::string::npos) << error.what();
      }
    }
  }
  ordered_json without_processor = whole;
  without_processor["program"].erase("cpu_percent");
  EXPECT_FALSE(
      network_tables({{planned_, network_outcome_of({without_processor, "case"})}}, "weights", "images").empty());
  ordered_json without_steps = whole;
  without_steps["steps"] = ordered_json::array();
  EXPECT_FALSE(network_tables({{planned_, network_outcome_of({without_steps, "case"})}}, "weights", "images").empty());
}

TEST_F(NetworkCaseTest, AClassThatIsNotTheReferencesIsIncorrectAndHasNoTimes) {
  predictions_[4].best = (predictions_[4].best + 1) % 10;
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::incorrect);
  EXPECT_NE(outcome.reason.find("image 4 is classified as"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(outcome.totals.empty());
  EXPECT_TRUE(outcome.phases.empty());
  EXPECT_TRUE(outcome.profile.groups.empty());
  EXPECT_EQ(outcome.labelled, 0);
  for (const StepOutcome& step : outcome.steps) EXPECT_TRUE(step.samples.empty());
}

TEST_F(NetworkCaseTest, AnImageTooCloseToTellIsListedWhicheverClassItGets) {
  predictions_[1].gap = 0.5 * predictions_[1].rounding;  // agrees
  predictions_[3].second = predictions_[3].best;         // the device prefers the second
  predictions_[3].best = (predictions_[3].best + 1) % 10;
  predictions_[3].gap = 0;
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::ok) << outcome.reason;
  ASSERT_EQ(outcome.close_calls.size(), 2U);
  EXPECT_EQ(outcome.close_calls[0].image, 1);
  EXPECT_EQ(outcome.close_calls[0].found, outcome.close_calls[0].reference);
  EXPECT_EQ(outcome.close_calls[1].image, 3);
  EXPECT_EQ(outcome.close_calls[1].found, outcome.close_calls[1].alternative);
  predictions_[3].second = (predictions_[3].second + 5) % 10;  // a third class is no rounding
  EXPECT_EQ(run().status, Status::incorrect);
}

TEST_F(NetworkCaseTest, AFailureInAnyRequestGetsItsStatusAndLosesTheTimes) {
  for (const char* failing : {"set", "record", "pass", "activities", "read"}) {
    SCOPED_TRACE(failing);
    const NetworkOutcome outcome = run_changed([failing](const Request& request, Answer& answer, float*) {
      if (request_name(request) == failing) answer = Ending{Status::crashed, "for the\ntest"};
      return 0.0;
    });
    EXPECT_EQ(outcome.status, Status::crashed);
    EXPECT_EQ(outcome.reason, "for the test");
    EXPECT_TRUE(outcome.totals.empty());
    for (const StepOutcome& step : outcome.steps) EXPECT_TRUE(step.samples.empty());
  }
}

TEST_F(NetworkCaseTest, WeightsThatAreNotTheReferencesAreNoticed) {
  NetworkWeights others = weights_;
  for (float& weight : others.layers.at("fc1").weights) weight = -weight;
  workload_.emplace(*planned_.network, "lenet28", synthetic_images(kImages, 1), kImages, others);
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::incorrect);
  EXPECT_TRUE(outcome.reason.starts_with("fc1: image 0: ")) << outcome.reason;
}

TEST_F(NetworkCaseTest, AStepThatIsWrongInOneImageIsFoundWhicheverStepItIs) {
  const std::vector<NetworkStep> steps = network_steps(*planned_.network, planned_.choice);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    SCOPED_TRACE(steps[step].name);
    const NetworkOutcome outcome = run_changed([&](const Request& request, const Answer&, float* window) {
      if (std::holds_alternative<to_network::Record>(request)) {
        window[record_offset(steps, step, kImages) + 5 * steps[step].output.elements() + 3] += 0.5F;
      }
      return 0.0;
    });
    EXPECT_EQ(outcome.status, Status::incorrect);
    EXPECT_TRUE(outcome.reason.starts_with(steps[step].name + ": image 5: 1 of ")) << outcome.reason;
    EXPECT_NE(outcome.reason.find("element 3 is "), std::string::npos) << outcome.reason;
  }
}

TEST_F(NetworkCaseTest, WhatWasNeverWrittenIsCalledSo) {
  spy({.is_idle = [] { return true; }});
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::incorrect);
  EXPECT_TRUE(outcome.reason.starts_with(
      "conv1: 172800 of 172800 output elements are as they were before the call; first: image 0"))
      << outcome.reason;
}

TEST_F(NetworkCaseTest, AStageThatIsIdleInTimedPassesIsFound) {
  int calls = 0;
  spy({.is_idle = [&] { return ++calls > 2; }});  // the verified pass, and a first timed one
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::incorrect);
  EXPECT_TRUE(outcome.totals.empty());
  EXPECT_EQ(outcome.compared_passes, 1);
}

/// What becomes of the scores of a timed pass.
using Scores = std::function<void(int pass, float* scores)>;

TEST_F(NetworkCaseTest, ScoresOfATimedPassThatAreWrongAreFound) {
  constexpr int kClasses = 10;
  std::vector<float> kept;
  const std::map<std::string, Scores> ways = {
      {"image 5, later",
       [](int pass, float* scores) {
         if (pass == 2) scores[5 * kClasses + 2] += 0.01F;
       }},
      {"not a number",
       [](int pass, float* scores) {
         if (pass == 2) scores[5 * kClasses + 2] = NAN;
       }},
      {"half a batch", [](int, float* scores) { std::fill_n(scores + 3 * kClasses, 3 * kClasses, 0.1F); }},
      {"an answer that is kept",
       [&](int pass, float* scores) {
         if (pass == 1) kept.assign(scores, scores + kImages * kClasses);
         std::ranges::copy(kept, scores);
       }},
      {"two images exchanged", [](int pass, float* scores) {
         if (pass == 2) std::swap_ranges(scores, scores + kClasses, scores + 4 * kClasses);
       }}};
  for (const auto& [name, way] : ways) {
    SCOPED_TRACE(name);
    int pass = 0;
    const NetworkOutcome outcome = run_changed([&, &way = way](const Request& request, const Answer&, float* window) {
      if (std::holds_alternative<to_network::Pass>(request)) ++pass;
      if (std::holds_alternative<ReadElements>(request)) way(pass, window);
      return 0.0;
    });
    EXPECT_EQ(outcome.status, Status::incorrect) << outcome.reason;
    EXPECT_TRUE(outcome.totals.empty());
    EXPECT_NE(outcome.reason.find("image"), std::string::npos) << outcome.reason;
  }
}

TEST_F(NetworkCaseTest, ALoadedNetworkIsTimedBatchAfterBatch) {
  const NetworkOutcome outcome = run();
  ASSERT_EQ(outcome.status, Status::ok) << outcome.reason;
  EXPECT_EQ(outcome.loaded.samples.size(), 2U);
  EXPECT_GT(outcome.loaded.in_a_row, 0);
  EXPECT_GE(outcome.loaded.compared, 2);
  EXPECT_LE(outcome.loaded.compared, 2 * outcome.loaded.in_a_row);
}

TEST_F(NetworkCaseTest, EveryBatchOfALoadedNetworkIsCompared) {
  std::int64_t batches = 0;               // in the last row
  const int fewest = kSanitized ? 1 : 2;  // with sanitizers a batch may take as long as a row should
  const NetworkOutcome outcome = run_changed([&](const Request& request, const Answer& answer, float* window) {
    if (const auto* const loaded = std::get_if<to_network::Loaded>(&request)) {
      EXPECT_NE(loaded->step, 0) << "the next batch has other images";
      batches = std::get<to_network::RowTaken>(answer).batches;
    }
    // The last batch of the first row that has several.
    const auto* const read = std::get_if<ReadElements>(&request);
    if (read != nullptr && batches >= fewest && read->first == (batches - 1) * kImages * 10) window[3] += 0.01F;
    return 0.0;
  });
  EXPECT_GE(batches, fewest);
  EXPECT_EQ(outcome.status, Status::incorrect);
  EXPECT_NE(outcome.reason.find("image"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(outcome.totals.empty());
  EXPECT_TRUE(outcome.loaded.samples.empty());
}

TEST_F(NetworkCaseTest, BatchesOfALoadedNetworkMayNotTakeMoreThanTheyClaim) {
  looks_at_loaded_ = true;
  const auto timed = [this](double claimed_ns, double taken_ns) {
    return run_changed([=](const Request&, Answer& answer, float*) {
      auto* const row = std::get_if<to_network::RowTaken>(&answer);
      if (row == nullptr) return 0.0;
      row->total_ns = row->batches * claimed_ns;
      return row->batches * taken_ns;
    });
  };
  EXPECT_EQ(timed(10e6, 10.1e6).status, Status::ok);
  const NetworkOutcome outcome = timed(5e6, 40e6);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("loaded"), std::string::npos) << outcome.reason;
}

TEST_F(NetworkCaseTest, NoTwoPassesGetTheSameImages) {
  options_.repetitions = 8;
  for (const int batch : {kImages, 1}) {
    SCOPED_TRACE(batch);
    use_batch(batch);
    std::vector<int> rotations;
    const NetworkOutcome outcome = run_changed([&](const Request& request, const Answer&, float*) {
      const auto* const set = std::get_if<to_network::Set>(&request);
      if (set == nullptr) return 0.0;
      rotations.push_back(set->rotation);
      EXPECT_EQ(set->of, batch == 1 ? 4 : kImages);
      return 0.0;
    });
    EXPECT_EQ(outcome.status, Status::ok) << outcome.reason;
    ASSERT_EQ(rotations.size(), batch == 1 ? 12U : 9U);
    EXPECT_EQ(std::ranges::adjacent_find(rotations), rotations.end());
    EXPECT_EQ(outcome.labelled, batch);
  }
}

TEST_F(NetworkCaseTest, PreparingSeesNoImages) {
  std::set<float> pixels(workload_->images(), workload_->images() + kImages * 28 * 28);
  pixels.erase(0.0F);
  int prepared = 0;
  int seen = 0;
  spy({.in_prepare = [&](const ConvShape& shape, const ProblemTensors& tensors) {
    ++prepared;
    seen += static_cast<int>(std::count_if(tensors.input(), tensors.input() + shape.input_elements(),
                                           [&](float x) { return pixels.contains(x); }));
  }});
  EXPECT_EQ(run().status, Status::ok);
  EXPECT_GE(prepared, 3);
  EXPECT_EQ(seen, 0);
}

TEST_F(NetworkCaseTest, ALargeBatchIsVerifiedInParts) {
  const std::vector<NetworkStep> steps = network_steps(*planned_.network, planned_.choice);
  const std::size_t of_image = record_offset(steps, steps.size(), 1);
  OpenNetwork open;
  open.window = std::make_unique<SharedMemory>(2 * of_image * sizeof(float));
  // Chunks of four and of two images, which the parts do not agree with.
  auto real = std::make_unique<NetworkSession>(planned_, *workload_, PassWish{.chunk = 5}, *open.window);
  std::vector<int> parts;
  bool wrong = false;
  auto* const window = reinterpret_cast<float*>(open.window->data());
  const auto change = [&](const Request& request, Answer&) {
    const auto* const record = std::get_if<to_network::Record>(&request);
    if (record == nullptr) return 0.0;
    parts.push_back(record->first);
    if (wrong && record->first == 4) window[record_offset(steps, 1, 2) + steps[1].output.elements()] += 0.5F;
    return 0.0;
  };
  open.client = std::make_unique<ChangedClient>(std::move(real), change, false);
  NetworkOutcome outcome = run(open);
  EXPECT_EQ(outcome.status, Status::ok) << outcome.reason;
  EXPECT_EQ(parts, (std::vector{0, 2, 4}));
  EXPECT_EQ(outcome.chunk, 5);
  for (const StepOutcome& step : outcome.steps) EXPECT_EQ(step.verification.compared_images, kImages);
  wrong = true;
  outcome = run(open);
  EXPECT_TRUE(outcome.reason.starts_with("activation1: image 5: 1 of ")) << outcome.reason;
}

TEST_F(NetworkCaseTest, NobodyCanWriteToImagesAndWeights) {
  const std::size_t bytes = kImages * 28 * 28 * sizeof(float);
  EXPECT_EQ(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, workload_->descriptor(), 0), MAP_FAILED);
}

}  // namespace
}  // namespace convladder

#include "harness/networks/network_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datasets/synthetic_images.hpp"
#include "harness/networks/network_session.hpp"
#include "harness/networks/network_tables.hpp"
#include "harness/verification/tanh_comparison.hpp"
#include "network/weights.hpp"
#include "support/errors.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// A real case whose answers, or the memory that they come in, somebody has a hand in.
class ChangedClient final : public CaseClient {
 public:
  /// Called with a request and what the case answers, which it may change. Returns what the answer took, in
  /// nanoseconds; 0 where that is not looked at.
  using Change = std::function<double(const ordered_json& request, ordered_json& reply)>;

  ChangedClient(std::unique_ptr<CaseClient> real, Change change) : real_(std::move(real)), change_(std::move(change)) {}
  ordered_json ask(const ordered_json& request) override {
    // Many passes in a row would only take their time.
    ordered_json reply = request.at("do") == "repeat" ? ordered_json{{"total_ns", 0.0}} : real_->ask(request);
    last_answer_ns_ = change_(request, reply);
    return reply;
  }
  ObservedAnswer last_answer() const override { return {.ns = last_answer_ns_}; }

 private:
  std::unique_ptr<CaseClient> real_;
  Change change_;
  double last_answer_ns_ = 0;
};

/// What a variant's calls do beside what the stage does that it is made of.
struct SpyHooks {
  std::function<void(const ConvShape& shape, ConvTensors tensors)> in_prepare = [](auto&&...) {};
  std::function<bool()> is_idle = [] { return false; };
};

class SpyVariant final : public ConvVariant {
 public:
  SpyVariant(const ConvVariant& real, SpyHooks hooks) : real_(real), hooks_(std::move(hooks)) {}
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    hooks_.in_prepare(shape, tensors);
    return std::make_unique<Prepared>(real_.prepare(device, shape, weights, tensors), hooks_);
  }

 private:
  class Prepared final : public PreparedConv {
   public:
    Prepared(std::unique_ptr<PreparedConv> real, const SpyHooks& hooks) : real_(std::move(real)), hooks_(hooks) {}
    void convolve() override {
      if (hooks_.is_idle()) return;
      real_->load_input();
      real_->convolve();
      real_->store_output();
    }

   private:
    std::unique_ptr<PreparedConv> real_;
    const SpyHooks& hooks_;
  };

  const ConvVariant& real_;
  SpyHooks hooks_;
};

/// A network of two layers, its images and what the reference says of them.
class NetworkCaseTest : public testing::Test {
 protected:
  static constexpr int kImages = 6;

  NetworkCaseTest() {
    options_.networks = {"lenet28"};
    options_.devices = {"cpu"};
    options_.repetitions = 2;
    weights_ = initial_weights(built_in("lenet28"), 1);
    use_batch(kImages);
  }

  static const Network& built_in(const std::string& name) {
    return *std::ranges::find(built_in_networks(), name, &Network::name);
  }

  void use_batch(int batch) {
    options_.batches = {batch};
    planned_ = make_network_plan(options_).front();
    const int images = images_in_turn(planned_);
    workload_.emplace(*planned_.network, "lenet28", synthetic_images(images, 1), images, weights_);
    predictions_ = ReferenceNetwork(*planned_.network, weights_).predictions(images, workload_->images());
    labels_.clear();
    for (const ReferencePrediction& prediction : predictions_) {
      labels_.push_back(static_cast<std::uint8_t>(prediction.best));
    }
  }

  /// The first convolution is done so from now on.
  void spy(SpyHooks hooks) {
    RegisteredVariant& registered = planned_.choice.convolutions.at(0);
    spy_ = std::make_unique<SpyVariant>(*registered.variant, std::move(hooks));
    registered.variant = spy_.get();
  }

  NetworkOutcome run(const OpenCase& open) {
    CeilingSampler no_limits({}, {}, ordered_json::array());
    TimeJudge judge(no_limits);
    return run_network_case(planned_, options_, {predictions_, labels_, &weights_}, *workload_, open, judge,
                            [](const char*) {});
  }
  NetworkOutcome run() { return run(start_network_here(planned_, *workload_, {})); }

  /// With a hand in the answers, or in the window's floats.
  using Change = std::function<double(const ordered_json& request, ordered_json& reply, float* window)>;
  NetworkOutcome run_changed(const Change& change) {
    OpenCase open = start_network_here(planned_, *workload_, {});
    auto* const window = reinterpret_cast<float*>(open.window->data());
    open.client = std::make_unique<ChangedClient>(
        std::move(open.client),
        [=](const ordered_json& request, ordered_json& reply) { return change(request, reply, window); });
    return run(open);
  }

  NetworkOptions options_;
  NetworkCase planned_;
  NetworkWeights weights_;
  std::unique_ptr<SpyVariant> spy_;
  std::optional<NetworkWorkload> workload_;
  std::vector<ReferencePrediction> predictions_;
  std::vector<std::uint8_t> labels_;
};

// Asking whether the device records attaches its profiler's library, which every launch pays for from then on.
TEST_F(NetworkCaseTest, TheProfilerIsAskedForWhenAllPassesAreMeasured) {
  std::vector<std::string> asked;
  run_changed([&](const ordered_json& request, ordered_json& reply, float* /*window*/) {
    const std::string what = request.at("do");
    const bool recorded = what == "pass" && request.at("record").get<bool>();
    if (what == "pass" || what == "repeat" || what == "recorder") asked.push_back(recorded ? "recorded pass" : what);
    if (what == "activities") EXPECT_EQ(reply.size(), 1U) << "only what was done";
    if (what == "recorder") reply["can_record"] = true;
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
    EXPECT_EQ(step.verification.at("passed"), true) << step.name;
    EXPECT_EQ(step.verification.at("compared_images"), kImages) << step.name;
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
    const NetworkOutcome outcome = run_changed([failing](const ordered_json& request, ordered_json& reply, float*) {
      if (request.at("do") == failing) reply = ending(Status::crashed, "for the\ntest");
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
    const NetworkOutcome outcome = run_changed([&](const ordered_json& request, const ordered_json&, float* window) {
      if (request.at("do") == "record") {
        window[record_offset(steps, step, kImages) + 5 * steps[step].output().elements() + 3] += 0.5F;
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
  EXPECT_TRUE(outcome.reason.starts_with("conv1: 172800 of 172800 output elements were never written; first: image 0"))
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
    const NetworkOutcome outcome =
        run_changed([&, &way = way](const ordered_json& request, const ordered_json&, float* window) {
          if (request.at("do") == "pass") ++pass;
          if (request.at("do") == "read") way(pass, window);
          return 0.0;
        });
    EXPECT_EQ(outcome.status, Status::incorrect) << outcome.reason;
    EXPECT_TRUE(outcome.totals.empty());
    EXPECT_NE(outcome.reason.find("image"), std::string::npos) << outcome.reason;
  }
}

TEST_F(NetworkCaseTest, NoTwoPassesGetTheSameImages) {
  options_.repetitions = 8;
  for (const int batch : {kImages, 1}) {
    SCOPED_TRACE(batch);
    use_batch(batch);
    std::vector<int> rotations;
    const NetworkOutcome outcome = run_changed([&](const ordered_json& request, const ordered_json&, float*) {
      if (request.at("do") != "set") return 0.0;
      rotations.push_back(request.at("rotation"));
      EXPECT_EQ(request.at("of"), batch == 1 ? 4 : kImages);
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
  spy({.in_prepare = [&](const ConvShape& shape, ConvTensors tensors) {
    ++prepared;
    seen += static_cast<int>(std::count_if(tensors.input, tensors.input + shape.input_elements(),
                                           [&](float x) { return pixels.contains(x); }));
  }});
  EXPECT_EQ(run().status, Status::ok);
  EXPECT_GE(prepared, 3);
  EXPECT_EQ(seen, 0);
}

TEST_F(NetworkCaseTest, ALargeBatchIsVerifiedInParts) {
  const std::vector<NetworkStep> steps = network_steps(*planned_.network, planned_.choice);
  const std::size_t of_image = record_offset(steps, steps.size(), 1);
  OpenCase open;
  open.window = std::make_unique<SharedMemory>(2 * of_image * sizeof(float));
  // Chunks of four and of two images, which the parts do not agree with.
  auto real = std::make_unique<NetworkSession>(planned_, *workload_, PassWish{.chunk = 5}, *open.window);
  std::vector<int> parts;
  bool wrong = false;
  auto* const window = reinterpret_cast<float*>(open.window->data());
  open.client = std::make_unique<ChangedClient>(std::move(real), [&](const ordered_json& request, ordered_json&) {
    if (request.at("do") != "record") return 0.0;
    parts.push_back(request.at("first"));
    if (wrong && request.at("first") == 4) window[record_offset(steps, 1, 2) + steps[1].output().elements()] += 0.5F;
    return 0.0;
  });
  NetworkOutcome outcome = run(open);
  EXPECT_EQ(outcome.status, Status::ok) << outcome.reason;
  EXPECT_EQ(parts, (std::vector{0, 2, 4}));
  EXPECT_EQ(outcome.chunk, 5);
  for (const StepOutcome& step : outcome.steps) EXPECT_EQ(step.verification.at("compared_images"), kImages);
  wrong = true;
  outcome = run(open);
  EXPECT_TRUE(outcome.reason.starts_with("activation1: image 5: 1 of ")) << outcome.reason;
}

TEST_F(NetworkCaseTest, TimesThatCannotBeAreRefused) {
  const auto timed = [this](double total_ns, double observed_ns, double layers_ns, double phase_ns) {
    return run_changed([=](const ordered_json& request, ordered_json& reply, float*) {
      if (request.at("do") == "pass") reply["total_ns"] = total_ns;
      if (request.at("do") == "activities") {
        reply["activities"] = {{activity_group::kHost, pass_phase::kLayers, 0.0, phase_ns},
                               {activity_group::kLayers, "conv1", 0.0, layers_ns}};
      }
      return observed_ns;
    });
  };
  EXPECT_EQ(timed(100e6, 101e6, 80e6, 81e6).status, Status::ok);
  NetworkOutcome outcome = timed(50e6, 101e6, 40e6, 41e6);  // half of what it was
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("50"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(outcome.totals.empty());
  EXPECT_EQ(timed(110e6, 101e6, 80e6, 81e6).status, Status::refused);  // more than it can have been
  outcome = timed(100e6, 101e6, 20e6, 81e6);                           // layers that took less than running them
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("the layers of a pass"), std::string::npos) << outcome.reason;
  EXPECT_EQ(timed(100e6, 101e6, 120e6, 120e6).status, Status::refused);  // and more than the whole pass
}

TEST_F(NetworkCaseTest, ShortPassesInARowMayNotTakeMuchLongerThanTheyClaim) {
  std::vector<int> passes;
  // What a pass claims, and, of many in a row, what each claims and takes; as one alone takes from turn `honest` on.
  const auto repeated = [&](double alone_ns, double claimed_ns, double taken_ns, std::size_t honest) {
    passes.clear();
    return run_changed(
        [&, alone_ns, claimed_ns, taken_ns, honest](const ordered_json& request, ordered_json& reply, float*) {
          if (request.at("do") == "pass") reply["total_ns"] = alone_ns;
          if (request.at("do") == "activities") {
            reply["activities"] = {{activity_group::kHost, pass_phase::kLayers, 0.0, 0.9 * alone_ns},
                                   {activity_group::kLayers, "conv1", 0.0, 0.9 * alone_ns}};
          }
          if (request.at("do") != "repeat") return 0.0;
          passes.push_back(request.at("passes"));
          const bool is_honest = passes.size() >= honest;
          reply["total_ns"] = passes.back() * (is_honest ? alone_ns : claimed_ns);
          return passes.back() * (is_honest ? alone_ns : taken_ns);
        });
  };
  constexpr std::size_t never = 1000;
  NetworkOutcome outcome = repeated(1e6, 5e6, 5e6, never);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("claims 1.00 ms for a pass, but 20 passes in a row took 100 ms"), std::string::npos)
      << outcome.reason;
  EXPECT_EQ(passes, std::vector<int>(12, 20));
  EXPECT_EQ(repeated(1e6, 5e6, 5e6, 4).status, Status::ok) << "a busy machine disturbed the others";
  EXPECT_EQ(passes.size(), 4U);
  EXPECT_EQ(repeated(1e6, 3e6, 3e6, never).status, Status::ok);

  outcome = repeated(1e6, 1e6, 2e6, never);
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("20 passes in a row: it claims"), std::string::npos) << outcome.reason;
  EXPECT_EQ(repeated(1e6, 1e6, 2e6, 4).status, Status::ok);
  EXPECT_EQ(passes.size(), 6U) << "until half of them are as they claim";

  EXPECT_EQ(repeated(0.001e6, 0.001e6, 0.001e6, never).status, Status::ok);
  EXPECT_EQ(passes, std::vector<int>(3, 1000)) << "no more, however short they are";
  EXPECT_EQ(repeated(10e6, 10e6, 10e6, never).status, Status::ok);
  EXPECT_EQ(passes, std::vector<int>(3, 5));
  EXPECT_EQ(repeated(60e6, 60e6, 180e6, never).status, Status::ok) << "no short pass";
  EXPECT_TRUE(passes.empty());
}

TEST_F(NetworkCaseTest, NobodyCanWriteToImagesAndWeights) {
  const std::size_t bytes = kImages * 28 * 28 * sizeof(float);
  EXPECT_EQ(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, workload_->descriptor(), 0), MAP_FAILED);
}

/// A linear step of lenet28, and outputs of images that are right.
class StepComparisonTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int kImages = 100;
  static constexpr int kChunk = 30;

  StepComparisonTest() {
    NetworkOptions options;
    options.networks = {"lenet28"};
    options.devices = {"cpu"};
    options.batches = {kImages};
    planned_ = make_network_plan(options).front();
    steps_ = network_steps(*planned_.network, planned_.choice);
    step_ = &*std::ranges::find(steps_, GetParam(), &NetworkStep::name);
    weights_ = initial_weights(*planned_.network, 1).layers.at(GetParam());
    for (std::size_t i = 0; i < weights_.bias.size(); ++i) weights_.bias[i] = static_cast<float>(i % 7) - 3;
    input_.resize(step_->input().elements() * kImages);
    SeededRandom random(7, 0);
    for (float& x : input_) x = static_cast<float>(random.between(-100, 100)) / 128;
    for (int image = 0; image < kImages; ++image) add_right_output(image);
  }

  void add_right_output(int image) {
    const float* const from = input_.data() + static_cast<std::size_t>(image) * step_->input().elements();
    if (step_->convolution != nullptr) {
      std::vector<float> output(step_->output().elements());
      reference_forward(step_->source->convolution, 1, from, weights_.weights.data(), output.data());
      output_.insert(output_.end(), output.begin(), output.end());
      return;
    }
    const OperatorReference right =
        reference_operator(step_->shape, from, weights_.weights.data(), weights_.bias.data());
    output_.insert(output_.end(), right.value.begin(), right.value.end());
  }

  StepCheck compare(int by_element) {
    StepComparison comparison(*step_, weights_, 11);
    comparison.compare({0, kImages, input_.data(), output_.data(), fill_, kChunk}, by_element);
    return comparison.check();
  }

  NetworkCase planned_;
  std::vector<NetworkStep> steps_;
  const NetworkStep* step_ = nullptr;
  LayerWeights weights_;
  std::vector<float> input_;
  std::vector<float> output_;
  OutputFill fill_{.seed = 3, .scale = 1};
};

TEST_P(StepComparisonTest, EveryImageIsComparedOneWayOrTheOther) {
  for (const int by_element : {1, 40, kImages, 1000}) {
    const StepCheck check = compare(by_element);
    EXPECT_EQ(check.failure, "");
    EXPECT_EQ(check.compared_images, std::min(by_element, kImages));
    EXPECT_EQ(check.combined_images, kImages - check.compared_images);
    EXPECT_GT(check.max_scaled_error, 0);
    EXPECT_LT(check.max_scaled_error, 1e-7);
  }
}

TEST_P(StepComparisonTest, OneWrongElementOfOneImageIsFoundAndNamed) {
  const std::size_t elements = step_->output().elements();
  for (const std::size_t image : {0U, 57U, 99U}) {
    float& element = output_[image * elements + 9];
    const float right = element;
    element += 0.1F;
    for (const int by_element : {1, kImages}) {
      const StepCheck check = compare(by_element);
      EXPECT_TRUE(check.failure.starts_with(
          fmt::format("image {}: 1 of {} elements are wrong; element 9 is ", image, elements)))
          << check.failure;
    }
    element = right;
  }
}

TEST_P(StepComparisonTest, WhatIsOnlyTheFillWasNeverWritten) {
  const std::size_t elements = step_->output().elements();
  constexpr std::size_t kImage = 65;  // place 5 of its chunk
  for (std::size_t i = 0; i < elements; ++i) {
    output_[kImage * elements + i] = fill_.at(static_cast<std::int64_t>(kImage % kChunk * elements + i));
  }
  const StepCheck check = compare(1);
  EXPECT_TRUE(check.failure.starts_with(fmt::format("{} of ", elements))) << check.failure;
  EXPECT_NE(check.failure.find("output elements were never written; first: image 65: "), std::string::npos)
      << check.failure;
}

TEST(TanhComparison, AgreesWithTheLibrary) {
  SeededRandom random(5, 0);
  for (int exponent = -40; exponent <= 7; ++exponent) {
    std::vector<float> x;
    std::vector<float> found;
    double expected = 0;
    for (int i = 0; i < 101; ++i) {
      x.push_back(std::ldexp(static_cast<float>(random.between(-1000, 1000)) / 1000, exponent));
      const double right = std::tanh(double{x.back()});
      found.push_back(static_cast<float>(right * (1 + 1e-6 * i)));
      if (right != 0) expected = std::max(expected, std::abs((found.back() - right) / right));
    }
    EXPECT_NEAR(max_tanh_error(x.data(), found.data(), 101), expected, 1e-11) << exponent;
    found[40] = NAN;
    EXPECT_TRUE(std::isnan(max_tanh_error(x.data(), found.data(), 101)));
  }
  const float zero_and_nan[] = {0.0F, NAN};
  const float found[] = {1e-30F, 1.0F};
  EXPECT_EQ(max_tanh_error(zero_and_nan, found, 1), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(max_tanh_error(zero_and_nan + 1, found + 1, 1)));
}

INSTANTIATE_TEST_SUITE_P(LinearSteps, StepComparisonTest, testing::Values("conv1", "fc1"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace convladder

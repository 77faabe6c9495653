#include "harness/network_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "datasets/synthetic_images.hpp"
#include "harness/device_argument.hpp"
#include "harness/network_session.hpp"
#include "harness/step_verifier.hpp"
#include "network/weights.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// A network of two layers, its images and what the reference says of them.
class NetworkCaseTest : public testing::Test {
 protected:
  static constexpr int kImages = 6;

  NetworkCaseTest() {
    options_.networks = {"lenet28"};
    options_.devices = {"cpu"};
    options_.batches = {kImages};
    options_.repetitions = 2;
    planned_ = make_network_plan(options_).front();
    weights_ = initial_weights(*planned_.network, 1);
    workload_.emplace(*planned_.network, "lenet28", synthetic_images(kImages, 1), kImages, weights_);
    predictions_ = ReferenceNetwork(*planned_.network, weights_).predictions(kImages, workload_->images());
    for (const ReferencePrediction& prediction : predictions_) {
      labels_.push_back(static_cast<std::uint8_t>(prediction.best));
    }
  }

  NetworkOutcome run(CaseClient& client) {
    return run_network_case(planned_, options_, {predictions_, labels_}, client, [](const char*) {});
  }
  NetworkOutcome run() { return run(*start_network_here(planned_, *workload_, {})); }

  NetworkOptions options_;
  NetworkCase planned_;
  NetworkWeights weights_;
  std::optional<NetworkWorkload> workload_;
  std::vector<ReferencePrediction> predictions_;
  std::vector<std::uint8_t> labels_;
};

TEST_F(NetworkCaseTest, ARightRunHasItsTimesAndItsAccuracy) {
  labels_[2] = static_cast<std::uint8_t>(labels_[2] + 1);
  labels_.pop_back();  // an image without a label of its own
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, "ok") << outcome.reason;
  EXPECT_EQ(outcome.totals.size(), 2U);
  EXPECT_EQ(outcome.stopped_because, "repetitions");
  ASSERT_EQ(outcome.steps.size(), planned_.network->layers.size());
  for (const StepOutcome& step : outcome.steps) {
    EXPECT_EQ(step.samples.size(), 2U) << step.name;
    EXPECT_EQ(step.verification.at("passed"), true) << step.name;
    EXPECT_GE(step.verification.at("compared_images").get<int>(), 1) << step.name;
  }
  EXPECT_EQ(outcome.labelled, kImages - 1);
  EXPECT_EQ(outcome.correct, kImages - 2);
  EXPECT_TRUE(outcome.close_calls.empty());
  EXPECT_FALSE(outcome.profile.groups.empty());
}

TEST_F(NetworkCaseTest, AClassThatIsNotTheReferencesIsIncorrectAndHasNoTimes) {
  predictions_[4].best = (predictions_[4].best + 1) % 10;
  const NetworkOutcome outcome = run();
  EXPECT_EQ(outcome.status, "incorrect");
  EXPECT_NE(outcome.reason.find("image 4 is taken for class"), std::string::npos) << outcome.reason;
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
  EXPECT_EQ(outcome.status, "ok") << outcome.reason;
  ASSERT_EQ(outcome.close_calls.size(), 2U);
  EXPECT_EQ(outcome.close_calls[0].image, 1);
  EXPECT_EQ(outcome.close_calls[0].found, outcome.close_calls[0].reference);
  EXPECT_EQ(outcome.close_calls[1].image, 3);
  EXPECT_EQ(outcome.close_calls[1].found, outcome.close_calls[1].alternative);
  predictions_[3].second = (predictions_[3].second + 5) % 10;  // a third class is no rounding
  EXPECT_EQ(run().status, "incorrect");
}

/// Passes on to a real case, until a request it is to fail.
class FailingClient final : public CaseClient {
 public:
  FailingClient(std::unique_ptr<CaseClient> real, std::string request, ordered_json reply)
      : real_(std::move(real)), request_(std::move(request)), reply_(std::move(reply)) {}
  ordered_json ask(const ordered_json& request) override {
    return request.at("do") == request_ ? reply_ : real_->ask(request);
  }

 private:
  std::unique_ptr<CaseClient> real_;
  std::string request_;
  ordered_json reply_;
};

TEST_F(NetworkCaseTest, AFailureInAnyStepGetsItsStatusAndLosesTheTimes) {
  for (const char* request : {"verify", "pass", "classes"}) {
    SCOPED_TRACE(request);
    FailingClient client(start_network_here(planned_, *workload_, {}), request, ending("crashed", "for the test"));
    const NetworkOutcome outcome = run(client);
    EXPECT_EQ(outcome.status, "crashed");
    EXPECT_EQ(outcome.reason, "for the test");
    EXPECT_TRUE(outcome.totals.empty());
  }
}

TEST_F(NetworkCaseTest, ScoresThatAreNotFiniteAreIncorrect) {
  ordered_json classes = ordered_json::array();
  for (const ReferencePrediction& prediction : predictions_) classes.push_back(prediction.best);
  FailingClient client(start_network_here(planned_, *workload_, {}), "classes",
                       {{"classes", classes}, {"not_finite", 3}});
  EXPECT_EQ(run(client).reason, "3 scores are not finite");
}

TEST_F(NetworkCaseTest, WeightsThatAreNotTheReferencesAreNoticed) {
  // Everything is right but the second layer's weights: the classes of six images give it away.
  NetworkWeights others = weights_;
  for (float& weight : others.layers.at("fc1").weights) weight = -weight;
  workload_.emplace(*planned_.network, "lenet28", synthetic_images(kImages, 1), kImages, others);
  EXPECT_EQ(run().status, "incorrect");
}

TEST(StepVerifier, SeesOneWrongElementAndOneThatWasNeverWritten) {
  NetworkOptions options;
  options.networks = {"lenet28"};
  options.devices = {"cpu"};
  options.batches = {2};
  const NetworkCase planned = make_network_plan(options).front();
  const NetworkWeights weights = initial_weights(*planned.network, 1);
  const std::vector<NetworkStep> steps = network_steps(*planned.network, planned.choice);
  const auto device = find_device_kind("cpu").open();
  const NetworkStep& pool = *std::ranges::find(steps, "pool1", &NetworkStep::name);
  const DeviceBuffer input = device->allocate(pool.input().elements() * 2 * sizeof(float), "input");
  const DeviceBuffer output = device->allocate(pool.output().elements() * 2 * sizeof(float), "output");
  for (std::size_t i = 0; i < pool.input().elements() * 2; ++i) input.floats()[i] = static_cast<float>(i % 97);
  OperatorShape shape = pool.shape;
  shape.batch = 2;
  const auto prepared =
      pool.layer_operator->prepare(*device, shape, {input.floats(), nullptr, nullptr, output.floats()});

  StepVerifier verifier(*device, weights, 1);
  verifier.before(pool, 2, input.floats(), output.floats());
  prepared->run();
  verifier.after(pool, 2, output.floats());
  EXPECT_EQ(verifier.first_failure(), "");

  verifier.before(pool, 2, input.floats(), output.floats());
  prepared->run();
  output.floats()[17] += 1;
  verifier.after(pool, 2, output.floats());
  EXPECT_NE(verifier.first_failure().find("pool1: image 0: 1 of 7200 elements are wrong; element 17"),
            std::string::npos)
      << verifier.first_failure();

  StepVerifier second(*device, weights, 1);
  second.before(pool, 2, input.floats(), output.floats());
  const float poisoned = output.floats()[7200 + 5];  // of an image that is not compared
  prepared->run();
  std::memcpy(&output.floats()[7200 + 5], &poisoned, sizeof poisoned);
  second.after(pool, 2, output.floats());
  EXPECT_EQ(second.first_failure(), "pool1: 1 of 14400 output elements were never written");
}

}  // namespace
}  // namespace convladder

// A case of a network whose stages and answers a test has a hand in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "datasets/synthetic_images.hpp"
#include "harness/measure/networks/network_case.hpp"
#include "harness/measure/networks/network_messages.hpp"
#include "harness/measure/networks/network_session.hpp"
#include "network/weights.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// A real case whose answers, or the memory that they come in, somebody has a hand in.
class ChangedClient final : public Client<NetworkMessages> {
 public:
  /// Called with a request and what the case answers, which it may change. Returns what the answer took, in
  /// nanoseconds; 0 where that is not looked at.
  using Change = std::function<double(const NetworkMessages::Request& request, NetworkMessages::Answer& answer)>;

  /// `looks_at_loaded`: what batches of a loaded network take is looked at as well.
  ChangedClient(std::unique_ptr<Client<NetworkMessages>> real, Change change, bool looks_at_loaded)
      : real_(std::move(real)), change_(std::move(change)), looks_at_loaded_(looks_at_loaded) {}
  NetworkMessages::Answer ask(const NetworkMessages::Request& request) override {
    // Many passes in a row would only take their time.
    const bool repeats = std::holds_alternative<to_network::Repeat>(request);
    NetworkMessages::Answer answer = repeats ? to_network::Repeated{0} : real_->ask(request);
    last_answer_ns_ = change_(request, answer);
    if (std::holds_alternative<to_network::Loaded>(request) && !looks_at_loaded_) last_answer_ns_ = 0;
    return answer;
  }
  ObservedAnswer last_answer() const override { return {.ns = last_answer_ns_}; }

 private:
  std::unique_ptr<Client<NetworkMessages>> real_;
  Change change_;
  bool looks_at_loaded_;
  double last_answer_ns_ = 0;
};

/// What a variant's calls do beside what the stage does that it is made of.
struct SpyHooks {
  std::function<void(const ConvShape& shape, const ProblemTensors& tensors)> in_prepare = [](auto&&...) {};
  std::function<bool()> is_idle = [] { return false; };
};

class SpyVariant final : public Variant {
 public:
  SpyVariant(const Variant& real, SpyHooks hooks) : real_(real), hooks_(std::move(hooks)) {}
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    hooks_.in_prepare(conv_shape(size), tensors);
    return std::make_unique<Prepared>(real_.prepare(device, size, tensors), hooks_);
  }

 private:
  class Prepared final : public PreparedVariant {
   public:
    Prepared(std::unique_ptr<PreparedVariant> real, const SpyHooks& hooks) : real_(std::move(real)), hooks_(hooks) {}
    void run() override {
      if (hooks_.is_idle()) return;
      real_->load_input();
      real_->run();
      real_->store_output();
    }

   private:
    std::unique_ptr<PreparedVariant> real_;
    const SpyHooks& hooks_;
  };

  const Variant& real_;
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
    options_.variants = {"best-separate"};                                        // every layer is a step
    static const NetworkWeights drawn = initial_weights(built_in("lenet28"), 1);  // once for all tests
    weights_ = drawn;
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
    static std::map<int, std::vector<ReferencePrediction>> known;  // by the number of images
    if (!known.contains(images)) {
      known[images] = ReferenceNetwork(*planned_.network, weights_).predictions(images, workload_->images());
    }
    predictions_ = known.at(images);
    labels_.clear();
    for (const ReferencePrediction& prediction : predictions_) {
      labels_.push_back(static_cast<std::uint8_t>(prediction.best));
    }
  }

  /// The first convolution is done so from now on.
  void spy(SpyHooks hooks) {
    ProblemVariant& registered = planned_.choice.convolutions.at(0);
    spy_ = std::make_unique<SpyVariant>(*registered.variant, std::move(hooks));
    registered.variant = spy_.get();
  }

  NetworkOutcome run(const OpenNetwork& open) {
    CeilingSampler no_limits({}, {});
    MachineWatch machine;
    TimeJudge judge(no_limits, machine);
    return run_network_case(planned_, options_, {predictions_, labels_, &weights_}, *workload_, open, judge,
                            [](const char*) {});
  }
  NetworkOutcome run() { return run(start_network_here(planned_, *workload_, {})); }

  /// With a hand in the answers, or in the window's floats.
  using Change =
      std::function<double(const NetworkMessages::Request& request, NetworkMessages::Answer& answer, float* window)>;
  NetworkOutcome run_changed(const Change& change) {
    OpenNetwork open = start_network_here(planned_, *workload_, {});
    auto* const window = reinterpret_cast<float*>(open.window->data());
    open.client = std::make_unique<ChangedClient>(
        std::move(open.client),
        [=](const NetworkMessages::Request& request, NetworkMessages::Answer& answer) {
          return change(request, answer, window);
        },
        looks_at_loaded_);
    return run(open);
  }

  bool looks_at_loaded_ = false;
  NetworkOptions options_;
  NetworkCase planned_;
  NetworkWeights weights_;
  std::unique_ptr<SpyVariant> spy_;
  std::optional<NetworkWorkload> workload_;
  std::vector<ReferencePrediction> predictions_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace convladder

// The course of a case, against a case that answers by script.
#include "harness/measure/cases/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "expect_error.hpp"
#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/contenders.hpp"
#include "harness/measure/cases/small_problem.hpp"
#include "harness/measure/verification/fresh_input.hpp"
#include "harness/measure/verification/output_probe.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// What the case answers, what it was asked, and whether it is still there.
struct Script {
  to_case::Prepared prepare{.prepare_ns = 1234.0, .choice = "algorithm 7", .parts = {}};
  double call_ns = 100;
  int iterations = 5;
  std::function<to_case::StateOfDevice(int)> state = [](int) { return to_case::StateOfDevice(); };  ///< at the n-th
                                                                                                    ///< question
  std::function<double(int)> clock_mhz;  ///< during the n-th sample; none: the device does not know
  bool records = true;                   ///< whether calls can be recorded
  std::function<double(int)> sample_ns = [](int) { return 100.0; };  ///< of the n-th sample, from 0
  /// The ending at the n-th request of its kind; none: it is answered.
  std::function<std::optional<Ending>(std::string_view, int)> instead;
  std::function<bool(int)> wrong = [](int) { return false; };  ///< the output that the n-th reading finds
  bool looks_behind_calls = false;                             ///< as a device does that fills by itself
  std::function<bool(std::int64_t)> late = [](std::int64_t) { return false; };  ///< written when others had looked
  double observed_ns = 0;                                                       ///< how long each answer takes
  std::function<double(int)> waited_ns = [](int) { return 0.0; };  ///< by all threads in the n-th sample, from 0
  std::vector<CaseMessages::Request> asked;
  bool alive = false;

  int count(std::string_view what) const {
    return static_cast<int>(
        std::ranges::count_if(asked, [&](const auto& request) { return request_name(request) == what; }));
  }
  /// The requests of a kind.
  template <typename Request>
  std::vector<Request> asked_for() const {
    std::vector<Request> requests;
    for (const CaseMessages::Request& one : asked) {
      if (const auto* const request = std::get_if<Request>(&one)) requests.push_back(*request);
    }
    return requests;
  }
};

/// Computes what is asked for, for once in the process of the test, or something else.
class ScriptedCase final : public CaseClient {
 public:
  ScriptedCase(Script& script, const Workload& workload, const SharedMemory& window)
      : script_(script), workload_(workload), window_(window) {
    script_.alive = true;
  }
  ~ScriptedCase() override { script_.alive = false; }

  CaseMessages::Answer ask(const CaseMessages::Request& request) override {
    const std::string_view what = request_name(request);
    const int nth = script_.count(what);
    script_.asked.push_back(request);
    if (script_.instead) {
      if (std::optional<Ending> ending = script_.instead(what, nth)) return *std::move(ending);
    }
    return std::visit([&](const auto& wanted) -> CaseMessages::Answer { return answer(wanted, nth); }, request);
  }
  ObservedAnswer last_answer() const override {
    // Only a sample's own answer tells of it; looks at its output may follow it.
    const bool is_of_sample = !script_.asked.empty() && request_name(script_.asked.back()) == "sample";
    return {.ns = script_.observed_ns,
            .waited_by_all_ns = is_of_sample ? script_.waited_ns(script_.count("sample") - 1) : 0};
  }

 private:
  to_case::Prepared answer(const to_case::Prepare& wanted, int /*nth*/) {
    problem_ = &workload_.problem(wanted.problem);
    return script_.prepare;
  }
  Done answer(const to_case::Set& wanted, int /*nth*/) {
    set_ = wanted;
    return {};
  }
  Done answer(const to_case::Probed& wanted, int /*nth*/) {
    for (std::size_t i = 0; i < wanted.calls.size(); ++i) {
      probed(wanted.calls[i], reinterpret_cast<float*>(window_.data()) + i * ProbedElements::kElements);
    }
    return {};
  }
  to_case::Called answer(const to_case::Call& /*wanted*/, int /*nth*/) {
    call_ = 1;
    return {script_.call_ns};
  }
  Done answer(const to_case::RunPart& /*wanted*/, int /*nth*/) { return {}; }
  Done answer(const to_case::WarmUp& /*wanted*/, int /*nth*/) { return {}; }
  to_case::StateOfDevice answer(const to_case::State& /*wanted*/, int nth) {
    to_case::StateOfDevice state = script_.state(nth);
    const int samples = script_.count("sample");
    if (script_.clock_mhz && samples > 0) state.clock_mhz = script_.clock_mhz(samples - 1);
    return state;
  }
  to_case::Calibrated answer(const to_case::Calibrate& wanted, int /*nth*/) {
    return {wanted.replayed && !script_.records ? 0 : script_.iterations};
  }
  Done answer(const ReadElements& wanted, int nth) {
    std::vector<float> output = output_of(call_);
    if (script_.wrong(nth)) output[0] += 1000.0F;
    std::copy_n(output.begin() + wanted.first, wanted.count, reinterpret_cast<float*>(window_.data()));
    return {};
  }
  Done answer(const to_case::Profile& /*wanted*/, int /*nth*/) { return {}; }
  to_case::Sampled answer(const to_case::Sample& wanted, int /*nth*/) {
    call_ = wanted.iterations;
    return {.ns = script_.sample_ns(script_.count("sample") - 1),
            .last_call = call_,
            .probed = script_.looks_behind_calls ? call_ : 0,
            .enqueue_ns = std::nullopt};
  }
  Ending answer(const to_case::Count& /*wanted*/, int /*nth*/) { return {Status::crashed, "it has a clock"}; }
  Ending answer(const to_case::Slot& /*wanted*/, int /*nth*/) { return {Status::crashed, "it is no side of a duel"}; }

  std::vector<float> output_of(std::int64_t call) const {
    const ConvShape shape = conv_shape(problem_->shape);
    const std::int64_t elements = shape.input_elements_per_image();
    std::vector<float> input(problem_->input().size());
    const InputLayout layout(problem_->shape);
    for (int image = 0; image < shape.batch; ++image) {
      write_image_of_call(input.data() + image * elements, set_.change, layout, problem_->input().data(), image, call);
    }
    std::vector<float> output(static_cast<std::size_t>(shape.output_elements()));
    reference_forward(shape, shape.batch, input.data(), problem_->constants[0].values().data(), output.data());
    return output;
  }

  void probed(std::int64_t call, float* to) const {
    const ConvShape shape = conv_shape(problem_->shape);
    const std::vector<float> output = output_of(call);
    const ChosenElements elements =
        ProbedElements{.seed = set_.probe, .items = shape.batch, .of_item = shape.output_elements_per_image()}.of_call(
            call);
    for (std::int32_t i = 0; i < elements.count; ++i) {
      const std::int64_t element = elements.element(i);
      to[i] = script_.late(call) ? set_.fills.at(0).at(element) : output.at(static_cast<std::size_t>(element));
    }
  }

  Script& script_;
  const Workload& workload_;
  const SharedMemory& window_;
  const ProblemData* problem_ = nullptr;
  to_case::Set set_;
  std::int64_t call_ = 0;
};

OpenCase scripted_case(Script& script, const Workload& workload) {
  std::unique_ptr<SharedMemory> window = output_window(1);
  auto client = std::make_unique<ScriptedCase>(script, workload, *window);
  return {std::move(window), std::move(client)};
}

class MeasurementTest : public testing::Test {
 protected:
  MeasurementTest()
      : work_(own_shape({2, 1, 8, 8, 2, 3})),
        workload_(work_, synthetic_images(2, 1), 1),
        planned_(planned_case(work_, "local-accumulation")) {
    options_.budget_seconds = 1e9;
    options_.sample_milliseconds = 1e-5;  // 10 ns: no sample is too short
    options_.target_half_width = 0;
    options_.max_samples = 1000;
  }

  /// The whole course: verified, sampled until it is done, verified again.
  CaseOutcome run() {
    Measurement measurement(planned_, workload_, options_, scripted_case(script_, workload_));
    measurement.verify_and_calibrate();
    for (int rounds = 0; !measurement.done() && rounds < 5000; ++rounds) measurement.take_samples();
    EXPECT_TRUE(measurement.done());
    measurement.finish();
    EXPECT_FALSE(script_.alive) << "the case is let go at the end";
    return measurement.outcome();
  }

  LayerWork work_;
  Workload workload_;
  PlannedCase planned_;
  RunOptions options_;
  Script script_;
};

/// Readings before the first sample: of integers, of the real input, and of six that almost agree with it.
constexpr int kVerifyingReads = 8;

/// How much of an output is filled before the call of that number, up to calibrating: of those that almost agree, every
/// second one finds what the one before has left.
FillPart part_before_sampling(std::size_t number) {
  return number >= 2 && number % 2 == 0 ? FillPart::nothing : FillPart::all;
}

double rising(int nth) { return 100.0 + nth; }

TEST_F(MeasurementTest, VerifiesBeforeAndAfterSampling) {
  options_.repetitions = 4;
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::ok);
  EXPECT_EQ(outcome.reason, "");
  std::vector<std::string> asked;
  for (const CaseMessages::Request& request : script_.asked) asked.emplace_back(request_name(request));
  std::vector<std::string> before{"prepare", "set", "call", "read", "prepare"};
  for (int i = 1; i < kVerifyingReads; ++i) before.insert(before.end(), {"set", "call", "read"});
  before.insert(before.end(), {"set", "calibrate"});
  ASSERT_GT(asked.size(), before.size());
  EXPECT_EQ(std::vector(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(before.size())), before);
  EXPECT_EQ(std::get<to_case::Prepare>(script_.asked[0]).problem, ProblemKind::integers);
  EXPECT_EQ(std::get<to_case::Prepare>(script_.asked[4]).problem, ProblemKind::real);
  EXPECT_EQ(asked.back(), "read") << "what the last timed call left";
  for (std::size_t i = before.size(); i < asked.size(); ++i) {
    if (asked[i] == "sample") {
      EXPECT_EQ(asked[i - 1], "set") << "another input for every sample";
    }
  }
  const Verification& verification = outcome.verification.value();
  for (const std::optional<Check>& check : {verification.integers, verification.before, verification.after}) {
    EXPECT_TRUE(check.value().passed);
  }
  EXPECT_EQ(verification.elements_compared, 2 * 2 * 6 * 6);
  EXPECT_EQ(verification.tolerance, 1e-6);
  EXPECT_EQ(verification.images_compared, 2);
  EXPECT_EQ(verification.images_combined, 0);
  EXPECT_EQ(verification.timed_calls_compared, script_.count("read") - kVerifyingReads);
  EXPECT_EQ(outcome.prepare_ns, 1234.0);
  EXPECT_EQ(outcome.choice, "algorithm 7");
  EXPECT_EQ(outcome.input_kind, "images");
}

TEST_F(MeasurementTest, SamplesThatWaitedForAProcessorAreTakenAgain) {
  options_.repetitions = 4;
  script_.observed_ns = 1000;
  script_.sample_ns = [](int nth) { return nth % 3 == 1 ? 500.0 : 100.0 + nth; };
  script_.waited_ns = [](int nth) { return nth % 3 == 1 ? 400.0 : 20.0; };
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::ok) << outcome.reason;
  EXPECT_EQ(outcome.times[0].samples, (std::vector{100.0, 102.0, 103.0, 105.0}));
  EXPECT_EQ(outcome.device_state.samples_taken_again, 2);
}

TEST_F(MeasurementTest, WhereEverySampleWaitsTheyStandAfterAFewTries) {
  options_.repetitions = 3;
  script_.observed_ns = 1000;
  script_.waited_ns = [](int) { return 400.0; };
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.times[0].samples.size(), 3U);
  EXPECT_EQ(outcome.device_state.samples_taken_again, 12) << "four for each";
  script_ = {};
  script_.observed_ns = 1000;
  script_.waited_ns = [](int) { return 400.0; };
  options_.budget_seconds = 0;
  EXPECT_EQ(run().device_state.samples_taken_again, 0) << "there is no time for it";
}

TEST_F(MeasurementTest, KeepsTheSamplesInTheirOrder) {
  options_.repetitions = 4;
  script_.sample_ns = [](int nth) { return std::vector{9.0, 3.0, 7.0, 1.0}.at(static_cast<std::size_t>(nth)); };
  const CaseOutcome outcome = run();
  ASSERT_EQ(outcome.times.size(), 1U);
  EXPECT_EQ(outcome.times[0].of, time_of::kLayer);
  EXPECT_EQ(outcome.times[0].cache, "");
  EXPECT_EQ(outcome.times[0].iterations, 5);
  EXPECT_EQ(outcome.times[0].samples, (std::vector{9.0, 3.0, 7.0, 1.0}));
  for (const to_case::Sample& request : script_.asked_for<to_case::Sample>()) {
    EXPECT_GE(request.iterations, 5);
    EXPECT_LE(request.iterations, 6) << "one more now and then";
  }
}

TEST_F(MeasurementTest, StopsAtTheFirstIntervalThatIsNarrowEnough) {
  options_.target_half_width = 0.01;
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.stopped_because, "interval");
  EXPECT_EQ(outcome.times[0].samples.size(), 6U) << "fewer have no interval of 95%";
}

TEST_F(MeasurementTest, TheTargetIsTheHalfWidthAsPartOfTheMedian) {
  script_.sample_ns = [](int nth) { return nth % 2 == 0 ? 99.0 : 101.0; };
  options_.max_samples = 8;
  options_.target_half_width = 0.01;
  EXPECT_EQ(run().stopped_because, "interval");
  script_ = {};
  script_.sample_ns = [](int nth) { return nth % 2 == 0 ? 99.0 : 101.0; };
  options_.target_half_width = 0.0099;
  EXPECT_EQ(run().stopped_because, "samples");
}

TEST_F(MeasurementTest, StopsAtTheMostSamples) {
  script_.sample_ns = rising;
  for (const int most : {1, 2, 10}) {
    script_.asked.clear();
    options_.max_samples = most;
    const CaseOutcome outcome = run();
    EXPECT_EQ(outcome.stopped_because, "samples");
    EXPECT_EQ(outcome.times[0].samples.size(), static_cast<std::size_t>(most));
  }
}

TEST_F(MeasurementTest, StopsWhenTheBudgetIsSpentButNotBeforeThreeSamples) {
  script_.sample_ns = rising;
  options_.budget_seconds = 0;
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.stopped_because, "budget");
  EXPECT_EQ(outcome.times[0].samples.size(), 3U);
}

TEST_F(MeasurementTest, TakesExactlyTheRepetitionsAskedFor) {
  options_.budget_seconds = 0;
  options_.target_half_width = 1;
  options_.max_samples = 2;
  for (const int repetitions : {1, 5, 12}) {
    script_.asked.clear();
    options_.repetitions = repetitions;
    const CaseOutcome outcome = run();
    EXPECT_EQ(outcome.stopped_because, "samples");
    EXPECT_EQ(outcome.times[0].samples.size(), static_cast<std::size_t>(repetitions));
  }
}

TEST_F(MeasurementTest, ALongCallNeedsNoCalibration) {
  options_.sample_milliseconds = 1;
  options_.repetitions = 2;
  script_.call_ns = 40e6;
  script_.sample_ns = [](int) { return 40e6; };
  const CaseOutcome outcome = run();
  EXPECT_EQ(script_.count("calibrate"), 0);
  EXPECT_EQ(outcome.times[0].iterations, 1);
}

TEST_F(MeasurementTest, ACallThatMayOnlyHaveBeenDisturbedIsNoCalibration) {
  options_.sample_milliseconds = 1;
  options_.repetitions = 2;
  script_.call_ns = 39e6;
  run();
  EXPECT_EQ(script_.count("calibrate"), 1);
}

TEST_F(MeasurementTest, CalibratesToTheLengthOfASampleAskedFor) {
  options_.sample_milliseconds = 2.5;
  options_.repetitions = 1;
  run();
  const std::vector<to_case::Calibrate> requests = script_.asked_for<to_case::Calibrate>();
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests[0].sample_ns, 2.5e6);
  EXPECT_EQ(requests[0].of, time_of::kLayer);
}

TEST_F(MeasurementTest, AnOwnLayoutHasItsOpTimeFirstAndThreeMore) {
  script_.prepare.own_layout = true;
  script_.sample_ns = rising;
  options_.repetitions = 2;
  const CaseOutcome outcome = run();
  ASSERT_EQ(outcome.times.size(), 4U);
  const char* const order[] = {time_of::kOp, time_of::kLayer, time_of::kLoadInput, time_of::kStoreOutput};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(outcome.times[i].of, order[i]);
    // Interleaved: one sample of each, then the next of each; the case's time comes last.
    EXPECT_EQ(outcome.times[i].samples, (std::vector{103.0 - static_cast<double>(i), 107.0 - static_cast<double>(i)}));
  }
  EXPECT_EQ(script_.count("calibrate"), 4);
}

TEST_F(MeasurementTest, PartsAreTimedBesideTheWhole) {
  script_.prepare.parts = {"convolution", "tanh"};
  options_.repetitions = 6;
  const CaseOutcome outcome = run();
  ASSERT_EQ(outcome.times.size(), 3U);
  EXPECT_EQ(outcome.times[0].of, time_of::kLayer);
  EXPECT_EQ(outcome.times[1].of, "part convolution");
  EXPECT_EQ(outcome.times[2].of, "part tanh");
  EXPECT_EQ(outcome.times[0].samples.size(), 6U);
  for (const std::size_t part : {1, 2}) EXPECT_EQ(outcome.times[part].samples.size(), 2U) << "in one round of four";
}

/// Of a GPU: calls are enqueued, caches can be flushed.
void set_gpu(Script& script) {
  script.prepare.can_be_cold = true;
  script.prepare.is_asynchronous = true;
}

std::vector<std::string> kinds_of(const CaseOutcome& outcome) {
  std::vector<std::string> kinds;
  for (const TimeSeries& series : outcome.times) {
    kinds.push_back(series.of + ", " + series.cache + (series.replayed ? ", replayed" : ""));
  }
  return kinds;
}

TEST_F(MeasurementTest, ShortCallsOfAGpuAreRecordedAndLaunchedAndCold) {
  set_gpu(script_);
  script_.prepare.own_layout = true;
  options_.repetitions = 3;
  const CaseOutcome outcome = run();
  EXPECT_EQ(kinds_of(outcome), (std::vector<std::string>{"op, hot, replayed", "layer, hot, replayed",
                                                         "load input, hot, replayed", "store output, hot, replayed",
                                                         "op, launched", "layer, launched", "load input, launched",
                                                         "store output, launched", "op, cold", "empty kernel, cold"}));
  for (const TimeSeries& series : outcome.times) EXPECT_EQ(series.samples.size(), 3U) << series.of;
}

TEST_F(MeasurementTest, WhatCannotBeRecordedOrIsLongIsLaunched) {
  set_gpu(script_);
  script_.records = false;
  options_.repetitions = 2;
  const std::vector<std::string> launched = {"layer, hot", "layer, cold", "empty kernel, cold"};
  EXPECT_EQ(kinds_of(run()), launched);
  script_.records = true;
  script_.call_ns = 1e6;
  EXPECT_EQ(kinds_of(run()), launched);
}

TEST_F(MeasurementTest, AGpuIsWarmedUpBeforeItsCallsAreCountedAndBeforeEachSample) {
  set_gpu(script_);
  options_.repetitions = 2;
  run();
  std::string before;
  int samples = 0;
  for (const CaseMessages::Request& request : script_.asked) {
    const std::string_view what = request_name(request);
    if (what == "calibrate") {
      EXPECT_EQ(before, "warm up");
    }
    if (what == "sample") ++samples;
    if (what != "set" && what != "state") before = what;
  }
  EXPECT_EQ(script_.count("warm up"), script_.count("calibrate") + samples);
}

TEST_F(MeasurementTest, AProcessorIsNotWarmedUp) {
  options_.repetitions = 2;
  run();
  EXPECT_EQ(script_.count("warm up") + script_.count("state"), 0);
}

TEST_F(MeasurementTest, ASampleThatWasHeldDownIsTakenAgainAndNeverInTheMedian) {
  set_gpu(script_);
  script_.prepare.can_be_cold = false;
  script_.records = false;
  options_.repetitions = 4;
  // Samples 1 and 3 (of the calls, from 0) are throttled: slower, at a lower clock.
  const auto is_throttled = [](int sample) { return sample == 1 || sample == 3; };
  script_.sample_ns = [&](int sample) { return is_throttled(sample) ? 140.0 : 100.0; };
  script_.clock_mhz = [&](int sample) { return is_throttled(sample) ? 1410.0 : 1980.0; };
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.times.front().samples, (std::vector<double>{100, 100, 100, 100}));
  EXPECT_EQ(outcome.device_state.samples_taken_again, 2);
  EXPECT_EQ(outcome.device_state.clock_mhz, (std::vector<double>{1980, 1980, 1980, 1980}));
  EXPECT_FALSE(outcome.clock_is_held);
}

TEST_F(MeasurementTest, ReasonsThatGrewDuringASampleSpoilIt) {
  set_gpu(script_);
  script_.prepare.can_be_cold = false;
  script_.records = false;
  options_.repetitions = 3;
  // Two questions a sample: the power cap worked during the second one.
  script_.state = [](int nth) {
    to_case::StateOfDevice state;
    state.temperature_celsius = 60;
    state.held_ns = {{"software power cap", nth < 3 ? 1e9 : 1.1e9}};
    return state;
  };
  script_.sample_ns = [](int sample) { return sample == 1 ? 500.0 : 100.0; };
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.times.front().samples, (std::vector<double>{100, 100, 100}));
  EXPECT_EQ(outcome.device_state.throttle_reasons, (std::vector<std::string>{"software power cap"}));
  EXPECT_EQ(outcome.device_state.temperature_celsius.size(), 8U);
}

TEST_F(MeasurementTest, ATimeOfNothingIsRefusedAndEndsNoRun) {
  set_gpu(script_);
  script_.sample_ns = [](int sample) { return sample == 1 ? 0.0 : 100.0; };
  planned_.device = "simulated";
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::refused);
  EXPECT_NE(outcome.reason.find("took no time by the device's clock"), std::string::npos) << outcome.reason;
}

TEST_F(MeasurementTest, SamplesFromBeforeTheClockWasUpAreLeftOut) {
  set_gpu(script_);
  script_.prepare.can_be_cold = false;
  script_.records = false;
  options_.repetitions = 3;
  script_.sample_ns = [](int sample) { return sample < 2 ? 300.0 : 100.0; };
  script_.clock_mhz = [](int sample) { return sample < 2 ? 345.0 : 1980.0; };
  EXPECT_EQ(run().times.front().samples, (std::vector<double>{100, 100, 100}));
}

TEST_F(MeasurementTest, AGpuThatStaysHeldDownHasTimesThatSaySo) {
  set_gpu(script_);
  script_.prepare.can_be_cold = false;
  script_.records = false;
  options_.repetitions = 3;
  int asked = 0;
  script_.state = [&](int) {
    to_case::StateOfDevice state;
    state.held_ns = {{"software power cap", 1e9 * ++asked}};
    return state;
  };
  const CaseOutcome outcome = run();
  EXPECT_TRUE(outcome.clock_is_held);
  EXPECT_EQ(outcome.times.front().samples.size(), 3U);
  EXPECT_EQ(outcome.device_state.samples_taken_again, ClockWatch::kMostInARow);
}

TEST_F(MeasurementTest, WhereThereAreEnoughSamplesFromBeforeThatTheyCount) {
  set_gpu(script_);
  script_.prepare.can_be_cold = false;
  script_.records = false;
  options_.repetitions = 50;
  script_.sample_ns = [](int sample) { return sample < 4 ? 100.0 : 140.0; };
  script_.clock_mhz = [](int sample) { return sample < 4 ? 1980.0 : 1410.0; };
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.times.front().samples, (std::vector<double>{100, 100, 100, 100}));
  EXPECT_EQ(outcome.stopped_because, "throttled");
}

struct Failure {
  const char* step;
  int nth;
};

TEST_F(MeasurementTest, AFailureInAnyStepGetsItsStatusAndLosesTheTimes) {
  const Failure failures[] = {{"prepare", 0}, {"call", 0},   {"read", 0},   {"prepare", 1},   {"set", 1},
                              {"call", 1},    {"read", 1},   {"set", 2},    {"calibrate", 0}, {"calibrate", 2},
                              {"sample", 0},  {"sample", 5}, {"sample", 7}, {"read", 2}};
  for (const Failure& failure : failures) {
    for (const Status status : {Status::crashed, Status::timeout, Status::launch_failed, Status::incorrect}) {
      SCOPED_TRACE(std::string(failure.step) + " " + std::to_string(failure.nth) + " " +
                   std::string(status_name(status)));
      script_ = {};
      script_.prepare.own_layout = true;
      options_.repetitions = 2;
      script_.instead = [&](std::string_view what, int nth) -> std::optional<Ending> {
        if (what != failure.step || nth != failure.nth) return std::nullopt;
        return Ending{status, "ended by signal 6"};
      };
      const CaseOutcome outcome = run();
      EXPECT_EQ(outcome.status, status);
      EXPECT_EQ(outcome.reason, "ended by signal 6");
      EXPECT_TRUE(outcome.times.empty());
      EXPECT_EQ(outcome.stopped_because, "");
      EXPECT_EQ(request_name(script_.asked.back()), failure.step) << "nothing more is asked of a case that is gone";
    }
  }
}

TEST_F(MeasurementTest, AReasonOfSeveralLinesBecomesOne) {
  script_.instead = [](std::string_view, int) { return Ending{Status::crashed, "first\nsecond"}; };
  expect_one_line(run().reason, {"first", "second"});
}

TEST_F(MeasurementTest, ACheckThatFailsMakesTheCaseIncorrectAndSaysWhich) {
  struct Wrong {
    int from;  ///< the reading that is the first wrong one
    std::optional<Check> Verification::*when;
    const char* reason;
  };
  const Wrong cases[] = {{0, &Verification::integers, "on small integers: image 0, map 0, row 0, column 0 is "},
                         {1, &Verification::before, "image 0, map 0, row 0, column 0 is "},
                         {2, &Verification::before, "image 0, map 0, row 0, column 0 is "},
                         {kVerifyingReads, &Verification::after, "after timing: image 0, map 0, row 0, column 0 is "}};
  for (const Wrong& wrong : cases) {
    SCOPED_TRACE(wrong.reason);
    script_ = {};
    options_.repetitions = 2;
    script_.wrong = [&](int nth) { return nth >= wrong.from; };
    const CaseOutcome outcome = run();
    EXPECT_EQ(outcome.status, Status::incorrect);
    EXPECT_EQ(outcome.reason.rfind(wrong.reason, 0), 0U) << outcome.reason;
    EXPECT_TRUE(outcome.times.empty());
    EXPECT_EQ(outcome.stopped_because, "");
    EXPECT_FALSE((outcome.verification.value().*wrong.when).value().passed);
  }
}

TEST_F(MeasurementTest, TheLastTimedCallIsAlwaysLookedAtAndSomeOthersAre) {
  options_.repetitions = 40;
  const CaseOutcome right = run();
  const int looks = script_.count("read") - kVerifyingReads;
  EXPECT_GT(looks, 2);
  EXPECT_LT(looks, 30);
  script_ = {};
  script_.wrong = [&](int nth) {
    return nth == looks + kVerifyingReads - 1;
  };  // the last of the same looks: the seed is the same
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::incorrect);
  EXPECT_EQ(script_.count("sample"), 40);
}

TEST_F(MeasurementTest, WhatACallHadLeftRightBehindItIsComparedWhereverADeviceLooks) {
  options_.repetitions = 30;
  EXPECT_EQ(run().status, Status::ok);
  EXPECT_EQ(script_.count("probed"), 0) << "a device that does not look";
  script_ = {};
  script_.looks_behind_calls = true;
  EXPECT_EQ(run().status, Status::ok);
  EXPECT_GE(script_.count("probed"), 2);
  std::set<std::int64_t> calls;
  for (const to_case::Probed& request : script_.asked_for<to_case::Probed>()) {
    calls.insert(request.calls.begin(), request.calls.end());
  }
  EXPECT_GE(calls.size(), 2U) << "nobody knows which";

  script_ = {};
  script_.looks_behind_calls = true;
  script_.late = [](std::int64_t) { return true; };
  const CaseOutcome late = run();
  EXPECT_EQ(late.status, Status::incorrect);
  EXPECT_THAT(late.reason, testing::StartsWith("after timing: right behind a call, item "));
  EXPECT_THAT(late.reason, testing::HasSubstr("of output was not yet written, expected "));
}

TEST_F(MeasurementTest, SamplesOfOneCallAreFollowedByOneThatFindsWhatItLeft) {
  options_.repetitions = 4;
  script_.iterations = 1;
  script_.sample_ns = rising;
  const CaseOutcome outcome = run();
  EXPECT_EQ(outcome.times[0].samples, (std::vector{100.0, 101.0, 102.0, 103.0})) << "its time is none of the case's";
  EXPECT_EQ(script_.count("sample"), 5);
  EXPECT_EQ(request_name(script_.asked.back()), "read");
  std::vector<OutputFill> fills;
  for (const to_case::Set& request : script_.asked_for<to_case::Set>()) fills.push_back(request.fills.at(0));
  ASSERT_EQ(fills.size(), kVerifyingReads + 6U);
  for (std::size_t i = 0; i < fills.size(); ++i) {
    const FillPart expected = i <= kVerifyingReads ? part_before_sampling(i) : FillPart::all;
    EXPECT_EQ(fills[i].part, i + 1 == fills.size() ? FillPart::nothing : expected) << i;
  }
  const int reads = script_.count("read");
  script_ = {};
  script_.iterations = 1;
  script_.wrong = [reads](int nth) { return nth == reads - 1; };
  const CaseOutcome wrong = run();
  EXPECT_EQ(wrong.status, Status::incorrect);
  expect_one_line(wrong.reason, {"after timing: image 0, map 0, row 0, column 0 is "});
  EXPECT_TRUE(wrong.times.empty());
}

TEST_F(MeasurementTest, OfSeveralCallsAllButTheFirstFindWhatACallLeft) {
  options_.repetitions = 4;
  script_.iterations = 2;
  run();
  EXPECT_EQ(script_.count("sample"), 4) << "none has to follow";
  std::size_t sets = 0;
  for (const to_case::Set& request : script_.asked_for<to_case::Set>()) {
    const FillPart expected = sets <= kVerifyingReads ? part_before_sampling(sets) : FillPart::pieces;
    EXPECT_EQ(request.fills.at(0).part, expected) << sets;
    ++sets;
  }
}

TEST_F(MeasurementTest, EverySampleHasAnotherInputAndAnotherFill) {
  options_.repetitions = 20;
  run();
  std::set<std::string> changes;
  std::set<std::string> fills;
  const auto text_of = [](const to_case::Set& set) { return MessageTexts<CaseMessages>::of_request(set); };
  for (const to_case::Set& request : script_.asked_for<to_case::Set>()) {
    changes.insert(text_of({.change = request.change, .fills = {}}));
    fills.insert(text_of({.change = {}, .fills = request.fills}));
  }
  EXPECT_EQ(changes.size(), 20U + kVerifyingReads + 1);
  EXPECT_EQ(fills.size(), 20U + 4) << "inputs that almost agree find one fill, or none";
}

TEST_F(MeasurementTest, ClaimsThatOurClockContradictsAreRefused) {
  options_.repetitions = 5;
  script_.sample_ns = [](int) { return 1e6; };  // two of them: 2 ms
  script_.iterations = 2;
  for (const double observed : {1.9e6, 60e6}) {
    script_.asked.clear();
    script_.observed_ns = observed;
    const CaseOutcome outcome = run();
    EXPECT_EQ(outcome.status, Status::refused);
    expect_one_line(outcome.reason, {"2.00 ms", observed > 5e6 ? "60.0 ms" : "1.90 ms", "medians of 17"});
    EXPECT_TRUE(outcome.times.empty());
  }
  script_.observed_ns = 3e6;
  EXPECT_EQ(run().status, Status::ok);
}

TEST_F(MeasurementTest, ASampleThatIsTooShortGetsMoreCalls) {
  options_.repetitions = 4;
  options_.sample_milliseconds = 5;
  script_.iterations = 5;  // of 100 ns: far too short, whoever said so
  const CaseOutcome outcome = run();
  ASSERT_EQ(outcome.status, Status::ok) << outcome.reason;
  const TimeSeries& series = outcome.times.front();
  EXPECT_GE(series.iterations * 100.0, 5e6 / 4);
  EXPECT_LE(series.iterations * 100.0, 16 * 5e6);
  EXPECT_EQ(series.samples.size(), 4U) << "the short ones do not count";
}

TEST_F(MeasurementTest, WhatClaimsNothingIsAskedUntilItTakesItsTime) {
  options_.repetitions = 1;
  options_.sample_milliseconds = 5;
  script_.sample_ns = [](int nth) { return nth < 3 ? 1e-3 : 5e6; };
  EXPECT_EQ(run().status, Status::ok);
  EXPECT_GT(script_.count("sample"), 3);
  script_.asked.clear();
  script_.sample_ns = [](int) { return 1e-3; };
  script_.observed_ns = 30e6;  // as long as several samples: there is nothing to lengthen
  static_cast<void>(run());
  EXPECT_EQ(std::get<to_case::Sample>(script_.asked.back()).iterations, 5);
}

TEST_F(MeasurementTest, AContenderLeavesWhenAnotherIsSurelyFaster) {
  planned_.contends = true;
  Script slow;
  slow.sample_ns = [](int) { return 120.0; };
  Script script;
  PlannedCase above = planned_case(work_, "cached-tile");  // builds on the slow one
  above.contends = true;
  std::deque<Measurement> both;
  both.emplace_back(planned_, workload_, options_, scripted_case(script_, workload_));
  both.emplace_back(planned_, workload_, options_, scripted_case(slow, workload_));
  for (Measurement& one : both) one.verify_and_calibrate();
  for (std::size_t samples = 1; samples <= kFirstLook; ++samples) {
    EXPECT_EQ(why_beaten(both[1], both), "") << "too few samples";
    for (Measurement& one : both) one.take_samples();
  }
  EXPECT_EQ(why_beaten(both[0], both), "");
  expect_one_line(why_beaten(both[1], both), {"--all"});

  both.emplace_back(above, workload_, options_, scripted_case(script, workload_));
  both.back().verify_and_calibrate();
  EXPECT_EQ(why_beaten(both[1], both), "") << "what another that is still there builds on stays";
  both.back().leave("it is not the best");
  expect_one_line(why_beaten(both[1], both), {"--all"});
  both[1].leave(why_beaten(both[1], both));
  EXPECT_EQ(both[1].outcome().status, Status::skipped);
  EXPECT_TRUE(both[1].outcome().times.empty());

  planned_.contends = false;
  EXPECT_EQ(why_beaten(both[1], both), "") << "who does not contend stays";
}

TEST_F(MeasurementTest, ACaseThatIsDoneTakesNoMoreSamples) {
  script_.instead = [](std::string_view what, int) {
    return what == "prepare" ? std::optional(Ending{Status::crashed, "gone"}) : std::nullopt;
  };
  Measurement measurement(planned_, workload_, options_, scripted_case(script_, workload_));
  measurement.verify_and_calibrate();
  ASSERT_TRUE(measurement.done());
  measurement.take_samples();
  EXPECT_EQ(script_.count("sample"), 0);
  EXPECT_TRUE(measurement.outcome().times.empty());
}

}  // namespace
}  // namespace convladder

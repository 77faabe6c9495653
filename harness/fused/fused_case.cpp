#include "harness/fused/fused_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "harness/cases/case_verifier.hpp"
#include "harness/fused/fused_problem.hpp"
#include "harness/isolation/claimed_times.hpp"
#include "harness/statistics/stop_rule.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostFusedRounds = 200;
constexpr int kPercentOfRoundsLookedAt = 20;  // beside the last
constexpr double kTargetHalfWidth = 0.005;    // of the ratio's interval

class FusedRun {
 public:
  FusedRun(const FusedCase& planned, const FusedOptions& options, const Workload& workload, const OpenCase& open)
      : planned_(planned), options_(options), workload_(workload), open_(open), random_(options.seed, 0) {}

  FusedOutcome run() {
    try {
      prepare(ProblemKind::integers);
      verify("integers", true);
      prepare(ProblemKind::real);
      verify("separate", false);
      verify("fused", true);
      if (planned_.has_clock) {
        measure();
      } else {
        count();
      }
      check("separate after timing", false);
      check("fused after timing", true);
      if (const std::string mismatch = claimed_.mismatch(); !mismatch.empty())
        throw CaseFailure(Status::refused, mismatch);
    } catch (const CaseFailure& failure) {
      end(failure.status, failure.what());
    } catch (const ordered_json::exception& error) {
      end(Status::crashed, fmt::format("its answers are invalid: {}", error.what()));
    }
    return std::move(outcome_);
  }

 private:
  void end(Status status, const std::string& reason) {
    outcome_.status = status;
    outcome_.reason = reason;
    std::ranges::replace(outcome_.reason, '\n', ' ');
    outcome_.separate.clear();
    outcome_.fused.clear();
    outcome_.counters.clear();
    outcome_.fused_counters = nullptr;
  }

  void prepare(ProblemKind kind) {
    kind_ = kind;
    problem_ = make_fused_problem(planned_.shape, conv_problem(workload_.problem(kind)), kind == ProblemKind::integers);
    outcome_.choice =
        open_.ask({{"do", "prepare"}, {"problem", kind == ProblemKind::integers ? "integers" : "real"}}).at("choice");
  }

  /// An activation bends: the input may be in another order and poked, but neither larger nor of another sign.
  void set(Pokes pokes, const std::array<std::int64_t, 2>& looked_at) {
    setting_ = draw_setting(workload_.expected(kind_), random_, kind_ == ProblemKind::integers, /*linear=*/false, pokes,
                            looked_at);
    open_.ask(set_request(setting_));
  }

  void verify(const char* what, bool fused) {
    set(Pokes::one, {1, 1});
    open_.ask({{"do", "call"}});
    last_call_[fused ? 1 : 0] = 1;
    check(what, fused);
  }

  /// Compares what a side's last call left.
  void check(const char* what, bool fused) {
    setting_.call = last_call_[fused ? 1 : 0];
    const double tolerance = kind_ == ProblemKind::integers
                                 ? 0
                                 : granted_tolerance(planned_.fused.variant->tolerance(), planned_.shape.convolution);
    const StepCheck found =
        check_fused_output(problem_, workload_.expected_convolution(kind_), open_.output({{"fused", fused}}),
                           open_.window_elements(), setting_, tolerance);
    outcome_.verification[what] = found.to_json();
    if (!found.passed()) throw CaseFailure(Status::incorrect, fmt::format("{}: {}", what, found.failure));
  }

  void measure() {
    using Clock = std::chrono::steady_clock;
    const ordered_json calls = open_.ask({{"do", "calibrate"}, {"sample_ns", options_.sample_milliseconds * 1e6}});
    outcome_.separate.resize(planned_.steps.size());
    const std::unique_ptr<StopRule> rule = stop_rule({.repetitions = options_.repetitions,
                                                      .target_half_width = kTargetHalfWidth,
                                                      .budget_seconds = options_.budget_seconds,
                                                      .most = kMostFusedRounds,
                                                      .repetitions_word = "repetitions",
                                                      .most_word = "rounds"});
    double seconds = 0;
    while (outcome_.stopped_because.empty()) {
      const bool fused_first = random_.chance(50);
      const std::int64_t first = calls.at(fused_first ? "fused" : "separate");
      const std::int64_t second = calls.at(fused_first ? "separate" : "fused");
      set(planned_.device == "cpu" ? Pokes::everywhere : Pokes::one, {first, first + second});
      const Clock::time_point begin = Clock::now();
      const ordered_json reply = open_.ask({{"do", "round"},
                                            {"separate", calls.at("separate")},
                                            {"fused", calls.at("fused")},
                                            {"fused_first", fused_first}});
      seconds += std::chrono::duration<double>(Clock::now() - begin).count();
      take(reply, calls);
      outcome_.stopped_because = rule->reason({outcome_.ratios(), seconds});
    }
  }

  void take(const ordered_json& reply, const ordered_json& calls) {
    double separate = 0;
    for (std::size_t step = 0; step < planned_.steps.size(); ++step) {
      outcome_.separate[step].push_back(reply.at("separate").at(step));
      separate += outcome_.separate[step].back();
    }
    outcome_.fused.push_back(reply.at("fused"));
    last_call_ = {reply.at("last_call").at("separate"), reply.at("last_call").at("fused")};
    claimed_.add(
        separate * calls.at("separate").get<double>() + outcome_.fused.back() * calls.at("fused").get<double>(),
        open_.client->last_answer(), true,
        untimed_ns(planned_.shape.convolution, std::max(last_call_[0], last_call_[1]), planned_.device == "cpu"));
    if (!random_.chance(kPercentOfRoundsLookedAt)) return;
    check("separate after timing", false);
    check("fused after timing", true);
  }

  void count() {
    set(Pokes::none, {});
    last_call_ = {0, 0};
    const ordered_json reply = open_.ask({{"do", "count"}});
    for (const ordered_json& of_step : reply.at("separate")) outcome_.counters.push_back(of_step);
    outcome_.fused_counters = reply.at("fused");
    outcome_.stopped_because = "counted";
  }

  const FusedCase& planned_;
  const FusedOptions& options_;
  const Workload& workload_;
  const OpenCase& open_;
  SeededRandom random_;
  ProblemKind kind_ = ProblemKind::integers;
  FusedProblem problem_;
  CallSetting setting_;
  std::array<std::int64_t, 2> last_call_{};  ///< of the separate operators, of the fused variant
  ClaimedTimes claimed_;
  FusedOutcome outcome_;
};

}  // namespace

std::vector<double> FusedOutcome::sums() const {
  std::vector<double> sums(fused.size(), 0.0);
  for (const std::vector<double>& step : separate) {
    for (std::size_t round = 0; round < sums.size(); ++round) sums[round] += step[round];
  }
  return sums;
}

std::vector<double> FusedOutcome::ratios() const {
  std::vector<double> ratios = sums();
  for (std::size_t round = 0; round < ratios.size(); ++round) ratios[round] /= fused[round];
  return ratios;
}

FusedOutcome run_fused_case(const FusedCase& planned, const FusedOptions& options, const Workload& workload,
                            const OpenCase& open) {
  return FusedRun(planned, options, workload, open).run();
}

}  // namespace convladder

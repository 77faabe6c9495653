#include "harness/fused_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "datasets/seeded_random.hpp"
#include "harness/statistics.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kFewestFusedRounds = 3;
constexpr std::size_t kFewestRoundsForAnInterval = 6;  // below, no interval of the median reaches 95%
constexpr std::size_t kMostFusedRounds = 200;
constexpr double kTargetHalfWidth = 0.005;  // of the ratio's interval

class FusedRun {
 public:
  FusedRun(const FusedCase& planned, const FusedOptions& options, CaseClient& client)
      : planned_(planned), options_(options), client_(client) {}

  FusedOutcome run() {
    verify();
    if (ok() && planned_.has_clock) measure();
    if (ok() && !planned_.has_clock) count();
    if (!ok()) {
      outcome_.separate.clear();
      outcome_.fused.clear();
    }
    return std::move(outcome_);
  }

 private:
  bool ok() const { return outcome_.status == "ok"; }

  /// After a failure the reply is null and the outcome has the status.
  ordered_json ask(const ordered_json& request) {
    ordered_json reply = client_.ask(request);
    if (!reply.contains("status")) return reply;
    outcome_.status = reply.at("status");
    outcome_.reason = reply.at("reason");
    std::ranges::replace(outcome_.reason, '\n', ' ');
    return nullptr;
  }

  void verify() {
    const ordered_json reply = ask({{"do", "verify"}});
    if (!ok()) return;
    outcome_.choice = reply.at("choice");
    for (const char* what : {"integers", "separate", "fused"}) {
      const ordered_json& check = outcome_.verification[what] = reply.at(what);
      if (check.at("passed").get<bool>() || !ok()) continue;
      outcome_.status = "incorrect";
      outcome_.reason = fmt::format("{}: {}", what, check.at("failure").get<std::string>());
    }
  }

  void measure() {
    using Clock = std::chrono::steady_clock;
    const ordered_json calls = ask({{"do", "calibrate"}, {"sample_ns", options_.sample_milliseconds * 1e6}});
    if (!ok()) return;
    outcome_.separate.resize(planned_.steps.size());
    SeededRandom random(options_.seed, 0);
    const Clock::time_point begin = Clock::now();
    while (outcome_.stopped_because.empty()) {
      const ordered_json reply = ask({{"do", "round"},
                                      {"separate", calls.at("separate")},
                                      {"fused", calls.at("fused")},
                                      {"fused_first", random.chance(50)}});
      if (!ok()) return;
      for (std::size_t step = 0; step < planned_.steps.size(); ++step) {
        outcome_.separate[step].push_back(reply.at("separate").at(step));
      }
      outcome_.fused.push_back(reply.at("fused"));
      outcome_.stopped_because = stop_reason(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  }

  std::string stop_reason(double seconds) const {
    const std::size_t rounds = outcome_.fused.size();
    if (options_.repetitions) return rounds >= static_cast<std::size_t>(*options_.repetitions) ? "repetitions" : "";
    if (rounds >= kFewestRoundsForAnInterval) {
      const std::vector<double> ratios = outcome_.ratios();
      const auto interval = median_interval(ratios);
      if ((interval->high - interval->low) / 2 <= kTargetHalfWidth * median(ratios)) return "interval";
    }
    if (rounds >= kMostFusedRounds) return "rounds";
    return rounds >= kFewestFusedRounds && seconds >= options_.budget_seconds ? "budget" : "";
  }

  void count() {
    const ordered_json reply = ask({{"do", "count"}});
    if (!ok()) return;
    for (const ordered_json& of_step : reply.at("separate")) outcome_.counters.push_back(of_step);
    outcome_.fused_counters = reply.at("fused");
    outcome_.stopped_because = "counted";
  }

  const FusedCase& planned_;
  const FusedOptions& options_;
  CaseClient& client_;
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

FusedOutcome run_fused_case(const FusedCase& planned, const FusedOptions& options, CaseClient& client) {
  return FusedRun(planned, options, client).run();
}

}  // namespace convladder

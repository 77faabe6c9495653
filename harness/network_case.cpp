#include "harness/network_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/network_session.hpp"
#include "network/network_runner.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr int kMostPasses = 100;
// The gates the reference's rounding is made for; coarser arithmetic may move the scores as much more.
constexpr double kFloat32Tolerance = 1e-6;

class NetworkRun {
 public:
  NetworkRun(const NetworkCase& planned, const NetworkOptions& options, const NetworkTruth& truth, CaseClient& client,
             const std::function<void(const char*)>& phase)
      : planned_(planned), options_(options), truth_(truth), client_(client), phase_(phase) {}

  NetworkOutcome run() {
    verify();
    if (ok()) measure();
    if (ok()) compare_classes();
    if (ok() && !planned_.has_clock) count();
    if (!ok()) {  // what is not verified publishes no time
      for (StepOutcome& step : outcome_.steps) step.samples.clear();
      outcome_.phases.clear();
      outcome_.totals.clear();
      outcome_.program = nullptr;
      outcome_.profile = {};
      outcome_.correct = outcome_.labelled = 0;
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
    std::ranges::replace(outcome_.reason, '\n', ' ');  // a variant's exception may say it in several lines
    return nullptr;
  }

  void verify() {
    phase_("verifying");
    const ordered_json reply = ask({{"do", "verify"}});
    if (!ok()) return;
    outcome_.chunk = reply.at("chunk");
    for (const ordered_json& step : reply.at("steps")) {
      outcome_.steps.push_back({.name = step.at("name"),
                                .type = step.at("type"),
                                .implementation = step.at("implementation"),
                                .fused_with = step.at("fused_with"),
                                .verification = step.at("verification"),
                                .samples = {},
                                .counters = nullptr});
    }
  }

  void measure() {
    phase_(planned_.has_clock ? "measuring" : "executing");
    double seconds = 0;
    bool can_record = false;
    for (int passes = 0;; ++passes) {
      outcome_.stopped_because = stop_reason(passes, seconds);
      if (!outcome_.stopped_because.empty()) break;
      const ordered_json reply = ask({{"do", "pass"}, {"record", false}});
      if (!ok()) return;
      seconds += reply.at("total_ns").get<double>() * 1e-9;
      add_pass(reply);
      can_record = reply.at("can_record");
    }
    if (!can_record) return;
    // Kernels and API calls in a pass of their own: recording them takes time that no measured pass is to have.
    const ordered_json reply = ask({{"do", "pass"}, {"record", true}});
    if (ok()) outcome_.profile = make_profile(activities_from_json(reply.at("activities")));
  }

  std::string stop_reason(int passes, double seconds) const {
    if (passes == 0) return {};
    if (!planned_.has_clock) return "counted";
    if (options_.repetitions) return passes >= *options_.repetitions ? "repetitions" : "";
    // Another pass would exceed the budget.
    if (seconds + seconds / passes > options_.budget_seconds) return "budget";
    return passes >= kMostPasses ? "passes" : "";
  }

  void add_pass(const ordered_json& reply) {
    const std::vector<Activity> activities = activities_from_json(reply.at("activities"));
    outcome_.profile = make_profile(activities);
    outcome_.program = reply.at("program");
    if (!planned_.has_clock) return;  // how long the simulation took says nothing of the network
    outcome_.totals.push_back(reply.at("total_ns"));
    for (StepOutcome& step : outcome_.steps) {
      step.samples.push_back(activity_ns(activities, activity_group::kLayers, step.name));
    }
    for (const Activity& activity : activities) {
      if (activity.group != activity_group::kHost) continue;
      auto at = std::ranges::find(outcome_.phases, activity.name, &PassSamples::name);
      if (at == outcome_.phases.end()) {
        at = outcome_.phases.insert(outcome_.phases.end(), PassSamples{activity.name, {}});
      }
      // A phase of every chunk is one sample of the pass.
      if (at->samples.size() < outcome_.totals.size()) at->samples.push_back(0);
      at->samples.back() += activity.duration_ns;
    }
  }

  double rounding_factor() const {
    double tolerance = kFloat32Tolerance;
    for (const auto& [layer, registered] : planned_.choice.convolutions) {
      tolerance = std::max(tolerance, registered.variant->tolerance());
    }
    return tolerance / kFloat32Tolerance;
  }

  void compare_classes() {
    const ordered_json reply = ask({{"do", "classes"}});
    if (!ok()) return;
    if (const auto not_finite = reply.at("not_finite").get<std::int64_t>(); not_finite > 0) {
      return incorrect(fmt::format("{} scores are not finite", not_finite));
    }
    const double factor = rounding_factor();
    const ordered_json& classes = reply.at("classes");
    for (int image = 0; image < planned_.batch; ++image) {
      ReferencePrediction expected = truth_.predictions[image];
      expected.rounding *= factor;
      const int found = classes.at(image);
      const bool other = found != expected.best;
      if (other && !(expected.within_rounding() && found == expected.second)) {
        return incorrect(fmt::format(
            "image {} is taken for class {}, the reference says {}; its two best scores are {:.3g} apart, and rounding "
            "explains {:.3g}",
            image, found, expected.best, expected.gap, expected.rounding));
      }
      if (expected.within_rounding()) {
        outcome_.close_calls.push_back({image, expected.best, expected.second, found, expected.gap, expected.rounding});
      }
      if (static_cast<std::size_t>(image) < truth_.labels.size()) {
        ++outcome_.labelled;
        outcome_.correct += found == truth_.labels[image] ? 1 : 0;
      }
    }
  }

  void count() {
    const ordered_json reply = ask({{"do", "counters"}});
    if (!ok()) return;
    for (std::size_t i = 0; i < outcome_.steps.size(); ++i) {
      outcome_.steps[i].counters = reply.at("counters").at(i);
    }
  }

  void incorrect(const std::string& reason) {
    outcome_.status = "incorrect";
    outcome_.reason = reason;
  }

  const NetworkCase& planned_;
  const NetworkOptions& options_;
  const NetworkTruth& truth_;
  CaseClient& client_;
  const std::function<void(const char*)>& phase_;
  NetworkOutcome outcome_;
};

}  // namespace

NetworkOutcome run_network_case(const NetworkCase& planned, const NetworkOptions& options, const NetworkTruth& truth,
                                CaseClient& client, const std::function<void(const char* phase)>& phase) {
  return NetworkRun(planned, options, truth, client, phase).run();
}

double network_timeout_seconds(const NetworkCase& planned, const NetworkOptions& options) {
  if (options.timeout_seconds) return *options.timeout_seconds;
  const double seconds = 60 + 5e-9 * planned.batch * network_flop(*planned.network);
  return planned.has_clock ? seconds : 10 * seconds;
}

}  // namespace convladder

#include "harness/measurement.hpp"

#include <algorithm>
#include <chrono>

#include "harness/case_session.hpp"
#include "harness/statistics.hpp"

namespace convladder {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kFewestSamples = 3;        // whatever the budget says
constexpr std::size_t kFewestForAnInterval = 6;  // below, no interval of the median reaches 95%

}  // namespace

double step_timeout_seconds(const RunOptions& options, const ConvShape& shape) {
  return options.timeout_seconds.value_or(60.0 + 5.0 * shape.flop() * 1e-9);
}

Measurement::Measurement(const PlannedCase& planned, const Workload& workload, const RunOptions& options,
                         std::unique_ptr<CaseClient> client)
    : planned_(&planned), options_(&options), client_(std::move(client)) {
  outcome_.input_kind = workload.input_kind();
  outcome_.verification = {{"reference", "float64 direct convolution"},
                           {"tolerance", planned.variant.variant->tolerance()},
                           {"images_compared", workload.real().compared_images},
                           {"elements_compared", 0},
                           {"before", nullptr},
                           {"integers", nullptr},
                           {"after", nullptr}};
}

ordered_json Measurement::ask(const ordered_json& request) {
  ordered_json reply = client_->ask(request);
  if (!reply.contains("status")) return reply;
  outcome_.status = reply.at("status").get<std::string>();
  outcome_.reason = reply.at("reason").get<std::string>();
  std::ranges::replace(outcome_.reason, '\n', ' ');  // a variant's exception may say it in several lines
  outcome_.times.clear();
  return nullptr;
}

bool Measurement::take_check(const char* when, const ordered_json& reply) {
  if (reply.is_null()) return false;
  const ordered_json& check = reply.at("check");
  outcome_.verification[when] = check;
  if (check.at("passed").get<bool>()) return true;
  outcome_.status = "incorrect";
  outcome_.reason = check.at("first_failure").get<std::string>();
  if (std::string_view(when) == "integers") outcome_.reason = "on small integers: " + outcome_.reason;
  if (std::string_view(when) == "after") outcome_.reason = "after timing: " + outcome_.reason;
  outcome_.times.clear();
  return false;
}

void Measurement::add_series(const char* of, double call_ns) {
  const double sample_ns = options_->sample_milliseconds * 1e6;
  TimeSeries series{of, "", 1, {}};
  // A call that took many times a sample's length, though it was the first, needs no calibration.
  if (call_ns < 4 * sample_ns) {
    const ordered_json reply = ask({{"do", "calibrate"}, {"of", of}, {"sample_ns", sample_ns}});
    if (reply.is_null()) return;
    series.iterations = reply.at("iterations").get<int>();
  }
  outcome_.times.push_back(std::move(series));
}

void Measurement::verify_and_calibrate() {
  if (!take_check("integers", ask({{"do", "verify integers"}}))) return;
  const ordered_json prepared = ask({{"do", "prepare"}});
  if (prepared.is_null()) return;
  outcome_.prepare_ns = prepared.at("prepare_ns").get<double>();
  outcome_.choice = prepared.at("choice").get<std::string>();

  const ordered_json verified = ask({{"do", "verify"}});
  if (!verified.is_null()) outcome_.verification["elements_compared"] = verified.at("compared");
  if (!take_check("before", verified)) return;
  if (options_->profile_calls && ask({{"do", "profile"}, {"calls", *options_->profile_calls}}).is_null()) return;
  if (!prepared.value("has_clock", true)) {
    const ordered_json counted = ask({{"do", "count"}});
    if (counted.is_null()) return;
    outcome_.counters = counted.at("counters");
    outcome_.prepare_ns.reset();
    stopped_because_ = "counted";
    return;
  }

  const double call_ns = verified.at("call_ns").get<double>();
  const bool own_layout = prepared.at("own_layout").get<bool>();
  if (own_layout) {
    for (const char* of : {time_of::kOp, time_of::kLayer, time_of::kLoadInput, time_of::kStoreOutput}) {
      if (outcome_.status == "ok") add_series(of, of == time_of::kLayer ? call_ns : 0);
    }
  } else {
    add_series(time_of::kLayer, call_ns);
  }
  if (outcome_.status != "ok" || !prepared.at("can_be_cold").get<bool>()) return;
  for (TimeSeries& series : outcome_.times) series.cache = "hot";
  TimeSeries cold = outcome_.times.front();
  cold.cache = "cold";
  outcome_.times.push_back(std::move(cold));
}

void Measurement::take_samples() {
  if (done()) return;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < outcome_.times.size(); ++i) {
    TimeSeries& series = outcome_.times[i];
    const ordered_json reply =
        ask({{"do", "sample"}, {"of", series.of}, {"iterations", series.iterations}, {"cold", series.cache == "cold"}});
    if (reply.is_null()) return;
    series.samples.push_back(reply.at("ns").get<double>());
    for (const auto& [name, value] : reply.at("state").items()) {
      ordered_json& seen = outcome_.device_state[name];
      if (seen.is_null()) seen = ordered_json::array();
      for (const ordered_json& entry : value.is_array() ? value : ordered_json::array({value})) {
        if (name != "throttle_reasons" || std::ranges::find(seen, entry) == seen.end()) seen.push_back(entry);
      }
    }
  }
  measured_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  stopped_because_ = stop_reason();
}

std::string Measurement::stop_reason() const {
  const std::vector<double>& samples = outcome_.times.front().samples;
  const std::size_t count = samples.size();
  if (options_->repetitions) return count >= static_cast<std::size_t>(*options_->repetitions) ? "samples" : "";
  if (count >= kFewestForAnInterval) {
    const auto interval = median_interval(samples);
    if ((interval->high - interval->low) / 2 <= options_->target_half_width * median(samples)) return "interval";
  }
  if (count >= static_cast<std::size_t>(options_->max_samples)) return "samples";
  if (count >= kFewestSamples && measured_seconds_ >= options_->budget_seconds) return "budget";
  return "";
}

void Measurement::finish() {
  // A device that counts is exact: what it did once it does again.
  if (outcome_.status == "ok" && outcome_.counters.is_null()) take_check("after", ask({{"do", "verify"}}));
  if (outcome_.status == "ok") outcome_.stopped_because = stopped_because_;
  client_.reset();
}

}  // namespace convladder

#include "harness/network_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "devices/device_error.hpp"
#include "harness/counters.hpp"
#include "harness/device_argument.hpp"
#include "harness/network_argument.hpp"
#include "harness/program_time.hpp"
#include "harness/step_verifier.hpp"
#include "harness/workload.hpp"
#include "network/reference_network.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr int kOverlappedChunks = 4;   // enough for copies to hide behind, few enough to keep kernels large
constexpr int kMostComparedImages = 8;
constexpr double kVerifiedFlop = 4e9;  // the float64 reference does one or two of these in a second

/// Few images of a large network, several of a small one.
int compared_images(const Network& network, int batch) {
  const double affordable = std::clamp(kVerifiedFlop / network_flop(network), 1.0, double{kMostComparedImages});
  return std::min(batch, static_cast<int>(affordable));
}

ordered_json activities_json(const std::vector<Activity>& activities) {
  ordered_json list = ordered_json::array();
  for (const Activity& a : activities) list.push_back({a.group, a.name, a.start_ns, a.duration_ns});
  return list;
}

/// What the other process needs of a case; its network and weights are the workload's.
ordered_json choice_json(const NetworkCase& planned) {
  ordered_json convolutions = ordered_json::array();
  for (const auto& [layer, registered] : planned.choice.convolutions) {
    convolutions.push_back({layer, registered.info.name});
  }
  ordered_json operators = ordered_json::array();
  for (const auto& [type, registered] : planned.choice.operators) {
    operators.push_back({static_cast<int>(type), registered.info.name});
  }
  ordered_json fused = ordered_json::array();
  for (const auto& [layer, registered] : planned.choice.fused) fused.push_back({layer, registered.info.name});
  return {{"family", planned.choice.family},
          {"convolutions", std::move(convolutions)},
          {"fused", std::move(fused)},
          {"operators", std::move(operators)}};
}

NetworkChoice choice_from_json(const ordered_json& json) {
  NetworkChoice choice{.family = json.at("family"), .convolutions = {}, .operators = {}};
  for (const ordered_json& pair : json.at("convolutions")) {
    choice.convolutions[pair.at(0)] = *find_variant(choice.family, pair.at(1).get<std::string>());
  }
  for (const ordered_json& pair : json.at("fused")) {
    choice.fused[pair.at(0)] = *find_fused_variant(choice.family, pair.at(1).get<std::string>());
  }
  for (const ordered_json& pair : json.at("operators")) {
    const auto type = static_cast<OperatorType>(pair.at(0).get<int>());
    choice.operators[type] = *find_operator(choice.family, type, pair.at(1).get<std::string>());
  }
  return choice;
}

}  // namespace

NetworkSession::NetworkSession(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish)
    : workload_(workload),
      batch_(planned.batch),
      weights_(parse_weights(workload.network(), workload.weights_file(), "weights")),
      steps_(network_steps(workload.network(), planned.choice)),
      device_(find_device_kind(planned.device).open()),
      overlap_(wish.overlap) {
  const int fitting = chunk_images(workload.network(), batch_, device_->free_bytes());
  const int quarter = (batch_ - 1) / kOverlappedChunks + 1;
  chunk_ = std::min(batch_, wish.chunk.value_or(overlap_ ? std::min(fitting, quarter) : fitting));
}

ordered_json NetworkSession::ask(const ordered_json& request) {
  try {
    ordered_json reply = carry_out(request);
    if (const std::string violation = device_->memory_violation(); !violation.empty()) {
      return ending("incorrect", violation);
    }
    return reply;
  } catch (const std::exception& error) {
    return ending_of(error);
  }
}

ordered_json NetworkSession::carry_out(const ordered_json& request) {
  const auto what = request.at("do").get<std::string>();
  if (what == "verify") return verify();
  if (what == "pass") return pass(request.at("record").get<bool>());
  if (what == "classes") return classes();
  if (what == "counters") return counters();
  throw std::logic_error(fmt::format("unknown request '{}'", what));
}

ordered_json NetworkSession::verify() {
  if (overlap_ && !device_->can_overlap()) {
    return ending("unsupported", "this device has no copies that run beside its kernels");
  }
  const int images = compared_images(workload_.network(), batch_);
  StepVerifier verifier(*device_, weights_, images);
  PassOptions options{.chunk = images, .time_steps = false, .observer = &verifier};
  run_pass(*device_, workload_.network(), steps_, weights_, workload_.images(), images, options);
  if (const std::string failure = verifier.first_failure(); !failure.empty()) return ending("incorrect", failure);
  ordered_json steps = ordered_json::array();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps.push_back({{"name", steps_[i].name},
                     {"type", steps_[i].type},
                     {"implementation", steps_[i].implementation},
                     {"fused_with", steps_[i].fused_with},
                     {"verification", verifier.checks()[i].to_json()}});
  }
  return {{"steps", std::move(steps)}, {"chunk", chunk_}};
}

ordered_json NetworkSession::pass(bool record) {
  // Waiting for each step is part of timing it. Where the host could go on meanwhile, its own phases come from a pass
  // that does not wait.
  PassOptions options{.chunk = chunk_, .time_steps = true};
  const auto run = [&] {
    return run_pass(*device_, workload_.network(), steps_, weights_, workload_.images(), batch_, options);
  };
  std::vector<Activity> steps;
  if (device_->is_asynchronous() || (overlap_ && device_->has_clock())) {
    for (Activity& activity : run().activities) {
      if (activity.group == activity_group::kLayers) steps.push_back(std::move(activity));
    }
    options.time_steps = false;
  }
  options.overlap = overlap_;
  const bool recorded = record && device_->records_activities();
  if (recorded) device_->start_activities();
  const ProgramTimer timer;
  last_ = run();
  const ProgramTime program = timer.elapsed();
  if (recorded) {
    for (Activity& activity : device_->stop_activities()) last_.activities.push_back(std::move(activity));
  }
  for (Activity& activity : steps) last_.activities.push_back(std::move(activity));
  return {{"total_ns", last_.total_ns},
          {"activities", activities_json(last_.activities)},
          {"program", to_json(program)},
          {"can_record", device_->records_activities()},
          {"cannot_record_because", device_->why_no_activities()}};
}

ordered_json NetworkSession::classes() const {
  const std::size_t count = workload_.network().layers.back().output.elements();
  ordered_json classes = ordered_json::array();
  for (int image = 0; image < batch_; ++image) {
    classes.push_back(largest_index(last_.scores.data() + static_cast<std::size_t>(image) * count, count));
  }
  const auto not_finite = std::ranges::count_if(last_.scores, [](float score) { return !std::isfinite(score); });
  return {{"classes", std::move(classes)}, {"not_finite", not_finite}};
}

ordered_json NetworkSession::counters() const {
  ordered_json list = ordered_json::array();
  for (const std::vector<KernelCounters>& of_step : last_.counters) {
    list.push_back(counters_json(of_step, batch_));
  }
  return {{"counters", std::move(list)}};
}

std::vector<Activity> activities_from_json(const ordered_json& json) {
  std::vector<Activity> activities;
  for (const ordered_json& a : json) {
    activities.push_back({a.at(0), a.at(1), a.at(2).get<double>(), a.at(3).get<double>()});
  }
  return activities;
}

std::unique_ptr<CaseClient> start_network_process(const NetworkCase& planned, const NetworkWorkload& workload,
                                                  const PassWish& wish, double timeout_seconds) {
  return std::make_unique<ChildProcess>(planned.id, "serve-network", std::vector{workload.descriptor()}, timeout_seconds,
                                        ordered_json{{"device", planned.device},
                                                     {"batch", planned.batch},
                                                     {"choice", choice_json(planned)},
                                                     {"chunk", wish.chunk ? ordered_json(*wish.chunk) : ordered_json()},
                                                     {"overlap", wish.overlap},
                                                     {"workload", workload.header()}});
}

std::unique_ptr<CaseClient> start_network_here(const NetworkCase& planned, const NetworkWorkload& workload,
                                               const PassWish& wish) {
  try {
    return std::make_unique<NetworkSession>(planned, workload, wish);
  } catch (const DeviceError& error) {
    return failed_client(error.what());
  }
}

int serve_network(int socket_descriptor, int workload_descriptor) {
  std::optional<NetworkWorkload> workload;  // outlives the case
  return serve_requests(socket_descriptor, [&](const ordered_json& hello) -> std::unique_ptr<CaseClient> {
    workload.emplace(hello.at("workload"), workload_descriptor);
    NetworkCase planned;
    planned.network = &workload->network();
    planned.choice = choice_from_json(hello.at("choice"));
    planned.device = hello.at("device");
    planned.batch = hello.at("batch");
    PassWish wish{.chunk = std::nullopt, .overlap = hello.at("overlap")};
    if (!hello.at("chunk").is_null()) wish.chunk = hello.at("chunk").get<int>();
    return start_network_here(planned, *workload, wish);
  });
}

}  // namespace convladder

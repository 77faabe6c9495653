#include "harness/measure/networks/network_profile.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/measure/networks/network_session.hpp"
#include "harness/measure/networks/network_verifier.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/profile/profile_json.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Throws CaseFailure.
TitledProfile profile_of(const NetworkCase& planned, const NetworkOptions& options) {
  const int count = images_in_turn(planned);
  const ImageSet images = network_images(options, count);
  const ChosenWeights weights = network_weights(options, *planned.network, images);
  const NetworkWorkload workload(*planned.network, planned.network_argument, images, count, weights.weights);
  const std::vector<ReferencePrediction> predictions =
      ReferenceNetwork(*planned.network, weights.weights).predictions(count, workload.images());
  const NetworkTruth truth{predictions, {}, &weights.weights};
  const OpenNetwork open = start_network_here(planned, workload, {.chunk = options.chunk, .overlap = options.overlap});
  NetworkVerifier verifier(planned, workload, truth, open, options.seed);
  verifier.verify();
  const auto pass = [&](bool record) {
    verifier.change_images();
    const to_network::PassTimes times = open.ask(to_network::Pass{record});
    verifier.compare_scores();
    return times.program;
  };
  // Costs of the first pass only, such as a library's start, are not the network's.
  if (planned.has_clock) pass(false);
  const ProgramTime program = pass(true);
  const std::vector<Activity> activities = open.ask(to_network::Activities()).activities;
  if (const std::string why = open.ask(to_network::Recorder()).cannot_record_because; !why.empty()) {
    fmt::print(stderr, "convladder: {}: kernels and API calls are not listed: {}\n", planned.id, why);
  }
  return {planned.id, make_profile(activities), program, find_device_kind(planned.device).clock_is_virtual()};
}

/// Reads a record from a file. Throws UserError if it is not a record of networks.
ordered_json network_record(const std::string& file) {
  ordered_json record = read_record_json(file);
  const std::string kind = record.is_object() ? record.value("kind", "") : "";
  if (kind == "network" && record.contains("cases") && record.at("cases").is_array()) return record;
  throw UserError(fmt::format("{}: not a record of 'convladder network'{}", file,
                              kind.empty() || kind == "network" ? "" : fmt::format(" but of 'convladder {}'", kind)));
}

}  // namespace

ProfiledNetwork profile_network(const NetworkCase& planned, const NetworkOptions& options) {
  try {
    return {Status::ok, {}, profile_of(planned, options)};
  } catch (const CaseFailure& failure) {
    return {failure.status, failure.what(), {}};
  }
}

std::vector<TitledProfile> recorded_profiles(const std::string& file, const std::string& filter) {
  const ordered_json record = network_record(file);
  const TextPattern pattern("--case", filter);
  std::vector<TitledProfile> profiles;
  std::vector<std::string> ids;
  for (const JsonPlace& one : JsonPlace(record, file).at("cases").list()) {
    if (!one.has("profile")) continue;
    ids.push_back(one.at("id").text());
    if (!pattern.matches(ids.back())) continue;
    profiles.push_back({ids.back(), read_profile(one.at("profile")), std::nullopt, false});
    if (one.has("program")) profiles.back().program = read_program_time(one.at("program"));
    for (const JsonPlace& step : one.at("steps").list()) {
      const bool timed = step.has("time") && step.at("time").has("kind");
      if (timed && step.at("time").at("kind").text() == "predicted") profiles.back().predicted = true;
    }
  }
  if (profiles.empty()) {
    throw UserError(
        ids.empty() ? fmt::format("{}: no case has a profile", file)
                    : fmt::format("{}: --case '{}' matches none; there are: {}", file, filter, fmt::join(ids, ", ")));
  }
  return profiles;
}

}  // namespace convladder

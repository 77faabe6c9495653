#include "harness/measure/networks/network_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/networks/network_summary.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/profile/profile_json.hpp"
#include "harness/measure/records/case_json.hpp"
#include "harness/measure/records/published.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text_pattern.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

ordered_json time_or_null(const char* of, const std::vector<double>& samples) {
  return samples.empty() ? ordered_json() : measured_json(of, samples);
}

ordered_json steps_json(const NetworkCase& planned, const NetworkOutcome& outcome) {
  const bool is_predicted = find_device_kind(planned.device).clock_is_virtual();
  ordered_json list = ordered_json::array();
  for (const StepOutcome& step : outcome.steps) {
    ordered_json time = time_or_null("layer", step.samples);
    if (is_predicted && !time.is_null()) time["kind"] = "predicted";
    list.push_back({{"name", step.name},
                    {"type", step.type},
                    {"implementation", step.implementation},
                    {"verification", step_check_json(step.verification)},
                    {"time", std::move(time)},
                    {"counters", step.counters ? counters_json(*step.counters) : ordered_json()}});
    if (!step.fused_with.empty()) list.back()["fused_with"] = step.fused_with;
  }
  return list;
}

ordered_json phases_json(const NetworkOutcome& outcome) {
  ordered_json list = ordered_json::array();
  for (const PassSamples& phase : outcome.phases) {
    list.push_back({{"name", phase.name}, {"time", measured_json("host phase", phase.samples)}});
  }
  return list;
}

ordered_json loaded_json(const LoadedBatches& loaded) {
  if (loaded.samples.empty()) return nullptr;
  return {{"time", measured_json("loaded batch", loaded.samples)},
          {"batches_in_a_row", loaded.in_a_row},
          {"compared_batches", loaded.compared}};
}

ordered_json accuracy_json(const NetworkOutcome& outcome) {
  if (outcome.labelled == 0) return nullptr;
  const ProportionInterval interval = proportion_interval(outcome.correct, outcome.labelled);
  return {{"correct", outcome.correct},
          {"of", outcome.labelled},
          {"value", static_cast<double>(outcome.correct) / outcome.labelled},
          {"low", interval.low},
          {"high", interval.high},
          {"level", 0.95}};
}

ordered_json close_calls_json(const NetworkOutcome& outcome) {
  ordered_json list = ordered_json::array();
  for (const CloseCall& call : outcome.close_calls) {
    list.push_back({{"image", call.image},
                    {"reference", call.reference},
                    {"alternative", call.alternative},
                    {"found", call.found},
                    {"gap", call.gap},
                    {"rounding", call.rounding}});
  }
  return list;
}

ordered_json published_json(const NetworkCase& planned) {
  ordered_json list = ordered_json::array();
  for (const PublishedFigure& figure : published_figures(planned.network->name, planned.batch)) {
    list.push_back({{"source", figure.source},
                    {"device", text_or_null(figure.device)},
                    {"batch", figure.batch ? ordered_json(*figure.batch) : ordered_json()},
                    {"stage", text_or_null(figure.stage)},
                    {"model", text_or_null(figure.model)},
                    {"layer", text_or_null(figure.layer)},
                    {"what", figure.what},
                    {"value", figure.what == "profile" ? ordered_json() : ordered_json(figure.value)},
                    {"unit", text_or_null(figure.unit)},
                    {"approximate", figure.approximate},
                    {"path", figure.path}});
  }
  return list;
}

/// The variants that appear in the plan, in ladder order, then the fused ones.
ordered_json variants_json(const std::vector<NetworkCase>& plan) {
  ordered_json list = ordered_json::array();
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const auto appears = [&registered](const NetworkCase& planned) {
      return std::ranges::any_of(planned.choice.convolutions, [&registered](const auto& chosen) {
        return chosen.second.variant == registered.variant;
      });
    };
    if (std::ranges::any_of(plan, appears)) list.push_back(variant_json(registered.info));
  }
  std::vector<const Variant*> outside;
  for (const NetworkCase& planned : plan) {
    for (const auto& [layer, chosen] : planned.choice.convolutions) {
      const bool is_new = std::ranges::find(outside, chosen.variant) == outside.end();
      if (!is_new || chosen.variant->compiled_stage() == nullptr) continue;
      outside.push_back(chosen.variant);
      list.push_back(variant_json(chosen.info));
    }
  }
  for (const ProblemVariant& registered : fused_problem().variants()) {
    const auto appears = [&registered](const NetworkCase& planned) {
      return std::ranges::any_of(planned.choice.fused, [&registered](const auto& chosen) {
        return chosen.second.variant == registered.variant;
      });
    };
    if (std::ranges::any_of(plan, appears)) list.push_back(variant_json(registered.info));
  }
  for (const ProblemVariant& registered : variants_of_kind(kWholeNetworks)) {
    const auto appears = [&registered](const NetworkCase& planned) {
      return planned.choice.whole && planned.choice.whole->variant == registered.variant;
    };
    if (std::ranges::any_of(plan, appears)) list.push_back(variant_json(registered.info));
  }
  return list;
}

ordered_json shape_json(const ActivationShape& shape) { return {shape.channels, shape.height, shape.width}; }

ordered_json network_json(const RecordedNetwork& recorded) {
  const Network& network = *recorded.network;
  ordered_json layers = ordered_json::array();
  for (const Layer& layer : network.layers) {
    layers.push_back({{"name", layer.name}, {"input", shape_json(layer.input)}, {"output", shape_json(layer.output)}});
  }
  return {{"name", network.name},
          {"title", network.title},
          {"input", shape_json(network.input)},
          {"layers", std::move(layers)},
          {"flop_per_image", network_flop(network)},
          {"weights",
           {{"name", recorded.weights},
            {"sha256", text_or_null(recorded.sha256)},
            {"dataset", text_or_null(recorded.origin.dataset)},
            {"trained_on", text_or_null(recorded.origin.trained_on)},
            {"held_out", text_or_null(recorded.origin.held_out)},
            {"from", text_or_null(recorded.origin.from)},
            {"note", text_or_null(recorded.note)}}}};
}

std::vector<double> samples_of(const JsonPlace& time) {
  return time.is_null() ? std::vector<double>() : time.at("samples").numbers(kNotNegative);
}

StepOutcome step_of(const JsonPlace& json) {
  StepOutcome step{.name = json.at("name").text(),
                   .type = json.at("type").text(),
                   .implementation = json.at("implementation").text(),
                   .verification = {},
                   .samples = samples_of(json.at("time")),
                   .counters = std::nullopt};
  if (json.has("counters")) step.counters = read_counters(json.at("counters"));
  return step;
}

CloseCall close_call_of(const JsonPlace& json) {
  return {.image = json.at("image").count(),
          .reference = json.at("reference").count(),
          .alternative = json.at("alternative").count(),
          .found = json.at("found").count(),
          .gap = json.at("gap").number(),
          .rounding = json.at("rounding").number()};
}

ordered_json id_or_null(const NetworkRow* row) {
  return row == nullptr ? ordered_json() : ordered_json(row->of->planned.id);
}

ordered_json summaries_json(const std::vector<NetworkSummary>& summaries) {
  ordered_json list = ordered_json::array();
  for (const NetworkSummary& summary : summaries) {
    const NetworkCase& first = summary.rows.front().of->planned;
    const bool is_predicted = find_device_kind(first.device).clock_is_virtual();
    ordered_json rows = ordered_json::array();
    for (const NetworkRow& row : summary.rows) {
      rows.push_back({{"id", row.of->planned.id},
                      {"op", row.op},
                      {"layers", row.layers},
                      {"pass", or_null(row.pass)},
                      {"images_per_second", ratio_json(row.images_second)},
                      {"x_baseline", ratio_json(row.x_baseline)},
                      {"percent_of_library", ratio_json(row.percent_of_library)},
                      {"loaded", or_null(row.loaded)},
                      {"loaded_images_per_second", ratio_json(row.loaded_images_second)},
                      {"x_library", ratio_json(row.x_library)}});
    }
    list.push_back({{"network", first.network->name},
                    {"device", first.device},
                    {"batch", first.batch},
                    {"kind", !first.has_clock ? "counted"
                             : is_predicted   ? "predicted"
                                              : "measured"},
                    {"unit", first.has_clock ? "ns" : "warp instructions"},
                    {"baseline", id_or_null(summary.baseline)},
                    {"sixth", id_or_null(summary.sixth)},
                    {"best", id_or_null(summary.best)},
                    {"library", id_or_null(summary.library)},
                    {"rows", std::move(rows)}});
  }
  return list;
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

NetworkOutcome network_outcome_of(const JsonPlace& json) {
  NetworkOutcome outcome;
  outcome.status = read_status(json.at("status"));
  outcome.reason = printable(json.at("reason").text_or_empty());
  for (const JsonPlace& step : json.at("steps").list()) outcome.steps.push_back(step_of(step));
  for (const JsonPlace& phase : json.at("phases").list()) {
    outcome.phases.push_back({phase.at("name").text(), samples_of(phase.at("time"))});
  }
  outcome.totals = samples_of(json.at("total"));
  if (json.has("loaded")) {
    outcome.loaded = {samples_of(json.at("loaded").at("time")), json.at("loaded").at("batches_in_a_row").count(),
                      json.at("loaded").at("compared_batches").count()};
  }
  if (!outcome.totals.empty()) outcome.program = read_program_time(json.at("program"));
  if (json.has("quality")) outcome.quality = read_quality(json.at("quality"));
  if (json.has("checkers")) outcome.look = read_checker_look(json.at("checkers"));
  for (const JsonPlace& call : json.at("within_rounding").list()) outcome.close_calls.push_back(close_call_of(call));
  if (json.has("accuracy")) {
    outcome.correct = json.at("accuracy").at("correct").count();
    outcome.labelled = json.at("accuracy").at("of").count();
  }
  return outcome;
}

std::vector<NetworkResult> recorded_results(const std::vector<NetworkCase>& plan, const Record& record) {
  const auto by_id = record.cases_by_id();
  std::vector<NetworkResult> results;
  for (const NetworkCase& planned : plan) {
    if (const auto found = by_id.find(planned.id); found != by_id.end()) {
      results.push_back({planned, network_outcome_of(JsonPlace(*found->second, planned.id))});
    }
  }
  return results;
}

void check_network_record(const ordered_json& record, const std::string& file) {
  for (const JsonPlace& one : JsonPlace(record, file).at("cases").list()) static_cast<void>(network_outcome_of(one));
}

ordered_json network_case_json(const NetworkCase& planned, const NetworkOutcome& outcome) {
  const bool measured = !outcome.totals.empty();
  ordered_json json = {{"id", planned.id},
                       {"network", planned.network->name},
                       {"device", planned.device},
                       {"variants", planned.variants},
                       {"batch", planned.batch},
                       {"status", outcome.status},
                       {"reason", text_or_null(outcome.reason)},
                       {"images_at_once", outcome.chunk},
                       {"steps", steps_json(planned, outcome)},
                       {"phases", phases_json(outcome)},
                       {"total", time_or_null("pass", outcome.totals)},
                       {"compared_passes", outcome.compared_passes},
                       {"loaded", loaded_json(outcome.loaded)},
                       {"stopped_because", text_or_null(outcome.stopped_because)},
                       {"program", measured && outcome.program ? to_json(*outcome.program) : ordered_json()},
                       {"quality", quality_json(outcome.quality)},
                       {"accuracy", accuracy_json(outcome)},
                       {"within_rounding", close_calls_json(outcome)},
                       {"profile", measured ? profile_to_json(outcome.profile) : ordered_json()}};
  if (outcome.checkers) json["checkers"] = checkers_json(*outcome.checkers);
  return json;
}

void add_network_case(Record& record, const NetworkCase& planned, const NetworkOutcome& outcome) {
  record.add(network_case_json(planned, outcome), ordered_json::object());
}

RecordContent network_content(const NetworkOptions& options, const std::vector<std::string>& command_line,
                              const ImageSet& images, const std::vector<NetworkCase>& plan,
                              const std::vector<RecordedNetwork>& networks) {
  ordered_json published = ordered_json::object();
  for (const NetworkCase& planned : plan) {
    published[fmt::format("{}/{}", planned.network->name, planned.batch)] = published_json(planned);
  }
  ordered_json list = ordered_json::array();
  for (const RecordedNetwork& recorded : networks) list.push_back(network_json(recorded));
  std::vector<std::string> ids;
  for (const NetworkCase& planned : plan) ids.push_back(planned.id);
  return {.command_line = command_line,
          .options = record_part(options_json(options)),
          .seed = options.seed,
          .dataset = record_part(dataset_json(images)),
          .planned = std::move(ids),
          .fields = record_part(
              {{"variants", variants_json(plan)}, {"networks", std::move(list)}, {"published", std::move(published)}})};
}

void complete_network_record(Record& record, const std::vector<NetworkSummary>& summaries) {
  record.complete({{"summaries", summaries_json(summaries)}});
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

#include "harness/measure/records/case_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "simulator/stand_in/report/report_json.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "variants/accuracy.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr NumberRange kTimes{.least = kAboveZero, .most = 1e18, .unit = "ns"};  // 30 years; sums stay finite
constexpr NumberRange kPredictedTimes{.least = kAboveZero, .unit = "ns"};
constexpr double kBytesOfWavefront = 128;
constexpr const char* kModel = "bottlenecks 2";  // the number changes with the model: predictions by two models cannot
                                                 // be compared

ordered_json rung_json(const VariantInfo& info) { return info.rung ? ordered_json(*info.rung) : ordered_json(); }

/// Adds the idea that a variant leaves out, if it leaves out any.
void add_leaves_out(ordered_json& json, const VariantInfo& info) {
  if (!info.leaves_out.empty()) json["leaves_out"] = info.leaves_out;
}

/// Whether these are the rounds 0, 1, 2, …, which need not be said; so for a time without rounds.
bool follow_each_other(const std::vector<int>& rounds) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i] != static_cast<int>(i)) return false;
  }
  return true;
}

ordered_json time_json(const PlannedCase& planned, const TimeSeries& series, const std::string& stopped_because) {
  ordered_json json = measured_json(series.of, series.samples);
  if (find_device_kind(planned.device).clock_is_virtual()) json["kind"] = "predicted";
  if (!series.cache.empty()) json["cache"] = series.cache;
  json["iterations_per_sample"] = series.iterations;
  if (!follow_each_other(series.rounds)) json["rounds"] = series.rounds;
  if (series.replayed) json["replayed"] = true;
  if (!series.clock_mhz.empty()) json["clock_mhz"] = median(series.clock_mhz);
  if (!series.enqueue_ns.empty()) json["enqueue_ns"] = median(series.enqueue_ns);
  json["stopped_because"] = stopped_because;
  return json;
}

ordered_json other_times_json(const PlannedCase& planned, const CaseOutcome& outcome) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 1; i < outcome.times.size(); ++i) {
    list.push_back(time_json(planned, outcome.times[i], outcome.stopped_because));
  }
  if (outcome.prepare_ns && !outcome.times.empty()) {
    list.push_back(time_json(planned, {time_of::kPrepare, "", 1, {*outcome.prepare_ns}}, "once"));
  }
  return list;
}

ordered_json check_json(const std::optional<Check>& check) {
  if (!check) return nullptr;
  return {{"passed", check->passed},
          {"max_scaled_error", check->max_scaled_error},  // a NaN becomes null
          {"unwritten", check->unwritten},
          {"not_finite", check->not_finite},
          {"first_failure", text_or_null(check->first_failure)}};
}

ordered_json state_json(const ObservedState& state) {
  ordered_json json = ordered_json::object();
  if (!state.temperature_celsius.empty()) json["temperature_celsius"] = state.temperature_celsius;
  if (!state.clock_mhz.empty()) json["clock_mhz"] = state.clock_mhz;
  if (state.samples_taken_again > 0) json["samples_taken_again"] = state.samples_taken_again;
  if (!state.throttle_reasons.empty()) json["throttle_reasons"] = state.throttle_reasons;
  return json;
}

const char* name_of(TimeTerm term) { return kTimeTermNames[static_cast<std::size_t>(term)]; }

ordered_json range_json(const Range& range) { return {{"low", range.low}, {"high", range.high}}; }

/// The value, or null if it is not known.
ordered_json known(bool is_known, ordered_json value) { return is_known ? std::move(value) : ordered_json(); }

ordered_json kernel_json(const PredictedKernel& kernel) {
  const PredictedLaunch& launch = kernel.launch;
  const bool runs = launch.residence.blocks > 0;
  ordered_json terms = ordered_json::object();
  for (std::size_t i = 0; i < kTimeTerms; ++i) terms[kTimeTermNames[i]] = range_json(launch.terms[i]);
  return {{"kernel", kernel.name},
          {"registers", or_null(kernel.block.registers)},
          {"shared_bytes", known(kernel.block.registers.has_value(), kernel.block.shared_bytes)},
          {"occupancy",
           {{"blocks", launch.residence.blocks},
            {"warps", launch.residence.warps},
            {"share", launch.residence.share},
            {"limited_by", launch.residence.limited_by}}},
          {"waves", known(runs, range_json(launch.waves))},
          {"low", known(runs, launch.ns.low)},
          {"high", known(runs, launch.ns.high)},
          {"binding_low", known(runs, name_of(launch.binding_low))},
          {"binding_high", known(runs, name_of(launch.binding_high))},
          {"terms", known(runs, std::move(terms))}};
}

ordered_json gpu_limits_json(const GpuFacts& gpu) {
  const double multiprocessor_ghz = gpu.multiprocessors * gpu.clock_mhz.high * 1e-3;
  ordered_json ceilings = {
      {"fp32_gflop_per_s", 2 * gpu.fp32_lanes * multiprocessor_ghz},
      {"shared_gb_per_s", kBytesOfWavefront * gpu.shared_wavefronts_per_cycle * multiprocessor_ghz},
      {"l1_gb_per_s", gpu.l1_bytes_per_cycle * multiprocessor_ghz},
      {"l2_gb_per_s", gpu.l2_gb_per_s.high},
      {"dram_gb_per_s", gpu.dram_gb_per_s.high}};
  if (gpu.tensor_tf32.high > 0) ceilings["tensor_tf32_gflop_per_s"] = gpu.tensor_tf32.high * multiprocessor_ghz;
  if (gpu.tensor_half.high > 0) ceilings["tensor_half_gflop_per_s"] = gpu.tensor_half.high * multiprocessor_ghz;
  return ceilings;
}

}  // namespace

ordered_json dataset_json(const ImageSet& images) {
  return {{"name", images.name},     {"source", images.source}, {"images", images.count},
          {"height", images.height}, {"width", images.width},   {"sha256", images.sha256}};
}

ordered_json variant_json(const VariantInfo& info) {
  ordered_json json = {{"family", info.family},
                       {"rung", rung_json(info)},
                       {"name", info.name},
                       {"title", info.title},
                       {"builds_on", text_or_null(info.builds_on)},
                       {"hypothesis", info.hypothesis}};
  add_leaves_out(json, info);
  return json;
}

ordered_json case_json(const PlannedCase& planned, const CaseOutcome& outcome) {
  const VariantInfo& info = planned.variant.info;
  const ProblemSize& shape = planned.work.shape;
  const CaseCounters counted = outcome.counters.value_or(CaseCounters());
  const std::vector<LaunchResources> resources = resources_of(planned, counted.kernels);
  ordered_json json = {
      {"id", planned.id},
      {"variant", info.name},
      {"family", info.family},
      {"rung", rung_json(info)},
      {"device", planned.device},
      {"network", planned.work.network},
      {"layer", planned.work.layer},
      {"shape", shape_json(shape_of(shape))},
      {"batch", shape.batch},
      {"status", outcome.status},
      {"reason", text_or_null(outcome.reason)},
      {"input", outcome.input_kind},
      {"work", {{"flop", shape.flop()}, {"minimum_bytes", shape.minimum_bytes()}}},
      {"verification", verification_json(outcome.verification)},
      {"time",
       outcome.times.empty() ? ordered_json() : time_json(planned, outcome.times.front(), outcome.stopped_because)},
      {"other_times", other_times_json(planned, outcome)},
      {"counters", outcome.counters ? counters_json(*outcome.counters) : ordered_json()},
      {"resources", resources_json(resources)},
      {"prediction", prediction_json(predict(counted, resources))},
      {"choice", text_or_null(outcome.choice)},
      {"device_state", state_json(outcome.device_state)},
      {"quality", quality_json(outcome.quality)}};
  if (!outcome.times.empty() && !outcome.wave.empty()) json["wave"] = outcome.wave;
  add_leaves_out(json, info);
  if (!shape.problem->is_default()) json["problem"] = shape.problem->name();
  if (std::string hash = made_of(planned); !hash.empty()) json["made_of"] = std::move(hash);
  if (outcome.checkers) json["checkers"] = checkers_json(*outcome.checkers);
  return json;
}

ordered_json verification_json(const std::optional<Verification>& verification) {
  if (!verification) return nullptr;
  ordered_json json = {{"reference", verification->reference},
                       {"tolerance", verification->tolerance},
                       {"images_compared", verification->images_compared},
                       {"images_combined", verification->images_combined},
                       {"elements_compared", verification->elements_compared},
                       {"before", check_json(verification->before)},
                       {"integers", check_json(verification->integers)},
                       {"timed_calls_compared", verification->timed_calls_compared},
                       {"timed_calls_probed", verification->timed_calls_probed},
                       {"after", check_json(verification->after)}};
  for (const StepCheck& part : verification->parts) {
    json["parts"].push_back({{"name", part.step}});
    json["parts"].back().update(step_check_json(part));
  }
  return json;
}

ordered_json checkers_json(const StageFindings& found) {
  ordered_json findings = ordered_json::array();
  for (const simulated::Finding& one : found.findings) findings.push_back(stand_in::finding_json(one));
  ordered_json json = {{"findings", std::move(findings)},
                       {"not_checked", text_or_null(found.not_checked)},
                       {"work", text_or_null(found.work)},
                       {"seconds", found.seconds}};
  if (!found.orders.empty()) json["orders"] = stand_in::orders_json(found.orders);
  return json;
}

ordered_json step_check_json(const StepCheck& check) {
  return {{"passed", check.passed()},
          {"compared_images", check.compared_images},
          {"combined_images", check.combined_images},
          {"max_scaled_error", check.max_scaled_error},
          {"failure", text_or_null(check.failure)}};
}

ordered_json quality_json(const std::optional<Quality>& quality) {
  if (!quality) return nullptr;
  return {{"mark", quality_name(quality->mark)},
          {"reasons", quality->reasons},
          {"load_of_others", or_null(quality->load_of_others)},
          {"steal", or_null(quality->steal)},
          {"drift", or_null(quality->drift)},
          {"anchor_spread", or_null(quality->anchor_spread)}};
}

ordered_json resources_json(const std::vector<LaunchResources>& resources) {
  ordered_json list = ordered_json::array();
  for (const LaunchResources& one : resources) {
    list.push_back({{"kernel", one.kernel.demangled},
                    {"architecture", one.kernel.architecture},
                    {"source", one.kernel.source},
                    {"registers", one.kernel.registers},
                    {"shared_bytes", one.kernel.shared_bytes},
                    {"constant_bytes", one.kernel.constant_bytes},
                    {"stack_bytes", one.kernel.stack_bytes},
                    {"spill_store_bytes", one.kernel.spill_store_bytes},
                    {"spill_load_bytes", one.kernel.spill_load_bytes},
                    {"barriers", one.kernel.barriers},
                    {"grid", dim_json(one.grid)},
                    {"block", dim_json(one.block)},
                    {"dynamic_shared_bytes", one.dynamic_shared_bytes}});
  }
  return list;
}

ordered_json prediction_json(const GpuPrediction& one) {
  ordered_json kernels = ordered_json::array();
  for (const PredictedKernel& kernel : one.kernels) kernels.push_back(kernel_json(kernel));
  const bool runs = one.ns.has_value();
  const Range ns = one.ns.value_or(Range{});
  ordered_json json = {{"gpu", one.gpu->name},
                       {"title", one.gpu->title},
                       {"resources_of", one.gpu->resources_of},
                       {"low", known(runs, ns.low)},
                       {"high", known(runs, ns.high)},
                       {"binding_low", known(runs, name_of(one.binding_low))},
                       {"binding_high", known(runs, name_of(one.binding_high))},
                       {"ceilings", gpu_limits_json(*one.gpu)},
                       {"kernels", std::move(kernels)}};
  if (one.beside_ns > 0) json["beside"] = one.beside_ns;
  return json;
}

ordered_json prediction_json(const std::optional<Prediction>& prediction) {
  if (!prediction) return nullptr;
  const Roofline& roofline = prediction->roofline;
  ordered_json gpus = ordered_json::array();
  for (const GpuPrediction& one : prediction->gpus) gpus.push_back(prediction_json(one));
  return {{"kind", "predicted"},
          {"of", "op"},
          {"unit", "ns"},
          {"model", kModel},
          {"roofline",
           {{"flop", roofline.flop},
            {"shared_bytes", roofline.shared_bytes},
            {"l1_bytes", roofline.l1_bytes},
            {"l2_bytes", or_null(roofline.l2_bytes)},
            {"dram_bytes", or_null(roofline.dram_bytes)}}},
          {"gpus", std::move(gpus)}};
}

ordered_json ceilings_json(const Ceilings& ceilings) {
  ordered_json list = ordered_json::array();
  for (const DeviceCeilings& one : ceilings) {
    ordered_json limits = ordered_json::array();
    for (const SampledLimit& limit : one.limits) {
      limits.push_back({{"name", limit.limit.name},
                        {"kind", "measured"},
                        {"unit", limit.limit.unit},
                        {"median", median(limit.samples)},
                        {"interval", interval_json(median_interval(limit.samples))},
                        {"samples", limit.samples}});
    }
    list.push_back({{"device", one.device},
                    {"choice", text_or_null(one.choice)},
                    {"last_level_cache_bytes", one.last_level_cache_bytes},
                    {"buffer_bytes", one.buffer_bytes},
                    {"reason", text_or_null(one.failure)},
                    {"limits", std::move(limits)}});
    if (one.kind_of_machine) list.back()["kind_of_machine"] = *one.kind_of_machine;
  }
  return list;
}

ordered_json place_json(const RecordedCase& one_case) {
  return {{"device", one_case.device},
          {"family", one_case.family},
          {"network", one_case.network},
          {"layer", one_case.layer},
          {"batch", one_case.batch}};
}

std::optional<TimeFigure> read_time(const JsonPlace& place) {
  if (place.is_null()) return std::nullopt;
  TimeFigure time{.of = place.at("of").name(),
                  .cache = place.at("cache").text_or_empty(),
                  .median = 0,
                  .low = std::nullopt,
                  .high = std::nullopt,
                  .level = std::nullopt,
                  .samples = {}};
  if (place.at("samples").is_there()) time.samples = place.at("samples").numbers(kTimes);
  if (!place.has("median") && time.samples.empty()) return std::nullopt;
  time.median = place.has("median") ? place.at("median").number() : median(time.samples);
  if (place.has("interval")) {
    time.low = place.at("interval").at("low").number();
    time.high = place.at("interval").at("high").number();
    time.level = place.at("interval").at("level").number_or_none();
  }
  if (place.has("rounds")) {
    constexpr NumberRange kRounds{.least = 0, .most = 1e9};
    for (const double round : place.at("rounds").numbers(kRounds)) time.rounds.push_back(static_cast<int>(round));
    if (time.rounds.size() != time.samples.size()) place.at("rounds").expected("one for each sample");
  }
  time.is_predicted = place.at("kind").text_or_empty() == "predicted";
  if (place.has("iterations_per_sample")) time.iterations = place.at("iterations_per_sample").count();
  return time;
}

ordered_json shape_json(const RecordedShape& shape) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, value] : shape) json[name] = value;
  return json;
}

Status read_status(const JsonPlace& place) {
  const std::optional<Status> status = status_from_name(place.text());
  if (!status) place.expected("a status of a case");
  return *status;
}

Quality read_quality(const JsonPlace& place) {
  const std::optional<QualityMark> mark = quality_from_name(place.at("mark").text());
  if (!mark) place.at("mark").expected("good, noisy or disturbed");
  Quality quality{.mark = *mark,
                  .reasons = {},
                  .load_of_others = place.at("load_of_others").number_or_none(),
                  .steal = place.at("steal").number_or_none(),
                  .drift = place.at("drift").number_or_none(),
                  .anchor_spread = place.at("anchor_spread").number_or_none()};
  if (!quality.is_marked()) return quality;
  for (const std::string& reason : place.at("reasons").texts()) quality.reasons.push_back(printable(reason));
  if (quality.reasons.empty()) place.at("reasons").expected("at least one, because the mark is not good");
  return quality;
}

CheckerLook read_checker_look(const JsonPlace& place) {
  const std::vector<JsonPlace> found = place.at("findings").list();
  const auto is_note = [](const JsonPlace& one) {
    return one.at("severity").text_or_empty() == simulated::severity_name(simulated::Severity::note);
  };
  const bool has_orders = place.has("orders");
  return {
      .findings = found.size() - static_cast<std::size_t>(std::ranges::count_if(found, is_note)),
      .not_checked = printable(place.at("not_checked").text_or_empty()),
      .orders = has_orders ? place.at("orders").at("orders").count() : 0,
      .others = has_orders ? place.at("orders").at("differing").count() + place.at("orders").at("failing").count() : 0,
      .orders_not_tried = has_orders ? printable(place.at("orders").at("not_tried").text_or_empty()) : "",
      .seconds = place.at("seconds").number()};
}

RecordedCase read_case(const JsonPlace& place) {
  RecordedCase one;
  one.id = place.at("id").name();
  one.variant = place.at("variant").name();
  one.device = place.at("device").name();
  one.network = place.at("network").name();
  one.layer = place.at("layer").name();
  one.batch = place.at("batch").count();
  if (place.has("rung")) one.rung = place.at("rung").count();
  one.leaves_out = place.at("leaves_out").text_or_empty();
  one.status = read_status(place.at("status"));
  one.reason = printable(place.at("reason").text_or_empty());
  one.input = place.at("input").text_or_empty();
  one.choice = printable(place.at("choice").text_or_empty());
  if (place.has("shape")) {
    for (const auto& [name, value] : place.at("shape").fields()) {
      one.shape.emplace_back(name, value.whole<std::int64_t>());
    }
  }
  if (place.has("session")) one.session = place.at("session").count();
  one.time = read_time(place.at("time"));
  if (one.time) one.time->wave = place.at("wave").text_or_empty();
  if (place.has("quality")) one.quality = read_quality(place.at("quality"));
  if (place.has("checkers")) one.look = read_checker_look(place.at("checkers"));
  if (place.has("counters")) {
    const JsonPlace counters = place.at("counters");
    one.counters = CaseCounters{.images_executed = counters.at("images_executed").count(),
                                .totals = counters.at("totals").numbers_by_name(),
                                .modelled = counters.at("modelled").numbers_by_name(),
                                .kernels = {},
                                .lines = read_counted_lines(counters),
                                .beside = {}};
  }
  return one;
}

std::vector<LaunchResources> read_resources(const JsonPlace& place) {
  std::vector<LaunchResources> list;
  for (const JsonPlace& one : place.list()) {
    LaunchResources& launch = list.emplace_back();
    launch.kernel.demangled = one.at("kernel").text();
    launch.kernel.architecture = one.at("architecture").text();
    launch.kernel.registers = one.at("registers").count();
    launch.kernel.shared_bytes = one.at("shared_bytes").count();
    launch.kernel.spill_store_bytes = one.at("spill_store_bytes").count();
    launch.kernel.spill_load_bytes = one.at("spill_load_bytes").count();
    launch.grid = read_dim(one.at("grid"));
    launch.block = read_dim(one.at("block"));
    launch.dynamic_shared_bytes = one.at("dynamic_shared_bytes").whole<std::size_t>();
  }
  return list;
}

namespace {

/// The size of a case; none if this program does not have the problem, which may be a folder's that has the name of a
/// built-in one.
std::optional<ProblemSize> recorded_size(const JsonPlace& one_case) {
  const bool convolves = !one_case.has("problem");
  const Problem* const problem =
      problem_named(convolves ? std::string(kDefaultProblem) : one_case.at("problem").text());
  if (problem == nullptr) return std::nullopt;
  ProblemSize size{problem, one_case.at("batch").count(), {}};
  const JsonPlace shape = one_case.at("shape");
  for (const Dimension& one : problem->dimensions()) {
    if (!convolves && !shape.has(one.name)) return std::nullopt;
    size.values.push_back(shape.at(one.name).count());
  }
  return size;
}

void add_terms(const JsonPlace& recorded, std::array<Range, kTimeTerms>& terms) {
  for (std::size_t i = 0; i < kTimeTerms; ++i) {
    const JsonPlace term = recorded.at(kTimeTermNames[i]);
    terms[i].low += term.at("low").number(kNotNegative);
    terms[i].high += term.at("high").number(kNotNegative);
  }
}

/// Blocks of the largest launch, in a record that may say anything of it.
double recorded_blocks(const JsonPlace& counters) {
  double most = 0;
  for (const JsonPlace& kernel : counters.at("kernels").list()) {
    double blocks = 1;
    for (const double along : kernel.at("grid").numbers(kNotNegative)) blocks *= along;
    most = std::max(most, blocks);
  }
  return most;
}

}  // namespace

PredictedFigure read_prediction(const JsonPlace& place) {
  PredictedFigure figure{.gpu = printable(place.at("gpu").text()),
                         .low_ns = place.at("low").number_or_none(kPredictedTimes),
                         .high_ns = place.at("high").number_or_none(kPredictedTimes),
                         .binding_low = printable(place.at("binding_low").text_or_empty()),
                         .binding_high = printable(place.at("binding_high").text_or_empty()),
                         .occupancy = kNoOccupancy,
                         .limited_by = {},
                         .launches = 0,
                         .terms = {}};
  for (const JsonPlace& kernel : place.at("kernels").list()) {
    ++figure.launches;
    if (kernel.has("terms")) add_terms(kernel.at("terms"), figure.terms);
    const JsonPlace residence = kernel.at("occupancy");
    const double share = residence.at("share").number();
    if (!(share < figure.occupancy)) continue;
    figure.occupancy = share;
    figure.limited_by = printable(fmt::format("{}", fmt::join(residence.at("limited_by").texts(), ", ")));
  }
  return figure;
}

RecordedCase read_whole_case(const JsonPlace& place) {
  RecordedCase one = read_case(place);
  one.family = place.at("family").text();
  one.tolerance = kFloat32Tolerance;
  if (place.has("shape")) one.size = recorded_size(place);
  if (place.has("work")) {
    one.flop = place.at("work").at("flop").number();
    one.minimum_bytes = place.at("work").at("minimum_bytes").number_or_none().value_or(0);
  }
  if (place.has("verification")) {
    one.tolerance = place.at("verification").at("tolerance").number_or_none().value_or(kFloat32Tolerance);
  }
  if (place.has("other_times")) {
    for (const JsonPlace& other : place.at("other_times").list()) {
      std::optional<TimeFigure> time = read_time(other);
      if (!time) continue;
      time->wave = place.at("wave").text_or_empty();
      one.other_times.push_back(std::move(*time));
    }
  }
  if (place.has("counters")) one.blocks = recorded_blocks(place.at("counters"));
  if (one.ok() && place.has("prediction")) {
    for (const JsonPlace& gpu : place.at("prediction").at("gpus").list()) {
      one.predictions.push_back(read_prediction(gpu));
    }
  }
  return one;
}

std::vector<RecordedCase> read_whole_cases(const JsonPlace& cases) {
  std::vector<RecordedCase> list;
  for (const JsonPlace& one : cases.list()) list.push_back(read_whole_case(one));
  return list;
}

std::vector<RecordedVariant> read_variants(const JsonPlace& variants) {
  std::vector<RecordedVariant> list;
  for (const JsonPlace& one : variants.list()) {
    list.push_back({one.at("family").text(), one.at("name").text(), one.at("builds_on").text_or_empty(),
                    one.at("leaves_out").is_there(), one.at("title").text_or_empty(),
                    one.has("rung") ? std::optional(one.at("rung").count()) : std::nullopt,
                    printable(one.at("hypothesis").text_or_empty())});
  }
  return list;
}

Ceilings read_ceilings(const JsonPlace& place) {
  Ceilings ceilings;
  if (place.is_null()) return ceilings;
  constexpr NumberRange kRates{.least = kAboveZero};
  for (const JsonPlace& one : place.list()) {
    DeviceCeilings& of_device = ceilings.emplace_back();
    of_device.device = one.at("device").name();
    of_device.choice = one.at("choice").text_or_empty();
    of_device.last_level_cache_bytes = one.at("last_level_cache_bytes").whole<std::size_t>();
    of_device.buffer_bytes = one.at("buffer_bytes").whole<std::size_t>();
    of_device.failure = one.at("reason").text_or_empty();
    if (one.has("kind_of_machine")) of_device.kind_of_machine = one.at("kind_of_machine").count();
    for (const JsonPlace& limit : one.at("limits").list()) {
      const std::string name = limit.at("name").text();
      const auto* const known = std::ranges::find(kCeilingLimits, name, &CeilingLimit::name);
      if (known == kCeilingLimits.end()) limit.at("name").expected("a limit of a device");
      if (of_device.samples(*known) != nullptr) limit.at("name").fail("occurs twice");
      std::vector<double> samples = limit.at("samples").numbers(kRates);
      if (samples.empty()) limit.at("samples").expected("at least one");
      of_device.limits.push_back({*known, std::move(samples)});
    }
  }
  return ceilings;
}

}  // namespace convladder

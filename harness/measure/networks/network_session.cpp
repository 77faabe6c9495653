#include "harness/measure/networks/network_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/cases/counters_json.hpp"
#include "harness/measure/cases/loaded_stages.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/ladders/outside_stage.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/profile/profile_json.hpp"
#include "harness/measure/verification/changed_input.hpp"
#include "network/layer_operators.hpp"
#include "support/json_text.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr int kOverlappedChunks = 4;  // enough for copies to hide behind, few enough to keep kernels large
constexpr std::uint32_t kDecoyActivations = 0x0dec0;

/// The memory that a record may take: the rest besides a pass that uses all the memory it may (chunk_images).
constexpr double kRecordShare = 1.0 / 16;
constexpr std::size_t kMostRecordBytes = std::size_t{2} << 30;

/// A window for every step's outputs of some images, at least of one.
std::unique_ptr<SharedMemory> record_window(const NetworkCase& planned) {
  const std::vector<NetworkStep> steps = network_steps(*planned.network, planned.choice);
  const std::size_t of_image = record_offset(steps, steps.size(), 1);
  const auto share = static_cast<std::size_t>(kRecordShare * static_cast<double>(available_memory_bytes()));
  const std::size_t most = std::min(kMostRecordBytes, share) / sizeof(float);
  const std::size_t images = std::clamp<std::size_t>(most / of_image, 1, static_cast<std::size_t>(planned.batch));
  return output_window(images * of_image * sizeof(float));
}

ordered_json activities_json(const std::vector<Activity>& activities) {
  ordered_json list = ordered_json::array();
  for (const Activity& a : activities) list.push_back({a.group, a.name, a.start_ns, a.duration_ns});
  return list;
}

/// The stages from outside, each once.
std::vector<const FolderVariant*> stages_of(const NetworkCase& planned) {
  std::vector<const FolderVariant*> stages;
  for (const auto& [layer, registered] : planned.choice.convolutions) {
    const FolderVariant* const stage = registered.variant->compiled_stage();
    if (stage != nullptr && std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
  }
  return stages;
}

/// The fields of a case that another process needs; its network and weights are the workload's.
ordered_json choice_json(const NetworkCase& planned) {
  ordered_json convolutions = ordered_json::array();
  for (const auto& [layer, registered] : planned.choice.convolutions) {
    convolutions.push_back({layer, registered.info.name});
  }
  ordered_json outside = ordered_json::array();
  for (const FolderVariant* const stage : stages_of(planned)) outside.push_back(stage_hello(stage_to_load(*stage)));
  ordered_json operators = ordered_json::array();
  for (const auto& [type, registered] : planned.choice.operators) {
    operators.push_back({type, registered.info.name});
  }
  ordered_json fused = ordered_json::array();
  for (const auto& [layer, registered] : planned.choice.fused) fused.push_back({layer, registered.info.name});
  const auto& whole = planned.choice.whole;
  return {{"family", planned.choice.family},   {"convolutions", std::move(convolutions)},
          {"outside", std::move(outside)},     {"fused", std::move(fused)},
          {"operators", std::move(operators)}, {"whole", whole ? ordered_json(whole->info.name) : ordered_json()}};
}

NetworkChoice choice_from_json(const ordered_json& json) {
  static std::vector<std::unique_ptr<OutsideStage>> kept;
  NetworkChoice choice{.family = json.at("family"), .convolutions = {}, .operators = {}};
  std::map<std::string, ProblemVariant> outside;
  for (const ordered_json& hello : json.at("outside")) {
    const OutsideStage& stage = *kept.emplace_back(served_outside_stage(read_stage_hello(hello)));
    outside[stage.stage().source().name] = {info_of(stage.stage(), {}), &convolution_problem(), &stage};
  }
  for (const ordered_json& pair : json.at("convolutions")) {
    const auto name = pair.at(1).get<std::string>();
    const auto found = outside.find(name);
    choice.convolutions[pair.at(0)] =
        found == outside.end() ? *find_variant(convolution_problem(), choice.family, name) : found->second;
  }
  for (const ordered_json& pair : json.at("fused")) {
    choice.fused[pair.at(0)] = *find_variant(fused_problem(), choice.family, pair.at(1).get<std::string>());
  }
  for (const ordered_json& pair : json.at("operators")) {
    const auto type = pair.at(0).get<std::string>();
    const std::vector<const Problem*> problems = layer_problems();
    const auto problem = std::ranges::find(problems, type, [](const Problem* one) { return layer_type_of(*one); });
    choice.operators[type] = *find_variant(**problem, choice.family, pair.at(1).get<std::string>());
  }
  if (const ordered_json& name = json.at("whole"); !name.is_null()) {
    choice.whole = *find_whole_network(choice.family, name.get<std::string>());
  }
  return choice;
}

}  // namespace

NetworkSession::NetworkSession(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                               const SharedMemory& window)
    : Session(planned.id, open_for_stages(find_device_kind(planned.device), stages_of(planned))),
      workload_(workload),
      window_(window),
      batch_(planned.batch),
      weights_(parse_weights(workload.network(), workload.weights_file(), "weights")),
      steps_(network_steps(workload.network(), planned.choice)),
      overlap_(wish.overlap) {
  int fitting = chunk_images(workload.network(), batch_, device().free_bytes());
  if (planned.device == "cpu") fitting = std::min(fitting, chunk_for_caches(steps_, batch_));
  const int quarter = (batch_ - 1) / kOverlappedChunks + 1;
  chunk_ = std::min(batch_, wish.chunk.value_or(overlap_ ? std::min(fitting, quarter) : fitting));
}

ordered_json NetworkSession::carry_out(const std::string& what, const ordered_json& request) {
  if (what == "set") return set(request.at("rotation"), request.at("of"));
  if (what == "record") return record({request.at("first"), request.at("count")}, request.at("seed"));
  if (what == "pass") return pass(request.at("record").get<bool>());
  if (what == "activities") return activities();
  if (what == "recorder") return recorder();
  if (what == "repeat") return repeat(request.at("passes"));
  if (what == "keep") return keep();
  if (what == "loaded") {
    return loaded({workload_.images(), request.at("of"), request.at("first")}, request.at("step"),
                  request.at("batches"), request.at("most_ns"));
  }
  if (what == "let go") return let_go();
  if (what == "read") return read(request.at("first"), request.at("count"));
  if (what == "counters") return counters();
  throw std::logic_error(fmt::format("unknown request '{}'", what));
}

ordered_json NetworkSession::set(int rotation, int of) {
  if (overlap_ && !device().can_overlap()) {
    return ending(Status::unsupported, "this device cannot overlap copies with kernels");
  }
  if (rotation < 0 || of < batch_ || of > workload_.count()) throw std::logic_error("these images do not exist");
  const std::size_t elements = workload_.network().input.elements();
  images_.resize(elements * static_cast<std::size_t>(batch_));
  for (int image = 0; image < batch_; ++image) {
    const float* const from = workload_.images() + static_cast<std::size_t>((image + rotation) % of) * elements;
    std::copy_n(from, elements,
                images_.begin() + static_cast<std::ptrdiff_t>(image) * static_cast<std::ptrdiff_t>(elements));
  }
  forget_activations();
  return {{"chunk", chunk_}};
}

/// Overwrites the results of the last pass. A pass prepares before it copies its images in, and must not find them in
/// its buffers then. Memory of the host comes anew from the system, zeroed; a device hands out freed memory again.
void NetworkSession::forget_activations() {
  if (device().is_host_memory()) return;
  std::size_t largest = workload_.network().input.elements();
  for (const Layer& layer : workload_.network().layers) largest = std::max(largest, layer.output.elements());
  const std::size_t elements = largest * static_cast<std::size_t>(chunk_);
  std::vector<DeviceBuffer> buffers(2);
  for (DeviceBuffer& buffer : buffers) {
    buffer = device().allocate(elements * sizeof(float), "activations");
    fill_output(device(), buffer.address(), ElementType::f32, static_cast<std::int64_t>(elements),
                {kDecoyActivations, 1});
  }
}

ordered_json NetworkSession::record(const PassImages& wanted, std::uint32_t seed) {
  if (wanted.first < 0 || wanted.count < 1 || wanted.count > batch_ - wanted.first ||
      record_offset(steps_, steps_.size(), wanted.count) * sizeof(float) > window_.bytes()) {
    throw std::logic_error(fmt::format("{} images from {} on cannot be recorded", wanted.count, wanted.first));
  }
  StepRecorder recorder(device(), steps_, window_, wanted, seed);
  const PassOptions options{.chunk = chunk_, .time_steps = false, .observer = &recorder};
  device().set_counting(false);  // "counters" is answered from "pass"
  run_pass(device(), workload_.network(), steps_, weights_, images_.data(), batch_, options);
  device().set_counting(true);
  return ordered_json::object();
}

ordered_json NetworkSession::repeat(int passes) {
  const PassOptions options{.chunk = chunk_, .time_steps = true};
  double total_ns = 0;
  for (int left = passes; left > 0; --left) {
    total_ns += run_pass(device(), workload_.network(), steps_, weights_, images_.data(), batch_, options).total_ns;
  }
  return {{"total_ns", total_ns}};
}

ordered_json NetworkSession::keep() {
  loaded_.emplace(device(), workload_.network(), steps_, weights_, batch_, chunk_);
  return ordered_json::object();
}

ordered_json NetworkSession::loaded(const ImageRing& images, int step, int batches, double most_ns) {
  if (!loaded_ || batches < 1 || step < 0 || images.first < 0 || images.of < 1 || images.of > workload_.count()) {
    throw std::logic_error("no network is loaded, or these images do not exist");
  }
  const std::size_t scores = workload_.network().layers.back().output.elements() * static_cast<std::size_t>(batch_);
  last_.scores.assign(scores * static_cast<std::size_t>(batches), std::numeric_limits<float>::quiet_NaN());
  ImageRing now = images;
  const auto start = std::chrono::steady_clock::now();
  double took_ns = 0;
  int done = 0;
  while (done < batches && took_ns <= most_ns) {
    loaded_->run(now, last_.scores.data() + scores * static_cast<std::size_t>(done));
    now.first = (now.first + step) % now.of;
    ++done;
    took_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  return {{"total_ns", took_ns}, {"batches", done}};
}

ordered_json NetworkSession::let_go() {
  loaded_.reset();
  return ordered_json::object();
}

ordered_json NetworkSession::pass(bool record) {
  // Waiting for each step is part of timing it. Where the host could go on meanwhile, its own phases come from a pass
  // that does not wait.
  PassOptions options{.chunk = chunk_, .time_steps = true};
  const auto run = [&] {
    return run_pass(device(), workload_.network(), steps_, weights_, images_.data(), batch_, options);
  };
  const bool apart = device().is_asynchronous() || (overlap_ && device().has_clock());
  std::vector<Activity> steps;
  if (apart) {
    for (Activity& activity : run().activities) {
      if (activity.group == activity_group::kLayers) steps.push_back(std::move(activity));
    }
    options.time_steps = false;
  }
  options.overlap = overlap_;
  const bool recorded = record && device().records_activities();
  if (recorded) device().start_activities();
  const ProgramTimer timer;
  last_ = run();
  const ProgramTime program = timer.elapsed();
  if (recorded) {
    for (Activity& activity : device().stop_activities()) last_.activities.push_back(std::move(activity));
  }
  for (Activity& activity : steps) last_.activities.push_back(std::move(activity));
  return {{"total_ns", last_.total_ns}, {"steps_apart", apart}, {"program", to_json(program)}};
}

ordered_json NetworkSession::activities() const { return {{"activities", activities_json(last_.activities)}}; }

ordered_json NetworkSession::recorder() const {
  return {{"can_record", device().records_activities()}, {"cannot_record_because", device().why_no_activities()}};
}

ordered_json NetworkSession::read(std::size_t first, std::size_t count) const {
  if (first > last_.scores.size() || count > last_.scores.size() - first || count * sizeof(float) > window_.bytes()) {
    throw std::logic_error(fmt::format("{} scores from {} on are not the pass's", count, first));
  }
  std::memcpy(window_.data(), last_.scores.data() + first, count * sizeof(float));
  return ordered_json::object();
}

ordered_json NetworkSession::counters() const {
  ordered_json list = ordered_json::array();
  for (const std::vector<KernelCounters>& of_step : last_.counters) {
    list.push_back(counters_json(case_counters(of_step, batch_)));
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

OpenCase start_network_process(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                               double timeout_seconds) {
  const Trust trust = stages_of(planned).empty() ? Trust::own : Trust::foreign;
  return start_session({planned.id, workload.descriptor(), workload.header(), timeout_seconds, kThisProgram, trust},
                       "serve-network", record_window(planned),
                       {{"id", planned.id},
                        {"device", planned.device},
                        {"batch", planned.batch},
                        {"choice", choice_json(planned)},
                        {"chunk", or_null(wish.chunk)},
                        {"overlap", wish.overlap}});
}

OpenCase start_network_here(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish) {
  std::unique_ptr<SharedMemory> window = record_window(planned);
  auto client = session_or_failure([&] { return std::make_unique<NetworkSession>(planned, workload, wish, *window); });
  return {std::move(window), std::move(client)};
}

namespace {

int serve_network(int socket_descriptor, int workload_descriptor, int window_descriptor) {
  const auto make = [](const ordered_json& hello, const NetworkWorkload& workload, const SharedMemory& window) {
    NetworkCase planned;
    planned.id = hello.at("id");
    planned.network = &workload.network();
    planned.choice = choice_from_json(hello.at("choice"));
    planned.device = hello.at("device");
    planned.batch = hello.at("batch");
    confine_for_stages(find_device_kind(planned.device), stages_of(planned));
    PassWish wish{.chunk = std::nullopt, .overlap = hello.at("overlap")};
    if (!hello.at("chunk").is_null()) wish.chunk = hello.at("chunk").get<int>();
    return std::make_unique<NetworkSession>(planned, workload, wish, window);
  };
  return serve_session<NetworkWorkload>(socket_descriptor, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_network_registration("serve-network", serve_network);

}  // namespace

}  // namespace convladder

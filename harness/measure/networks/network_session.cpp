#include "harness/measure/networks/network_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/cases/loaded_stages.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/ladders/outside_stage.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/verification/changed_input.hpp"
#include "network/layer_operators.hpp"
#include "network/network_variant.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

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

/// The stages from outside, each once.
std::vector<const CompiledStage*> stages_of(const NetworkCase& planned) {
  std::vector<const CompiledStage*> stages;
  for (const auto& [layer, registered] : planned.choice.convolutions) {
    const CompiledStage* const stage = registered.variant->compiled_stage();
    if (stage != nullptr && std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
  }
  return stages;
}

/// The choice as another process gets it; its network and weights are the workload's.
to_network::Choice names_of(const NetworkCase& planned) {
  const NetworkChoice& choice = planned.choice;
  to_network::Choice names;
  names.family = choice.family;
  for (const auto& [layer, registered] : choice.convolutions) {
    names.convolutions.emplace_back(layer, registered.info.name);
  }
  for (const CompiledStage* const stage : stages_of(planned)) names.outside.push_back(stage_to_load(*stage));
  for (const auto& [layer, registered] : choice.fused) names.fused.emplace_back(layer, registered.info.name);
  for (const auto& [type, registered] : choice.operators) names.operators.emplace(type, registered.info.name);
  if (choice.whole) names.whole = choice.whole->info.name;
  return names;
}

NetworkChoice choice_of(const to_network::Choice& names) {
  NetworkChoice choice{.family = names.family, .convolutions = {}, .operators = {}};
  std::map<std::string, ProblemVariant> outside;
  for (const StageToLoad& to_load : names.outside) {
    const Variant& stage = keep_variant(served_outside_stage(to_load));
    const CompiledStage& compiled = *stage.compiled_stage();
    outside[compiled.source.name] = {info_of(compiled, {}), &convolution_problem(), &stage};
  }
  for (const auto& [layer, name] : names.convolutions) {
    const auto found = outside.find(name);
    choice.convolutions[layer] =
        found == outside.end() ? *find_variant(convolution_problem(), choice.family, name) : found->second;
  }
  for (const auto& [layer, name] : names.fused) {
    choice.fused[layer] = *find_variant(fused_problem(), choice.family, name);
  }
  for (const auto& [type, name] : names.operators) {
    const std::vector<const Problem*> problems = layer_problems();
    const auto problem = std::ranges::find(problems, type, [](const Problem* one) { return layer_type_of(*one); });
    choice.operators[type] = *find_variant(**problem, choice.family, name);
  }
  if (names.whole) choice.whole = library_network(choice.family, *names.whole);
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
      problem_(workload.network()),
      variant_(network_variant(planned.choice)),
      network_{problem_, *variant_, problem_.placed(weights_)},
      overlap_(wish.overlap) {
  // With overlap there are two chunks at once.
  const std::size_t free_bytes = device().free_bytes() / (overlap_ ? 2 : 1);
  int fitting = chunk_images(workload.network(), batch_, free_bytes);
  if (planned.device == "cpu") fitting = std::min(fitting, chunk_for_caches(steps_, batch_));
  const int quarter = (batch_ - 1) / kOverlappedChunks + 1;
  chunk_ = std::min(batch_, wish.chunk.value_or(overlap_ ? std::min(fitting, quarter) : fitting));
}

NetworkSession::Answer NetworkSession::carry_out(const Request& request) {
  return std::visit([this](const auto& wanted) -> Answer { return answer(wanted); }, request);
}

NetworkSession::Answer NetworkSession::answer(const to_network::Set& wanted) {
  const auto [rotation, of] = wanted;
  if (overlap_ && !device().can_overlap()) {
    return Ending{Status::unsupported, "this device cannot overlap copies with kernels"};
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
  return to_network::ImagesSet{chunk_};
}

/// Overwrites the results of the last pass. A pass prepares before it copies its images in, and must not find them in
/// its buffers then. Memory of the host comes anew from the system, zeroed; a device hands out freed memory again.
void NetworkSession::forget_activations() {
  if (device().is_host_memory()) return;
  const Network& network = workload_.network();
  const auto largest = static_cast<std::size_t>(problem_.intermediate_elements(problem_.size(1)) / 2);
  std::vector<DeviceBuffer> buffers;
  for (const std::size_t of_image :
       {network.input.elements(), network.layers.back().output.elements(), largest, largest}) {
    const std::size_t elements = of_image * static_cast<std::size_t>(chunk_);
    const DeviceBuffer& buffer = buffers.emplace_back(device().allocate(elements * sizeof(float), "activations"));
    fill_output(device(), buffer.address(), ElementType::f32, static_cast<std::int64_t>(elements),
                {kDecoyActivations, 1});
  }
}

Done NetworkSession::answer(const to_network::Record& wanted) {
  if (wanted.first < 0 || wanted.count < 1 || wanted.count > batch_ - wanted.first ||
      record_offset(steps_, steps_.size(), wanted.count) * sizeof(float) > window_.bytes()) {
    throw std::logic_error(fmt::format("{} images from {} on cannot be recorded", wanted.count, wanted.first));
  }
  StepRecorder recorder(device(), steps_, window_, {wanted.first, wanted.count}, wanted.seed);
  const PassOptions options{.chunk = chunk_, .time_steps = false, .observer = &recorder};
  device().set_counting(false);  // counters are those of a pass
  run_pass(device(), network_, images_.data(), batch_, options);
  device().set_counting(true);
  return {};
}

to_network::Repeated NetworkSession::answer(const to_network::Repeat& wanted) {
  const PassOptions options{.chunk = chunk_, .time_steps = true};
  double total_ns = 0;
  for (int left = wanted.passes; left > 0; --left) {
    total_ns += run_pass(device(), network_, images_.data(), batch_, options).total_ns;
  }
  return {total_ns};
}

Done NetworkSession::answer(const to_network::Load& /*wanted*/) {
  loaded_.emplace(device(), network_, batch_, chunk_);
  return {};
}

to_network::RowTaken NetworkSession::answer(const to_network::Loaded& wanted) {
  const int batches = wanted.batches;
  ImageRing now{workload_.images(), wanted.of, wanted.first};
  if (!loaded_ || batches < 1 || wanted.step < 0 || now.first < 0 || now.of < 1 || now.of > workload_.count()) {
    throw std::logic_error("no network is loaded, or these images do not exist");
  }
  const std::size_t scores = workload_.network().layers.back().output.elements() * static_cast<std::size_t>(batch_);
  last_.scores.assign(scores * static_cast<std::size_t>(batches), std::numeric_limits<float>::quiet_NaN());
  const auto start = std::chrono::steady_clock::now();
  double took_ns = 0;
  int done = 0;
  while (done < batches && took_ns <= wanted.most_ns) {
    loaded_->run(now, last_.scores.data() + scores * static_cast<std::size_t>(done));
    now.first = (now.first + wanted.step) % now.of;
    ++done;
    took_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  return {took_ns, done};
}

Done NetworkSession::answer(const to_network::LetGo& /*wanted*/) {
  loaded_.reset();
  return {};
}

to_network::PassTimes NetworkSession::answer(const to_network::Pass& wanted) {
  // Waiting for each step is part of timing it. Where the host could go on meanwhile, its own phases come from a pass
  // that does not wait.
  PassOptions options{.chunk = chunk_, .time_steps = true};
  const auto run = [&] { return run_pass(device(), network_, images_.data(), batch_, options); };
  const bool apart = device().is_asynchronous() || (overlap_ && device().has_clock());
  std::vector<Activity> steps;
  if (apart) {
    for (Activity& activity : run().activities) {
      if (activity.group == activity_group::kLayers) steps.push_back(std::move(activity));
    }
    options.time_steps = false;
  }
  options.overlap = overlap_;
  const bool recorded = wanted.record && device().records_activities();
  if (recorded) device().start_activities();
  const ProgramTimer timer;
  last_ = run();
  const ProgramTime program = timer.elapsed();
  if (recorded) {
    for (Activity& activity : device().stop_activities()) last_.activities.push_back(std::move(activity));
  }
  for (Activity& activity : steps) last_.activities.push_back(std::move(activity));
  return {last_.total_ns, apart, program};
}

to_network::PassActivities NetworkSession::answer(const to_network::Activities& /*wanted*/) const {
  return {last_.activities};
}

to_network::RecorderFound NetworkSession::answer(const to_network::Recorder& /*wanted*/) const {
  return {device().records_activities(), device().why_no_activities()};
}

Done NetworkSession::answer(const ReadElements& wanted) const {
  const auto first = static_cast<std::size_t>(wanted.first);
  const auto count = static_cast<std::size_t>(wanted.count);
  if (first > last_.scores.size() || count > last_.scores.size() - first || count * sizeof(float) > window_.bytes()) {
    throw std::logic_error(fmt::format("{} scores from {} on are not the pass's", count, first));
  }
  std::memcpy(window_.data(), last_.scores.data() + first, count * sizeof(float));
  return {};
}

to_network::CountedSteps NetworkSession::answer(const to_network::Counters& /*wanted*/) const {
  to_network::CountedSteps steps;
  for (const std::vector<KernelCounters>& of_step : last_.counters) {
    steps.counters.push_back({case_counters(of_step, batch_)});
  }
  return steps;
}

OpenNetwork start_network_process(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish,
                                  double timeout_seconds) {
  return start_session<NetworkMessages>({.what = planned.id,
                                         .command = "serve-network",
                                         .timeout_seconds = timeout_seconds,
                                         .trust = stages_of(planned).empty() ? Trust::own : Trust::foreign},
                                        workload.descriptor(), record_window(planned),
                                        {.id = planned.id,
                                         .device = planned.device,
                                         .batch = planned.batch,
                                         .choice = names_of(planned),
                                         .chunk = wish.chunk,
                                         .overlap = wish.overlap,
                                         .workload = workload.header()});
}

OpenNetwork start_network_here(const NetworkCase& planned, const NetworkWorkload& workload, const PassWish& wish) {
  std::unique_ptr<SharedMemory> window = record_window(planned);
  auto client = session_or_failure<NetworkMessages>(
      [&] { return std::make_unique<NetworkSession>(planned, workload, wish, *window); });
  return {std::move(window), std::move(client)};
}

namespace {

int serve_network(int socket, int workload_descriptor, int window_descriptor) {
  const auto make = [](const to_network::Hello& hello, const NetworkWorkload& workload, const SharedMemory& window) {
    NetworkCase planned;
    planned.id = hello.id;
    planned.network = &workload.network();
    planned.choice = choice_of(hello.choice);
    planned.device = hello.device;
    planned.batch = hello.batch;
    confine_for_stages(find_device_kind(planned.device), stages_of(planned));
    return std::make_unique<NetworkSession>(planned, workload, PassWish{.chunk = hello.chunk, .overlap = hello.overlap},
                                            window);
  };
  return serve_session<NetworkMessages, NetworkWorkload>(socket, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_network_registration("serve-network", serve_network);

}  // namespace

}  // namespace convladder

#include "harness/measure/cases/case_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/verification/output_probe.hpp"

namespace convladder {

namespace {

constexpr double kCallNs = 2000;      // for the loop around a call
constexpr double kThreadsNs = 20000;  // for waking threads for the input of many images
constexpr int kManyImages = 64;
constexpr double kImageNs = 100;     // for changing one image's input
constexpr double kPokeNs = 2 * 5;    // for an element that is replaced and put back
constexpr double kFreshNs = 3;       // for each element that is new, without vectors of integers
constexpr double kRenewNs = 0.5;     // for each byte that is written anew
constexpr double kLaunchNs = 6e3;    // for a kernel that a slow host launches
constexpr double kGpuByteNs = 0.02;  // for each byte that a slow GPU changes
constexpr int kLaunchesOfCall = 4;   // besides those for tensors: events, and a part of keeping the device busy
constexpr int kLargestExponent = 2;  // of the factor of an input: 1, 2 or 4

// Calls on inputs that differ from each other in single elements, as long as they take no longer, but one at least.
constexpr double kMostNeighbours = 6;
constexpr double kNeighboursNs = 20e6;
constexpr std::size_t kMostBehind = 16;       // calls of a sample of which a few elements are compared
constexpr std::int64_t kProbedOfSample = 32;  // calls of a sample, about, whose elements are copied on the host
constexpr double kShareForParts = 0.125;      // of the memory, for the input and the output of a part

}  // namespace

CallSetting draw_setting(const Expectation& expected, SeededRandom& random, bool whole, bool linear, Pokes pokes) {
  CallSetting setting;
  setting.scales = expected.fill_scales();
  setting.fill.seed = static_cast<std::uint32_t>(random.next());
  if (!setting.scales.empty()) setting.fill.scale = setting.scales.front();
  if (pokes == Pokes::none) return setting;
  InputChange& change = setting.change;
  change.rotation = random.between(0, expected.batch() - 1);
  if (linear && !whole) change.factor = static_cast<float>(1 << random.between(0, kLargestExponent));
  change.poke_size = change.factor * expected.largest_input();
  if (linear && random.chance(50)) change.factor = -change.factor;
  change.pokes = random.next() | 1U;
  change.everywhere = pokes == Pokes::everywhere;
  change.fresh = pokes == Pokes::fresh;
  change.whole = whole;
  if (expected.moves_elements()) {
    change.shift = random.next() >> 1U;
    change.thorough = true;
    change.everywhere = change.everywhere || !expected.shows_one_element();
  }
  return setting;
}

double untimed_ns(const InputLayout& shape, std::int64_t calls, bool fresh, bool renewed) {
  double of_image = kImageNs + kPokeNs;
  if (renewed) of_image += kRenewNs * static_cast<double>(shape.bytes_per_image());
  if (fresh) of_image = kImageNs + kFreshNs * static_cast<double>(shape.elements_per_image());
  const bool is_shared = shape.batch >= kManyImages || renewed || fresh;
  return static_cast<double>(calls) * (kCallNs + (is_shared ? kThreadsNs : 0) + of_image * shape.batch);
}

to_case::Set set_request(const CallSetting& setting, const ProbeSetting& probe) {
  to_case::Set request{.change = setting.change, .fills = {}, .probe = probe.seed, .probe_every = probe.every};
  for (std::size_t output = 0; output < setting.scales.size(); ++output) {
    request.fills.push_back(setting.fill_of(output));
  }
  return request;
}

CaseVerifier::CaseVerifier(OpenCase open, const Workload& workload, double tolerance, std::uint64_t seed, bool on_host)
    : open_(std::move(open)),
      workload_(workload),
      tolerance_(workload.real().shape.problem->granted_tolerance(tolerance, workload.real().shape)),
      wanted_tolerance_(tolerance),
      on_host_(on_host),
      random_(seed, 0) {}

to_case::Prepared CaseVerifier::prepare(ProblemKind kind) {
  kind_ = kind;
  return ask(to_case::Prepare{kind});
}

CaseVerifier::Verified CaseVerifier::verify() {
  set(Pokes::one);
  const double call_ns = ask(to_case::Call()).ns;
  Verified verified{check(1), call_ns};
  const ProblemSize& size = workload_.problem(kind_).shape;
  const std::vector<ProblemTensor> outputs = size.problem->outputs(size);
  // Almost the same input, which no timed call gets: an answer that is kept by a few elements is wrong then.
  const double affordable = kNeighboursNs / std::max(call_ns, 1.0);
  const int neighbours =
      on_host_ && kind_ == ProblemKind::real ? static_cast<int>(std::clamp(affordable, 1.0, kMostNeighbours)) : 0;
  for (int i = 0; i < neighbours && verified.check.passed; ++i) {
    setting_.change.pokes = random_.next() | 1U;
    setting_.fill.part = i % 2 == 0 ? FillPart::nothing : FillPart::all;  // beside its last output, and without it
    ask(set_request(setting_, probe_));
    ask(to_case::Call());
    verified.check = check(1);
  }
  setting_.fill.part = FillPart::all;
  if (!verified.check.passed || std::ranges::none_of(outputs, OutputFill::happens, &ProblemTensor::type)) {
    return verified;
  }
  // An element that was right may have held the fill's very bits without ever being written: that cannot happen twice.
  setting_.fill.opposite = true;
  ask(set_request(setting_, probe_));
  ask(to_case::Call());
  return {check(1), call_ns};
}

std::vector<StepCheck> CaseVerifier::verify_parts(const std::vector<VariantPart>& parts) {
  set(Pokes::none);
  const ProblemData& data = workload_.problem(kind_);
  std::int64_t largest = data.shape.input_elements_per_item();
  for (const VariantPart& part : parts) largest = std::max(largest, part.size.output_elements_per_item());
  const double room = kShareForParts * static_cast<double>(available_memory_bytes());
  const double fitting = room / (2.0 * sizeof(float) * static_cast<double>(largest));
  const int items = static_cast<int>(std::clamp(fitting, 1.0, static_cast<double>(data.shape.batch)));
  std::vector<float> input(data.input().begin(), data.input().begin() + items * data.shape.input_elements_per_item());
  const std::vector<PlacedTensor> constants = data.placed_constants();
  std::vector<StepCheck> checks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const VariantPart& part = parts[i];
    const OutputFill fill{.seed = static_cast<std::uint32_t>(random_.next()), .scale = 1};
    ask(to_case::RunPart{i, fill});
    std::vector<float> output = read_part(part, items);
    PartComparison comparison(part, constants, secret_number());
    const double by_element = kComparedFlop / std::max(1.0, part.size.flop());
    comparison.compare({0, items, input.data(), output.data(), fill, data.shape.batch},
                       static_cast<int>(std::clamp(by_element, 1.0, static_cast<double>(items))));
    checks.push_back(comparison.check());
    if (!checks.back().passed()) {
      throw CaseFailure(Status::incorrect, fmt::format("{}: {}", part.name, checks.back().failure));
    }
    input = std::move(output);
  }
  return checks;
}

/// The output of the part that was run last, of the first items.
std::vector<float> CaseVerifier::read_part(const VariantPart& part, int items) const {
  std::vector<float> output;
  const auto all = part.size.output_elements_per_item() * items;
  const std::int64_t at_once = open_.window_bytes() / static_cast<std::int64_t>(sizeof(float));
  const ReadTensor read = open_.tensors();
  output.reserve(static_cast<std::size_t>(all));
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    const auto* const found = static_cast<const float*>(read(time_of::part(part.name), first, count));
    output.insert(output.end(), found, found + count);
  }
  return output;
}

void CaseVerifier::set_for_timing(std::int64_t calls, bool varied) {
  set(on_host_ ? Pokes::fresh
      : varied ? Pokes::everywhere
               : Pokes::one,
      calls > 1 ? FillPart::pieces : FillPart::all, on_host_ ? std::max<std::int64_t>(calls / kProbedOfSample, 1) : 1);
  const ProblemData& problem = workload_.problem(kind_);
  const std::size_t inputs = problem.shape.problem->inputs(problem.shape).size();
  untimed_ns_ = 0;
  if (varied) {
    // An input is changed; elements of an output are filled before a call and copied after it.
    const std::size_t outputs = problem.shape.problem->outputs(problem.shape).size();
    double of_call = kLaunchNs * static_cast<double>(kLaunchesOfCall + 2 * outputs);
    for (const InputLayout& layout : input_layouts(problem)) {
      of_call += 2 * kLaunchNs + kGpuByteNs * static_cast<double>(layout.bytes_per_image()) * layout.batch;
    }
    untimed_ns_ = static_cast<double>(calls) * of_call;
    return;
  }
  for (const InputLayout& layout : input_layouts(problem)) {
    untimed_ns_ += convladder::untimed_ns(layout, calls, on_host_, layout.tensor >= inputs);
  }
}

void CaseVerifier::set_for_following_call() { set(on_host_ ? Pokes::fresh : Pokes::one, FillPart::nothing); }

void CaseVerifier::set(Pokes pokes, FillPart part, std::int64_t probe_every) {
  setting_ = draw_setting(workload_.expected(kind_), random_, kind_ == ProblemKind::integers,
                          workload_.expected(kind_).is_linear(), pokes);
  setting_.fill.part = part;
  probe_ = {secret_number(), on_host_ ? probe_every : 1};  // a GPU enqueues the look behind every call
  ask(set_request(setting_, probe_));
}

std::int64_t CaseVerifier::left_in_last_image() const {
  const ProblemSize& size = workload_.real().shape;
  const std::vector<ProblemTensor> outputs = size.problem->outputs(size);
  const ReadTensor read = open_.tensors();
  std::int64_t left = 0;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    const ProblemTensor& tensor = outputs[output];
    const std::int64_t first = (workload_.planned_batch() - 1) * tensor.elements;
    const std::int64_t at_once = open_.window_bytes() / static_cast<std::int64_t>(element_bytes(tensor.type));
    const OutputFill fill = setting_.fill_of(output);
    std::int64_t of_tensor = 0;
    for (std::int64_t at = 0; at < tensor.elements; at += at_once) {
      const std::int64_t count = std::min(at_once, tensor.elements - at);
      const void* const found = read(tensor.name, first + at, count);
      with_element_type(tensor.type, [&]<typename T>(T) {
        const auto* const elements = static_cast<const T*>(found);
        for (std::int64_t i = 0; i < count; ++i) of_tensor += fill.left_at(first + at + i, elements[i]) ? 1 : 0;
      });
    }
    const bool by_chance = OutputFill::happens(tensor.type) &&
                           !OutputFill::is_too_many(tensor.type, of_tensor, static_cast<double>(tensor.elements));
    if (!by_chance) left += of_tensor;
  }
  return left;
}

/// The tolerance of a comparison made now.
double CaseVerifier::tolerance() const {
  const ProblemSize& size = workload_.real().shape;
  const bool exact = kind_ == ProblemKind::integers && size.problem->is_exact_on_whole_numbers(size, wanted_tolerance_);
  return exact ? 0 : tolerance_;
}

Check CaseVerifier::check(std::int64_t call) {
  setting_.call = call;
  return workload_.expected(kind_).compare(open_.tensors(), open_.window_bytes(), setting_, tolerance());
}

std::vector<std::int64_t> CaseVerifier::some_probed_calls(std::int64_t last) const {
  const ProbedElements probed{.seed = probe_.seed, .every = probe_.every};
  std::vector<std::int64_t> calls;
  for (std::int64_t call = std::max<std::int64_t>(last - ProbedElements::kCalls, 0) + 1; call <= last; ++call) {
    if (probed.has(call)) calls.push_back(call);
  }
  SeededRandom random(secret_number(), 0);
  shuffle(calls, random);
  calls.resize(std::min<std::size_t>(calls.size(), kMostBehind));
  return calls;
}

CaseVerifier::Probes CaseVerifier::check_behind(std::int64_t last, double most_ns) {
  Probes probes;
  probes.check.passed = true;
  const std::vector<std::int64_t> calls = some_probed_calls(last);
  if (calls.empty()) return probes;
  const auto begin = std::chrono::steady_clock::now();
  const ProblemSize& size = workload_.problem(kind_).shape;
  const std::vector<ProblemTensor> results =
      on_host_ ? size.problem->results(size) : size.problem->outputs(size);  // of a GPU's in-outs none are copied
  std::vector<std::vector<std::byte>> found;
  for (std::size_t i = 0; i < results.size(); ++i) {
    ask(to_case::Probed{i, calls});
    const std::size_t bytes = calls.size() * ProbedElements::kElements * element_bytes(results[i].type);
    found.emplace_back(open_.window->data(), open_.window->data() + bytes);
  }
  for (std::size_t place = 0; place < calls.size() && probes.check.passed; ++place) {
    probes.check = compare_probed(calls[place], found, place);
    ++probes.calls;
    if (std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() >= most_ns) break;
  }
  return probes;
}

Check CaseVerifier::compare_probed(std::int64_t call, const std::vector<std::vector<std::byte>>& found,
                                   std::size_t place) const {
  const Expectation& expected = workload_.expected(kind_);
  CallSetting setting = setting_;
  setting.call = call;
  const ProblemSize& size = workload_.problem(kind_).shape;
  const std::size_t outputs = size.problem->outputs(size).size();
  const std::vector<ProblemTensor> results = size.problem->results(size);
  ProbedElements probed{.seed = probe_.seed, .items = expected.batch(), .every = probe_.every};
  const std::int64_t item = probed.item(call);
  std::vector<ChosenElements> chosen;
  std::vector<std::vector<std::int64_t>> elements(results.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    probed.of_item = results[i].elements;
    chosen.push_back(probed.of_call(call));
    if (results[i].any_order) continue;  // its elements may lie anywhere
    for (std::int32_t k = 0; k < ProbedElements::kElements; ++k) {
      elements[i].push_back(chosen[i].element(k) - item * results[i].elements);
    }
  }
  const std::vector<ReferenceOutput> references = expected.of_elements(setting, static_cast<int>(item), elements);
  Check check;
  check.passed = true;
  for (std::size_t i = 0; i < found.size() && check.passed; ++i) {
    if (results[i].any_order) continue;
    const auto fill = i < outputs ? std::optional(setting.fill_of(i)) : std::nullopt;
    const std::size_t first = place * ProbedElements::kElements * element_bytes(results[i].type);
    check = check_probed(results[i], chosen[i], fill, references[i], item, found[i].data() + first, tolerance());
  }
  return check;
}

}  // namespace convladder

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
constexpr double kRenewNs = 0.5;     // for each byte that is written anew
constexpr double kLaunchNs = 6e3;    // for a kernel that a slow host launches
constexpr double kGpuByteNs = 0.02;  // for each byte that a slow GPU changes
constexpr int kLaunchesOfCall = 4;   // besides those for tensors: events, and a part of keeping the device busy
constexpr int kLargestExponent = 2;  // of the factor of an input: 1, 2 or 4

constexpr int kMostBehind = 16;  // calls of a sample that are looked at behind, as long as that takes no longer than
constexpr std::chrono::milliseconds kBehind{20};
constexpr double kShareForParts = 0.125;  // of the memory, for the input and the output of a part

}  // namespace

CallSetting draw_setting(const Expectation& expected, SeededRandom& random, bool whole, bool linear, Pokes pokes,
                         const std::array<std::int64_t, 2>& looked_at) {
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
  change.looked_at = looked_at;
  change.everywhere = pokes == Pokes::everywhere;
  change.whole = whole;
  if (expected.moves_elements()) {
    change.shift = random.next() >> 1U;
    change.thorough = true;
    change.one_is_unseen = !expected.shows_one_element();
    change.everywhere = change.everywhere || change.one_is_unseen;
  }
  return setting;
}

double untimed_ns(const InputLayout& shape, std::int64_t calls, bool on_host, bool renewed) {
  const int step = std::max(shape.window, 2);
  const int rows = (shape.height - 1) / step + 1;
  const int columns = (shape.width - 1) / step + 1;
  const double grid = double{1} * rows * columns;
  double of_image = kImageNs + kPokeNs * (on_host ? (grid + 1) / 2 : 1);
  if (renewed) of_image += kRenewNs * static_cast<double>(shape.bytes_per_image());
  return static_cast<double>(calls) *
         (kCallNs + (shape.batch >= kManyImages || renewed ? kThreadsNs : 0) + of_image * shape.batch);
}

to_case::Set set_request(const CallSetting& setting, std::uint64_t probe) {
  to_case::Set request{.change = setting.change, .fills = {}, .probe = probe};
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
  set(on_host_ || varied ? Pokes::everywhere : Pokes::one, calls, calls > 1 ? FillPart::pieces : FillPart::all);
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

void CaseVerifier::set_for_following_call() { set(on_host_ ? Pokes::everywhere : Pokes::one, 1, FillPart::nothing); }

void CaseVerifier::set(Pokes pokes, std::int64_t looked_at, FillPart part) {
  setting_ = draw_setting(workload_.expected(kind_), random_, kind_ == ProblemKind::integers,
                          workload_.expected(kind_).is_linear(), pokes, {looked_at, looked_at});
  setting_.fill.part = part;
  probe_ = secret_number();
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

Check CaseVerifier::check_behind(std::int64_t calls) {
  const std::int64_t first = std::max<std::int64_t>(calls - ProbedElements::kCalls, 0) + 1;
  SeededRandom random(secret_number(), 0);
  const auto end = std::chrono::steady_clock::now() + kBehind;
  Check check;
  check.passed = true;
  for (int left = kMostBehind; left > 0 && check.passed; --left) {
    check = check_behind_call(random.between(static_cast<int>(first), static_cast<int>(calls)));
    if (std::chrono::steady_clock::now() >= end) break;
  }
  return check;
}

Check CaseVerifier::check_behind_call(std::int64_t call) {
  const Expectation& expected = workload_.expected(kind_);
  CallSetting setting = setting_;
  setting.call = call;
  const ProblemSize& size = workload_.problem(kind_).shape;
  const std::vector<ProblemTensor> outputs = size.problem->outputs(size);
  const std::int64_t item = ProbedElements{.seed = probe_, .items = expected.batch()}.item(setting.call);
  const std::vector<ReferenceOutput> of_item = expected.of_item(setting, static_cast<int>(item));
  Check check;
  check.passed = true;
  for (std::size_t i = 0; i < outputs.size() && check.passed; ++i) {
    if (outputs[i].any_order) continue;
    ask(to_case::Probed{i, setting.call});
    const ProbedElements probed{.seed = probe_, .items = expected.batch(), .of_item = outputs[i].elements};
    check = check_probed(outputs[i], probed.of_call(setting.call), setting.fill_of(i), of_item[i], item,
                         open_.window->data(), tolerance());
  }
  return check;
}

}  // namespace convladder

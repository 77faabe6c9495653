#include "harness/cases/case_verifier.hpp"

#include <algorithm>
#include <utility>

#include "harness/verification/changed_input.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr double kCallNs = 2000;      // of the loop around a call
constexpr double kThreadsNs = 20000;  // of waking threads for the input of many images
constexpr int kManyImages = 64;
constexpr double kImageNs = 100;     // of what an image gets
constexpr double kPokeNs = 2 * 5;    // of an element that is replaced and put back
constexpr int kLargestExponent = 2;  // of the factor of an input: 1, 2 or 4

}  // namespace

CallSetting draw_setting(const Expectation& expected, SeededRandom& random, bool whole, bool linear, Pokes pokes,
                         const std::array<std::int64_t, 2>& looked_at) {
  CallSetting setting;
  setting.fill = {static_cast<std::uint32_t>(random.next()), expected.largest_magnitude()};
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
  return setting;
}

double untimed_ns(const InputLayout& shape, std::int64_t calls, bool on_host) {
  const int step = std::max(shape.window, 2);
  const int rows = (shape.height - 1) / step + 1;
  const int columns = (shape.width - 1) / step + 1;
  const double grid = double{1} * rows * columns;
  const double of_image = kImageNs + kPokeNs * (on_host ? (grid + 1) / 2 : 1);
  return static_cast<double>(calls) *
         (kCallNs + (shape.batch >= kManyImages ? kThreadsNs : 0) + of_image * shape.batch);
}

ordered_json set_request(const CallSetting& setting) {
  return {{"do", "set"}, {"change", to_json(setting.change)}, {"fill", to_json(setting.fill)}};
}

CaseVerifier::CaseVerifier(OpenCase open, const Workload& workload, double tolerance, std::uint64_t seed, bool on_host)
    : open_(std::move(open)),
      workload_(workload),
      tolerance_(workload.real().shape.problem->granted_tolerance(tolerance, workload.real().shape)),
      wanted_tolerance_(tolerance),
      on_host_(on_host),
      random_(seed, 0) {}

ordered_json CaseVerifier::prepare(ProblemKind kind) {
  kind_ = kind;
  return ask({{"do", "prepare"}, {"problem", kind == ProblemKind::integers ? "integers" : "real"}});
}

CaseVerifier::Verified CaseVerifier::verify() {
  set(Pokes::one);
  const auto call_ns = ask({{"do", "call"}}).at("ns").get<double>();
  return {check(1), call_ns};
}

void CaseVerifier::set_for_timing(std::int64_t calls) {
  set(on_host_ ? Pokes::everywhere : Pokes::one, calls, calls > 1 ? FillPart::pieces : FillPart::all);
  untimed_ns_ = convladder::untimed_ns(InputLayout(workload_.problem(kind_).shape), calls, on_host_);
}

void CaseVerifier::set_for_following_call() { set(on_host_ ? Pokes::everywhere : Pokes::one, 1, FillPart::nothing); }

void CaseVerifier::set(Pokes pokes, std::int64_t looked_at, FillPart part) {
  setting_ = draw_setting(workload_.expected(kind_), random_, kind_ == ProblemKind::integers,
                          workload_.expected(kind_).is_linear(), pokes, {looked_at, looked_at});
  setting_.fill.part = part;
  ask(set_request(setting_));
}

std::int64_t CaseVerifier::left_in_last_image() const {
  const std::int64_t elements = workload_.real().shape.output_elements_per_item();
  const std::int64_t first = (workload_.planned_batch() - 1) * elements;
  const ReadOutput read = open_.output(ordered_json::object());
  std::int64_t left = 0;
  for (std::int64_t at = 0; at < elements; at += open_.window_elements()) {
    const std::int64_t count = std::min(open_.window_elements(), elements - at);
    const float* const found = read(first + at, count);
    for (std::int64_t i = 0; i < count; ++i) left += setting_.fill.left_at(first + at + i, found[i]) ? 1 : 0;
  }
  return left;
}

Check CaseVerifier::check(std::int64_t call) {
  setting_.call = call;
  const bool exact = kind_ == ProblemKind::integers && workload_.real().shape.problem->is_exact_on_whole_numbers(
                                                           workload_.real().shape, wanted_tolerance_);
  return workload_.expected(kind_).compare(open_.output(ordered_json::object()), open_.window_elements(), setting_,
                                           exact ? 0 : tolerance_);
}

}  // namespace convladder

#include "harness/measure/cases/case_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "devices/cpu/other_threads.hpp"
#include "devices/device_error.hpp"
#include "harness/measure/cases/google_engine.hpp"

namespace convladder {

namespace {

constexpr double kMostUntimed = 20;     // how many times its length a sample may take with the untimed work
constexpr int kMostEnqueued = 1 << 14;  // calls: a device takes about a thousand before it makes the host wait
constexpr int kFewestCalibrated = 3;    // calls, unless they take longer than that

constexpr double kRecordedNs = 500e3;            // duration of a recording: beside it, the host's one call is nothing
constexpr std::int64_t kMostRecorded = 1 << 10;  // calls
constexpr std::int64_t kMostUnhindered = 256;    // calls that a device takes without making the host wait

constexpr std::int64_t kVariedAtOnce = 64;   // calls that, with the work done around each of them, fit what a device
                                             // takes
constexpr std::int64_t kVariedPerFlush = 3;  // calls that the host enqueues while the device flushes its cache once

constexpr double kWarmStretchNs = 2.5e6;  // length of the stretches of which a warm-up consists
constexpr double kMostWarmUpNs = 500e6;   // a clock that never stays is recognised by its samples
constexpr double kSameClock = 0.01;       // tolerance between two stretches in a row
constexpr double kSameTime = 0.02;        // tolerance between two stretches where the device does not know its clock

template <typename Held>
std::vector<PlacedTensor> placed(const std::vector<Held>& tensors) {
  std::vector<PlacedTensor> all;
  all.reserve(tensors.size());
  for (const Held& one : tensors) all.push_back({one.tensor, one.buffer.address()});
  return all;
}

using SteadyClock = std::chrono::steady_clock;

double ns_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double, std::nano>(SteadyClock::now() - begin).count();
}

bool is_within(double one, double other, double share) { return std::abs(one - other) <= share * other; }

}  // namespace

CaseSession::CaseSession(std::string id, std::unique_ptr<Device> device, const ProblemVariant& variant,
                         const Workload& workload, const SharedMemory& window)
    : Session(id, std::move(device)),
      id_(std::move(id)),
      variant_(variant),
      workload_(workload),
      window_(window),
      for_variant_(CaseSession::device()) {
  pinned_window_ = CaseSession::device().pin(window_.data(), window_.bytes());
  CaseSession::device().set_counting(false);  // except where counters are asked for
}

CaseSession::Answer CaseSession::carry_out(const Request& request) {
  const struct Afterwards {
    ~Afterwards() { OtherThreads::rest(); }  // it is another case's turn
  } afterwards;
  const bool only_reads = std::holds_alternative<ReadElements>(request) ||
                          std::holds_alternative<to_case::Probed>(request) ||
                          std::holds_alternative<to_case::State>(request);
  if (!only_reads) at_return_.forget();
  return std::visit([this](const auto& wanted) -> Answer { return answer(wanted); }, request);
}

to_case::Prepared CaseSession::answer(const to_case::Prepare& wanted) {
  const ProblemKind kind = wanted.problem;
  problem_ = &workload_.problem(kind);
  const int batch = kind == ProblemKind::real ? workload_.planned_batch() : problem_->shape.batch;
  const ProblemSize shape = problem_->shape.with_batch(batch);
  recorded_.clear();
  prepared_.reset();
  changed_.clear();
  probes_.clear();
  outputs_.clear();
  inputs_ = hold(shape.problem->inputs(shape), batch);
  in_outs_ = hold(shape.problem->in_outs(shape), batch);
  outputs_ = hold(shape.problem->outputs(shape), batch);
  const std::vector<InputLayout> layouts = input_layouts_with_ranges(*problem_);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const bool is_input = i < inputs_.size();
    const HeldTensor& held = is_input ? inputs_[i] : in_outs_[i - inputs_.size()];
    changed_.emplace_back(device(), layouts[i], problem_->given[i].bytes.data(), held.buffer.address(), !is_input);
    changed_.back().write_decoy();
  }
  const bool is_on_host = device().has_clock() && !device().is_asynchronous();
  const auto probe = [&](const std::vector<HeldTensor>& results) {
    for (const HeldTensor& one : results) {
      probes_.emplace_back(device(), one.tensor.type, batch, one.tensor.elements, one.buffer.address());
      device().expect_final(one.buffer.address(), one.buffer.bytes());
    }
  };
  if (is_on_host || device().filling() != nullptr) probe(outputs_);
  if (is_on_host) probe(in_outs_);
  const auto prepare_now = [&] {
    const ProblemTensors tensors{placed(inputs_), problem_->placed_constants(), placed(outputs_), placed(in_outs_)};
    prepared_ = variant_.variant->prepare(for_variant(), shape, tensors);
  };
  for_variant_.allow_copies(true);
  prepare_now();
  device().wait();
  double prepare_ns = 0;
  if (kind == ProblemKind::real) {
    // Once more, now that libraries are loaded and memory is touched: this gives the cost of preparing, not of
    // starting.
    prepared_.reset();
    prepare_ns = device().time_ns(prepare_now);
  }
  for_variant_.allow_copies(false);
  variant_parts_ = variant_.variant->parts(problem_->shape);
  // If a batch is only counted, the problem holds its first images: the blocks of the others do not run.
  device().set_grid_window(batch == problem_->shape.batch
                               ? std::nullopt
                               : std::optional(GridWindow{0, unsigned(problem_->shape.batch), unsigned(batch)}));
  return {.prepare_ns = prepare_ns,
          .own_layout = prepared_->has_own_layout(),
          .choice = prepared_->choice(),
          .parts = prepared_->parts(),
          .can_be_cold = device().can_flush_caches(),
          .has_clock = device().has_clock(),
          .is_asynchronous = device().is_asynchronous()};
}

/// The device as the variant sees it. Without a clock it is only counted, behind the variant's back.
Device& CaseSession::for_variant() {
  if (device().has_clock()) return device();
  return for_variant_;
}

std::vector<CaseSession::HeldTensor> CaseSession::hold(const std::vector<ProblemTensor>& tensors, int items) {
  std::vector<HeldTensor> held;
  held.reserve(tensors.size());
  for (const ProblemTensor& tensor : tensors) {
    held.push_back({tensor, device().allocate(tensor.bytes() * static_cast<std::size_t>(items), tensor.name)});
  }
  return held;
}

Done CaseSession::answer(const to_case::Set& wanted) {
  for (ChangedInput& one : changed_) one.set(wanted.change);
  probed_calls_ = 0;
  // Outputs of the whole batch, of which the problem may be the first images.
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const HeldTensor& output = outputs_[i];
    const OutputFill& fill = wanted.fills.at(i);
    fill_output(device(), output.buffer.address(), output.tensor.type, output.elements(), fill);
  }
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    probes_[i].set(wanted.probe, wanted.probe_every, i < outputs_.size() ? wanted.fills.at(i) : OutputFill());
  }
  return {};
}

Done CaseSession::answer(const ReadElements& wanted) {
  const auto [tensor, first, count] = wanted;
  for (const std::vector<HeldTensor>* const role : {&outputs_, &in_outs_, &inputs_}) {
    for (const HeldTensor& held : *role) {
      if (held.tensor.name != tensor) continue;
      const std::size_t bytes = element_bytes(held.tensor.type);
      if (first < 0 || count < 0 || first + count > held.elements() ||
          static_cast<std::size_t>(count) * bytes > window_.bytes()) {
        throw std::logic_error(fmt::format("{} elements from {} on are not in the tensor '{}'", count, first, tensor));
      }
      const auto* const from = static_cast<const std::byte*>(held.buffer.address());
      device().copy_to_host(window_.data(), from + static_cast<std::size_t>(first) * bytes,
                            static_cast<std::size_t>(count) * bytes);
      refuse_late_writes();
      return {};
    }
  }
  if (const auto part = part_of(tensor); part && *part < variant_parts_.size()) {
    read_part(*part, static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    return {};
  }
  throw std::logic_error(fmt::format("no tensor is called '{}'", tensor));
}

Done CaseSession::answer(const to_case::Probed& wanted) {
  std::byte* to = window_.data();
  for (const std::int64_t call : wanted.calls) {
    if (wanted.result >= probes_.size() || call < 1 || call > probed_calls_ || !probes_[wanted.result].has(call)) {
      throw std::logic_error(fmt::format("call {} was not looked at in result {}", call, wanted.result));
    }
    const std::size_t bytes = probes_[wanted.result].bytes_of_call();
    if (static_cast<std::size_t>(to - window_.data()) + bytes > window_.bytes()) {
      throw std::logic_error("the window does not hold so many calls");
    }
    probes_[wanted.result].read(call, to);
    to += bytes;
  }
  return {};
}

to_case::StateOfDevice CaseSession::answer(const to_case::State& /*wanted*/) {
  return {device().state(), device().timed_clock_mhz()};
}

to_case::Called CaseSession::answer(const to_case::Call& /*wanted*/) {
  const to_case::Called called{timed_call(time_of::kLayer, 1, false)};
  keep_outputs();
  return called;
}

/// Keeps what a stage of somebody's has written by the time that it returns.
void CaseSession::keep_outputs() {
  if (variant_.variant->compiled_stage() == nullptr || !device().is_host_memory()) return;
  for (const std::vector<HeldTensor>* const role : {&outputs_, &in_outs_}) {
    for (const HeldTensor& held : *role) {
      const std::size_t bytes = element_bytes(held.tensor.type) * static_cast<std::size_t>(held.elements());
      at_return_.keep({static_cast<const std::byte*>(held.buffer.address()), bytes});
    }
  }
}

void CaseSession::refuse_late_writes() const {
  if (!at_return_.changed()) return;
  throw EndedProcess({Status::refused, kWroteLate});
}

/// Elements of the part's output, of all items.
std::size_t CaseSession::elements_of(std::size_t part) const {
  const ProblemSize& size = variant_parts_[part].size;
  return static_cast<std::size_t>(size.output_elements_per_item()) * static_cast<std::size_t>(problem_->shape.batch);
}

Done CaseSession::answer(const to_case::RunPart& wanted) {
  const std::size_t part = wanted.part;
  if (part >= variant_parts_.size()) throw std::logic_error(fmt::format("there is no part {}", part));
  if (part == 0) {
    before_call(time_of::kLayer, 1);
    last_call_ = 1;
    prepared_->load_input();
  }
  const std::size_t elements = elements_of(part);
  if (!variant_parts_[part].size.problem->works_in_place()) {
    fill_part(device(), *prepared_, part, static_cast<std::int64_t>(elements), wanted.fill);
  }
  prepared_->run_part(part);
  if (part + 1 == variant_parts_.size()) prepared_->store_output();
  device().wait();
  const bool is_own_layout = prepared_->part_output(part) == nullptr;
  part_on_host_.resize(is_own_layout ? elements : 0);
  if (is_own_layout) prepared_->read_part(part, part_on_host_.data());
  return {};
}

void CaseSession::read_part(std::size_t part, std::size_t first, std::size_t count) {
  const std::size_t elements = elements_of(part);
  if (first > elements || count > elements - first || count * sizeof(float) > window_.bytes()) {
    throw std::logic_error(fmt::format("{} elements from {} on are not in the output of part {}", count, first, part));
  }
  const float* const output = prepared_->part_output(part);
  if (output == nullptr) {
    std::copy_n(part_on_host_.begin() + static_cast<std::ptrdiff_t>(first), count,
                reinterpret_cast<float*>(window_.data()));
  } else {
    device().copy_to_host(window_.data(), output + first, count * sizeof(float));
  }
}

/// The counters of the whole batch; only `images` of it are executed where those tell the counts of the others.
std::vector<KernelCounters> CaseSession::count_images(int images, int batch) {
  if (workload_.real().shape.problem->items_are_alike()) {
    device().set_counted_items(GridWindow{0, static_cast<unsigned>(images), static_cast<unsigned>(batch)});
  }
  device().take_counters();  // some devices always count
  device().take_lines();
  device().take_work_beside();
  device().set_counting(true);
  prepared_->run();
  device().wait();
  device().set_counting(false);
  device().set_counted_items(std::nullopt);
  return device().take_counters();
}

/// Fills the batch by repeating its first images, which stand for the others as well.
void CaseSession::repeat_images(int images, int batch) {
  const std::span<const float> there = workload_.real().input();
  const std::size_t all = there.size() / static_cast<std::size_t>(images) * static_cast<std::size_t>(batch);
  for (std::size_t at = there.size(); at < all; at += there.size()) {
    device().copy_to_device(inputs_[0].buffer.floats() + at, there.data(),
                            std::min(there.size(), all - at) * sizeof(float));
  }
  device().set_grid_window(std::nullopt);
  prepared_->load_input();
}

to_case::Counted CaseSession::answer(const to_case::Count& /*wanted*/) {
  const int images = workload_.real().shape.batch;
  const int batch = workload_.planned_batch();
  std::vector<KernelCounters> kernels = count_images(images, batch);
  // A counter that depends on images that are not there is not known exactly.
  const bool exact =
      images == batch || std::ranges::none_of(kernels, [](const KernelCounters& one) { return one.depends_on_data; });
  if (!exact) {
    repeat_images(images, batch);
    kernels = count_images(images, batch);
  }
  const WorkBeside beside = device().take_work_beside();  // before this process has work of its own
  to_case::Counted counted{case_counters(std::move(kernels), batch, exact, counted_lines(device().take_lines()))};
  counted.counters.beside = beside;
  if (counted.counters.beside.host_ns <= kUntoldHostNs) counted.counters.beside.host_ns = 0;
  return counted;
}

Done CaseSession::answer(const to_case::Profile& wanted) {
  // The request's own NVTX range is around this: a profiler that looks at that range sees these launches and no other.
  for (int i = 0; i < wanted.calls; ++i) prepared_->run();
  device().wait();
  return {};
}

/// Runs the parts of the work from `first` to before `end`.
void CaseSession::run_parts(std::size_t first, std::size_t end) {
  for (std::size_t part = first; part < end; ++part) prepared_->run_part(part);
}

/// The number of the part that is timed; none if `of` is no part.
std::optional<std::size_t> CaseSession::part_of(const std::string& of) const {
  const std::vector<std::string> parts = prepared_->parts();
  const auto found = std::ranges::find(parts, of, time_of::part);
  return found == parts.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - parts.begin()));
}

/// Sets the input of a call, and fills its output with values that no call can know. Enqueued, where the device has
/// fill kernels. The input comes last: until then it is another call's input, and code that works ahead works for
/// nothing.
void CaseSession::before_call(const std::string& of, std::int64_t call) {
  if (of == time_of::kLayer) {  // another part does not write the outputs
    for (OutputProbe& one : probes_) one.before_call(call);
  }
  for (ChangedInput& one : changed_) one.before_call(call);
}

/// Looks at the output that the call has written, before anything can follow it.
void CaseSession::behind_call(const std::string& of, std::int64_t call) {
  if (of != time_of::kLayer || probes_.empty()) return;
  for (OutputProbe& one : probes_) one.behind_call(call);
  if (probes_.front().has(call)) probed_calls_ = std::max(probed_calls_, call);
}

/// Does the untimed work that a call needs before the timed part.
void CaseSession::before_timed(const std::string& of, std::int64_t call) {
  // A store is short, but computing what it stores is not: that is done once for all of a sample's stores.
  if (of == time_of::kStoreOutput && call > 1) return;
  before_call(of, call);
  last_call_ = call;
  if (of == time_of::kOp || of == time_of::kStoreOutput) prepared_->load_input();
  if (of == time_of::kStoreOutput) prepared_->run();
  if (const auto part = part_of(of)) {
    prepared_->load_input();
    run_parts(0, *part);
  }
}

void CaseSession::timed(const std::string& of, std::optional<std::size_t> part) {
  if (of == time_of::kEmptyKernel) device().launch_nothing();
  if (of == time_of::kLayer || of == time_of::kLoadInput) prepared_->load_input();
  if (of == time_of::kLayer || of == time_of::kOp) prepared_->run();
  if (of == time_of::kLayer || of == time_of::kStoreOutput) prepared_->store_output();
  if (part) prepared_->run_part(*part);
}

/// Does the rest of the layer after the timed part.
void CaseSession::after_timed(const std::string& of) {
  if (of == time_of::kLoadInput) prepared_->run();
  const std::optional<std::size_t> part = part_of(of);
  if (part) run_parts(*part + 1, prepared_->parts().size());
  if (of == time_of::kLoadInput || of == time_of::kOp || part) prepared_->store_output();
}

double CaseSession::timed_call(const std::string& of, std::int64_t call, bool cold) {
  before_timed(of, call);
  const std::optional<std::size_t> part = part_of(of);
  if (cold) device().flush_caches();
  const double nanoseconds = device().time_ns([&] { timed(of, part); });
  behind_call(of, call);
  return nanoseconds;
}

/// Keeps an asynchronous device busy while the following work is enqueued, so that the clock is not started on an idle
/// device, where it would time the latency of the first launch. The call that follows the flush fills the caches again.
void CaseSession::run_ahead(const std::string& of, std::int64_t call) {
  before_timed(of, call);
  device().forget_persisting();
  device().flush_caches();
  timed(part_of(of) ? time_of::kLayer : of, std::nullopt);
  behind_call(of, call);
}

/// Whether a call finds what the one before it found if nobody changes it in between.
bool CaseSession::calls_are_alike() const { return std::ranges::none_of(changed_, &ChangedInput::renewed); }

/// Gives a call the same inputs and in-outs as the call before.
void CaseSession::renew(const std::string& of) {
  if (calls_are_alike()) return;
  for (ChangedInput& one : changed_) {
    if (one.renewed()) one.before_call(last_call_);
  }
  if (of == time_of::kOp) prepared_->load_input();
}

/// The mean time of `iterations` calls, all of them given to an asynchronous device before it has come to the first.
/// They have one input, that of call number `call`.
double CaseSession::enqueued_calls_ns(const TimedKind& kind, std::int64_t iterations, std::int64_t call) {
  if (kind.varied) return varied_calls_ns(kind, iterations);
  const bool is_empty = kind.of == time_of::kEmptyKernel;
  run_ahead(is_empty ? time_of::kLayer : kind.of, call);
  enqueue_ns_ = 0;
  if (kind.replayed) return replayed_calls_ns(kind.of, iterations);
  if (!kind.cold && !is_empty && !part_of(kind.of) && calls_are_alike()) return launched_calls_ns(kind.of, iterations);
  return single_calls_ns(kind, iterations);
}

double CaseSession::replayed_calls_ns(const std::string& of, std::int64_t iterations) {
  const RecordedCalls& recorded = recorded_.at(of);
  const double all = device().time_ns([&] {
    std::int64_t left = iterations;
    for (; left >= recorded.calls; left -= recorded.calls) recorded.recording->replay();
    for (; left > 0; --left) recorded.one_call->replay();
  });
  return all / static_cast<double>(iterations);
}

double CaseSession::launched_calls_ns(const std::string& of, std::int64_t iterations) {
  const double all = device().time_ns([&] {
    const auto begin = SteadyClock::now();
    const std::int64_t unhindered = std::min(iterations, kMostUnhindered);
    for (std::int64_t i = 0; i < unhindered; ++i) timed(of, std::nullopt);
    enqueue_ns_ = ns_since(begin) / static_cast<double>(unhindered);
    for (std::int64_t i = unhindered; i < iterations; ++i) timed(of, std::nullopt);
  });
  return all / static_cast<double>(iterations);
}

/// The mean time of calls that run one at a time, with untimed work before each.
double CaseSession::single_calls_ns(const TimedKind& kind, std::int64_t iterations) {
  const std::optional<std::size_t> part = part_of(kind.of);
  // A part may work in place, so the parts before it make its input anew.
  const auto before = [&](std::size_t /*call*/) {
    renew(kind.of);
    if (part) {
      prepared_->load_input();
      run_parts(0, *part);
    }
    if (kind.cold) device().flush_caches();
  };
  const std::vector<double> times = device().times_ns(static_cast<std::size_t>(iterations), before,
                                                      [&](std::size_t /*call*/) { timed(kind.of, part); });
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(iterations);
}

void CaseSession::begin_varied_call(const TimedKind& kind, std::int64_t call) {
  before_call(kind.of, call);
  last_call_ = call;
  if (kind.of == time_of::kOp) prepared_->load_input();
  if (kind.cold) device().flush_caches();
}

/// The mean time of calls 1 to `iterations`, each run alone on an input of its own, and looked at right after it. The
/// work around them takes the host longer than short calls take the device: so the device is kept busy until a whole
/// batch of them is enqueued.
double CaseSession::varied_calls_ns(const TimedKind& kind, std::int64_t iterations) {
  double sum = 0;
  for (std::int64_t first = 1; first <= iterations; first += kVariedAtOnce) {
    const std::int64_t calls = std::min(kVariedAtOnce, iterations - first + 1);
    for (std::int64_t i = 1; i < calls / kVariedPerFlush; ++i) device().flush_caches();
    run_ahead(kind.of, iterations + 1);
    const std::vector<double> times = device().times_ns(
        static_cast<std::size_t>(calls),
        [&](std::size_t i) {
          const std::int64_t call = first + static_cast<std::int64_t>(i);
          if (i > 0) behind_call(kind.of, call - 1);
          begin_varied_call(kind, call);
        },
        [&](std::size_t /*call*/) { timed(kind.of, std::nullopt); });
    behind_call(kind.of, first + calls - 1);
    sum += std::accumulate(times.begin(), times.end(), 0.0);
  }
  return sum / static_cast<double>(iterations);
}

/// A recording of so many calls; null where they cannot be recorded.
std::unique_ptr<Recording> CaseSession::recording_of(const std::string& of, std::int64_t calls) {
  if (!device().can_record() || !calls_are_alike() || part_of(of)) return nullptr;
  return device().record([&] {
    for (std::int64_t i = 0; i < calls; ++i) timed(of, std::nullopt);
  });
}

/// Records so many calls at a time, and a single one. Returns false where they cannot be recorded.
bool CaseSession::record(const std::string& of, std::int64_t calls) {
  RecordedCalls recorded{recording_of(of, calls), calls, recording_of(of, 1)};
  if (recorded.recording == nullptr || recorded.one_call == nullptr) return false;
  recorded_[of] = std::move(recorded);
  return true;
}

/// Records as many calls as last about `kRecordedNs`, if a sample has so many.
bool CaseSession::record_for_samples(const std::string& of, const EnqueuedCalls& launched) {
  const auto wanted = static_cast<std::int64_t>(std::ceil(kRecordedNs / launched.call_ns));
  return record(of, std::clamp(wanted, std::int64_t{1}, std::min<std::int64_t>(launched.calls, kMostRecorded)));
}

/// Warms the device up. A device that has rested is slow at first. It has reached its clock where two stretches of work
/// in a row had the same clock. The work is the densest that does what `of` does: no caches are flushed, and nothing is
/// changed in between.
Done CaseSession::answer(const to_case::WarmUp& wanted) {
  const auto begin = SteadyClock::now();
  TimedKind kind{wanted.of == time_of::kEmptyKernel ? time_of::kLayer : wanted.of};
  kind.replayed = recorded_.contains(kind.of);
  std::optional<double> clock_before;
  double time_before = 0;
  double worked_ns = 0;
  for (std::int64_t calls = 1;;) {
    const double call_ns = std::max(enqueued_calls_ns(kind, calls), 1.0);
    const double stretch_ns = call_ns * static_cast<double>(calls);
    worked_ns += stretch_ns;
    if (ns_since(begin) >= kMostWarmUpNs) break;
    if (stretch_ns < kWarmStretchNs / 2 && calls < kMostEnqueued) {
      calls = std::clamp(static_cast<std::int64_t>(kWarmStretchNs / call_ns), calls + 1, 8 * calls);
      continue;
    }
    const std::optional<double> clock = device().timed_clock_mhz();
    const bool stays = clock && clock_before ? is_within(*clock, *clock_before, kSameClock)
                                             : !clock && is_within(call_ns, time_before, kSameTime);
    if (stays && worked_ns >= wanted.least_ns) break;
    clock_before = clock;
    time_before = call_ns;
  }
  return {};
}

/// The number of calls in a sample on an asynchronous device: as many as it takes for half a sample, found by doubling,
/// since a few short calls say little.
CaseSession::EnqueuedCalls CaseSession::enqueued_calls(const TimedKind& kind, double sample_ns) {
  const auto begin = SteadyClock::now();
  static_cast<void>(enqueued_calls_ns(kind, 1));  // the first is slow: code is loaded, or even compiled
  for (int calls = 1;; calls = std::min(2 * calls, kMostEnqueued)) {
    const double call_ns = std::max(enqueued_calls_ns(kind, calls), 1.0);
    const double spent_ns = ns_since(begin);
    if (call_ns * calls < sample_ns / 2 && spent_ns < kMostUntimed * sample_ns && calls < kMostEnqueued) continue;
    if (spent_ns >= kMostUntimed * sample_ns) return {calls, call_ns};  // the untimed work takes longer than the calls
    return {static_cast<int>(std::clamp(std::ceil(sample_ns / call_ns), 1.0, static_cast<double>(kMostEnqueued))),
            call_ns};
  }
}

to_case::Calibrated CaseSession::answer(const to_case::Calibrate& wanted) {
  const double sample_ns = wanted.sample_ns;
  if (wanted.replayed && !record_for_samples(wanted.of, enqueued_calls({wanted.of}, sample_ns))) return {0};
  if (device().is_asynchronous()) {
    const std::int64_t calls = enqueued_calls(wanted, sample_ns).calls;
    const std::int64_t at_once = wanted.replayed ? recorded_.at(wanted.of).calls : 1;
    return {static_cast<int>((calls + at_once - 1) / at_once * at_once)};
  }
  double total = 0;
  double shortest_ns = std::numeric_limits<double>::max();     // the others may have been disturbed
  double shortest_whole = std::numeric_limits<double>::max();  // with the untimed work
  int calls = 0;
  const auto begin = SteadyClock::now();
  // A handful of calls also warms up caches, branch predictors and clocks.
  for (double start = 0; calls < 1000 && start < kMostUntimed * sample_ns;) {
    const double ns = timed_call(wanted.of, ++calls, wanted.cold);
    const double end = ns_since(begin);
    total += ns;
    shortest_ns = std::min(shortest_ns, ns);
    shortest_whole = std::min(shortest_whole, end - start);
    start = end;
    if (calls >= kFewestCalibrated && total >= sample_ns / 2) break;
  }
  const double per_call = std::max(shortest_ns, 1.0);
  // The untimed work of a call may take longer than the call: a change of layout before an op.
  const double affordable = kMostUntimed * sample_ns / std::max(shortest_whole, 1.0);
  return {static_cast<int>(std::clamp(std::ceil(std::min(sample_ns / per_call, affordable)), 1.0, 1e6))};
}

to_case::Sampled CaseSession::answer(const to_case::Sample& wanted) {
  std::int64_t call = 0;
  const bool enqueued = device().is_asynchronous();
  const double nanoseconds =
      enqueued
          ? google_benchmark_sample(id_, 1, [&] { return enqueued_calls_ns(wanted, wanted.iterations); })
          : google_benchmark_sample(id_, wanted.iterations, [&] { return timed_call(wanted.of, ++call, wanted.cold); });
  if (!enqueued && wanted.of == time_of::kLayer) keep_outputs();
  after_timed(wanted.of);
  device().wait();
  to_case::Sampled sampled{
      .ns = nanoseconds, .untimed_calls = enqueued ? 1 : 0, .last_call = last_call_, .probed = probed_calls_};
  if (enqueue_ns_ > 0) sampled.enqueue_ns = enqueue_ns_;
  return sampled;
}

to_case::SlotTaken CaseSession::answer(const to_case::Slot& wanted) {
  const std::string& of = wanted.of;
  const std::int64_t iterations = wanted.iterations;
  const std::int64_t work = iterations * (100 + wanted.extra_percent);
  if (iterations < 1 || work % 100 != 0) throw std::logic_error("a slot's calls must be a whole number");
  TimedKind kind{of};
  kind.replayed = device().is_asynchronous() && wanted.replayed;
  if (kind.replayed) {
    const std::int64_t calls = work / 100;  // all calls of a sub-run at once
    const auto found = recorded_.find(of);
    const bool is_there = found != recorded_.end() && found->second.calls == calls;
    if (!is_there && !record(of, calls)) throw DeviceError("its calls cannot be recorded any longer");
  }
  std::vector<double> sub_runs;
  std::int64_t call = 0;
  for (int left = wanted.sub_runs; left > 0; --left) {
    double nanoseconds = 0;
    if (device().is_asynchronous()) {
      // The clock is read around all calls: around each, it would time the launch. All of them have one input.
      const std::int64_t calls = work / 100;
      nanoseconds = enqueued_calls_ns(kind, calls, ++call) * static_cast<double>(calls);
    } else {
      for (std::int64_t i = 0; i < work / 100; ++i) nanoseconds += timed_call(of, ++call, false);
    }
    sub_runs.push_back(nanoseconds / static_cast<double>(iterations));
  }
  after_timed(of);
  device().wait();
  return {std::move(sub_runs), last_call_};
}

}  // namespace convladder

#include "harness/measure/cases/stage_device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_error.hpp"
#include "devices/device_filling.hpp"
#include "harness/measure/cases/outputs_at_return.hpp"
#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/process_memory.hpp"
#include "harness/measure/isolation/processor_split.hpp"
#include "harness/measure/verification/expectation.hpp"
#include "support/errors.hpp"

namespace convladder {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsToStart = 60;
// Words of each result that are read when a call says that it has ended, and once more when it is stopped.
constexpr int kWords = 8;
// Calls up to this long are waited for without sleeping: waking, some 20 us, would be in their time.
constexpr double kShortNs = 20e6;
// Another thread that got the processor meanwhile would keep it for some milliseconds, and the end would be seen late.
constexpr HandshakeNumber::Patience kForEnd{.spin_ns = 2 * kShortNs, .alone_ns = 2 * kShortNs};

HandshakeNumber::Patience patience(HandshakeNumber::Patience where_apart) {
  return processor_split().apart ? where_apart : HandshakeNumber::Patience{};
}

void require_reached(int error) {
  if (error != 0) throw DeviceError(fmt::format("its memory cannot be reached: {}", system_error_text(error)));
}

}  // namespace

StageDevice::StageDevice(std::string what, std::string library)
    : what_(std::move(what)),
      library_(std::move(library)),
      starter_(processor_split().apart),
      random_(secret_number(), 0) {
  start();
}

StageDevice::~StageDevice() { use_all_processors(); }

namespace {

bool wanted = false;
std::optional<bool> known_to_be_possible;

bool try_one() {
  try {
    StageDevice probe("a stage's process", "/usr/lib");
    const DeviceBuffer there = probe.allocate(sizeof(int), "probe");
    const int value = 42;
    int read = 0;
    probe.copy_to_device(there.address(), &value, sizeof value);
    probe.copy_to_host(&read, there.address(), sizeof read);
    return read == value;
  } catch (const DeviceError&) {
    use_all_processors();  // the process that did not start was on its way to other processors
    return false;
  }
}

}  // namespace

bool StageDevice::is_possible() {
  if (known_to_be_possible) return *known_to_be_possible;
  if (!wanted) return false;  // as long as nobody asks for such processes
  known_to_be_possible = try_one();
  return *known_to_be_possible;
}

void StageDevice::trust_nobody() { wanted = true; }

void StageDevice::set_possible(bool possible) { known_to_be_possible = possible; }

std::vector<std::string> missing_protections() {
  std::vector<std::string> all = case_confinement_missing();
  if (!StageDevice::is_possible()) {
    all.emplace_back("clock and messages of their cases: no process may look into another here");
  }
  for (std::string& one : all) one.insert(0, "not kept from untrusted stages: ");
  return all;
}

std::string processors_of_untrusted_stages() {
  const ProcessorSplit split = processor_split();
  if (!StageDevice::is_possible()) return {};
  if (!split.apart)
    return "untrusted stages share processors with the process that waits for them: short calls are measured too long";
  return fmt::format(
      "untrusted stages have {} of {} processors: the first core is left to the process that waits for them",
      split.of_called, split.all);
}

bool runs_beside(const CompiledStage& stage) { return !stage.launches_by_itself() && StageDevice::is_possible(); }

Handshake& StageDevice::page() const { return *std::launder(reinterpret_cast<Handshake*>(memory_->data())); }

void StageDevice::start() {
  client_.reset();
  memory_ = std::make_unique<SharedMemory>(kHandshakeBytes);
  new (memory_->data()) Handshake;
  // A process that could make the memory shorter could end this process.
  static_cast<void>(fcntl(memory_->descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  use_called_ones_processors();
  client_ = std::make_unique<ProcessClient<StageMessages>>(ProcessStart{.what = what_,
                                                                        .command = "serve-stage",
                                                                        .memory = {memory_->descriptor()},
                                                                        .timeout_seconds = kSecondsToStart,
                                                                        .trust = Trust::foreign},
                                                           to_stage::Hello{library_, processor_split().apart});
  use_callers_processors();
  is_loaded_ = false;
  is_stopped_ = true;
  calls_ = 0;
  usual_ns_ = 0;
  places_.clear();
  for_call_.clear();
  final_.clear();
  freed_last_.reset();
}

std::size_t StageDevice::free_bytes() const { return available_memory_bytes(); }

DeviceBuffer StageDevice::allocate(std::size_t bytes, std::string_view label) {
  if (const auto freed = std::exchange(freed_last_, std::nullopt)) {
    const auto& [address, place] = *freed;
    if (place.label == label && place.bytes == bytes) {
      places_[address] = place;
      return {*this, address, bytes};
    }
  }
  if (is_loaded_) start();
  const auto answer = client_->ask_for(to_stage::Allocate{bytes, std::string(label)});
  if (const Ending* const ending = std::get_if<Ending>(&answer)) throw OutOfDeviceMemory(ending->reason);
  const std::uintptr_t number = std::get<to_stage::Allocated>(answer).address;
  auto* const address =
      reinterpret_cast<std::byte*>(number);  // NOLINT(performance-no-int-to-ptr): in the other process
  places_[address] = {guarded_at(address, bytes), bytes, std::string(label)};
  return {*this, address, bytes};
}

void StageDevice::free(void* address, std::size_t /*bytes*/) noexcept {
  const auto found = places_.find(address);
  if (found == places_.end()) return;  // of an earlier process
  std::erase_if(final_, [address](const auto& one) { return one.first == address; });
  freed_last_ = std::move(*found);
  places_.erase(found);
}

void StageDevice::copy_to_device(void* destination, const void* source, std::size_t bytes) {
  require_reached(write_to_process(process().process(), destination, source, bytes));
}

void StageDevice::copy_for_call(void* destination, const void* source, std::size_t bytes) {
  for_call_.push_back({destination, source, bytes});
}

void StageDevice::expect_final(void* address, std::size_t bytes) {
  if (bytes >= sizeof(std::uint32_t)) final_.emplace_back(static_cast<const std::byte*>(address), bytes);
}

void StageDevice::copy_to_host(void* destination, const void* source, std::size_t bytes) {
  if (is_loaded_) stop();
  require_reached(read_from_process(process().process(), destination, source, bytes));
}

void StageDevice::copy_elements_to_host(void* destination, const void* source, std::size_t bytes,
                                        std::span<const std::int64_t> places) {
  if (is_loaded_) stop();
  std::vector<const void*> there;
  for (const std::int64_t place : places) {
    there.push_back(static_cast<const std::byte*>(source) + static_cast<std::size_t>(place) * bytes);
  }
  require_reached(read_elements_from_process(process().process(), destination, there, bytes));
}

void StageDevice::launch(const KernelLaunch& /*launch*/) {
  throw DeviceError("the cpu device runs host code and cannot launch kernels");
}

std::string StageDevice::memory_violation() {
  const auto copied = [this](std::span<const std::byte> there) {
    std::vector<std::byte> here(there.size());
    copy_to_host(here.data(), there.data(), here.size());
    return here;
  };
  for (const auto& [address, place] : places_) {
    std::string violation = guards_violation(copied(place.memory.before()), copied(place.memory.behind()), place.label);
    if (!violation.empty()) return violation;
  }
  return {};
}

double StageDevice::time_ns(const std::function<void()>& work) {
  timed_ns_ = 0;
  const std::uint32_t before = calls_;
  const auto begin = Clock::now();
  work();
  if (calls_ != before) return timed_ns_;
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

void StageDevice::load(const std::string& library, const char* function, const std::vector<StageArgument>& arguments) {
  if (is_loaded_) return;  // beside the same tensors
  to_stage::Load request{library, function, {}};
  for (const StageArgument& one : arguments) {
    to_stage::Argument& argument = request.arguments.emplace_back();
    if (one.tensor != nullptr) {
      argument.tensor = reinterpret_cast<std::uintptr_t>(one.tensor);
    } else {
      for (const std::byte byte : one.number) argument.number.push_back(std::to_integer<std::uint8_t>(byte));
    }
  }
  const auto answer = client_->ask_for(request);
  if (const Ending* const ending = std::get_if<Ending>(&answer)) throw DeviceError(ending->reason);
  is_loaded_ = true;
  is_stopped_ = true;  // with its answer; what is loaded runs from here on
  go_on();
  if (!page().loaded.wait(1, patience(kForOther), [this] { return lives(); })) ended();
  if (const std::string why = handshake_text(memory_->data()); !why.empty()) {
    throw DeviceError(fmt::format("it cannot be loaded: {}", why));
  }
}

void StageDevice::call() {
  const auto goes_on = [this] { return lives(); };
  go_on();
  ++calls_;
  page().wanted.set(calls_);
  choose_words();
  if (!page().ready.wait(calls_, patience(kForOther), goes_on)) ended();
  const auto begin = starter_.start(process().process(), page().begun, calls_, for_call_);
  const bool is_short = usual_ns_ < kShortNs;
  if (!page().done.wait(calls_, is_short ? patience(kForEnd) : HandshakeNumber::Patience{}, goes_on)) ended();
  usual_ns_ = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  const std::vector<std::uint32_t> then = read_words();
  timed_ns_ += usual_ns_;
  for_call_.clear();
  // Work that is not done by now stays undone.
  stop();
  if (read_words() != then) {
    throw EndedProcess({Status::refused, kWroteLate});
  }
}

/// Draws words of the results, which the stage cannot know.
void StageDevice::choose_words() {
  words_.clear();
  for (const auto& [address, bytes] : final_) {
    const auto words = static_cast<std::int64_t>(bytes / sizeof(std::uint32_t));
    for (int i = 0; i < kWords; ++i) {
      const ChosenElements one{.seed = random_.next(), .span = words, .count = 1};
      words_.push_back(address + static_cast<std::size_t>(one.element(0)) * sizeof(std::uint32_t));
    }
  }
}

/// The chosen words as they are now; zeros where the process has ended, which is seen elsewhere.
std::vector<std::uint32_t> StageDevice::read_words() const {
  std::vector<std::uint32_t> values(words_.size());
  read_elements_from_process(process().process(), values.data(), words_, sizeof(std::uint32_t));
  return values;
}

void StageDevice::go_on() {
  if (std::exchange(is_stopped_, false)) process().go_on();
}

void StageDevice::stop() {
  if (!std::exchange(is_stopped_, true)) process().stop();
}

bool StageDevice::lives() { return !process().has_ended(); }

void StageDevice::ended() { throw EndedProcess(process().end()); }

}  // namespace convladder

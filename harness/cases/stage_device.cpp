#include "harness/cases/stage_device.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "devices/cpu/cpu_device.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_error.hpp"
#include "harness/isolation/case_confinement.hpp"
#include "harness/isolation/message_socket.hpp"
#include "harness/isolation/served_process.hpp"
#include "support/errors.hpp"
#include "support/machine_fault.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMemoryBytes = 64 << 10;  // the page, and what cannot be loaded says so behind it
constexpr double kSecondsToStart = 60;
constexpr double kShortNs = 1e6;  // calls up to here are waited for without sleeping: waking would be in their time
// Who waits for the end of a call lets the call's own threads onto the processor; who is about to begin one stays
// there.
// On a single processor whoever looks keeps the other from going on.
constexpr HandoverNumber::Patience kForEnd{.spin_ns = 2 * kShortNs, .alone_ns = 50e3};
constexpr HandoverNumber::Patience kForLongEnd{};
constexpr HandoverNumber::Patience kForOther{.spin_ns = 200e3, .alone_ns = 20e3};
constexpr HandoverNumber::Patience kForBegin{.spin_ns = 5e6, .alone_ns = 5e6};
constexpr std::size_t kMostTouched = 32 << 20;  // bytes: what caches hold
constexpr std::byte kCanary{0xFF};              // as CpuDevice leaves them around its memory
constexpr std::size_t kVectorBytes = 64;
constexpr std::size_t kLine = 64;

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

HandoverNumber::Patience patience(const HandoverNumber::Patience& usual) {
  static const bool is_alone = usable_cores() == 1;
  return is_alone ? HandoverNumber::Patience() : usual;
}

int threads_of(pid_t process) {
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", process), error), end; !error && at != end;
       at.increment(error)) {
    ++count;
  }
  return count;
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// Copies all of it between this process and another, or throws.
template <typename Copy>
void copy_all(const Copy& copy, void* here, void* there, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const iovec local{static_cast<std::byte*>(here) + done, bytes - done};
    const iovec remote{static_cast<std::byte*>(there) + done, bytes - done};
    const ssize_t count = copy(local, remote);
    if (count <= 0) throw DeviceError(fmt::format("its memory cannot be reached: {}", system_error_text(errno)));
    done += static_cast<std::size_t>(count);
  }
}

std::string error_text(const SharedMemory& memory) {
  const auto* const text = reinterpret_cast<const char*>(memory.data() + sizeof(Handover));
  return {text, strnlen(text, memory.bytes() - sizeof(Handover))};
}

}  // namespace

StageDevice::StageDevice(std::string what, std::string library) : what_(std::move(what)), library_(std::move(library)) {
  start();
}

StageDevice::~StageDevice() = default;

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
    return false;
  }
}

}  // namespace

bool StageDevice::is_possible() {
  if (!known_to_be_possible) known_to_be_possible = wanted && try_one();
  return *known_to_be_possible;
}

void StageDevice::trust_nobody() { wanted = true; }

void StageDevice::set_possible(bool possible) { known_to_be_possible = possible; }

bool runs_beside(const FolderVariant& stage) { return !stage.launches_by_itself() && StageDevice::is_possible(); }

Handover& StageDevice::page() const { return *std::launder(reinterpret_cast<Handover*>(memory_->data())); }

void StageDevice::start() {
  process_.reset();
  allow_all_processors();
  memory_ = std::make_unique<SharedMemory>(kMemoryBytes);
  new (memory_->data()) Handover;
  // Whoever could make it shorter could end this process.
  static_cast<void>(fcntl(memory_->descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  process_ = std::make_unique<ChildProcess>(what_, "serve-stage", std::vector{memory_->descriptor()}, kSecondsToStart,
                                            ordered_json{{"library", library_}, {"bytes", kMemoryBytes}}, kThisProgram,
                                            Trust::foreign);
  is_loaded_ = false;
  is_stopped_ = true;
  fills_processors_ = false;
  calls_ = 0;
  usual_ns_ = 0;
  places_.clear();
}

std::size_t StageDevice::free_bytes() const { return available_memory_bytes(); }

DeviceBuffer StageDevice::allocate(std::size_t bytes, std::string_view label) {
  if (is_loaded_) start();
  const ordered_json reply = process_->ask({{"do", "allocate"}, {"bytes", bytes}, {"label", label}});
  if (reply.contains("status")) throw OutOfDeviceMemory(reply.value("reason", "no memory"));
  auto* const address = reinterpret_cast<std::byte*>(reply.at("address").get<std::uintptr_t>());
  const std::size_t mapped = round_up(std::max<std::size_t>(bytes, 1), page_bytes());
  places_[address] = {bytes, std::string(label), address + round_up(bytes, kVectorBytes) - mapped, mapped};
  return {*this, address, bytes};
}

void StageDevice::free(void* address, std::size_t /*bytes*/) noexcept {
  places_.erase(address);  // the memory goes with the process
}

void StageDevice::copy_to_device(void* destination, const void* source, std::size_t bytes) {
  const pid_t process = process_->process();
  copy_all(
      [process](const iovec& here, const iovec& there) { return process_vm_writev(process, &here, 1, &there, 1, 0); },
      const_cast<void*>(source), destination, bytes);
}

void StageDevice::copy_to_host(void* destination, const void* source, std::size_t bytes) {
  if (is_loaded_) stop();
  const pid_t process = process_->process();
  copy_all(
      [process](const iovec& here, const iovec& there) { return process_vm_readv(process, &here, 1, &there, 1, 0); },
      destination, const_cast<void*>(source), bytes);
}

void StageDevice::launch(const KernelLaunch& /*launch*/) {
  throw DeviceError("the cpu device runs host code and cannot launch kernels");
}

std::string StageDevice::memory_violation() {
  std::vector<std::byte> around;
  for (const auto& [address, place] : places_) {
    const auto* const begin = static_cast<const std::byte*>(address);
    const std::byte* const end = begin + place.bytes;
    const auto other = [&](const std::byte* from, const std::byte* to) -> std::optional<std::size_t> {
      around.resize(static_cast<std::size_t>(to - from));
      if (around.empty()) return std::nullopt;
      copy_to_host(around.data(), from, around.size());
      const auto found = std::ranges::find_if(around, [](std::byte one) { return one != kCanary; });
      if (found == around.end()) return std::nullopt;
      return static_cast<std::size_t>(found - around.begin());
    };
    if (const auto at = other(place.mapping, begin)) {
      return fmt::format("memory {} bytes before the start of {} was overwritten",
                         static_cast<std::size_t>(begin - place.mapping) - *at, place.label);
    }
    if (const auto at = other(end, place.mapping + place.mapped_bytes)) {
      return fmt::format("memory {} bytes after the end of {} was overwritten", *at, place.label);
    }
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
  ordered_json list = ordered_json::array();
  for (const StageArgument& one : arguments) {
    if (one.tensor != nullptr) {
      const auto place = places_.find(one.tensor);
      list.push_back({{"tensor", reinterpret_cast<std::uintptr_t>(one.tensor)},
                      {"bytes", place == places_.end() ? 0 : place->second.bytes}});
    } else {
      std::vector<unsigned> bytes;
      for (const std::byte byte : one.number) bytes.push_back(std::to_integer<unsigned>(byte));
      list.push_back({{"number", std::move(bytes)}});
    }
  }
  const ordered_json reply =
      process_->ask({{"do", "load"}, {"library", library}, {"function", function}, {"arguments", std::move(list)}});
  if (reply.contains("status")) throw DeviceError(reply.value("reason", "it cannot be loaded"));
  is_loaded_ = true;
  is_stopped_ = true;  // with its answer; what is loaded runs from here on
  go_on();
  while (page().loaded.value() == 0) {
    if (!page().loaded.wait(1, kForOther, [this] { return page().loaded.value() == 0 && lives(); })) {
      if (page().loaded.value() == 0) ended();
    }
  }
  if (page().loaded.value() != 1) {
    const std::string why = error_text(*memory_);
    throw DeviceError(fmt::format("it cannot be loaded: {}", why));
  }
}

void StageDevice::call() {
  const auto goes_on = [this] { return lives(); };
  go_on();
  ++calls_;
  page().wanted.set(calls_);
  if (!page().ready.wait(calls_, patience(kForOther), goes_on)) ended();
  leave_processor(page().processor.load(std::memory_order_relaxed));
  const auto begin = Clock::now();
  page().begun.set(calls_);
  const bool looks = usual_ns_ < kShortNs && !fills_processors_;
  if (!page().done.wait(calls_, looks ? patience(kForEnd) : kForLongEnd, goes_on)) ended();
  usual_ns_ = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  timed_ns_ += usual_ns_;
  // What it has not done by now is not done.
  stop();
  // Threads come with the first calls, as a rule. Who looks for the end would keep one of them from its processor.
  if (std::has_single_bit(calls_)) fills_processors_ = threads_of(process_->process()) >= usable_cores();
}

void StageDevice::go_on() {
  if (std::exchange(is_stopped_, false)) process_->go_on();
}

void StageDevice::stop() {
  if (!std::exchange(is_stopped_, true)) process_->stop();
}

bool StageDevice::lives() { return !process_->has_ended(); }

void StageDevice::ended() {
  const ordered_json how = process_->end();
  throw EndedProcess(status_from_name(how.at("status").get<std::string>()).value_or(Status::crashed),
                     how.value("reason", "it has ended"));
}

namespace {

/// The stage's own side.
class ServedStage {
 public:
  ServedStage(int memory, const ordered_json& hello)
      : memory_(memory, hello.at("bytes").get<std::size_t>(), SharedMemory::Access::write) {}

  ordered_json allocate(const ordered_json& request) {
    try {
      buffers_.push_back(
          device_.allocate(request.at("bytes").get<std::size_t>(), request.at("label").get<std::string>()));
    } catch (const DeviceError& error) {
      return ending(Status::launch_failed, error.what());
    }
    return {{"address", reinterpret_cast<std::uintptr_t>(buffers_.back().address())}};
  }

  void take_arguments(const ordered_json& request) {
    library_ = request.at("library").get<std::string>();
    function_ = request.at("function").get<std::string>();
    for (const ordered_json& one : request.at("arguments")) {
      if (one.contains("tensor")) {
        auto* const address = reinterpret_cast<std::byte*>(one.at("tensor").get<std::uintptr_t>());
        arguments_.push_back(address);
        tensors_.emplace_back(address, one.at("bytes").get<std::size_t>());
      } else {
        std::array<std::byte, 16>& number = numbers_.emplace_back();
        std::size_t at = 0;
        for (const ordered_json& byte : one.at("number"))
          number.at(at++) = static_cast<std::byte>(byte.get<unsigned>());
        arguments_.push_back(nullptr);
      }
    }
    auto number = numbers_.begin();
    for (void*& argument : arguments_) {
      if (argument == nullptr) argument = (number++)->data();
    }
  }

  /// Loads it and calls it, as often as that is wanted.
  [[noreturn]] void serve() {
    Handover& page = *std::launder(reinterpret_cast<Handover*>(memory_.data()));
    void* const handle = dlopen(library_.c_str(), RTLD_LAZY | RTLD_LOCAL);
    auto* const call = handle == nullptr ? nullptr : dlsym(handle, function_.c_str());
    if (call == nullptr) {
      const char* const error = dlerror();
      const std::string text = error == nullptr ? library_ : error;
      text.copy(reinterpret_cast<char*>(memory_.data() + sizeof(Handover)), memory_.bytes() - sizeof(Handover) - 1);
      page.loaded.set(2);
    } else {
      page.loaded.set(1);
    }
    const auto always = [] { return true; };
    for (std::uint32_t number = 1;; ++number) {
      page.wanted.wait(number, patience(kForOther), always);
      touch();
      page.processor.store(sched_getcpu(), std::memory_order_relaxed);
      page.ready.set(number);
      page.begun.wait(number, patience(kForBegin), always);
      reinterpret_cast<void (*)(void* const*)>(call)(arguments_.data());
      page.done.set(number);
    }
  }

 private:
  /// What was written by another process is in another processor's caches: a call that follows another has it in its
  /// own.
  void touch() const {
    std::size_t sum = 0;
    for (const auto& [address, bytes] : tensors_) sum += bytes;
    if (sum > kMostTouched) return;
    for (const auto& [address, bytes] : tensors_) {
      for (std::size_t at = 0; at < bytes; at += kLine) {
        static_cast<void>(*static_cast<const volatile std::byte*>(address + at));
      }
    }
  }

  SharedMemory memory_;
  CpuDevice device_;
  std::vector<DeviceBuffer> buffers_;
  std::string library_;
  std::string function_;
  std::vector<void*> arguments_;
  std::vector<std::array<std::byte, 16>> numbers_;
  std::vector<std::pair<const std::byte*, std::size_t>> tensors_;
};

int serve_stage(int socket_descriptor, int memory, int /*window*/) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::optional<ServedStage> stage;
  {
    MessageSocket socket(socket_descriptor);
    ordered_json hello;
    if (socket.receive(hello, std::nullopt) != MessageSocket::Received::message) return kExitError;
    ConfinementWish wish = case_confinement({.readable = {hello.at("library").get<std::string>()}});
    wish.is_shut_to_others = false;  // who has started it writes its inputs and reads its results
    confine_case_as(wish);
    stage.emplace(memory, hello);
    for (ordered_json request;;) {
      if (socket.receive(request, std::nullopt) != MessageSocket::Received::message) return kExitError;
      if (request.at("do") == "allocate") {
        socket.send(answer_to(request, stage->allocate(request)));
        continue;
      }
      stage->take_arguments(request);
      socket.send(answer_to(request, ordered_json::object()));
      break;
    }
  }
  stage->serve();
}

const ServedRegistration serve_stage_registration("serve-stage", serve_stage);

}  // namespace
}  // namespace convladder

#include "simulator/stand_in/machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "devices/cpu/cpu_facts.hpp"
#include "simulator/stand_in/arrays.hpp"
#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/memory_pools.hpp"
#include "simulator/stand_in/report/libraries_without_ptx.hpp"
#include "simulator/stand_in/report/process_end.hpp"
#include "simulator/stand_in/report/running_kernel.hpp"
#include "simulator/stand_in/report/signals.hpp"
#include "simulator/stand_in/visible_device.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

std::atomic<bool> is_fork = false;
std::atomic<bool> lost_by_fork = false;

const simulated::GpuModel& model_of(const Settings& settings) {
  const auto found = std::ranges::find(simulated::gpu_models(), settings.gpu, &simulated::GpuModel::name);
  return found == simulated::gpu_models().end() ? simulated::default_gpu_model() : *found;
}

simulated::SimulatedDeviceOptions device_options(const Settings& settings) {
  simulated::SimulatedDeviceOptions options;
  options.checkers = settings.checkers;
  options.host_threads = settings.host_threads;
  options.with_caches = settings.with_caches;
  options.sample_blocks = settings.sample_blocks;
  options.schedules = settings.schedules;
  options.keeps_instructions = settings.lines;
  options.mutants = settings.mutants;
  options.gpu = &model_of(settings);
  options.limits.operations = settings.launch_operations;
  options.limits.operations_without_change = settings.idle_operations;
  if (settings.launch_operations > 0) options.host_threads = 1;  // so that every run ends at the same operation
  options.seconds_of_launched = settings.launch_seconds;
  options.limits.watch = [seconds = settings.launch_seconds, shows = settings.print || !settings.report.empty()](
                             const simulated::LaunchProgress& progress) {
    return look_at_kernel(progress, seconds, shows);
  };
  return options;
}

FixedCosts costs_of(const Settings& settings) {
  FixedCosts costs;
  if (!settings.real_clock) return costs;
  const RealClock& clock = *settings.real_clock;
  costs.call = clock.call_ns;
  costs.launch = clock.launch_ns;
  costs.enqueue = clock.enqueue_ns;
  costs.graph_launch = clock.graph_launch_ns;
  costs.graph_node = clock.graph_node_ns;
  costs.between = clock.between_ns;
  costs.between_nodes = clock.between_nodes_ns;
  costs.event = clock.event_ns;
  return costs;
}

/// A finding of racecheck about the order of work on this memory.
simulated::Finding race_in(const simulated::Allocation& memory, std::uint64_t address, std::string problem) {
  simulated::Finding finding;
  finding.checker = simulated::Checker::race;
  finding.space = "global";
  finding.address = address;
  finding.allocation = memory.label;
  finding.count = 1;
  finding.problem = std::move(problem);
  return finding;
}

Settings settings_of_process() {
  const char* const text = std::getenv(kSettingsVariable);
  try {
    return parse_settings(text == nullptr ? "" : text);
  } catch (const UserError& error) {
    say_and_exit(error.what());  // a program would go on without telling why it has no device
  }
}

}  // namespace

Machine& Machine::get() {
  static auto* const machine = [] {
    const Settings settings = settings_of_process();
    const GpuFacts* const gpu = find_gpu(settings.gpu);
    Machine* made = nullptr;
    try {
      made = new Machine(settings, *gpu);
    } catch (const UserError& error) {
      say_and_exit(error.what());
    }
    on_process_end([] { get().finish(); });
    pthread_atfork(nullptr, nullptr, [] {
      is_fork = true;
      lost_by_fork = get().calls_ever_;
    });
    end_with_report_on_signals();
    if (settings.begin) write_begin(settings);
    return made;
  }();
  return *machine;
}

Machine::Machine(Settings wanted, const GpuFacts& gpu)
    : settings(std::move(wanted)),
      timeline(costs_of(settings), settings.real_clock.has_value()),
      trace(settings.trace, settings.trace_calls),
      gpu_(&gpu),
      gpu_model_(&model_of(settings)),
      device_(device_options(settings)),
      graphs_(std::make_unique<Graphs>()),
      arrays_(std::make_unique<Arrays>()),
      pools_(std::make_unique<MemoryPools>()) {
  if (settings.real_clock) {
    static_cast<void>(real_now());  // starts it
    deferred_.emplace(device_);
    gpu_clock_.emplace(*settings.real_clock, static_cast<int>(gpu.clock_mhz.high));
  }
  capacity_ =
      settings.memory_bytes > 0 ? std::min(settings.memory_bytes, device_.memory_bytes()) : device_.memory_bytes();
  if (settings.memory_bytes == 0) capacity_ /= static_cast<std::uint64_t>(settings.gpu_count);
  visible_ = visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), settings.gpu_count);
  device_.set_runtime_facts(facts_for_kernels());
}

/// For kernels that call the runtime themselves.
simulated::DeviceRuntimeFacts Machine::facts_for_kernels() {
  simulated::DeviceRuntimeFacts facts;
  facts.attribute = [this](int number) { return device_attribute(*gpu_, number); };
  facts.limit = [this](int number) -> std::optional<std::uint64_t> {
    if (number < 0 || number >= static_cast<int>(limits.size())) return std::nullopt;
    return limits[static_cast<std::size_t>(number)];
  };
  facts.most_dynamic_shared_bytes = [this](const ptx::Kernel& kernel) { return most_dynamic_shared_bytes(kernel); };
  facts.status_name = [](int status) { return std::string(status_name(status)); };
  facts.status_text = [](int status) { return std::string(status_text(status)); };
  facts.devices = device_count();
  facts.version = kCudaVersion;
  return facts;
}

Machine::~Machine() = default;

int Machine::architecture() const {
  const std::string& text = gpu_->compute_capability;  // "9.0"
  const std::size_t dot = text.find('.');
  return std::stoi(text.substr(0, dot)) * 10 + std::stoi(text.substr(dot + 1));
}

void Machine::lose(Status status, const std::string& text) {
  if (lost_ == kSuccess) {
    lost_ = status;
    why_lost_ = text;
  }
  (status == kLaunchTimeout ? report.unseen(text) : report.note(text));
}

void Machine::begin_call(const char* name, bool needs_context) {
  timeline.host_works(timeline.costs().call);
  const std::uint64_t number = report.call(name);
  calls_ever_ = true;
  for (const Fault& fault : settings.faults) {
    if (fault.call != "*" && fault.call != name) continue;
    if (number < fault.from || (fault.count > 0 && number >= fault.from + fault.count)) continue;
    while (fault.hangs) pause();
    const auto status = static_cast<Status>(fault.status);
    if (fault.loses) lose(status, fmt::format("{} loses the device, as the settings ask for", name));
    throw Failure(status, "a fault that the settings ask for");
  }
  if (needs_context && !has_context_) open_context();
}

int Machine::driver_version() const { return settings.driver_version > 0 ? settings.driver_version : kCudaVersion; }

void Machine::let_reach(int peer) {
  const int device = Contexts::current_device();
  if (peer == device) throw Failure(kInvalidDevice, "a device is no peer of itself");
  if (!reaches_.emplace(device, peer).second) throw Failure(kPeerAccessAlreadyEnabled);
  device_.let_reach(device, peer, true);
}

void Machine::reach_no_longer(int peer) {
  const int device = Contexts::current_device();
  if (reaches_.erase({device, peer}) == 0) throw Failure(kPeerAccessNotEnabled);
  device_.let_reach(device, peer, false);
}

void Machine::let_devices(const void* address, std::uint64_t others) {
  const Memory* const memory = memory_at(address);
  if (memory == nullptr || memory->context == nullptr) return;
  device_.memory().set_devices(reinterpret_cast<std::uint64_t>(address),
                               others | std::uint64_t{1} << memory->context->device);
}

std::uint64_t Machine::used_by(int device) const {
  const auto found = used_.find(device);
  return found == used_.end() ? 0 : found->second;
}

void Machine::open_context() {
  if (driver_version() < kCudaVersion) throw Failure(kInsufficientDriver);
  if (device_count() == 0) throw Failure(kNoDevice, "CUDA_VISIBLE_DEVICES leaves no GPU");
  if (settings.exclusive) {
    // One lock for all processes of the user, just as they share a GPU.
    const std::string file = fmt::format("/tmp/convladder-gpu-{}.lock", getuid());
    exclusive_lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (exclusive_lock_ < 0 || flock(exclusive_lock_, LOCK_EX | LOCK_NB) != 0) {
      if (exclusive_lock_ >= 0) close(exclusive_lock_);
      exclusive_lock_ = -1;
      throw Failure(kDeviceUnavailable, "another process has the GPU, which is in exclusive mode");
    }
  }
  has_context_ = true;
}

void Machine::reset(const DeviceContext& context) {
  if (deferred_ && lost_ != kSuccess) deferred_->forget();
  synchronize_all();
  settle();
  for (auto memory = memory_.begin(); memory != memory_.end();) {
    const bool stays = memory->second.kind == MemoryKind::registered || memory->second.context != &context ||
                       memory->second.origin == Origin::mapped;
    const bool counts = memory->second.kind != MemoryKind::pinned && memory->second.origin == Origin::allocated;
    if (!stays && counts) used_[context.device] -= memory->second.bytes;
    if (!stays) pools().returned(memory->second.buffer.address());
    memory = stays ? std::next(memory) : memory_.erase(memory);
  }
  graphs().forget_captures();
  std::erase_if(streams_, [&](const auto& entry) {
    const bool ends = entry.second->context == &context;
    if (ends) timeline.remove_stream(entry.second->number);
    return ends;
  });
  std::erase_if(events_, [&](const auto& entry) { return entry.second->context == &context; });
  lost_ = kSuccess;
  if (contexts.is_other_live(context)) return;
  has_context_ = false;
  if (exclusive_lock_ >= 0) close(exclusive_lock_);
  exclusive_lock_ = -1;
}

Stream* Machine::add_stream(unsigned flags, int priority) {
  constexpr unsigned kNonBlocking = 1;
  auto made = std::make_unique<Stream>();
  made->number = timeline.add_stream((flags & kNonBlocking) == 0, Contexts::current_device());
  made->flags = flags;
  made->priority = priority;
  made->id = next_stream_id_++;
  made->context = contexts.current();
  Stream* const stream = made.get();
  streams_[stream] = std::move(made);
  look_at_order(true);
  return stream;
}

void Machine::look_at_order(bool of_all) {
  if (!settings.checkers.race || settings.real_clock) return;
  const bool is_first = !work_order_;
  if (is_first) device_.set_work_order(&work_order_.emplace());
  if (of_all) {
    work_order_->follow_from(0);
  } else if (is_first) {
    work_order_->follow_from(simulated::kVisibleWindow);
  }
}

void Machine::call_begins() {
  timeline.call_begins();
  beside.call_begins();
  if (!work_order_) return;
  for (HostAccesses::Found& found : host_accesses_.open(*work_order_, timeline.known_to_host())) {
    const auto* const address = reinterpret_cast<const void*>(found.address);  // NOLINT(performance-no-int-to-ptr)
    const simulated::Allocation* const memory = device_.allocation_at(address);
    if (memory == nullptr) continue;
    std::string problem =
        found.what.empty()
            ? fmt::format(
                  "a call of the system before this one has failed (EFAULT): the host has given it memory in use, "
                  "as '{}' is, and has not waited for {}",
                  memory->label, found.work)
            : fmt::format("{} at byte {} of '{}' by the host, which has not waited for {}", found.what,
                          found.address - memory->begin, memory->label, found.work);
    report.found({race_in(*memory, found.address, std::move(problem))},
                 found.places != nullptr ? std::move(found.places) : calling_places());
  }
}

void Machine::call_ends() noexcept {
  try {
    if (work_order_ && !host_accesses_.protect(*work_order_, timeline.known_to_host())) {
      report.unseen("on this processor nobody has looked at what the host itself does with memory in use");
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): without memory for it nothing is protected
  }
  beside.call_ends();
}

Stream* Machine::find_stream(const void* stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second.get();
}

int Machine::stream_number(const void* stream) {
  // cudaStreamLegacy and cudaStreamPerThread are the numbers 1 and 2.
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return timeline.default_stream(Contexts::current_device());
  const Stream* const found = find_stream(stream);
  if (found == nullptr) throw Failure(kInvalidHandle);
  return found->number;
}

std::map<int, std::array<std::byte, 64>>& Machine::stream_attributes(const void* stream) {
  static_cast<void>(stream_number(stream));
  Stream* const found = find_stream(stream);
  return (found == nullptr ? default_stream_ : *found).attributes;
}

void Machine::remove_stream(Stream* stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) throw Failure(kInvalidHandle);
  graphs().stream_ends(found->second->number);
  timeline.remove_stream(found->second->number);
  streams_.erase(found);
}

Event* Machine::add_event(unsigned flags) {
  auto made = std::make_unique<Event>();
  made->flags = flags;
  made->context = contexts.current();
  Event* const event = made.get();
  events_[event] = std::move(made);
  return event;
}

Event& Machine::event(const void* event) const {
  const auto found = events_.find(event);
  if (found == events_.end()) throw Failure(kInvalidHandle);
  return *found->second;
}

void Machine::remove_event(Event* event) {
  graphs().event_ends(event);
  if (events_.erase(event) == 0) throw Failure(kInvalidHandle);
}

void Machine::begin_work(std::string_view what, int stream) {
  if (!work_order_) return;
  const auto user = std::ranges::find_if(streams_, [&](const auto& entry) { return entry.second->number == stream; });
  const bool is_default = timeline.default_stream(timeline.device_of(stream)) == stream;
  const std::string where = user != streams_.end() ? fmt::format("stream {}", user->second->id)
                            : is_default           ? "the default stream"
                                                   : "a graph";
  simulated::StreamWork work = timeline.begin_work(stream);
  work.what = fmt::format("{} in {}", what, where);
  work_ = work.what;
  work_order_->begin(std::move(work));
}

void Machine::touches(const void* address, std::uint64_t bytes, bool writes) {
  if (!work_order_ || !owns(address)) return;
  for (const auto& conflict : work_order_->touch(reinterpret_cast<std::uint64_t>(address), bytes, writes)) {
    const simulated::Allocation* const memory = device_.allocation_at(address);
    report.found({race_in(*memory, conflict.address,
                          fmt::format("{} at byte {} of '{}': {} is not ordered with {}", conflict.hazard,
                                      conflict.address - memory->begin, memory->label, work_, conflict.with))},
                 calling_places());
  }
}

void Machine::graph_ended(int first, int stream, std::uint32_t number) {
  if (work_order_) work_order_->end_together(first, timeline.next_stream(), stream, number);
}

void Machine::note_copy(const char* what, Engine engine, std::uint64_t bytes, bool pinned, int stream,
                        bool host_waits) {
  const Nanoseconds ns = timeline.copy_ns(bytes, pinned);
  beside.copied(static_cast<double>(ns + (host_waits ? timeline.costs().wake : 0)));
  const Timeline::Span span = timeline.enqueue(stream, engine, ns);
  report.copy(what, ns, bytes);
  trace.add(what, stream, span);
  timeline.host_works(timeline.costs().enqueue);
  if (host_waits) timeline.host_waits_until(timeline.end_of(stream));
}

void Machine::note_copy_on_device(const char* what, std::uint64_t moved, std::uint64_t bytes, int stream) {
  beside.moved(static_cast<double>(moved));
  const double gb_per_s = gpu_->dram_gb_per_s.low;
  const Nanoseconds ns = timeline.costs().copy + static_cast<Nanoseconds>(static_cast<double>(moved) / gb_per_s);
  const auto ns_from = [&](Nanoseconds begin) {
    if (!gpu_clock_) return ns;
    return gpu_clock_->takes(
        begin, [ns](int /*mhz*/) { return static_cast<double>(ns); }, false);
  };
  trace.add(what, stream, timeline.enqueue(stream, Engine::kernels, ns_from));
  report.copy(what, ns, bytes);
  timeline.host_works(timeline.costs().enqueue);
}

void Machine::synchronize(int stream) {
  timeline.host_waits_until(timeline.end_of(stream));
  host_may_look();
}

void Machine::synchronize_all() {
  timeline.host_waits_until(timeline.end_of_all());
  host_may_look();
}

void Machine::finish() noexcept {
  if (is_lost_by_fork()) return;
  const std::scoped_lock lock(mutex);
  if (std::exchange(finished_, true) || (is_fork && !calls_ever_)) return;
  try {
    call_begins();  // judges what the host has touched since the last call
    // Nobody looks at memory any more.
    if (deferred_) deferred_->forget();
    ending_.clear();
    if (lost_ == kSuccess) find_leaks();
    report_known_launches();
    if (report.is_incomplete()) note_libraries_without_ptx(report);
    write_report(*this, "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convladder: no report: %s\n", error.what());
  }
}

bool Machine::is_lost_by_fork() { return lost_by_fork; }

void Machine::finish_by_signal(const std::string& signal, std::uint64_t touched, const CallPlaces& places) {
  // Another thread may be in a call and need some time; a thread that waits for the thread of this signal would never
  // end.
  bool is_locked = false;
  for (int i = 0; i < 100 && !is_locked; ++i) {
    is_locked = mutex.try_lock();
    if (!is_locked) usleep(10'000);
  }
  if (std::exchange(finished_, true) || (is_fork && !calls_ever_)) return;
  if (touched - simulated::kGlobalWindow < simulated::kDeviceWindowBytes) {
    simulated::Finding finding;
    finding.address = touched;
    finding.space = "global";
    finding.count = 1;
    const auto* const address = reinterpret_cast<const void*>(touched);
    const simulated::Allocation* const memory = device_.allocation_at(address);
    if (memory != nullptr) finding.allocation = memory->label;
    const std::string what = memory == nullptr ? fmt::format("address 0x{:x}", touched)
                                               : fmt::format("byte {} of '{}'", touched - memory->begin, memory->label);
    finding.problem = fmt::format("the host touched {} of the device, which only kernels and copies reach", what);
    report.found({finding}, places);
  }
  write_report(*this, signal);
}

}  // namespace convladder::stand_in

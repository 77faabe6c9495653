#include "harness/measure/cases/ceilings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "variants/ceilings/ceilings.hpp"

namespace convladder {

using CeilingClock = std::chrono::steady_clock;

namespace {

constexpr double kCeilingSeconds = 1.0;  // for each device, over the whole run
// How long an asynchronous device must work: its clock goes up step by step within some tens of milliseconds. Work that
// follows finds it up.
constexpr double kFirstWarmUpSeconds = 0.1;
constexpr double kLeastWarmUpSeconds = 0.02;
constexpr double kMostWorkedSeconds = 0.3;
constexpr double kMostWaitedSeconds = 20;  // by the harness's clock: a simulated GPU is slow, and slower on a busy host
constexpr double kStretchSeconds = 2.5e-3;
constexpr double kMostCallsOfStretch = 256;
constexpr double kSameRate = 0.02;  // tolerance between the stretches whose median counts
constexpr std::size_t kStretchesOfMedian = 5;

class CeilingsHere final : public Session<CeilingsMessages> {
 public:
  explicit CeilingsHere(const DeviceKind& kind)
      : Session(fmt::format("ceilings of {}", kind.name), kind.open()),
        kernels_(find_ceilings(kind.family)(device(), last_level_cache_bytes(kind))) {}

 private:
  Answer carry_out(const Request& /*request*/) override {
    return to_ceilings::Sampled{.choice = kernels_->choice(),
                                .buffer_bytes = kernels_->buffer_bytes(),
                                .multiply_add = rate([this] { return kernels_->multiply_add(); }, kFirstWarmUpSeconds),
                                .store = rate([this] { return kernels_->store(); }),
                                .copy = rate([this] { return kernels_->copy(); })};
  }

  /// Work in a nanosecond. The call before the timed one wakes threads. An asynchronous device is given work until its
  /// clock stays: until the last stretches agree, whose median counts. A short call is repeated to fill a stretch:
  /// between two calls that are waited for, the device rests.
  template <typename Call>
  double rate(const Call& call, double least_seconds = kLeastWarmUpSeconds) {
    if (!device().is_asynchronous()) {
      call();
      device().wait();
      return timed(call).rate();
    }
    const auto begin = CeilingClock::now();
    Stretch now = timed(call);
    double work = now.work;
    double best_rate = now.rate();
    std::vector<double> last;
    while (true) {
      const double call_ns = std::max(now.ns / now.calls, 1.0);
      now = timed(call, static_cast<int>(std::clamp(kStretchSeconds * 1e9 / call_ns, 1.0, kMostCallsOfStretch)));
      work += now.work;
      best_rate = std::max(best_rate, now.rate());
      if (last.size() == kStretchesOfMedian) last.erase(last.begin());
      last.push_back(now.rate());
      if (last.size() < kStretchesOfMedian) continue;
      // Not the sum of the times: where the host is late, the device rests between two calls of a stretch.
      const double worked_seconds = work / best_rate * 1e-9;
      const std::chrono::duration<double> waited = CeilingClock::now() - begin;
      if (worked_seconds >= kMostWorkedSeconds || waited.count() >= kMostWaitedSeconds) break;
      const auto [lowest, highest] = std::ranges::minmax(last);
      if (worked_seconds >= least_seconds && highest <= lowest * (1 + kSameRate)) break;
    }
    return median(last);
  }

  struct Stretch {
    int calls = 1;
    double work = 0;
    double ns = 0;
    double rate() const { return work / ns; }
  };

  template <typename Call>
  Stretch timed(const Call& call, int calls = 1) {
    Stretch stretch{.calls = calls};
    stretch.ns = device().time_ns([&] {
      for (int i = 0; i < calls; ++i) stretch.work += call();
    });
    return stretch;
  }

  std::unique_ptr<CeilingKernels> kernels_;
};

std::unique_ptr<Client<CeilingsMessages>> start_ceilings(const std::string& device, const RunOptions& options) {
  if (!options.isolate) return start_ceilings_here(device);
  const SharedMemory nothing(1);  // a case would find its workload in it
  return std::make_unique<ProcessClient<CeilingsMessages>>(
      ProcessStart{.what = fmt::format("the ceilings of {}", device),
                   .command = "serve-ceilings",
                   .memory = {nothing.descriptor()},
                   .timeout_seconds = step_timeout_seconds(std::nullopt, {}, find_device_kind(device))},
      to_ceilings::Hello{device});
}

}  // namespace

/// The samples of one device, and the state of sampling it.
struct CeilingSampler::OfDevice : DeviceCeilings {
  double seconds_of_group = 0;  ///< seconds that a group may take
  int rounds = 0;               ///< rounds of the group's cases so far
  int next_round = 1;           ///< the round after which a sample is due
  double seconds = 0;           ///< taken in this group
  std::unique_ptr<Client<CeilingsMessages>> client;
  bool sampled = false;      ///< in this session
  bool one_process = false;  ///< no case can be open while it is sampled

  void add(const CeilingLimit& limit, double rate) {
    const auto known = std::ranges::find(limits, limit.name, [](const SampledLimit& one) { return one.limit.name; });
    (known == limits.end() ? limits.emplace_back(SampledLimit{limit}) : *known).samples.push_back(rate);
  }
};

std::size_t last_level_cache_bytes(const DeviceKind& kind) {
  if (kind.family == "cpu") return cpu_last_level_cache_bytes();
  for (const DeviceFact& fact : kind.facts()) {
    std::size_t bytes = 0;
    const char* const end = fact.value.data() + fact.value.size();
    if (fact.name == "L2 bytes" && std::from_chars(fact.value.data(), end, bytes).ptr == end) return bytes;
  }
  return 0;
}

std::unique_ptr<Client<CeilingsMessages>> start_ceilings_here(const std::string& device) {
  return session_or_failure<CeilingsMessages>([&] { return std::make_unique<CeilingsHere>(find_device_kind(device)); });
}

namespace {

int serve_ceilings(int socket, int /*memory*/, int /*window*/) {
  return serve_requests<CeilingsMessages>(
      socket, [](const to_ceilings::Hello& hello) { return start_ceilings_here(hello.device); });
}

const ServedRegistration serve_ceilings_registration("serve-ceilings", serve_ceilings);

}  // namespace

CeilingSampler::CeilingSampler(const RunOptions& options, const std::map<std::string, int>& groups,
                               const Ceilings& recorded)
    : options_(options) {
  // Under a profiler, only the kernels that were asked for.
  if (options.profile_calls) return;
  for (const DeviceKind& kind : device_kinds()) {
    const auto planned = groups.find(std::string(kind.name));
    const DeviceCeilings* const before = find_ceilings_of(recorded, kind.name);
    // A virtual clock's limits are the model's own.
    const bool measures =
        planned != groups.end() && kind.has_clock && !kind.clock_is_virtual() && find_ceilings(kind.family) != nullptr;
    if (!measures && before == nullptr) continue;
    auto one = std::make_unique<OfDevice>();
    if (before != nullptr) static_cast<DeviceCeilings&>(*one) = *before;
    one->device = kind.name;
    one->failure.clear();  // it may work now
    if (measures) {
      one->last_level_cache_bytes = last_level_cache_bytes(kind);
      one->one_process = kind.capacity != nullptr && kind.capacity().one_process;
      one->seconds_of_group = kCeilingSeconds / planned->second;
    }
    devices_.push_back(std::move(one));
  }
}

CeilingSampler::~CeilingSampler() = default;

CeilingSampler::OfDevice* CeilingSampler::find(const std::string& device) const {
  const auto found = std::ranges::find(devices_, device, [](const auto& one) { return one->device; });
  return found == devices_.end() ? nullptr : found->get();
}

void CeilingSampler::sample(OfDevice& one) const {
  if (!one.failure.empty()) return;
  const auto start = CeilingClock::now();
  if (one.client == nullptr) one.client = start_ceilings(one.device, options_);
  const auto answer = one.client->ask_for(to_ceilings::Sample());
  if (const Ending* const ending = std::get_if<Ending>(&answer)) {
    one.failure = ending->reason;
    one.client.reset();
    return;
  }
  const auto& sampled = std::get<to_ceilings::Sampled>(answer);
  one.sampled = true;
  one.choice = sampled.choice;
  one.buffer_bytes = sampled.buffer_bytes;
  one.add(kMultiplyAddLimit, sampled.multiply_add);
  one.add(kStoreLimit, sampled.store);
  one.add(kCopyLimit, sampled.copy);
  if (one.one_process) one.client.reset();
  one.seconds += std::chrono::duration<double>(CeilingClock::now() - start).count();
}

void CeilingSampler::before_group(const std::string& device) {
  OfDevice* const one = find(device);
  if (one == nullptr) return;
  one->rounds = 0;
  one->next_round = 1;
  one->seconds = 0;
  sample(*one);
}

void CeilingSampler::between_rounds(const std::string& device) {
  OfDevice* const one = find(device);
  if (one == nullptr || one->one_process) return;  // a case has the device
  if (++one->rounds < one->next_round || !(one->seconds < one->seconds_of_group)) return;
  one->next_round = 4 * one->rounds;
  sample(*one);
}

bool CeilingSampler::again(const std::string& device) {
  OfDevice* const one = find(device);
  if (one == nullptr) return false;
  sample(*one);
  return one->failure.empty();
}

void CeilingSampler::finish() {
  for (const std::unique_ptr<OfDevice>& one : devices_) {
    if (one->client != nullptr) sample(*one);
    one->client.reset();
  }
}

Ceilings CeilingSampler::measured() const {
  Ceilings ceilings;
  for (const std::unique_ptr<OfDevice>& one : devices_) {
    if (!one->limits.empty() || !one->failure.empty()) ceilings.push_back(*one);
  }
  return ceilings;
}

std::vector<std::string> CeilingSampler::lines() const {
  std::vector<std::string> lines;
  for (const std::unique_ptr<OfDevice>& one : devices_) {
    if (!one->failure.empty()) lines.push_back(fmt::format("{}: no ceilings: {}", one->device, one->failure));
    if (!one->sampled) continue;
    std::vector<std::string> limits;
    for (const SampledLimit& limit : one->limits) {
      limits.push_back(fmt::format("{} {:.3g} {}", limit.limit.name, median(limit.samples), limit.limit.unit));
    }
    lines.push_back(fmt::format("{}: {} (measured, {} samples)", one->device, fmt::join(limits, ", "),
                                one->limits.front().samples.size()));
  }
  return lines;
}

Ceilings pooled_ceilings(const std::vector<Ceilings>& of_machines) {
  Ceilings pooled;
  for (const Ceilings& machine : of_machines) {
    for (const DeviceCeilings& one : machine) {
      const auto known = std::ranges::find(pooled, one.device, &DeviceCeilings::device);
      if (known == pooled.end()) {
        pooled.push_back(one);
        continue;
      }
      for (const SampledLimit& limit : one.limits) {
        const auto same = std::ranges::find(known->limits, limit.limit.name,
                                            [](const SampledLimit& other) { return other.limit.name; });
        if (same == known->limits.end()) {
          known->limits.push_back(limit);
        } else {
          same->samples.insert(same->samples.end(), limit.samples.begin(), limit.samples.end());
        }
      }
    }
  }
  for (DeviceCeilings& one : pooled) {
    if (!one.limits.empty()) one.failure.clear();  // it failed on some of them at most
  }
  return pooled;
}

}  // namespace convladder

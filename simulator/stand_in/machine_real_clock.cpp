// Launches with the real clock: each is executed once, so that its time is known, and deferred from then on.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "devices/kernel_resources.hpp"
#include "simulator/counters/launch_counts.hpp"
#include "simulator/gpus/time_model.hpp"
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {
namespace {

// A launch of so many blocks along x takes seconds to execute, and its result may never be looked at: it is counted in
// part first.
constexpr unsigned kCountedInPart = 8192;
constexpr unsigned kCountedPlaces = 512;

void add_bytes(std::vector<std::uint64_t>& words, const std::vector<std::byte>& bytes) {
  words.push_back(bytes.size());
  const std::size_t at = words.size();
  words.resize(at + (bytes.size() + 7) / 8);
  std::memcpy(words.data() + at, bytes.data(), bytes.size());
}

/// Names a launch by its function and its sizes, and by its arguments unless these do not matter.
ContentName name_of_work(const KernelWork& work, bool with_arguments = true) {
  std::vector<std::uint64_t> words;
  const LaunchRequest& request = work.request;
  const auto add = [&words](const Dim3& size) { words.insert(words.end(), {size.x, size.y, size.z}); };
  words.push_back(reinterpret_cast<std::uint64_t>(work.function));
  words.push_back(reinterpret_cast<std::uint64_t>(work.function->module));
  add(request.grid);
  add(request.block);
  add(request.cluster);
  add(work.function->cluster);
  words.push_back(request.dynamic_shared_bytes);
  words.push_back(request.cooperative ? 1 : 0);
  if (with_arguments) {
    for (const std::vector<std::byte>& argument : work.arguments) add_bytes(words, argument);
  }
  return content_name(words.data(), words.size() * sizeof words[0]);
}

/// The predicted time without the costs of calls and launches, which the host and the stream pay here.
double kernel_ns(const GpuFacts& gpu, const LaunchCounts& counts) {
  constexpr double kLeastNs = 300;
  const Range predicted = predict_launch(gpu, counts).ns;
  const double low = std::max(kLeastNs, predicted.low - gpu.launch_overhead_ns.low);
  const double high = std::max(kLeastNs, predicted.high - gpu.launch_overhead_ns.high);
  return std::sqrt(low * high);
}

}  // namespace

/// False for a launch that has to be executed every time: its effect is not only on the device's own memory, or depends
/// on more than that.
bool Machine::may_be_put_off(const KernelLaunch& launch) {
  if (settings.checkers.any() || collects_counters || has_textures_ || device_.may_read_clock(launch.kernel)) {
    return false;
  }
  for (const std::uint64_t begin : device_.may_be_written_by(launch)) {
    if (begin >= simulated::kVisibleWindow) return false;
  }
  for (const std::vector<std::byte>& argument : launch.arguments) {
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= argument.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t value = 0;
      std::memcpy(&value, argument.data() + at, sizeof value);
      const auto* const address = reinterpret_cast<const void*>(value);  // NOLINT(performance-no-int-to-ptr)
      const simulated::Allocation* const allocation = device_.allocation_at(address);
      if (allocation != nullptr && allocation->begin >= simulated::kVisibleWindow) return false;
    }
  }
  return true;
}

/// The counters of a deferred launch, from its first blocks if it is large; memory stays as it is. Sums grow with the
/// blocks, which is not exact where blocks differ, but good enough for its time. None if the kernel fails on the
/// contents of memory before the deferred work is carried out.
std::optional<KernelCounters> Machine::counted_aside(const KernelLaunch& launch, bool is_part) {
  struct Saved {
    std::byte* at = nullptr;
    std::vector<std::byte> bytes;
  };
  std::vector<Saved> saved;
  const std::vector<std::uint64_t> written = device_.may_be_written_by(launch);
  for (const auto& [begin, end] : device_.own_allocations()) {
    if (std::ranges::find(written, begin) == written.end()) continue;
    const auto* const address = reinterpret_cast<const void*>(begin);  // NOLINT(performance-no-int-to-ptr)
    std::byte* const at = device_.bytes_at(address, end - begin, "save");
    saved.push_back({at, {at, at + (end - begin)}});
  }
  bool goes_well = true;
  if (is_part) device_.set_grid_window(GridWindow{0, kCountedPlaces, 0});
  try {
    device_.launch(launch);
  } catch (const DeviceError&) {
    goes_well = false;
  }
  device_.set_grid_window(std::nullopt);
  for (const Saved& one : saved) std::ranges::copy(one.bytes, one.at);
  std::vector<KernelCounters> counted = device_.take_counters();
  if (!goes_well || counted.empty()) return std::nullopt;
  const double times = is_part ? static_cast<double>(launch.grid.x) / kCountedPlaces : 1;
  for (auto* values : {&counted.front().values, &counted.front().modelled}) {
    for (auto& [name, value] : *values) {
      if (name.ends_with(".sum")) value *= times;
    }
  }
  return std::move(counted.front());
}

void Machine::run_by_real_clock(const KernelWork& work, const LaunchRequest& request) {
  KnownLaunch& known = known_launches_[name_of_work(work)];
  if (known.function != nullptr && known.operation != nullptr) {
    if (!known.has_no_effect) deferred_->add(known.operation);
    enqueue_kernel(known, request.stream);
    return;
  }
  if (known.is_timeless && !settings.checkers.any() && !collects_counters) {
    put_off_with_clocks(work, request);
    enqueue_kernel(known, request.stream);
    return;
  }
  if (work.function->written.empty()) work.function->written = display_name(work.function->name);
  const KernelLaunch launch = device_launch(work, request);
  const bool is_put_off = may_be_put_off(launch);
  const bool is_large = launch.grid.x >= kCountedInPart && !launch.cooperative && !launch.cluster;
  std::optional<KernelCounters> counted;
  // In this model a kernel takes as long on other numbers of the same sizes, so it is deferred like a known one.
  KernelCounters& of_sizes = counted_by_sizes_[name_of_work(work, false)];
  if (is_put_off && !of_sizes.values.empty()) counted = of_sizes;
  if (is_put_off && !counted && (is_large || deferred_->has_long())) counted = counted_aside(launch, is_large);
  const bool is_executed = !counted;
  bool has_printed = false;
  if (is_executed) {
    settle();
    const auto carry_out = [&] {
      execute(work, request);
      if (const std::string printed = device_.take_printed(); !printed.empty()) {
        std::fwrite(printed.data(), 1, printed.size(), stdout);
        has_printed = true;
      }
      if (auto findings = device_.take_findings(); !findings.empty()) {
        found_in(*work.function, std::move(findings));
      }
      // The others are of kernels that this one has launched.
      if (auto all = device_.take_counters(); !all.empty()) counted = std::move(all.front());
    };
    if (is_put_off) {
      deferred_->carry_out({.name = name_of_work(work), .carry_out = carry_out, .may_write = [&] {
                              return device_.may_be_written_by(launch);
                            }});
    } else {
      if (device_.may_read_clock(launch.kernel)) {
        device_.set_clocks(clocks_of_next(request.stream));
      }
      carry_out();
      for (const std::uint64_t begin : device_.may_be_written_by(launch)) {
        if (begin < simulated::kVisibleWindow) deferred_->wrote(begin);
      }
    }
  }
  if (!counted) return;  // it has failed, which the next call reports
  of_sizes = *counted;
  known.function = work.function;
  known.counters = std::move(*counted);
  known.counts = simulated::launch_counts(known.counters, *gpu_model_);
  const double warps =
      static_cast<double>(request.grid.count()) * static_cast<double>((request.block.count() + 31) / 32);
  known.least_cycles = device_.may_read_clock(launch.kernel) ? known.counts.warp_instructions / warps : 0;
  known.ns_at.clear();
  known.is_timeless = device_.may_read_clock(launch.kernel) && device_.runs_straight(launch.kernel);
  known.has_no_effect = is_put_off && !has_printed && device_.may_be_written_by(launch).empty();
  const double resident =
      std::max(1, predict_launch(*gpu_, known.counts).residence.blocks) * static_cast<double>(gpu_->multiprocessors);
  known.share = std::min(1.0, static_cast<double>(request.grid.count()) / resident);
  if (collects_counters) {
    collect_instructions();
    collected_counters.push_back(known.counters);
    collected_counters.back().kernel = work.function->written;
    if (request.dynamic_shared_bytes > 0) {
      collected_counters.back().values.emplace_back(simulated::kDynamicSharedBytes,
                                                    static_cast<double>(request.dynamic_shared_bytes));
    }
  }
  if (is_put_off && !has_printed) {
    // It will be executed outside of a call of the program, so its arguments are kept.
    known.operation = std::make_shared<const DeferredOperation>(
        DeferredOperation{.name = name_of_work(work),
                          .carry_out =
                              [this, work, request] {
                                if (lost() != kSuccess) return;
                                try {
                                  execute(work, request);
                                } catch (const Failure& failure) {
                                  lose(kLaunchFailure, failure.what());
                                }
                                static_cast<void>(device_.take_counters());
                              },
                          .may_write = [this, launch] { return device_.may_be_written_by(launch); },
                          .is_long = is_large});
    if (!is_executed) deferred_->add(known.operation);
  }
  enqueue_kernel(known, request.stream);
}

/// The clocks that a kernel enqueued now finds when it begins.
simulated::KernelClocks Machine::clocks_of_next(int stream) {
  const Nanoseconds begin = timeline.next_kernel_begins(stream);
  return {gpu_clock_->cycles_at(begin), begin, 1e3 / gpu_clock_->mhz_from(begin)};
}

/// Defers a launch with the clocks of the moment at which it begins. It is executed when somebody looks, and never
/// skipped: no other launch has its name.
void Machine::put_off_with_clocks(const KernelWork& work, const LaunchRequest& request) {
  const simulated::KernelClocks clocks = clocks_of_next(request.stream);
  const ContentName moment{clocks.ns, clocks.cycles};
  deferred_->add(std::make_shared<const DeferredOperation>(DeferredOperation{
      .name = content_name(name_of_work(work), moment),
      .carry_out =
          [this, work, request, clocks] {
            if (lost() != kSuccess) return;
            device_.set_clocks(clocks);
            try {
              execute(work, request);
            } catch (const Failure& failure) {
              lose(kLaunchFailure, failure.what());
            }
            static_cast<void>(device_.take_counters());
          },
      .may_write = [this, launch = device_launch(work, request)] { return device_.may_be_written_by(launch); }}));
}

Timeline::Span Machine::enqueue_kernel(KnownLaunch& known, int stream) {
  const auto ns_at = [&](int mhz) {
    const auto found = known.ns_at.find(mhz);
    if (found != known.ns_at.end()) return found->second;
    GpuFacts& gpu = gpu_at_[mhz];
    if (gpu.name.empty()) {
      gpu = *gpu_;
      const double slower = static_cast<double>(mhz) / gpu_->clock_mhz.high;
      gpu.clock_mhz = {gpu_->clock_mhz.low * slower, gpu_->clock_mhz.high * slower};
    }
    return known.ns_at[mhz] = std::max(kernel_ns(gpu, known.counts), known.least_cycles * 1e3 / mhz);
  };
  const Timeline::Span span = timeline.enqueue(
      stream, Engine::kernels, [&](Nanoseconds begin) { return gpu_clock_->takes(begin, ns_at, true); }, known.share);
  ++known.times;
  known.total_ns += span.end - span.begin;
  trace.add(known.function->written, stream, span);
  return span;
}

/// Adds up counters and times of kernels when somebody reads them, as that takes longer than a launch.
void Machine::report_known_launches() {
  for (auto& [name, known] : known_launches_) {
    if (known.times == 0) continue;
    report.launched({known.function->name, known.function->configuration}, known.times, known.total_ns, known.counters);
    known.times = 0;
    known.total_ns = 0;
  }
}

}  // namespace convladder::stand_in

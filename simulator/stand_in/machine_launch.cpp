// Launches on the machine.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "devices/kernel_resources.hpp"
#include "simulator/counters/launch_counts.hpp"
#include "simulator/device/launch_checks.hpp"
#include "simulator/gpus/occupancy.hpp"
#include "simulator/gpus/time_model.hpp"
#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/machine.hpp"
#include "simulator/stand_in/report/running_kernel.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::uint64_t kSharedBytesWithoutAsking = 48 * 1024;
constexpr int kClusterLaunch = 120;  // cudaDevAttrClusterLaunch

/// The status with which hardware would have reported the fault.
Status status_of(const simulated::Finding& finding) {
  if (finding.problem.starts_with("assertion")) return kAssert;
  if (finding.problem.find("misaligned") != std::string::npos) return kMisalignedAddress;
  if (finding.checker == simulated::Checker::memory && !finding.space.empty() && finding.space == "global") {
    return kIllegalAddress;
  }
  return kLaunchFailure;
}

/// Whether the kernel has ended itself. That ends the launch, and the context with it, even where findings are
/// collected.
bool is_trap(const simulated::Finding& finding) {
  return finding.problem.starts_with("assertion") || finding.problem == "a trap was executed";
}

/// Whether a launch returns when the kernel has run, with its error. The driver looks when it makes a context. Ours is
/// there from the first question about a device on, when a program may still set the variable: so at the first launch.
bool launches_block() {
  static const bool block = [] {
    const char* const text = std::getenv("CUDA_LAUNCH_BLOCKING");
    return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
  }();
  return block;
}

/// The cluster of the launch, or of its function; no blocks if neither has one. The device knows what the kernel was
/// compiled with.
Dim3 cluster_of(const Function& function, const LaunchRequest& request) {
  return request.cluster.count() > 0 ? request.cluster : function.cluster;
}

/// The geometric middle of a model's bounds, none of which is more likely.
Nanoseconds middle(const Range& ns) { return static_cast<Nanoseconds>(std::sqrt(ns.low * ns.high)); }

}  // namespace

std::uint64_t Machine::static_shared_bytes(Function& function) {
  const ptx::Kernel& found = kernel(function);
  std::uint64_t bytes = 0;
  for (const auto* symbols : {&function.module->read(architecture()).symbols, &found.symbols}) {
    for (const ptx::Symbol& symbol : *symbols) {
      if (symbol.space == ptx::Space::shared) bytes += symbol.bytes;
    }
  }
  return bytes;
}

int Machine::resident_blocks(Function& function, int threads, std::uint64_t dynamic_shared_bytes) {
  if (threads <= 0) throw Failure(kInvalidValue);
  const BlockNeeds needs{.threads = static_cast<std::uint64_t>(threads),
                         .registers = assumed_registers(function),
                         .shared_bytes = static_shared_bytes(function) + dynamic_shared_bytes};
  return occupancy(gpu_->occupancy, needs).blocks;
}

/// For launches by kernels: of a kernel that the host has not asked for more, as much as a GPU gives without asking.
std::uint64_t Machine::most_dynamic_shared_bytes(const ptx::Kernel& found) {
  std::uint64_t own = 0;
  std::uint64_t asked = 0;
  for (const ptx::Symbol& symbol : found.symbols) own += symbol.space == ptx::Space::shared ? symbol.bytes : 0;
  for (const auto& [host, function] : functions_) {
    const ptx::Module* const module = function->module->read_already();
    if (function->name != found.name || module == nullptr || module->find_kernel(found.name) != &found) continue;
    asked = std::max(asked, static_cast<std::uint64_t>(function->most_dynamic_shared_bytes));
  }
  return std::max(asked, kSharedBytesWithoutAsking - std::min(own, kSharedBytesWithoutAsking));
}

int Machine::resident_clusters(Function& function, const LaunchRequest& request) {
  if (device_attribute(*gpu_, kClusterLaunch).value_or(0) == 0) {
    throw Failure(kNotSupported, fmt::format("the {} has no clusters", gpu_->title));
  }
  const ptx::Kernel& found = kernel(function);
  Dim3 cluster = cluster_of(function, request);
  if (found.cluster_size[0] > 0) {
    cluster = {static_cast<unsigned>(found.cluster_size[0]), static_cast<unsigned>(found.cluster_size[1]),
               static_cast<unsigned>(found.cluster_size[2])};
  }
  if (cluster.count() == 0) throw Failure(kInvalidClusterSize, "neither the kernel nor the launch has clusters");
  if (cluster.count() > (function.may_have_large_clusters ? 16U : 8U)) throw Failure(kInvalidClusterSize);
  const int blocks = resident_blocks(function, static_cast<int>(request.block.count()), request.dynamic_shared_bytes);
  return convladder::resident_clusters(gpu_->multiprocessors, blocks, static_cast<int>(cluster.count()));
}

int Machine::largest_cluster(Function& function, const LaunchRequest& request) {
  LaunchRequest one = request;
  for (unsigned blocks = function.may_have_large_clusters ? 16 : 8; blocks > 1; blocks /= 2) {
    one.cluster = {blocks, 1, 1};
    if (resident_clusters(function, one) > 0) return static_cast<int>(blocks);
  }
  one.cluster = {1, 1, 1};
  return resident_clusters(function, one) > 0 ? 1 : 0;
}

void Machine::check_launch(Function& function, const LaunchRequest& request) {
  const ptx::Kernel& found = kernel(function);
  const Dim3& grid = request.grid;
  const Dim3& block = request.block;
  const auto most_threads = static_cast<std::uint64_t>(gpu_->occupancy.threads_per_block);
  if (grid.count() == 0 || block.count() == 0 || block.count() > most_threads || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535) {
    throw Failure(kInvalidConfiguration);
  }
  if (const std::string problem = simulated::block_problem(found, block); !problem.empty()) {
    throw Failure(kInvalidValue, problem);
  }
  const std::uint64_t own = static_shared_bytes(function);
  const auto asked = std::max<std::uint64_t>(kSharedBytesWithoutAsking,
                                             own + static_cast<std::uint64_t>(function.most_dynamic_shared_bytes));
  const std::uint64_t most = std::min(asked, static_cast<std::uint64_t>(gpu_->occupancy.shared_per_block));
  if (own > most || request.dynamic_shared_bytes > most - own) throw Failure(kInvalidValue);
  if (const Dim3 cluster = cluster_of(function, request); cluster.count() > 0) {
    const std::uint64_t most_blocks = function.may_have_large_clusters ? 16 : 8;
    const bool fits = grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
    if (cluster.count() > most_blocks || !fits) throw Failure(kInvalidClusterSize);
  }
  if (!request.cooperative) return;
  const int resident = resident_blocks(function, static_cast<int>(block.count()), request.dynamic_shared_bytes);
  const auto together = static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(gpu_->multiprocessors);
  if (grid.count() > together) throw Failure(kCooperativeLaunchTooLarge);
}

void Machine::note_failed_launch(std::string_view call, const Failure& failure) {
  const bool launches = call.find("aunch") != std::string_view::npos;
  if (launches && failed_launch.empty() && *failure.what() != '\0') failed_launch = failure.what();
}

void Machine::launch(Function& function, const LaunchRequest& request, void* const* arguments) {
  KernelWork work;
  try {
    if (timeline.device_of(request.stream) != Contexts::current_device()) {
      throw Failure(kInvalidHandle, "the stream is another device's than the current one");
    }
    work = kernel_work(function, request, arguments);
  } catch (const Failure& failure) {
    if (failed_launch.empty()) {
      const std::string& name = function.written.empty() ? function.name : function.written;
      failed_launch = fmt::format("the launch of {} was refused: {}{}{}", name, status_name(failure.status),
                                  *failure.what() == '\0' ? "" : ", ", failure.what());
    }
    throw;
  }
  if (graphs().capture(request.stream, work)) return;
  run(work, request.stream);
  if (!launches_block()) return;
  synchronize(request.stream);
  if (lost_ != kSuccess) throw Failure(lost_, why_lost_);
}

KernelWork Machine::kernel_work(Function& function, const LaunchRequest& request, void* const* arguments) {
  const ptx::Kernel& found = kernel(function);
  check_launch(function, request);
  KernelWork work{&function, request, {}, {}, Contexts::current_device()};
  for (std::size_t i = 0; i < found.parameters.size(); ++i) {
    if (arguments == nullptr || arguments[i] == nullptr) throw Failure(kInvalidValue);
    const auto* const bytes = static_cast<const std::byte*>(arguments[i]);
    work.arguments.emplace_back(bytes, bytes + found.parameters[i].bytes);
  }
  return work;
}

KernelLaunch Machine::device_launch(const KernelWork& work, const LaunchRequest& request) {
  KernelLaunch launch;
  launch.kernel = loaded(*work.function);
  launch.grid = request.grid;
  launch.block = request.block;
  launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
  launch.arguments = work.arguments;
  launch.cooperative = request.cooperative;
  if (const Dim3 cluster = cluster_of(*work.function, request); cluster.count() > 0) launch.cluster = cluster;
  return launch;
}

void Machine::run(const KernelWork& work, int stream) {
  LaunchRequest request = work.request;
  request.stream = stream;
  const OnDevice on_device(*this, work.device);
  timeline.host_works(timeline.costs().launch);
  if (deferred_) {
    run_by_real_clock(work, request);
  } else {
    begin_work(display_name(work.function->name), stream);
    execute(work, request);
    take_over(*work.function, request);
  }
  end_if_signalled();
}

/// Ends the process if a signal has ended the last kernel.
void Machine::end_if_signalled() {
  const int signal = signal_for_kernel();
  if (signal == 0) return;
  finish_by_signal(name_of_signal(signal), 0, nullptr);
  end_by_signal(signal);
}

/// Runs a launch on the simulated device, now.
void Machine::execute(const KernelWork& work, const LaunchRequest& request) {
  const KernelLaunch launch = device_launch(work, request);
  std::string& name = work.function->written;
  if (name.empty()) name = display_name(work.function->name);
  const auto begin = std::chrono::steady_clock::now();
  try {
    const RunningKernel running(name);
    device_.launch(launch);
  } catch (const simulated::KernelFaulted& fault) {
    lose(status_of(fault.finding), fault.what());
    found_in(*work.function, {fault.finding});
  } catch (const simulated::LaunchEndedEarly& ended) {
    lose(kLaunchTimeout, fmt::format("{} was ended {}", name, ended.what()));
  } catch (const simulated::CooperativeLaunchTooLarge& error) {
    throw Failure(kCooperativeLaunchTooLarge, error.what());
  } catch (const simulated::KernelNotSupported& error) {
    report.not_supported(fmt::format("a kernel that {} launches: {}", name, error.what()));
    throw Failure(kNotSupported, error.what());
  } catch (const DeviceError& error) {
    throw Failure(kInvalidValue, error.what());
  }
  write_asserted();
  report.simulated_for(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

/// As the driver does it.
void Machine::write_asserted() {
  if (const std::string lines = device_.take_asserted(); !lines.empty()) std::fputs(lines.c_str(), stderr);
}

/// Reports findings of a launch of the function. After other faults the program may go on, so that more is found; with
/// a failed assertion or a trap it ends itself.
void Machine::found_in(const Function& function, std::vector<simulated::Finding> findings) {
  for (simulated::Finding& one : findings) {
    if (one.kernel == function.name) one.configuration = function.configuration;
    if (is_trap(one)) {
      const Status status = status_of(one);
      lose(status,
           fmt::format("{} ended itself, and every later call answers {}", function.written, status_name(status)));
    }
  }
  report.found(std::move(findings), calling_places());
}

void Machine::collect_instructions() {
  for (const auto& [name, figures] : device_.take_instructions()) collected_instructions[name].add(figures);
}

void Machine::take_over(const Function& function, const LaunchRequest& request) {
  if (const std::string printed = device_.take_printed(); !printed.empty()) {
    std::fwrite(printed.data(), 1, printed.size(), stdout);
  }
  if (const std::string blind = device_.blind_checkers(); blind != blind_checkers_) {
    report.unseen(fmt::format("the host had too little memory for {}, which did not see everything", blind));
    blind_checkers_ = blind;
  }
  for (const auto& [name, tried] : device_.take_orders_tried()) {
    report.orders({name, name == function.name ? function.configuration : ""}, tried);
    if (!tried.not_tried.empty()) report.unseen(fmt::format("{}: {}", display_name(name), to_text(tried)));
  }
  if (auto findings = device_.take_findings(); !findings.empty()) found_in(function, std::move(findings));
  // The first launch is the function's, the others are of kernels that it and its children have launched.
  const std::vector<simulated::LaunchedKernel> kernels = device_.launched_kernels();
  const std::vector<KernelCounters> all = device_.take_counters();
  if (collects_counters) {
    collect_instructions();
  } else {
    for (auto& [name, figures] : device_.take_instructions()) {
      report.instructions({name, name == function.name ? function.configuration : ""}, figures);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const KernelCounters& counters = all[i];
    const LaunchCounts counts = simulated::launch_counts(counters, *gpu_model_);
    const PredictedLaunch predicted = predict_launch(*gpu_, counts);
    const Nanoseconds ns = std::max<Nanoseconds>(middle(predicted.ns), 1);
    const double resident = std::max(1, predicted.residence.blocks) * static_cast<double>(gpu_->multiprocessors);
    const double share = std::min(1.0, static_cast<double>(counters.grid.count()) / resident);
    const std::string& written = i == 0 ? function.written : counters.kernel;
    trace.add(written, request.stream, timeline.enqueue(request.stream, Engine::kernels, ns, share));
    const LaunchedName name{kernels[i].name, i == 0 ? function.configuration : ""};
    report.launched(name, 1, ns, counters);
    report.cost(name, kernels[i]);
    if (kernels[i].blocks_run < kernels[i].blocks) {
      report.unseen(
          fmt::format("a sample of {} blocks ran of a launch that has more: results are not those of the "
                      "program, and counters and times are scaled up",
                      settings.sample_blocks));
    }
    if (collects_counters) {
      collected_counters.push_back(counters);
      collected_counters.back().kernel = written;
      if (i == 0 && request.dynamic_shared_bytes > 0) {
        collected_counters.back().values.emplace_back(simulated::kDynamicSharedBytes,
                                                      static_cast<double>(request.dynamic_shared_bytes));
      }
    }
  }
}

}  // namespace convladder::stand_in

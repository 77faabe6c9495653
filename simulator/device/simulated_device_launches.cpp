// The launches of the simulated device: which blocks run, which checkers observe them, and what is counted.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <iterator>

#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"
#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/counters/metrics.hpp"
#include "simulator/device/launch_checks.hpp"
#include "simulator/device/launch_memory.hpp"
#include "simulator/device/other_orders.hpp"
#include "simulator/device/simulated_device.hpp"

namespace convladder::simulated {
namespace {

/// Whether the grid has exactly as many places for items as the launch says that `items` items need.
bool places_of_items(const KernelLaunch& launch, unsigned items) {
  if (!launch.items || launch.items->per_block == 0) return false;
  const std::uint64_t per_block = launch.items->per_block;
  return (items + per_block - 1) / per_block == extent(launch.grid, launch.items->axis);
}

/// Processor time of all threads of this process in seconds.
double processor_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// How many threads a launch is worth: making a thread and waiting for it takes longer than a small launch.
int worthwhile_threads(double seconds, int threads) {
  constexpr double kSecondsOfThread = 200e-6;
  return static_cast<int>(std::min<double>(threads, 1 + seconds / kSecondsOfThread));
}

/// Extrapolates traffic below the caches to `places` places: along a straight line through `half` and `values`, which
/// were counted over half of `part` places and all of them. Ratios stay those of `values`.
void extrapolate(std::vector<std::pair<std::string, double>>& values,
                 const std::vector<std::pair<std::string, double>>& half, unsigned part, unsigned places) {
  for (auto& [name, value] : values) {
    const auto found = std::ranges::find(half, name, &std::pair<std::string, double>::first);
    if (!name.ends_with(".sum") || found == half.end()) continue;  // Nsight Compute's names of sums end like this
    const double of_half = found->second;
    const unsigned first_half = part / 2;
    const double per_place = (value - of_half) / (part - first_half);
    value = of_half + per_place * (places - first_half);
  }
}

/// Adds the counts of other blocks of the launch.
void add_blocks(LaunchResult& result, const LaunchResult& others) {
  for (std::size_t i = 0; i < result.counters.size(); ++i) result.counters[i] += others.counters[i];
  result.caches += others.caches;
  result.blocks += others.blocks;
  result.stopped = others.stopped;
}

/// Whether the kernel calls functions, whose work is not in the kernel's own instructions.
bool calls_functions(const ptx::Kernel& kernel) {
  return std::ranges::any_of(
      kernel.instructions, [](const ptx::Instruction& instruction) { return instruction.opcode.starts_with("call"); });
}

}  // namespace

void SimulatedDevice::launch(const KernelLaunch& given) {
  try {
    const Program& program = program_of(given.kernel);
    const KernelLaunch launch = in_blocks(*program.kernel, given);
    check_launch(program, launch, *options_.gpu);
    for (const VariableContent& content : launch.variables) fill(*program.module, content);
    if (const std::string stopped = execute(program, launch); !stopped.empty()) throw LaunchEndedEarly(stopped);
  } catch (const KernelFault& fault) {
    asserted_ += fault.asserted;
    throw KernelFaulted(fault);
  } catch (const ptx::PtxError& error) {
    throw KernelNotSupported(error.what());
  }
}

LaunchConfiguration SimulatedDevice::configuration_of(const Program& program, const KernelLaunch& launch) const {
  LaunchConfiguration configuration;
  configuration.grid = launch.grid;
  configuration.cluster = cluster_of(*program.kernel, launch);
  configuration.is_explicit_cluster = launch.cluster || program.kernel->cluster_size[0] > 0;
  configuration.block = launch.block;
  configuration.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
  configuration.parameters.resize(program.parameter_bytes);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    std::ranges::copy(launch.arguments[i], configuration.parameters.begin() + program.parameter_offsets[i]);
  }
  configuration.gpu = options_.gpu;
  configuration.is_counted = counts_ || options_.mutants.lists;
  configuration.with_caches = options_.with_caches && counts_;
  configuration.host_threads = options_.host_threads > 0 ? options_.host_threads : usable_cores();
  configuration.collect_findings = options_.checkers.any();
  configuration.limits = options_.limits;
  configuration.textures = &textures_;
  configuration.clocks = clocks_;
  return configuration;
}

std::vector<std::uint64_t> SimulatedDevice::may_be_written_by(const KernelLaunch& given) {
  try {
    const Program& program = program_of(given.kernel);
    const KernelLaunch launch = in_blocks(*program.kernel, given);
    check_launch(program, launch, *options_.gpu);
    return may_be_written_by(program, configuration_of(program, launch).parameters);
  } catch (const ptx::PtxError& error) {
    throw DeviceError(error.what());
  }
}

std::vector<std::uint64_t> SimulatedDevice::may_be_written_by(const Program& program,
                                                              const std::vector<std::byte>& parameters) const {
  std::vector<std::uint64_t> live;
  if (calls_functions(*program.kernel)) {
    for (const Allocation* at = memory_.next(0); at != nullptr; at = memory_.next(at->begin)) {
      if (!at->freed) live.push_back(at->begin);
    }
    return live;
  }
  for (const std::uint64_t begin : written_allocations(program, parameters, memory_)) {
    if (memory_.find(begin) != nullptr) live.push_back(begin);
  }
  return live;
}

bool SimulatedDevice::may_read_clock(const void* kernel) {
  const Program& program = program_of(kernel);
  return calls_functions(*program.kernel) || reads_clock(*program.kernel);
}

bool SimulatedDevice::runs_straight(const void* kernel) {
  const ptx::Kernel& code = *program_of(kernel).kernel;
  if (calls_functions(code)) return false;
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].opcode.starts_with("brx")) return false;
    for (const ptx::Operand& operand : code.instructions[i].operands) {
      if (operand.kind == ptx::OperandKind::label && operand.index <= static_cast<int>(i)) return false;
    }
  }
  return true;
}

/// Runs the launch in its usual order, and then in those that are asked for besides.
LaunchResult SimulatedDevice::run(const Program& program, LaunchConfiguration configuration) {
  if (options_.schedules.count == 0) return run_or_mutant(program, configuration);
  OrdersTried& tried = orders_tried_[program.kernel->name];
  if (configuration.window.count > 0 || configuration.sample.count > 0) {
    tried += OrdersTried{.not_tried = "only some of its blocks run"};
    return run_in_order(program, std::move(configuration));
  }
  LaunchMemory kept(memory_, may_be_written_by(program, configuration));
  // An allocation that has been freed again has moved the next ones: their addresses would differ.
  const auto newest = [this] {
    const Allocation* const last = memory_.nearest(kVisibleWindow - 1);
    return last == nullptr ? 0 : last->begin;
  };
  const std::uint64_t newest_before = newest();
  OtherOrders others(program, memory_, configuration, kept);
  LaunchResult result = run_in_order(program, configuration);
  const bool launches = configuration.runtime != nullptr && !configuration.runtime->work.empty();
  if (launches || newest() != newest_before) {
    tried += OrdersTried{.not_tried = "it launches kernels, or allocates memory"};
  } else if (!result.stopped.empty()) {
    tried += OrdersTried{.not_tried = "it was ended " + result.stopped};
  } else {
    OrdersOutcome outcome = others.try_them(options_.schedules, result);
    tried += outcome.tried;
    std::ranges::move(outcome.findings, std::back_inserter(findings_));
  }
  return result;
}

std::vector<std::uint64_t> SimulatedDevice::may_be_written_by(const Program& program,
                                                              const LaunchConfiguration& configuration) const {
  std::vector<std::uint64_t> written = may_be_written_by(program, configuration.parameters);
  const std::uint64_t workspace = configuration.grid_workspace;  // of its grid barriers, whatever else it writes
  if (workspace != 0 && std::ranges::find(written, workspace) == written.end()) written.push_back(workspace);
  return written;
}

LaunchResult SimulatedDevice::run_in_order(const Program& program, LaunchConfiguration configuration) {
  std::unique_ptr<CacheHierarchy>& caches = caches_[memory_.device()];
  if (configuration.with_caches && caches == nullptr) caches = std::make_unique<CacheHierarchy>(*options_.gpu);
  configuration.caches = caches.get();
  std::optional<InitializationChecker> initialization;
  std::optional<RaceChecker> race;
  std::optional<InputChecker> inputs;
  const bool inputs_are_checked = options_.checkers.memory && !inputs_.empty();
  const MakeObservers make_observers = [&](FindingLog& findings) {
    std::vector<AccessObserver*> observers;
    if (options_.checkers.initialization) observers.push_back(&initialization.emplace(written_, findings));
    if (options_.checkers.race) {
      observers.push_back(
          &race.emplace(program, written_allocations(program, configuration.parameters, memory_), findings));
    }
    if (inputs_are_checked) observers.push_back(&inputs.emplace(inputs_, findings));
    if (work_order_ != nullptr) {
      work_order_->report_to(&findings);
      observers.push_back(work_order_);
    }
    return observers;
  };
  const bool looked_on =
      options_.checkers.initialization || options_.checkers.race || inputs_are_checked || work_order_ != nullptr;
  double* const of_block = &seconds_of_block_[&program];
  if (*of_block > 0) {
    const double expected = *of_block * static_cast<double>(configuration.grid.count());
    configuration.host_threads = worthwhile_threads(expected, configuration.host_threads);
  }
  const double begin = processor_seconds();
  LaunchResult result = [&] {
    const KernelRuns runs(memory_);
    return simulated::execute(program, memory_, configuration, looked_on ? make_observers : nullptr);
  }();
  if (work_order_ != nullptr) work_order_->report_to(nullptr);
  race_is_blind_ = race_is_blind_ || (race && race->is_blind()) || (work_order_ != nullptr && work_order_->is_blind());
  const double took = (processor_seconds() - begin) / static_cast<double>(std::max<std::uint64_t>(1, result.blocks));
  *of_block = std::max(took, *of_block / 2);  // launches of much and of little work alternate
  printed_ += result.printed;
  host_reads(reinterpret_cast<const std::byte*>(result.printed.data()), result.printed.size());
  asserted_ += result.asserted;
  for (Finding& finding : result.findings.findings()) {
    if (options_.checkers.has(finding.checker)) findings_.push_back(std::move(finding));
  }
  return result;
}

std::string SimulatedDevice::execute(const Program& program, const KernelLaunch& launch) {
  LaunchConfiguration configuration = configuration_of(program, launch);
  DeviceBuffer workspace;
  if (launch.cooperative) {
    workspace = allocate(kGridWorkspaceBytes, "workspace of the cooperative launch");
    configuration.grid_workspace = reinterpret_cast<std::uint64_t>(workspace.address());  // addresses are numbers here
    std::memset(memory_.host(configuration.grid_workspace), 0, workspace.bytes());
    written_.written(configuration.grid_workspace, workspace.bytes());
  }
  if (calls_functions(*program.kernel)) return run_with_requests(program, launch, std::move(configuration));
  return run_counted(program, launch, std::move(configuration));
}

std::string SimulatedDevice::run_counted(const Program& program, const KernelLaunch& launch,
                                         LaunchConfiguration configuration) {
  if (counts_ && counted_) {
    launches_.push_back(count(program, launch, std::move(configuration)));
    return launches_.back().result.stopped;
  }
  if (window_ && window_->of == 0) {
    configuration.window = {Axis::x, window_->first, window_->count};
  } else if (window_ && places_of_items(launch, window_->of) &&
             equivalence(program, launch, configuration).period > 0) {
    const unsigned first = window_->first / launch.items->per_block;
    const unsigned end = (window_->first + window_->count - 1) / launch.items->per_block + 1;
    configuration.window = {launch.items->axis, first, end - first};
  }
  return run_recorded(program, launch, std::move(configuration));
}

std::string SimulatedDevice::run_recorded(const Program& program, const KernelLaunch& launch,
                                          LaunchConfiguration configuration) {
  RecordedLaunch recorded{&program, launch, {}};
  if (options_.sample_blocks > 0 && !launch.cooperative && launch.grid.count() > options_.sample_blocks) {
    recorded = run_sample(program, launch, std::move(configuration));
  } else {
    const auto begin = std::chrono::steady_clock::now();
    recorded.result = run(program, std::move(configuration));
    recorded.seconds.low = recorded.seconds.high = seconds_since(begin);
  }
  const std::string stopped = recorded.result.stopped;
  if (counts_) launches_.push_back(std::move(recorded));
  return stopped;
}

RecordedLaunch SimulatedDevice::run_sample(const Program& program, const KernelLaunch& launch,
                                           LaunchConfiguration configuration) {
  const std::uint64_t of_cluster = configuration.cluster.count();
  const std::uint64_t clusters = std::max<std::uint64_t>(2, options_.sample_blocks / of_cluster);
  // Blocks that communicate wait for those before them, and do not find them in a sample that is spread out.
  configuration.sample = {clusters, 0, 2, program.needs_block_order};
  RecordedLaunch recorded{&program, launch, {}};
  const auto all = static_cast<double>(launch.grid.count());
  const auto run_half = [&](std::uint64_t part, LaunchResult& result) {
    configuration.sample.part = part;
    const auto begin = std::chrono::steady_clock::now();
    result = run(program, configuration);
    return seconds_since(begin) * all / static_cast<double>(std::max<std::uint64_t>(1, result.blocks));
  };
  const double of_first = run_half(0, recorded.result);
  double of_second = of_first;
  if (recorded.result.stopped.empty()) {
    LaunchResult second;
    of_second = run_half(1, second);
    add_blocks(recorded.result, second);
  }
  recorded.seconds = {std::min(of_first, of_second), std::max(of_first, of_second)};
  recorded.scale = all / static_cast<double>(std::max<std::uint64_t>(1, recorded.result.blocks));
  // The blocks that did not run would have written, too.
  if (options_.checkers.initialization) {
    for (const std::uint64_t begin : may_be_written_by(program, configuration.parameters)) {
      const Allocation* const allocation = memory_.find(begin);
      if (allocation != nullptr) written_.written(begin, allocation->end - begin);
    }
  }
  return recorded;
}

EquivalentBlocks SimulatedDevice::equivalence(const Program& program, const KernelLaunch& launch,
                                              const LaunchConfiguration& configuration) const {
  if (configuration.cluster.count() > 1) return {0, true, "its blocks form clusters"};
  const BufferOfAddress buffer_of = [this](std::uint64_t address) -> std::optional<KnownBuffer> {
    const Allocation* const allocation = memory_.find(address);
    if (allocation == nullptr) return std::nullopt;
    const auto filled = filled_.find(allocation->begin);
    const std::uint64_t bytes = allocation->end - allocation->begin;
    return KnownBuffer{allocation->begin, filled != filled_.end() && filled->second == bytes};
  };
  const Axis axis = launch.items ? launch.items->axis : Axis::x;
  return equivalent_blocks(program, axis, launch.grid, launch.block, configuration.parameters, buffer_of);
}

RecordedLaunch SimulatedDevice::count(const Program& program, const KernelLaunch& launch,
                                      LaunchConfiguration configuration) {
  const Axis axis = launch.items ? launch.items->axis : Axis::x;
  const EquivalentBlocks equivalent = equivalence(program, launch, configuration);
  RecordedLaunch recorded{&program, launch, {}, 0, equivalent.depends_on_data};
  const unsigned places = extent(launch.grid, axis);
  // At least two places, so that there is a half, and a whole number of periods, after which places repeat.
  const std::uint64_t per_block = launch.items ? launch.items->per_block : 0;
  const std::uint64_t wanted = per_block > 0 ? (counted_->count + per_block - 1) / per_block : 0;
  const std::uint64_t unit = std::max(2U, equivalent.period);
  const std::uint64_t wanted_part = (std::max<std::uint64_t>(wanted, 1) + unit - 1) / unit * unit;
  if (!places_of_items(launch, counted_->of) || equivalent.period == 0 || wanted_part >= places) {
    recorded.result = run(program, configuration);
    return recorded;
  }
  const auto part = static_cast<unsigned>(wanted_part);
  const auto run_places = [&](unsigned count) {
    configuration.window = {axis, 0, count};
    return run(program, configuration);
  };
  recorded.items_executed = part * launch.items->per_block;
  recorded.half = run_places(part / 2);
  recorded.result = run_places(part);
  for (InstructionCounters& counters : recorded.result.counters) counters *= places / part;
  if (const unsigned rest = places % part; rest > 0) {
    const LaunchResult of_rest = run_places(rest);
    for (std::size_t i = 0; i < of_rest.counters.size(); ++i) recorded.result.counters[i] += of_rest.counters[i];
  }
  return recorded;
}

std::vector<KernelCounters> SimulatedDevice::take_counters() {
  std::vector<KernelCounters> counters;
  for (const RecordedLaunch& recorded : take_launches()) {
    MetricValues values = metric_values(*recorded.program->kernel, recorded.result);
    if (recorded.half) {
      const MetricValues half = metric_values(*recorded.program->kernel, *recorded.half);
      const ItemBlocks& items = *recorded.launch.items;
      extrapolate(values.modelled, half.modelled, recorded.items_executed / items.per_block,
                  extent(recorded.launch.grid, items.axis));
    }
    for (auto* const sums : {&values.counted, &values.modelled}) {
      for (auto& [name, value] : *sums) {
        if (name.ends_with(".sum")) value *= recorded.scale;
      }
    }
    if (options_.keeps_instructions) {
      instructions_[recorded.program->kernel->name].add(*recorded.program, recorded.result.counters, recorded.scale,
                                                        recorded.launch.grid, recorded.launch.block);
    }
    counters.push_back({display_name(recorded.program->kernel->name), recorded.launch.grid, recorded.launch.block,
                        std::move(values.counted), std::move(values.modelled), recorded.items_executed,
                        recorded.depends_on_data});
  }
  return counters;
}

}  // namespace convladder::simulated
